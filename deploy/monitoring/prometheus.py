"""A Prometheus on loopback with its own folder, which scrapes the product's processes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

from deploy.local.settings import ROOT
from deploy.monitoring.child_server import ChildServer

CHART = ROOT / "charts" / "atajo" / "monitoring"
RUNBOOKS = "RUNBOOKS"
"""Placeholder for the URL of the runbooks in rules and dashboards."""
_LABELS = {"app_kubernetes_io_part_of": "atajo"}
_SECONDS = 30.0


def rules(runbooks: str) -> str:
    """Return the rules with the URL of the runbooks filled in."""
    return (CHART / "rules.yaml").read_text(encoding="utf-8").replace(RUNBOOKS, runbooks)


class Prometheus:
    """A Prometheus that runs while the context lasts.

    `every` is the scrape and evaluation interval, `keep` the retention; both are durations as
    Prometheus writes them, such as `15s`.
    """

    def __init__(
        self, folder: Path, port: int, rules: str, *, every: str = "2s", keep: str = "3d"
    ) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._folder = folder
        self._port = port
        self._rules = rules
        self._every = every
        self._keep = keep
        self._http = build_opener(ProxyHandler({}))

    def look_at(self, processes: Mapping[str, str]) -> None:
        """Scrape these addresses from now on: `host:port` by the name of a process.

        The name is the job, or begins with it, such as `gateway-1`.
        """
        targets = [
            {"targets": [address], "labels": {**_LABELS, "job": job, "instance": name}}
            for name, address in processes.items()
            for job in (name.partition("-")[0],)
        ]
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = self._folder / "targets.new"
        draft.write_text(json.dumps(targets), encoding="utf-8")
        draft.replace(self._folder / "targets.json")

    def start(self) -> None:
        """Start it and wait until it answers. Raises SystemExit with one line if it does not."""
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / "rules.yaml").write_text(self._rules, encoding="utf-8")
        config = self._folder / "prometheus.yml"
        config.write_text(json.dumps(self._config()), encoding="utf-8")  # JSON is YAML too.
        command = [
            "prometheus",
            f"--config.file={config}",
            f"--web.listen-address=127.0.0.1:{self._port}",
            "--log.level=warn",
            f"--storage.tsdb.path={self._folder / 'data'}",
            "--storage.tsdb.retention.size=1GB",
            f"--storage.tsdb.retention.time={self._keep}",
        ]
        self._server = ChildServer(command, self._folder / "prometheus.log", self._is_ready)

    def stop(self) -> None:
        """Stop it and wait for its end."""
        self._server.stop()

    def ask(self, expr: str) -> list[dict[str, Any]]:
        """Return the current series of an expression, each with `metric` and `value`.

        Raises URLError for an invalid expression.
        """
        result: list[dict[str, Any]] = self.get("query", query=expr)["result"]
        return result

    def get(self, what: str, **parameters: str) -> Any:
        """Return the answer of its API. Raises URLError."""
        address = f"{self.url}/api/v1/{what}?{urlencode(parameters)}"
        with self._http.open(address, timeout=_SECONDS) as response:
            return json.load(response)["data"]

    def pages(self) -> str:
        """Return the base URL of its pages. Debian's package has only the classic ones."""
        classic = f"{self.url}/classic"
        return classic if self._responds("/classic/alerts") else self.url

    def _is_ready(self) -> bool:
        return self._responds("/-/ready")

    def _responds(self, path: str) -> bool:
        try:
            with self._http.open(self.url + path, timeout=1):
                return True
        except OSError:
            return False

    def _config(self) -> dict[str, Any]:
        files = {"files": [str(self._folder / "targets.json")], "refresh_interval": "5s"}
        scrape = {"job_name": "atajo", "file_sd_configs": [files]}
        return {
            "global": {"scrape_interval": self._every, "evaluation_interval": self._every},
            "rule_files": [str(self._folder / "rules.yaml")],
            "scrape_configs": [scrape],
        }

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
