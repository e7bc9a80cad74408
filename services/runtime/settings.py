"""Settings of a process: environment variables `ATAJO_<NAME>`, or a file by `ATAJO_<NAME>_FILE`.

The file form is for secrets mounted into a container; it wins over the plain one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    HttpUrl,
    StringConstraints,
    ValidationError,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

PREFIX = "ATAJO_"
PLACEHOLDERS = frozenset({"change-me", "changeme", "placeholder", "secret", "password", "test"})


def split_address(address: str) -> tuple[str, int]:
    """An `Address` as its two parts, the host without brackets."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def _with_port(address: str) -> str:
    if split_address(address)[1] > 65535:
        raise ValueError("a port is at most 65535")
    return address


def _only_origin(url: HttpUrl) -> HttpUrl:
    beyond = (url.username, url.password, url.query, url.fragment)
    if url.path not in (None, "/") or any(part is not None for part in beyond):
        raise ValueError("scheme, host and port are all that it has")
    return url


Address = Annotated[
    str, StringConstraints(pattern=r"^[!-~]+:[0-9]{1,5}$"), AfterValidator(_with_port)
]
"""`host:port`; an IPv6 host stands in brackets."""
PublicUrl = Annotated[HttpUrl, AfterValidator(_only_origin)]
"""Where people reach the product: an origin, with nothing after it."""


class FileSource(PydanticBaseSettingsSource):
    """Reads `<PREFIX><NAME>_FILE`: the value is the file's text without its last newline."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        variable = f"{PREFIX}{field_name.upper()}_FILE"
        path = os.environ.get(variable)
        if not path:
            return None, field_name, False
        try:
            value = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise SystemExit(
                f"Settings refused. {variable} cannot be read: {_printable(path)}: {error.strerror}"
            ) from None
        except UnicodeDecodeError:
            raise SystemExit(
                f"Settings refused. {variable} is not UTF-8 text: {_printable(path)}"
            ) from None
        return value.rstrip("\r\n"), field_name, False

    def __call__(self) -> dict[str, Any]:
        found = {
            name: self.get_field_value(field, name)[0]
            for name, field in self.settings_cls.model_fields.items()
        }
        return {name: value for name, value in found.items() if value is not None}


class ProcessSettings(BaseSettings):
    """What every process can be told."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True)

    environment: Literal["production", "local"] = "production"
    """`local` is a developer's own machine: placeholder secrets are let through."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    version: str = "dev"
    """What runs here, for metrics; an image is told at its build."""
    metrics_listen: Address = "127.0.0.1:0"
    """Host and port of metrics and health, never the public one; port 0 finds a free one."""
    drain_seconds: float = Field(default=2.0, ge=0, le=3600, allow_inf_nan=False)
    """How long calls under way may take to finish when the process is asked to stop."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, FileSource(settings_cls), env_settings

    @field_validator("*", mode="before")
    @classmethod
    def _is_text(cls, value: Any) -> Any:
        # The environment may hold any bytes; these would fail later, and far from here.
        if isinstance(value, str) and ("\0" in value or _printable(value) != value):
            raise ValueError("this is not UTF-8 text")
        return value

    @classmethod
    def load(cls) -> Self:
        """Read the settings, or end the process with a line a setting at fault."""
        try:
            return cls()
        except ValidationError as error:
            # The values stay out of the message: one of them may be a secret.
            faults = [
                f"{PREFIX}{str(fault['loc'][0]).upper()}: {fault['msg']}"
                for fault in error.errors(include_input=False, include_url=False)
            ]
            raise SystemExit("Settings refused. " + "; ".join(faults)) from None


class ServiceSettings(ProcessSettings):
    """What every gRPC service can be told."""

    listen: Address = "127.0.0.1:0"
    """Host and port of the gRPC server; port 0 finds a free one."""
    admin_listen: Address = "127.0.0.1:0"
    """The same of what only the operator may call: nobody else may reach it."""
    store: str
    """Where this service keeps its data: `mongodb://…`, `mongodb+srv://…` or
    `sqlite:///path/to/file`. A MongoDB URL without a database means `atajo_<service>`."""


def _printable(text: str) -> str:
    """A text of the environment with what is no UTF-8 in it replaced."""
    return text.encode(errors="replace").decode()


def refuse_placeholder(secret: str, environment: str) -> str:
    """A signing secret as given, unless it is one that strangers could guess."""
    if environment == "local":
        return secret
    if len(secret.encode()) < 32 or secret.strip().lower() in PLACEHOLDERS:
        raise ValueError("a random secret of at least 32 bytes is needed outside local runs")
    return secret
