"""Settings of a process: environment variables `ATAJO_<NAME>`, or a file by `ATAJO_<NAME>_FILE`.

The file form is for secrets mounted into a container; it wins over the plain one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    StringConstraints,
    ValidationError,
    field_validator,
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


class ProcessSettings(BaseModel):
    """What every process can be told."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    ignores_empty: ClassVar[bool] = False
    """Whether an empty variable counts as one that is not set."""

    environment: Literal["production", "local"] = "production"
    """`local` is a developer's own machine: placeholder secrets are let through."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    version: str = "dev"
    """What runs here, for metrics; an image is told at its build."""
    metrics_listen: Address = "127.0.0.1:0"
    """Host and port of metrics and health, never the public one; port 0 finds a free one."""
    drain_seconds: float = Field(default=2.0, ge=0, le=3600, allow_inf_nan=False)
    """How long calls under way may take to finish when the process is asked to stop."""

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
        texts = {name: _text_of(f"{PREFIX}{name.upper()}") for name in cls.model_fields}
        try:
            return cls.model_validate(
                {
                    name: text
                    for name, text in texts.items()
                    if text is not None and (text or not cls.ignores_empty)
                }
            )
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


def _text_of(variable: str) -> str | None:
    """The text of the file that `<variable>_FILE` names without its last newline, else of the
    variable; None where neither is set. Raises SystemExit with one line for an unreadable file."""
    path = os.environ.get(f"{variable}_FILE")
    if not path:
        return os.environ.get(variable)
    try:
        return Path(path).read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        why = f"cannot be read: {_printable(path)}: {error.strerror}"
    except UnicodeDecodeError:
        why = f"is not UTF-8 text: {_printable(path)}"
    raise SystemExit(f"Settings refused. {variable}_FILE {why}")


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
