"""A Prometheus on loopback with its own folder, which scrapes the product's processes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode

from deploy.local.settings import ROOT
from deploy.monitoring.child_server import http, responds, run_server
from deploy.monitoring.grafana import RUNBOOKS

CHART = ROOT / "charts" / "atajo" / "monitoring"
_LABELS = {"app_kubernetes_io_part_of": "atajo"}
_SECONDS = 30.0


def rules(runbooks: str) -> str:
    """Return the rules with the URL of the runbooks filled in."""
    return (CHART / "rules.yaml").read_text(encoding="utf-8").replace(RUNBOOKS, runbooks)


class Prometheus:
    """A Prometheus that runs while the context lasts.

    `every` is the scrape and evaluation interval, a duration as Prometheus writes it: `15s`.
    """

    def __init__(self, folder: Path, port: int, rules: str, *, every: str = "2s") -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._folder = folder
        self._port = port
        self._rules = rules
        self._every = every
        self._server = ExitStack()

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

    def __enter__(self) -> Self:
        """Start it and wait until it answers. Raises SystemExit with one line if it does not."""
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / "rules.yaml").write_text(self._rules, encoding="utf-8")
        files = {"files": [str(self._folder / "targets.json")], "refresh_interval": "5s"}
        settings = {
            "global": {"scrape_interval": self._every, "evaluation_interval": self._every},
            "rule_files": [str(self._folder / "rules.yaml")],
            "scrape_configs": [{"job_name": "atajo", "file_sd_configs": [files]}],
        }
        config = self._folder / "prometheus.yml"
        config.write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML too.
        command = [
            "prometheus",
            f"--config.file={config}",
            f"--web.listen-address=127.0.0.1:{self._port}",
            "--log.level=warn",
            f"--storage.tsdb.path={self._folder / 'data'}",
            "--storage.tsdb.retention.size=1GB",
            "--storage.tsdb.retention.time=3d",
        ]
        log = self._folder / "prometheus.log"
        self._server.enter_context(run_server(command, log, f"{self.url}/-/ready"))
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it and wait for its end."""
        self._server.close()

    def ask(self, expr: str) -> list[dict[str, Any]]:
        """Return the current series of an expression, each with `metric` and `value`.

        Raises URLError for an invalid expression.
        """
        result: list[dict[str, Any]] = self.get("query", query=expr)["result"]
        return result

    def get(self, what: str, **parameters: str) -> Any:
        """Return the answer of its API. Raises URLError."""
        address = f"{self.url}/api/v1/{what}?{urlencode(parameters)}"
        with http.open(address, timeout=_SECONDS) as response:
            return json.load(response)["data"]

    def pages(self) -> str:
        """Return the base URL of its pages. Debian's package has only the classic ones."""
        classic = f"{self.url}/classic"
        return classic if responds(f"{classic}/alerts") else self.url
