"""Where the operator's command finds the services."""

from __future__ import annotations

import json
from pathlib import Path

from services.runtime.settings import ProcessSettings

SERVICES = ("auth", "links", "analytics")


class AdminSettings(ProcessSettings):
    """What the command can be told. Without addresses it takes those of a running `make run`."""

    auth_admin_address: str = ""
    links_admin_address: str = ""
    analytics_admin_address: str = ""
    """gRPC targets of the services' ports for the operator, `host:port` or `dns:///host:port`; all
    three or none."""
    data_dir: Path = Path(__file__).resolve().parents[2] / ".data"
    """Data folder of `make run`, which says there what runs where."""

    def addresses(self) -> dict[str, str]:
        """The target of each service. Raises SystemExit with one line when there is none."""
        given = {
            "auth": self.auth_admin_address,
            "links": self.links_admin_address,
            "analytics": self.analytics_admin_address,
        }
        if all(given.values()):
            return given
        if any(given.values()):
            raise SystemExit("Settings refused. Give the address of each service, or of none.")
        return _of_run(self.data_dir)


def _of_run(folder: Path) -> dict[str, str]:
    try:
        state = folder.expanduser() / "run.json"
        processes = json.loads(state.read_text(encoding="utf-8"))["processes"]
        return {name: processes[name]["admin"] for name in SERVICES}
    # It is not there, is something else, or `~` names nobody who is known here.
    except (OSError, ValueError, KeyError, TypeError, RuntimeError):
        names = ", ".join(f"ATAJO_{name.upper()}_ADMIN_ADDRESS" for name in SERVICES)
        raise SystemExit(f"Atajo does not run over {folder}: start it, or set {names}.") from None
