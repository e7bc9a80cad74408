"""The run of the image: in production, with settings as compose files pass them on."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.deployment.local.test_run import LocalRun, listening_of, refused
from tests.support.gateway_client import GatewayClient
from tests.support.ports import free_port
from tests.support.processes import NO_TLS
from tests.support.product import PROCESSES
from tests.support.waiting import wait_until

METRICS = ("gateway", "auth", "links", "analytics", "reconciler")
"""The processes in the order of their metrics ports."""
EMPTY = (
    *("STORE", "BIND", "PUBLIC_URL", "LOG_LEVEL", "CONTACT", "COUNTRIES_FILE", "BLOCKLIST_DIR"),
    *("TRUSTED_HOPS", "TRUSTED_PROXIES", "STATISTICS_DAYS", "LIMITS", "TOKEN_SECRET"),
    *("DRAIN_SECONDS", "JOURNAL_BYTES", "CORS_ORIGINS", "LIMIT_CREATIONS", "BCRYPT_THREADS"),
)
"""Settings that a compose file passes on as `${X:-}`."""
PRODUCTION = {"ATAJO_ENVIRONMENT": "production"} | {f"ATAJO_{name}": "" for name in EMPTY}


def free_ports(count: int) -> int:
    """Return the first of several free ports in a row."""
    while True:
        first = free_port()
        with ExitStack() as probes:
            try:
                for port in range(first, first + count):
                    probes.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
        return first


def started(folder: Path, settings: Mapping[str, str]) -> LocalRun:
    """Start a run whose first line is not on standard output, and wait until it serves."""
    run = LocalRun(folder, settings)
    wait_until(lambda: run.popen.poll() is not None or has_all(folder))
    assert run.popen.poll() is None, run.end()
    run.state = json.loads((folder / "run.json").read_text())
    return run


def has_all(folder: Path) -> bool:
    try:
        return "reconciler" in json.loads((folder / "run.json").read_text())["processes"]
    except FileNotFoundError:
        return False


def records(text: str) -> list[dict[str, Any]]:
    """Return the log records of which a text consists."""
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def metrics_port() -> int:
    """Return the first metrics port of `running`."""
    return free_ports(len(METRICS))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, metrics_port: int) -> Iterator[LocalRun]:
    """Return a run on all addresses that no test stops."""
    settings = {"ATAJO_BIND": "0.0.0.0", "ATAJO_METRICS_PORT": str(metrics_port)}
    with started(tmp_path_factory.mktemp("production"), PRODUCTION | settings) as run:
        yield run


def test_metrics_are_on_ports_in_a_row_at_the_address_of_the_product(
    running: LocalRun, metrics_port: int
) -> None:
    for port, name in enumerate(METRICS, metrics_port):
        assert running.state["processes"][name]["metrics"] == f"0.0.0.0:{port}"
        assert httpx.get(f"http://127.0.0.1:{port}/livez", verify=NO_TLS).status_code == 200
    ports = (running.port, *range(metrics_port, metrics_port + len(METRICS)))
    assert set().union(*map(listening_of, running.pids)) == {str(port) for port in ports}
    assert running.state["processes"]["gateway"]["http"] == f"0.0.0.0:{running.port}"


def test_an_empty_setting_counts_as_not_set(running: LocalRun) -> None:
    """Processes refuse most of them."""
    assert running.state["url"] == f"http://localhost:{running.port}"
    contact = "contact@localhost"
    assert contact in httpx.get(f"{running.url}/privacy", verify=NO_TLS).text


def test_the_limits_of_a_deployment_apply(running: LocalRun) -> None:
    with GatewayClient(f"http://localhost:{running.port}") as client:
        statuses = [
            client.http.get(f"{running.url}/api/v1/links", headers={"Authorization": "Bearer x"})
            for _ in range(61)
        ]
    assert [response.status_code for response in statuses[:60]] == [401] * 60
    assert statuses[60].status_code == 429


def test_all_lines_are_log_records(tmp_path: Path) -> None:
    with started(tmp_path, PRODUCTION) as run:
        run.popen.terminate()
        code, stdout, stderr = run.end()
    assert (code, stdout) == (0, "")
    lines = records(stderr)
    assert {line["service"] for line in lines} == {"supervisor", *PROCESSES}
    (ready,) = [line for line in lines if line["service"] == "supervisor"]
    assert ready["event"] == "ready"
    assert ready["level"] == "info"
    assert ready["url"] == run.url
    assert ready["message"] == f"Atajo is ready: {run.url}"


def test_a_process_that_dies_is_a_log_record(tmp_path: Path) -> None:
    """The level is that of the setting, so it is the only one."""
    with started(tmp_path, PRODUCTION | {"ATAJO_LOG_LEVEL": "error"}) as run:
        os.kill(run.pid("analytics"), signal.SIGKILL)
        code, stdout, stderr = run.end()
    assert (code, stdout) == (137, "")
    (line,) = records(stderr)
    assert line["event"] == "process_failed"
    assert line["process"] == "analytics"
    assert line["message"] == "analytics died with code 137; Atajo stops."


def test_a_run_may_listen_on_ipv6(tmp_path: Path) -> None:
    with started(tmp_path, {"ATAJO_BIND": "::1"}) as run:
        assert httpx.get(f"http://[::1]:{run.port}/", verify=NO_TLS).status_code == 200
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"http://127.0.0.1:{run.port}/", verify=NO_TLS)


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("BIND", "everywhere", "ATAJO_BIND: "),
        ("BIND", "192.0.2.1", "Cannot use the address 192.0.2.1 (cannot assign requested address)"),
        ("METRICS_PORT", "65532", "ATAJO_METRICS_PORT: "),
        ("ENVIRONMENT", "staging", "ATAJO_ENVIRONMENT: "),
    ],
)
def test_a_wrong_setting_is_one_line(tmp_path: Path, name: str, value: str, part: str) -> None:
    assert part in refused(LocalRun(tmp_path, {f"ATAJO_{name}": value}))


def test_the_metrics_ports_are_not_that_of_the_product(tmp_path: Path) -> None:
    port = free_port()
    line = refused(LocalRun(tmp_path, {"ATAJO_METRICS_PORT": str(port - 4)}, port))
    assert "ATAJO_METRICS_PORT: " in line
    assert "must not be ATAJO_PORT" in line


def test_a_taken_metrics_port_is_refused(
    running: LocalRun, metrics_port: int, tmp_path: Path
) -> None:
    settings = {"ATAJO_BIND": "0.0.0.0", "ATAJO_METRICS_PORT": str(metrics_port - 2)}
    line = refused(LocalRun(tmp_path, settings))
    assert f"Cannot use port {metrics_port} (address already in use): set ATAJO_METRICS" in line
