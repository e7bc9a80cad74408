"""A Prometheus on loopback, over a folder of its own, that looks at the product's processes."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

from deploy.local.settings import ROOT

CHART = ROOT / "charts" / "atajo" / "monitoring"
RUNBOOKS = "RUNBOOKS"
"""Stands in rules and dashboards for the address of the runbooks."""
_LABELS = {"app_kubernetes_io_part_of": "atajo"}
_PATIENCE = 30.0
_HELD = 'trap "" INT; exec 3<&0; "$@" 3<&- & child=$!; (cat <&3; kill $child) & wait $child'
"""A shell that ends what it runs when its own input ends: when we do, however that comes."""


def rules(runbooks: str) -> str:
    """The rules, their runbooks at an address."""
    return (CHART / "rules.yaml").read_text(encoding="utf-8").replace(RUNBOOKS, runbooks)


class Prometheus:
    """As a context manager it runs from beginning to end.

    `every` is how often it looks and evaluates, `keep` for how long it remembers; both are
    durations of its own kind, such as `15s`.
    """

    def __init__(
        self, folder: Path, port: int, rules: str, *, every: str = "5s", keep: str = "3d"
    ) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"
        self._port = port
        self._rules = rules
        self._every = every
        self._keep = keep
        self._http = build_opener(ProxyHandler({}))

    def look_at(self, processes: Mapping[str, str]) -> None:
        """Look at these addresses from now on, each `host:port` under the name of its job."""
        targets = [
            {"targets": [address], "labels": {**_LABELS, "job": job, "instance": job}}
            for job, address in processes.items()
        ]
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.folder / "targets.new"
        draft.write_text(json.dumps(targets), encoding="utf-8")
        draft.replace(self.folder / "targets.json")

    def start(self) -> None:
        """Start and wait until it answers. Raises SystemExit with one line where it does not."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "rules.yaml").write_text(self._rules, encoding="utf-8")
        config = self.folder / "prometheus.yml"
        config.write_text(json.dumps(self._config()), encoding="utf-8")  # JSON is YAML too.
        command = ["prometheus", f"--config.file={config}"]
        command += [f"--web.listen-address=127.0.0.1:{self._port}", "--log.level=warn"]
        command += [
            f"--storage.tsdb.path={self.folder / 'data'}",
            "--storage.tsdb.retention.size=1GB",
        ]
        command += [f"--storage.tsdb.retention.time={self._keep}"]
        log = self.folder / "prometheus.log"
        with log.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603
                ["/bin/sh", "-c", _HELD, "sh", *command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
            )
        deadline = time.monotonic() + _PATIENCE
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise SystemExit(f"Prometheus did not start: {log.read_text().strip()[-500:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop it and wait for its end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def ask(self, expr: str) -> list[dict[str, Any]]:
        """The series an expression gives now, each with `metric` and `value`. Raises ValueError."""
        answer: dict[str, Any] = self.get("query", query=expr)
        result: list[dict[str, Any]] = answer["result"]
        return result

    def get(self, what: str, **parameters: str) -> Any:
        """What its API answers. Raises URLError, which names what it does not take."""
        address = f"{self.url}/api/v1/{what}?{urlencode(parameters)}"
        with self._http.open(address, timeout=_PATIENCE) as response:
            return json.load(response)["data"]

    def _is_ready(self) -> bool:
        try:
            with self._http.open(f"{self.url}/-/ready", timeout=1) as response:
                return bool(response.status == 200)
        except (URLError, OSError):
            return False

    def _config(self) -> dict[str, Any]:
        files = {"files": [str(self.folder / "targets.json")], "refresh_interval": "5s"}
        scrape = {"job_name": "atajo", "file_sd_configs": [files]}
        return {
            "global": {"scrape_interval": self._every, "evaluation_interval": self._every},
            "rule_files": [str(self.folder / "rules.yaml")],
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
