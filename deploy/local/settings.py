"""Settings of a run on one machine, and checks before it starts."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Mapping
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, IPvAnyAddress, ValidationInfo, field_validator, model_validator

from services.shared.environment import PREFIX
from services.shared.settings import Domains, ProcessSettings, PublicUrl

ROOT = Path(__file__).resolve().parents[2]
"""The root of the checkout."""
WEB_DIR = ROOT / "web" / "dist"
_MAX_FOLDER_BYTES = 107 - len("/analytics.calls")
"""The path of a Unix socket has at most 107 bytes on Linux."""


_METRICS = ("gateway", "auth", "links", "analytics", "reconciler")
"""The processes in the order of their metrics ports."""


_SERVICES = ("AUTH", "LINKS", "ANALYTICS")
_OWN: Mapping[str, str] = {
    "TOKEN_SECRET": "the secret of a run is in the file token-secret in its data folder",
    "ADMINISTRATION_SECRET": "a run derives it from the file token-secret in its data folder",
    "JOURNAL_DIR": "the journal of a run is in its data folder, ATAJO_DATA_DIR",
    "BACKUP_DIR": "the backups of a run are in its data folder, ATAJO_DATA_DIR",
    "WEB_DIR": "a run serves the pages that were built with it",
    "LISTEN": "set ATAJO_BIND and ATAJO_PORT instead",
    "ADMIN_LISTEN": "the services of a run listen in its data folder",
    "METRICS_LISTEN": "set ATAJO_METRICS_PORT instead",
    **dict.fromkeys(
        [f"{name}_{kind}" for name in _SERVICES for kind in ("ADDRESS", "ADMIN_ADDRESS")],
        "a run starts its services itself",
    ),
}
"""Settings of the processes that a run chooses, and where the choice is made."""


class RunSettings(ProcessSettings):
    """Settings of a run. Its processes inherit all other environment variables."""

    ignores_empty = True

    environment: Literal["production", "local"] = "local"
    """`production` has the limits and the JSON logs of a deployment. The image sets it."""
    bind: IPvAnyAddress = IPv4Address("127.0.0.1")
    """IP address of the product, and of metrics with ATAJO_METRICS_PORT."""
    port: int = Field(default=8080, ge=1, le=65535)
    """Port of the product."""
    metrics_port: int = Field(default=0, ge=0, le=65536 - len(_METRICS))
    """Port of the gateway's metrics. The next four are for auth, links, analytics and
    reconciler. 0: free ports on loopback, which the state file in the data folder names."""
    data_dir: Path = ROOT / ".data"
    """Folder of all data; one run at a time. Its path has at most 91 bytes, and only its owner may
    write in it."""
    store: str = Field(default="", pattern=r"^(mongodb(\+srv)?://.+)?$")
    """MongoDB URL; without one, data is in SQLite files in the data folder."""
    backup_hours: float | None = Field(default=None, gt=0, le=8760, allow_inf_nan=False)
    """Hours between automatic backups into `backups` in the data folder; by default there are none.
    Data in MongoDB is backed up by mongodump."""
    backups_kept: int = Field(default=7, ge=1, le=10_000)
    """Number of automatic backups that are kept: once another one is complete, the oldest is
    deleted. Backups that you made are never deleted."""
    public_url: PublicUrl | None = None
    """The public URL; by default `http://localhost:<port>`."""
    domains: Domains = ()
    """Comma-separated further origins at which short URLs work. Everything else there redirects to
    the public URL."""
    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    """Less verbose than elsewhere, because logs appear in the terminal of the run. In production
    the default is `info`."""

    @model_validator(mode="before")
    @classmethod
    def _log_more_in_production(cls, given: dict[str, Any]) -> dict[str, Any]:
        return {"log_level": "info", **given} if given.get("environment") == "production" else given

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, path: Path) -> Path:
        absolute = path.expanduser().absolute()
        if len(os.fsencode(absolute)) > _MAX_FOLDER_BYTES:
            raise ValueError(f"the path of the folder has at most {_MAX_FOLDER_BYTES} bytes")
        return absolute

    @field_validator("backup_hours")
    @classmethod
    def _is_possible(cls, hours: float | None, others: ValidationInfo) -> float | None:
        if hours is not None and others.data.get("store"):
            raise ValueError("data in MongoDB is backed up by mongodump, not by Atajo")
        return hours

    @field_validator("metrics_port")
    @classmethod
    def _is_apart(cls, first: int, others: ValidationInfo) -> int:
        if first and others.data.get("port") in range(first, first + len(_METRICS)):
            raise ValueError(f"this and the next {len(_METRICS) - 1} ports must not be ATAJO_PORT")
        return first

    @property
    def metrics_ports(self) -> Mapping[str, int]:
        """The metrics port of each process; empty if they are free ones."""
        if not self.metrics_port:
            return {}
        return {name: port for port, name in enumerate(_METRICS, self.metrics_port)}

    def endpoint(self, port: int) -> str:
        """Return the endpoint of a port at the address `bind`."""
        return f"[{self.bind}]:{port}" if self.bind.version == 6 else f"{self.bind}:{port}"

    @property
    def url(self) -> str:
        """The public URL without a trailing slash."""
        return str(self.public_url or f"http://localhost:{self.port}").rstrip("/")


def check_own_settings() -> None:
    """Raise SystemExit with one line for settings that a run would ignore."""
    faults = [
        f"{PREFIX}{name}: {why}"
        for name, why in _OWN.items()
        if os.environ.get(f"{PREFIX}{name}") or os.environ.get(f"{PREFIX}{name}_FILE")
    ]
    if faults:
        raise SystemExit("Settings refused. " + "; ".join(faults))


def check_ports_free(settings: RunSettings) -> None:
    """Raise SystemExit with one line if the run cannot listen where its settings say."""
    check_port_free(str(settings.bind), settings.port, "ATAJO_PORT")
    for port in settings.metrics_ports.values():
        check_port_free(str(settings.bind), port, "ATAJO_METRICS_PORT")


def check_port_free(address: str, port: int, setting: str) -> None:
    """Raise SystemExit with one line if `port`, which `setting` chose, is not available."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            why = os.strerror(error.errno or 0).lower()
            if error.errno in (errno.EADDRNOTAVAIL, errno.EINVAL):
                raise SystemExit(
                    f"Cannot use the address {address} ({why}): set ATAJO_BIND to one of this "
                    "machine, or to 0.0.0.0 for all."
                ) from None
            raise SystemExit(
                f"Cannot use port {port} ({why}): set {setting} to another one."
            ) from None


def check_web_built() -> None:
    """Raise SystemExit with one line if the pages are not built."""
    if not (WEB_DIR / "index.html").is_file():
        raise SystemExit("The web pages are not built; `make run` builds them and starts Atajo.")
