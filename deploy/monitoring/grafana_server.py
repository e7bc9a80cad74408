"""A Grafana on loopback with the dashboards, if Grafana is installed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from deploy.monitoring.child_server import run_server
from deploy.monitoring.grafana import RUNBOOKS
from deploy.monitoring.prometheus import CHART

_HOME = Path("/usr/share/grafana")
"""Where Grafana's packages install its files."""


def find_command() -> list[str]:
    """Return the command that starts Grafana, or an empty one if it is not installed."""
    if found := shutil.which("grafana"):
        return [found, "server"]
    found = shutil.which("grafana-server")
    return [found] if found else []


@contextmanager
def run_grafana(
    command: Sequence[str], folder: Path, port: int, prometheus: str, runbooks: str
) -> Iterator[str]:
    """Run a Grafana while the context lasts, which visitors can view and not edit; yield its URL.

    `prometheus` and `runbooks` are URLs.
    """
    dashboards, provisioning = folder / "dashboards", folder / "provisioning"
    source = {"name": "Prometheus", "type": "prometheus", "url": prometheus}
    provider = {"name": "Atajo", "folder": "Atajo", "options": {"path": str(dashboards)}}
    _write(
        provisioning / "datasources" / "atajo.yaml",
        json.dumps({"datasources": [{**source, "access": "proxy", "isDefault": True}]}),
    )
    _write(provisioning / "dashboards" / "atajo.yaml", json.dumps({"providers": [provider]}))
    for file in (CHART / "dashboards").glob("*.json"):
        text = file.read_text(encoding="utf-8").replace(RUNBOOKS, runbooks)
        _write(dashboards / file.name, text)
    env = {
        **os.environ,
        "GF_PATHS_DATA": str(folder / "data"),
        "GF_PATHS_LOGS": str(folder / "logs"),
        "GF_PATHS_PROVISIONING": str(provisioning),
        "GF_SERVER_HTTP_ADDR": "127.0.0.1",
        "GF_SERVER_HTTP_PORT": str(port),
        "GF_AUTH_ANONYMOUS_ENABLED": "true",
        "GF_AUTH_ANONYMOUS_ORG_ROLE": "Viewer",
        "GF_ANALYTICS_REPORTING_ENABLED": "false",
        "GF_ANALYTICS_CHECK_FOR_UPDATES": "false",
        "GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES": "false",
    }
    home = [f"--homepath={_HOME}"] if _HOME.is_dir() else []
    url = f"http://127.0.0.1:{port}"
    with run_server([*command, *home], folder / "grafana.log", f"{url}/api/health", env):
        yield url


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
