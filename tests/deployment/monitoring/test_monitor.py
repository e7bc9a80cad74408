"""`make monitor` follows a run through its restarts and leaves nothing behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.deployment.monitoring.rules import alerts
from tests.support.ports import free_port
from tests.support.processes import BACKGROUND_SHELL, NO_TLS, ROOT, TIMEOUT_SECONDS
from tests.support.product import PROCESSES, Product
from tests.support.waiting import wait_until

_STAND_IN = f"""#!{sys.executable}
import http.server, os
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
address = os.environ["GF_SERVER_HTTP_ADDR"], int(os.environ["GF_SERVER_HTTP_PORT"])
http.server.HTTPServer(address, Health).serve_forever()
"""


class Monitor:
    """A monitor of a data folder, and the URLs that it prints."""

    def __init__(self, folder: Path, path: str = os.environ["PATH"]) -> None:
        self.port = free_port()
        self._http = httpx.Client(trust_env=False, timeout=TIMEOUT_SECONDS, verify=NO_TLS)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "deploy.monitoring"],
            cwd=ROOT,
            env={
                **os.environ,
                "PATH": path,
                "ATAJO_DATA_DIR": str(folder),
                "ATAJO_MONITOR_PORT": str(self.port),
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        found = re.fullmatch(r"Look at (\S+) \(Prometheus: (\S+), Grafana: (.+)\)\n", line)
        assert found, line
        self.page, self.prometheus, self.grafana = found.groups()

    def get(self, address: str) -> httpx.Response:
        return self._http.get(address)

    def up(self) -> dict[str, str]:
        """Return whether Prometheus reaches each job."""
        answer = self.get(f"{self.prometheus}/api/v1/query?query=up").json()
        return {one["metric"]["job"]: one["value"][1] for one in answer["data"]["result"]}

    def interrupt(self) -> int:
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(TIMEOUT_SECONDS)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.kill()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._http.close()


@contextmanager
def monitoring(folder: Path, path: str = os.environ["PATH"]) -> Iterator[Monitor]:
    monitor = Monitor(folder, path)
    try:
        yield monitor
    finally:
        monitor.close()


def write_state(folder: Path, product: Product) -> None:
    """Return a run's state file."""
    addresses = {
        name: {"metrics": product.metrics_url(name).split("/")[2], "pid": product.pid(name)}
        for name in PROCESSES
    }
    (folder / "run.json").write_text(json.dumps({"processes": addresses}))


def ended(port: int) -> bool:
    try:
        httpx.get(f"http://127.0.0.1:{port}/", trust_env=False, verify=NO_TLS)
    except httpx.TransportError:
        return True
    return False


def test_it_follows_a_run_and_links_to_everything(tmp_path: Path) -> None:
    with Product(tmp_path) as product, monitoring(tmp_path) as monitor:
        assert monitor.up() == {}
        product.start()
        write_state(tmp_path, product)
        wait_until(lambda: monitor.up() == dict.fromkeys(PROCESSES, "1"))
        (tmp_path / "run.json").unlink()
        product.kill("links")
        wait_until(lambda: monitor.up() == {**dict.fromkeys(PROCESSES, "1"), "links": "0"})
        product.start("links")
        write_state(tmp_path, product)
        wait_until(lambda: monitor.up() == dict.fromkeys(PROCESSES, "1"))

        answer = monitor.get(f"{monitor.prometheus}/api/v1/rules?type=alert").json()
        loaded = [rule for group in answer["data"]["groups"] for rule in group["rules"]]
        assert {rule["name"] for rule in loaded} == {alert.name for alert in alerts()}
        for rule in loaded:
            runbook = monitor.get(rule["annotations"]["runbook_url"])
            assert runbook.text.startswith(f"# {rule['name']}\n")
        page = monitor.get(monitor.page).text
        links = re.findall(r"href='([^']+)'", page.replace("&amp;", "&"))
        assert len(links) > 50
        for link in links:
            address = link if link.startswith("http") else f"{monitor.page}/{link}"
            assert monitor.get(address).status_code == 200, address


def test_a_data_folder_that_it_makes_belongs_to_its_user_alone(tmp_path: Path) -> None:
    """Otherwise a run that starts later might refuse it."""
    folder = tmp_path / "data"
    umask = os.umask(0)
    try:
        with monitoring(folder):
            made = [folder, folder / "monitoring"]
            assert {path.stat().st_mode & 0o077 for path in made} == {0}
    finally:
        os.umask(umask)


def test_an_interrupt_ends_everything_it_started(tmp_path: Path) -> None:
    with monitoring(tmp_path) as monitor:
        assert monitor.interrupt() == 0
        assert ended(monitor.port)


def test_an_interrupt_during_the_start_ends_all_even_in_the_background(tmp_path: Path) -> None:
    port = free_port()
    settings = {"ATAJO_DATA_DIR": str(tmp_path), "ATAJO_MONITOR_PORT": str(port)}
    process = subprocess.Popen(
        [*BACKGROUND_SHELL, sys.executable, "-m", "deploy.monitoring"],
        cwd=ROOT,
        env={**os.environ, **settings},
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: (tmp_path / "monitoring" / "prometheus.log").exists())
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_SECONDS) == 0
        wait_until(lambda: ended(port))
    finally:
        process.kill()
        process.wait()


def test_everything_it_started_ends_when_it_is_killed(tmp_path: Path) -> None:
    with monitoring(tmp_path) as monitor:
        monitor.kill()
        wait_until(lambda: ended(monitor.port))


def test_a_port_in_use_is_reported_in_one_line(tmp_path: Path) -> None:
    with monitoring(tmp_path) as monitor:
        env = {**os.environ, "ATAJO_DATA_DIR": str(tmp_path)}
        env["ATAJO_MONITOR_PORT"] = str(monitor.port)
        second = subprocess.run(
            [sys.executable, "-m", "deploy.monitoring"],
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert second.returncode == 1
        assert second.stderr.count("\n") == 1
        assert "ATAJO_MONITOR_PORT" in second.stderr


@pytest.fixture
def path_with_grafana(tmp_path: Path) -> str:
    """Return a PATH with a fake Grafana, which only listens."""
    program = tmp_path / "bin" / "grafana"
    program.parent.mkdir()
    program.write_text(_STAND_IN)
    program.chmod(0o755)
    return f"{program.parent}{os.pathsep}{os.environ['PATH']}"


def read(file: Path) -> dict[str, Any]:
    model: dict[str, Any] = json.loads(file.read_text())
    return model


def test_grafana_gets_its_data_source_and_the_dashboards(
    tmp_path: Path, path_with_grafana: str
) -> None:
    with monitoring(tmp_path, path_with_grafana) as monitor:
        folder = tmp_path / "monitoring" / "grafana"
        provisioning = folder / "provisioning"
        (source,) = read(provisioning / "datasources" / "atajo.yaml")["datasources"]
        assert source["url"] == monitor.prometheus
        (provider,) = read(provisioning / "dashboards" / "atajo.yaml")["providers"]
        models = [read(file) for file in Path(provider["options"]["path"]).iterdir()]
        assert "atajo-overview" in {model["uid"] for model in models}
        panels = [panel for model in models for panel in model["panels"]]
        runbooks = {link["url"] for panel in panels for link in panel.get("links", [])}
        assert runbooks
        for runbook in runbooks:
            assert monitor.get(runbook).status_code == 200
        port = int(monitor.grafana.rpartition(":")[2])
        assert not ended(port)
        assert monitor.interrupt() == 0
        assert ended(port)
