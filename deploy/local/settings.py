"""Settings of a local run, and checks before it starts."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from services.shared.settings import ProcessSettings, PublicUrl

ROOT = Path(__file__).resolve().parents[2]
"""The root of the checkout."""
WEB_DIR = ROOT / "web" / "dist"
_MAX_FOLDER_BYTES = 107 - len("/analytics.calls")
"""The path of a Unix socket has at most 107 bytes on Linux."""


class RunSettings(ProcessSettings):
    """Settings of a local run. Its processes inherit all other environment variables."""

    ignores_empty = True

    port: int = Field(default=8080, ge=1, le=65535)
    """Port of the product, on loopback."""
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
    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    """Less verbose than elsewhere, because logs appear in the terminal of the run."""

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

    @property
    def url(self) -> str:
        """The public URL without a trailing slash."""
        return str(self.public_url or f"http://localhost:{self.port}").rstrip("/")


def check_port_free(port: int, setting: str = "ATAJO_PORT") -> None:
    """Raise SystemExit with one line if `port`, the value of `setting`, is not available."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            why = os.strerror(error.errno or 0).lower()
            raise SystemExit(
                f"Cannot use port {port} ({why}): set {setting} to another one."
            ) from None


def check_web_built() -> None:
    """Raise SystemExit with one line if the pages are not built."""
    if not (WEB_DIR / "index.html").is_file():
        raise SystemExit("The web pages are not built; `make run` builds them and starts Atajo.")
