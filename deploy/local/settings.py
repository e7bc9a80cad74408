"""Settings of a local run, and what must hold before anything is started."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from services.shared.settings import ProcessSettings, PublicUrl

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""
WEB_DIR = ROOT / "web" / "dist"


class RunSettings(ProcessSettings):
    """What a local run can be told. Everything else in the environment goes on to its processes."""

    ignores_empty = True

    port: int = Field(default=8080, ge=1, le=65535)
    """Port of the product, on loopback."""
    data_dir: Path = ROOT / ".data"
    """Folder of everything that is kept; one run at a time."""
    store: str = Field(default="", pattern=r"^(mongodb(\+srv)?://.+)?$")
    """A MongoDB URL; without one, SQLite files in the data folder."""
    public_url: PublicUrl | None = None
    """The public URL; by default `http://localhost:<port>`."""
    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    """Quieter than elsewhere: the logs share a terminal with whoever started the run."""

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, path: Path) -> Path:
        return path.expanduser().absolute()

    @property
    def url(self) -> str:
        """The public address, without a slash at its end."""
        return str(self.public_url or f"http://localhost:{self.port}").rstrip("/")


def check_port_free(port: int, setting: str = "ATAJO_PORT") -> None:
    """Raises SystemExit with one line when `port`, which `setting` gives, cannot be listened on."""
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
    """Raises SystemExit with one line when there are no pages to serve."""
    if not (WEB_DIR / "index.html").is_file():
        raise SystemExit("The web pages are not built; `make run` builds them and starts Atajo.")
