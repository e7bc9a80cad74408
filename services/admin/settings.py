"""Settings of the operator's command: where it finds the services."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from services.shared.settings import Domains, ProcessSettings, PublicUrl, format_origin

SERVICES = ("auth", "links", "analytics")


class AdminSettings(ProcessSettings):
    """Settings of the command. Without endpoints it takes those of a running `make run`."""

    auth_admin_address: str = ""
    links_admin_address: str = ""
    analytics_admin_address: str = ""
    """gRPC targets of the services' operator ports, `host:port` or `dns:///host:port`; all three or
    none."""
    public_url: PublicUrl | None = None
    """Where visitors reach the product; identifies short URLs."""
    domains: Domains = ()
    """Comma-separated further origins, which identify short URLs, too."""
    data_dir: Path = Path(__file__).resolve().parents[2] / ".data"
    """Data folder of `make run`, which stores its endpoints there."""

    def endpoints(self) -> dict[str, str]:
        """Return the gRPC target of each service, by name. Raises SystemExit if there is none."""
        given = self._given()
        if all(given.values()):
            return given
        if any(given.values()):
            raise SystemExit("Settings refused. Give the address of each service, or of none.")
        folder = self.data_dir
        try:
            processes = _read_run(folder)["processes"]
            return {name: processes[name]["admin"] for name in SERVICES}
        except (KeyError, TypeError):
            names = ", ".join(f"ATAJO_{name.upper()}_ADMIN_ADDRESS" for name in SERVICES)
            raise SystemExit(
                f"Atajo does not run over {folder}: start it, or set {names}."
            ) from None

    def origins(self) -> list[str]:
        """Return the origins of the product, that of the public URL first; none if unknown."""
        if self.public_url is not None or any(self._given().values()):
            urls = (self.public_url, *self.domains) if self.public_url else ()
            return [format_origin(url) for url in urls]
        run = _read_run(self.data_dir)
        return [str(origin) for origin in (run["url"], *run.get("domains", ()))] if run else []

    def _given(self) -> dict[str, str]:
        return {
            "auth": self.auth_admin_address,
            "links": self.links_admin_address,
            "analytics": self.analytics_admin_address,
        }


def _read_run(folder: Path) -> dict[str, Any]:
    """Return the state that a running `make run` stores; empty if none uses the folder."""
    try:
        state = json.loads((folder.expanduser() / "run.json").read_text(encoding="utf-8"))
    # Missing, malformed, or `~` names an unknown user.
    except (OSError, ValueError, RuntimeError):
        return {}
    return state if isinstance(state, dict) else {}
