"""Settings of the gateway."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from gateway.redirects.cache import FRESH_SECONDS, STALE_SECONDS
from gateway.support.rate_limits import Rate
from services.shared.origins import Origins
from services.shared.settings import (
    Domains,
    Endpoint,
    ProcessSettings,
    PublicUrl,
    split_list,
    to_origins,
)

# Limits per client address, in each gateway. A local run, with its load tests, has one address.
_PRODUCTION = {
    "limit_creations": Rate(300, 60),
    "limit_registrations": Rate(30, 3600),
    "limit_logins": Rate(300, 60),
    "limit_edits": Rate(300, 60),
    "limit_reads": Rate(600, 60),
    "limit_reports": Rate(20, 3600),
    "limit_import_rows": Rate(100_000, 86_400),
    "limit_short_codes": Rate(5_000, 86_400),
    "limit_api": Rate(600, 60),
    "limit_api_unverified": Rate(60, 60),
}
_LOCAL = {
    **dict.fromkeys(_PRODUCTION, Rate(2000, 1)),
    "limit_registrations": Rate(200, 1),
    "limit_reports": Rate(100, 3600),
    "limit_import_rows": _PRODUCTION["limit_import_rows"],
    "limit_short_codes": _PRODUCTION["limit_short_codes"],
}
_NO_LIMIT = Rate(999_999_999, 60)
"""A rate that nobody reaches. Responses of the REST API name it."""


def _rate(value: Any, field: ValidationInfo) -> Any:
    """Parse a rate such as `300/minute`. An empty text stands for the default."""
    if isinstance(value, str):
        defaults = _LOCAL if field.data.get("environment") == "local" else _PRODUCTION
        value = Rate.parse(value) if value.strip() else defaults[field.field_name or ""]
    return _NO_LIMIT if field.data.get("limits") == "off" else value


Limit = Annotated[Rate, BeforeValidator(_rate), Field(validate_default=True)]
_OF_ENVIRONMENT: Any = ""


class GatewaySettings(ProcessSettings):
    """Settings of the gateway, in addition to those of every process."""

    listen: Endpoint = "127.0.0.1:8080"
    """Host and port of the public server."""
    public_url: PublicUrl
    """URL of the product. Its origin is always one of the CORS origins."""
    domains: Domains = ()
    """Comma-separated further origins at which short URLs work, such as a shorter one for links.
    Every other path there redirects to the public URL."""
    contact: str = ""
    """E-mail address on the legal pages, by default `contact@` and the public host."""
    registration: Literal["open", "invite", "closed"] = "open"
    """Who may register: anyone, people with an invitation, or nobody. auth and web need the same
    value."""
    guest_links: Literal["on", "off"] = "on"
    """`off` lets only accounts shorten. Links that guests have remain theirs. web needs the same
    value."""
    admin_pages: Literal["on", "off"] = "on"
    """`off` removes the page for administrators and its functions. web needs the same value."""
    auth_address: str = Field(min_length=1)
    links_address: str = Field(min_length=1)
    """gRPC targets of the services, `host:port` or `dns:///host:port`."""
    analytics_address: str = Field(min_length=1)
    """gRPC target of analytics, as of the other services. If the host is a name with several
    addresses, they are the replicas among which visits are divided."""
    journal_dir: Path
    """Folder of the visit journal. Each gateway needs its own."""
    journal_bytes: int = Field(default=1 << 30, ge=1 << 20, le=1 << 50)
    """Maximum size of the journal. Visits beyond it are lost and counted as such."""
    web_dir: Path | None = None
    """Folder of the built pages, if the gateway serves them itself."""
    service_worker: Literal["on", "off"] = "on"
    """`off` removes the service worker, by which pages open offline, from every browser that has
    it. Only with `web_dir`."""
    cors_origins: tuple[str, ...] = ()
    """Comma-separated additional origins that may call the functions from a browser."""
    oidc_name: str = Field(default="", max_length=50, pattern=r"^[^\x00-\x1f\x7f\"'<>]*$")
    """Name of the OpenID Connect provider, by which the pages offer to log in with it. Empty: they
    do not. auth needs the settings of the provider."""
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    """Comma-separated CIDRs of proxies whose X-Forwarded-For is trusted."""
    trusted_hops: int = Field(default=0, ge=0, le=10)
    """Number of proxies whose X-Forwarded-For is trusted, as an alternative to their networks."""
    countries_file: Path | None = None
    """File in MaxMind's format with the countries of IP addresses, by default iptocc's data."""
    limits: Literal["on", "off"] = "on"
    """`off` disables the limits by client address, for load tests."""
    limit_creations: Limit = _OF_ENVIRONMENT
    limit_registrations: Limit = _OF_ENVIRONMENT
    limit_logins: Limit = _OF_ENVIRONMENT
    limit_edits: Limit = _OF_ENVIRONMENT
    limit_reads: Limit = _OF_ENVIRONMENT
    limit_reports: Limit = _OF_ENVIRONMENT
    """Limits by client address, such as `300/minute`, by default those of the environment."""
    limit_import_rows: Limit = _OF_ENVIRONMENT
    """Rows of imports by client address, by default `100000/day`. A day is a UTC day."""
    limit_short_codes: Limit = _OF_ENVIRONMENT
    """Chosen endings of four characters by client address, by default `5000/day`."""
    limit_api: Limit = _OF_ENVIRONMENT
    """Limit of the REST API by account, by default that of the environment. Each link of a bulk
    creation counts."""
    limit_api_unverified: Limit = _OF_ENVIRONMENT
    """Limit of the REST API by client address for requests without a valid key, by default that of
    the environment. Ten times as many keys that were not valid recently are looked up."""
    cache_bytes: int = Field(default=64_000_000, ge=1)
    """Maximum memory of the cache of links."""
    cache_fresh_seconds: float = Field(default=FRESH_SECONDS, ge=0, allow_inf_nan=False)
    """How long a resolution is served without a lookup."""
    cache_stale_seconds: float = Field(default=STALE_SECONDS, ge=0, allow_inf_nan=False)
    """How long after that it is served while it is looked up."""
    backup_dir: Path | None = None
    """Folder of the automatic backups, whose newest one metrics and `/admin` show. A local run with
    ATAJO_BACKUP_HOURS sets it."""
    backup_hours: float | None = Field(default=None, gt=0, le=8760, allow_inf_nan=False)
    """Hours between the automatic backups."""

    @field_validator("cors_origins", "trusted_proxies", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return split_list(value)

    @field_validator("trusted_hops")
    @classmethod
    def _is_one_of_two(cls, hops: int, others: ValidationInfo) -> int:
        if hops and others.data.get("trusted_proxies"):
            raise ValueError("this and trusted_proxies exclude each other")
        return hops

    @field_validator("journal_dir", "web_dir", "countries_file", "backup_dir", mode="before")
    @classmethod
    def _is_named(cls, path: Any) -> Any:
        if path == "":  # Path("") is the working directory.
            raise ValueError("this names nothing")
        return path

    @property
    def origin(self) -> str:
        """The origin of the public URL, as browsers write it."""
        return self.origins.public

    @property
    def origins(self) -> Origins:
        """The origins of the public URL and of the further domains."""
        return to_origins(self.public_url, self.domains)

    @property
    def contact_address(self) -> str:
        """The contact, or `contact@` and the public host.

        IP addresses are in brackets, as in e-mail addresses. deploy/nginx/start.sh does the same.
        """
        if contact := self.contact.strip():
            return contact
        host = self.public_url.host or ""
        if host.startswith("["):
            host = f"[IPv6:{host[1:]}"
        elif not host.strip("0123456789."):
            host = f"[{host}]"
        return f"contact@{host}"
