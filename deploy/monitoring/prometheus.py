"""A Prometheus on loopback, over a folder of its own, that looks at the product's processes."""

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
"""Stands in rules and dashboards for the address of the runbooks."""
_LABELS = {"app_kubernetes_io_part_of": "atajo"}
_SECONDS = 30.0


def rules(runbooks: str) -> str:
    """The rules, their runbooks at an address."""
    return (CHART / "rules.yaml").read_text(encoding="utf-8").replace(RUNBOOKS, runbooks)


class Prometheus:
    """As a context manager it runs from beginning to end.

    `every` is how often it looks and evaluates, `keep` for how long it remembers; both are
    durations of its own kind, such as `15s`.
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
        """Look at these addresses from now on, `host:port` by the name of a process.

        The name is its job, or begins with it, as `gateway-1` does.
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
        """Start and wait until it answers. Raises SystemExit with one line where it does not."""
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
        """The series an expression gives now, each with `metric` and `value`.

        Raises URLError where the expression is none.
        """
        result: list[dict[str, Any]] = self.get("query", query=expr)["result"]
        return result

    def get(self, what: str, **parameters: str) -> Any:
        """What its API tells. Raises URLError."""
        address = f"{self.url}/api/v1/{what}?{urlencode(parameters)}"
        with self._http.open(address, timeout=_SECONDS) as response:
            return json.load(response)["data"]

    def pages(self) -> str:
        """The beginning of its pages' addresses: Debian's has the classic ones alone."""
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
