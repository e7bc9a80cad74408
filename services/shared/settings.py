"""Settings of a process, from environment variables `ATAJO_<NAME>` or files `ATAJO_<NAME>_FILE`."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    HttpUrl,
    SecretStr,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from services.shared.environment import PREFIX, read_variable, replace_undecodable
from services.shared.origins import Origins, parse_domain

_PLACEHOLDERS = frozenset({"change-me", "changeme", "placeholder", "secret", "password", "test"})


def split_endpoint(endpoint: str) -> tuple[str, int]:
    """Split an `Endpoint` into host, without brackets, and port."""
    host, _, port = endpoint.rpartition(":")
    return host.strip("[]"), int(port)


def is_socket(endpoint: str) -> bool:
    """Return whether a `GrpcEndpoint` is a Unix socket."""
    return endpoint.startswith("unix:/")


def _check_port(endpoint: str) -> str:
    if split_endpoint(endpoint)[1] > 65535:
        raise ValueError("a port is at most 65535")
    return endpoint


def _check_origin(url: HttpUrl) -> HttpUrl:
    beyond = (url.username, url.password, url.query, url.fragment)
    if url.path not in (None, "/") or any(part is not None for part in beyond):
        raise ValueError("it must consist of scheme, host and port only")
    return url


def check_secret(secret: SecretStr, info: ValidationInfo) -> SecretStr:
    """Return a secret. Raises ValueError if it is a placeholder or short, unless the run is local.

    `info` has the settings that were validated before, such as `environment`.
    """
    text = secret.get_secret_value()
    is_local = info.data.get("environment", "production") == "local"
    if not is_local and (len(text.encode()) < 32 or text.strip().lower() in _PLACEHOLDERS):
        raise ValueError("a random secret of at least 32 bytes is needed outside local runs")
    return secret


def format_origin(url: HttpUrl) -> str:
    """Return the origin of a public URL, as browsers write it."""
    default = {"http": 80, "https": 443}[url.scheme]
    port = "" if url.port in (None, default) else f":{url.port}"
    return f"{url.scheme}://{url.host}{port}"


def split_list(value: Any) -> Any:
    """Return the parts of a text that commas separate, without empty ones."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _check_distinct(further: tuple[HttpUrl, ...], info: ValidationInfo) -> tuple[HttpUrl, ...]:
    public = info.data.get("public_url")
    urls = (public, *further) if public else further
    domains = [parse_domain(format_origin(url)) for url in urls]
    if len(set(domains)) < len(domains):
        raise ValueError("a host is listed twice, or is that of the public URL")
    return further


Endpoint = Annotated[
    str, StringConstraints(pattern=r"^[!-~]+:[0-9]{1,5}$"), AfterValidator(_check_port)
]
"""`host:port`, with an IPv6 host in brackets."""
GrpcEndpoint = Annotated[
    str,
    StringConstraints(pattern=r"^([!-~]+:[0-9]{1,5}|unix:/[!-~]+)$"),
    AfterValidator(lambda text: text if is_socket(text) else _check_port(text)),
]
"""An `Endpoint`, or a Unix socket: `unix:` and an absolute path, percent-encoded."""
PublicUrl = Annotated[HttpUrl, AfterValidator(_check_origin)]
"""The public origin of the product: scheme, host and port only."""
Domains = Annotated[
    tuple[PublicUrl, ...], BeforeValidator(split_list), AfterValidator(_check_distinct)
]
"""Further origins of the product. None has the host and port of another, or of `public_url`."""


def to_origins(public_url: HttpUrl, domains: tuple[HttpUrl, ...]) -> Origins:
    """Return the origins of an instance by its settings."""
    return Origins(format_origin(public_url), tuple(map(format_origin, domains)))


class ProcessSettings(BaseModel):
    """Settings of every process."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    ignores_empty: ClassVar[bool] = False
    """Whether an empty variable counts as unset."""

    environment: Literal["production", "local"] = "production"
    """`local` is a developer's own machine, where placeholder secrets are accepted."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    version: str = "dev"
    """The version that runs, for metrics. The image sets it."""
    metrics_listen: Endpoint = "127.0.0.1:0"
    """Host and port of metrics and health, never a public one. Port 0 picks a free one."""
    drain_seconds: float = Field(default=2.0, ge=0, le=3600, allow_inf_nan=False)
    """How long running calls may take to finish when the process stops."""

    @field_validator("*", mode="before")
    @classmethod
    def _is_text(cls, value: Any) -> Any:
        # The environment may hold any bytes, which would otherwise cause an error much later.
        if isinstance(value, str) and ("\0" in value or replace_undecodable(value) != value):
            raise ValueError("this is not UTF-8 text")
        return value

    @classmethod
    def load(cls) -> Self:
        """Read the settings. Raises SystemExit with one line that names every invalid setting."""
        texts = {name: read_variable(f"{PREFIX}{name.upper()}") for name in cls.model_fields}
        try:
            return cls.model_validate(
                {
                    name: text
                    for name, text in texts.items()
                    if text is not None and (text or not cls.ignores_empty)
                }
            )
        except ValidationError as error:
            # The message must not contain the values, which may be secrets.
            faults = [
                f"{PREFIX}{str(fault['loc'][0]).upper()}: {fault['msg']}"
                for fault in error.errors(include_input=False, include_url=False)
            ]
            raise SystemExit("Settings refused. " + "; ".join(faults)) from None


class ServiceSettings(ProcessSettings):
    """Settings of every gRPC service."""

    listen: GrpcEndpoint = "127.0.0.1:0"
    """Host and port of the gRPC server, or a Unix socket, `unix:/path`. Port 0 picks a free one."""
    admin_listen: GrpcEndpoint = "127.0.0.1:0"
    """The same of the gRPC server for the operator, which nobody else may reach."""
    store: str
    """Where the service keeps its data: `mongodb://…`, `mongodb+srv://…` or
    `sqlite:///path/to/file`. The default database of a MongoDB URL is `atajo_<service>`."""


class AdministeredSettings(ServiceSettings):
    """Settings of every gRPC service that administrators use."""

    administration_secret: SecretStr = SecretStr("")
    """Signs and checks the passes of administrators. auth and links need the same secret, and the
    gateway must not have it. Without one, nobody administers the instance in the browser."""

    @field_validator("administration_secret")
    @classmethod
    def _is_secret_or_empty(cls, secret: SecretStr, info: ValidationInfo) -> SecretStr:
        return check_secret(secret, info) if secret.get_secret_value() else secret
