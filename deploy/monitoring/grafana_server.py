"""A Grafana on loopback with the dashboards, if Grafana is installed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.request import ProxyHandler, build_opener

from deploy.monitoring.child_server import ChildServer
from deploy.monitoring.prometheus import CHART, RUNBOOKS

_HOME = Path("/usr/share/grafana")
"""Where Grafana's packages install its files."""


def command() -> list[str]:
    """Return the command that starts Grafana, or an empty one if it is not installed."""
    if found := shutil.which("grafana"):
        return [found, "server"]
    found = shutil.which("grafana-server")
    return [found] if found else []


class Grafana:
    """A Grafana that runs while the context lasts. Visitors can view and not edit."""

    def __init__(self, folder: Path, port: int, prometheus: str, runbooks: str) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._folder = folder
        self._port = port
        self._prometheus = prometheus
        self._runbooks = runbooks

    def _provision(self) -> None:
        dashboards = self._folder / "dashboards"
        source = {"name": "Prometheus", "type": "prometheus", "url": self._prometheus}
        provider = {"name": "Atajo", "folder": "Atajo", "options": {"path": str(dashboards)}}
        _write(
            self._folder / "provisioning" / "datasources" / "atajo.yaml",
            json.dumps({"datasources": [{**source, "access": "proxy", "isDefault": True}]}),
        )
        _write(
            self._folder / "provisioning" / "dashboards" / "atajo.yaml",
            json.dumps({"providers": [provider]}),
        )
        for file in (CHART / "dashboards").glob("*.json"):
            text = file.read_text(encoding="utf-8").replace(RUNBOOKS, self._runbooks)
            _write(dashboards / file.name, text)

    def _env(self) -> dict[str, str]:
        return {
            **os.environ,
            "GF_PATHS_DATA": str(self._folder / "data"),
            "GF_PATHS_LOGS": str(self._folder / "logs"),
            "GF_PATHS_PROVISIONING": str(self._folder / "provisioning"),
            "GF_SERVER_HTTP_ADDR": "127.0.0.1",
            "GF_SERVER_HTTP_PORT": str(self._port),
            "GF_AUTH_ANONYMOUS_ENABLED": "true",
            "GF_AUTH_ANONYMOUS_ORG_ROLE": "Viewer",
            "GF_ANALYTICS_REPORTING_ENABLED": "false",
            "GF_ANALYTICS_CHECK_FOR_UPDATES": "false",
            "GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES": "false",
        }

    def _is_ready(self) -> bool:
        try:
            with build_opener(ProxyHandler({})).open(f"{self.url}/api/health", timeout=1):
                return True
        except OSError:
            return False

    def __enter__(self) -> Self:
        self._provision()
        home = [f"--homepath={_HOME}"] if _HOME.is_dir() else []
        log = self._folder / "grafana.log"
        self._server = ChildServer([*command(), *home], log, self._is_ready, self._env())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.stop()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
