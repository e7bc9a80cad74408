"""What a process says of itself: to probes, to callers and to Prometheus, all the same."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import grpc
import httpx
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.runtime import heartbeat
from services.runtime.errors import Unavailable
from services.runtime.health import Health
from services.runtime.observation import ObservationServer
from services.runtime.settings import ProcessSettings
from tests.mongo.gate import Gate
from tests.processes import Process
from tests.product import PROCESSES, Product
from tests.waiting import await_that

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
NOTICED_SECONDS = 5.0
"""How soon a change is seen: a second's pause and a second's check, and leeway."""
LINKS = "atajo.links.v1.LinksService"


def observed(process: Process, path: str) -> httpx.Response:
    return httpx.get(f"http://{process.addresses['metrics']}{path}")


@pytest.fixture
def gate(mongo_url: str) -> Iterator[Gate]:
    port = urlsplit(mongo_url).port
    assert port
    with Gate(port) as shut:
        yield shut


async def test_a_service_is_ready_while_its_store_answers_and_alive_all_the_time(
    gate: Gate, mongo_url: str, tmp_path: Path
) -> None:
    env = {"ATAJO_STORE": gate.through(mongo_url), "ATAJO_PUBLIC_URL": "http://localhost:1"}
    with Process.start("services.links", env, tmp_path / "log") as process:
        async with grpc.aio.insecure_channel(process.grpc) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            for state, change in (
                (NOT_SERVING, gate.open),
                (SERVING, gate.shut),
                (NOT_SERVING, None),
            ):
                watch = stub.Watch(health_pb2.HealthCheckRequest())
                async with asyncio.timeout(NOTICED_SECONDS):
                    while (await watch.read()).status != state:
                        continue
                watch.cancel()
                by_name = await stub.Check(health_pb2.HealthCheckRequest(service=LINKS))
                alive = await stub.Check(health_pb2.HealthCheckRequest(service="liveness"))
                assert (by_name.status, alive.status) == (state, SERVING)

                up = state == SERVING
                readyz = observed(process, "/readyz")
                reason = "ok" if up else "STORE_UNAVAILABLE"
                assert readyz.json() == {"ready": up, "dependencies": {"store": reason}}
                assert readyz.status_code == (200 if up else 503)
                assert observed(process, "/livez").status_code == 200
                metrics = observed(process, "/metrics").text.splitlines()
                assert f"atajo_ready {float(up)}" in metrics
                assert f'atajo_dependency_up{{dependency="store"}} {float(up)}' in metrics
                if change:
                    change()
    events = [str(line["event"]) for line in process.log_lines()]
    changes = [event for event in events if event.startswith("dependency_")]
    assert changes == ["dependency_away", "dependency_back", "dependency_away"]


def test_the_gateway_names_the_service_that_is_away_and_stays_ready(tmp_path: Path) -> None:
    with Product(tmp_path) as product:
        product.start()
        base = product.metrics_url("gateway").removesuffix("/metrics")
        up = {"auth": "ok", "links": "ok", "analytics": "ok", "journal": "ok"}
        assert product.http.get(f"{base}/readyz").json() == {"ready": True, "dependencies": up}

        def said(dependencies: dict[str, str]) -> bool:
            readyz = product.http.get(f"{base}/readyz")
            assert readyz.status_code == 200
            return bool(readyz.json() == {"ready": True, "dependencies": dependencies})

        product.kill("links")
        await_that(lambda: said(up | {"links": "UNAVAILABLE"}))
        product.start("links")
        await_that(lambda: said(up))


def test_the_gateway_says_that_its_journal_is_full(tmp_path: Path) -> None:
    with Product(tmp_path, {"ATAJO_JOURNAL_BYTES": str(1 << 20)}) as product:
        product.start()
        base = product.metrics_url("gateway").removesuffix("/metrics")

        def journal() -> str:
            state: str = product.http.get(f"{base}/readyz").json()["dependencies"]["journal"]
            return state

        code = product.shorten("https://example.com/")
        product.kill("analytics")
        host = ".".join(["x" * 60] * 4)
        for n in range(5000):
            product.visit(code, {"referer": f"https://h{n}.{host}/"})
        await_that(lambda: journal() == "JOURNAL_FULL")
        product.start("analytics")
        await_that(lambda: journal() == "ok")


def test_the_gateway_is_not_ready_while_it_stops(tmp_path: Path) -> None:
    with Product(tmp_path, {"ATAJO_DRAIN_SECONDS": "20"}) as product:
        product.start()
        base = product.metrics_url("gateway").removesuffix("/metrics")
        os.kill(product.pid("auth"), signal.SIGSTOP)
        log_in = b'{"data": {"email": "a@example.com", "password": "Camino-42"}}'
        head = (
            "POST /verifyUser HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
            f"content-length: {len(log_in)}\r\n\r\n"
        )
        with socket.create_connection(
            ("127.0.0.1", int(product.url.rpartition(":")[2]))
        ) as under_way:
            under_way.sendall(head.encode() + log_in)
            assert product.http.get(f"{base}/readyz").status_code == 200
            product.http.get(f"{product.url}/")  # Answered after the log-in was taken in.
            os.kill(product.pid("gateway"), signal.SIGTERM)
            await_that(lambda: product.http.get(f"{base}/readyz").status_code == 503)
            assert product.http.get(f"{base}/livez").status_code == 200
            os.kill(product.pid("auth"), signal.SIGCONT)
            assert b"no exist" in under_way.recv(65536)
        assert product.stop("gateway") == 0


async def test_a_loop_that_stands_still_is_told_by_a_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(heartbeat, "STILL_SECONDS", 1.0)
    health = Health({}, needed=())
    observation = ObservationServer("links", ProcessSettings(), health)
    await health.start()
    with ThreadPoolExecutor(1) as other:

        def look() -> tuple[int, int]:
            url = f"http://{observation.address}/livez"
            before = httpx.get(url).status_code
            time.sleep(1.5)
            return before, httpx.get(url).status_code

        looking = other.submit(look)
        assert looking.result() == (200, 503), "the loop waited here, and could do nothing else"
        await asyncio.sleep(1)
        assert (await asyncio.to_thread(look)) == (200, 200)
    await health.stop()
    health.close()
    observation.close()


async def test_a_dependency_that_answers_late_is_away() -> None:
    async def never() -> None:
        await asyncio.sleep(60)

    async def broken() -> None:
        raise ZeroDivisionError

    async def away() -> None:
        raise Unavailable("It is away.", "SOME_REASON")

    health = Health({"slow": never, "broken": broken, "away": away}, needed=["slow"])
    await health.start()
    assert health.dependencies == {
        "slow": "NO_ANSWER",
        "broken": "ZeroDivisionError",
        "away": "SOME_REASON",
    }
    assert not health.ready
    await health.stop()
    health.close()


def test_what_every_process_exposes_passes_promtool(product: Product) -> None:
    product.visit(product.shorten("https://example.com/"))
    product.log_in(product.register())
    for name in PROCESSES:
        metrics = product.http.get(product.metrics_url(name)).text
        try:
            checked = subprocess.run(
                ["promtool", "check", "metrics"], input=metrics, text=True, capture_output=True
            )
        except FileNotFoundError:
            pytest.fail("promtool is needed: apt-get install prometheus", pytrace=False)
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
        assert f'atajo_build_info{{service="{name}",version="dev"}} 1.0' in metrics
        for family in ("process_cpu_seconds_total", "python_info", "atajo_event_loop_lag_seconds"):
            assert f"# TYPE {family} " in metrics
        public = product.http.get(f"{product.url}/metrics")
        assert public.status_code == 404
        assert "atajo_" not in public.text


async def test_who_is_silent_on_the_metrics_port_is_left(
    capfd: pytest.CaptureFixture[str],
) -> None:
    health = Health({}, needed=())
    observation = ObservationServer("links", ProcessSettings(), health)
    host, _, port = observation.address.partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as silent:
        silent.sendall(b"GET /livez HT")
        assert await asyncio.to_thread(silent.recv, 1) == b""
    observation.close()
    assert "Traceback" not in capfd.readouterr().err
