"""A process reports the same health to probes, callers and Prometheus."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import grpc
import httpx
import pytest
from grpc_health.v1 import health as library
from grpc_health.v1 import health_pb2, health_pb2_grpc

from atajo.links.v1 import links_pb2 as links_pb
from atajo.links.v1 import links_pb2_grpc as links_grpc
from services.shared import background
from services.shared.errors import AppError, Unavailable
from services.shared.observability import health as health_module
from services.shared.observability.health import Health
from services.shared.observability.monitoring_server import MonitoringServer
from services.shared.rpc import channels, client
from services.shared.settings import ProcessSettings
from tests.support.load_generator import fill_journal
from tests.support.mongo.tcp_proxy import TcpProxy
from tests.support.processes import NO_TLS, TIMEOUT_SECONDS, Process
from tests.support.product import PROCESSES, Product
from tests.support.waiting import RECOVERY_SECONDS, wait_until

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
NOTICED_SECONDS = 5.0
"""Seconds until a change is visible: a pause of a second, a check of a second, and tolerance."""
LINKS = "atajo.links.v1.LinksService"
LINKS_SERVICE = links_pb.DESCRIPTOR.services_by_name["LinksService"]


def observed(process: Process, path: str) -> httpx.Response:
    return httpx.get(f"http://{process.addresses['metrics']}{path}", verify=NO_TLS)


@pytest.fixture
def gate(mongo_url: str) -> Iterator[TcpProxy]:
    port = urlsplit(mongo_url).port
    assert port
    with TcpProxy(port) as shut:
        yield shut


async def test_a_service_is_ready_while_its_store_answers_and_alive_all_the_time(
    gate: TcpProxy, mongo_url: str, tmp_path: Path
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
    # Other reasons, such as a schema upgrade, log another line.
    turns = [change for change, _ in groupby(changes)]
    assert turns == ["dependency_away", "dependency_back", "dependency_away"]


async def test_a_store_is_down_while_its_file_cannot_be_written(tmp_path: Path) -> None:
    """A limit on file sizes simulates a full disk."""
    env = {"ATAJO_STORE": f"sqlite:///{tmp_path}/db", "ATAJO_PUBLIC_URL": "http://localhost:1"}
    with Process.start("services.links", env, tmp_path / "log") as process:
        async with channels.open_channel(process.grpc, LINKS_SERVICE) as channel:
            stub = links_grpc.LinksServiceStub(channel)
            caller = client.Caller(LINKS_SERVICE)

            async def create(n: int) -> None:
                request = links_pb.CreateLinkRequest(code=f"code{n:04}", url="a.example")
                await caller.unary("CreateLink", stub.CreateLink, request, 20)

            for n in range(30):
                await create(n)
            assert observed(process, "/readyz").json()["ready"]
            room = (tmp_path / "db-wal").stat().st_size
            resource.prlimit(process.popen.pid, resource.RLIMIT_FSIZE, (room, -1))
            with pytest.raises(Unavailable):
                await create(30)
            unwritable = {"ready": False, "dependencies": {"store": "STORE_UNWRITABLE"}}
            await asyncio.to_thread(
                wait_until,
                lambda: observed(process, "/readyz").json() == unwritable,
                RECOVERY_SECONDS,
            )
            known = links_pb.ResolveLinksRequest(codes=["code0001"])
            found = await caller.unary("ResolveLinks", stub.ResolveLinks, known, 20)
            assert found.resolutions, "what is there can be read all the same"
            resource.prlimit(process.popen.pid, resource.RLIMIT_FSIZE, (-1, -1))
            await asyncio.to_thread(
                wait_until, lambda: observed(process, "/readyz").json()["ready"], 15
            )
            await create(30)


def test_the_gateway_reports_failed_dependencies_and_stays_ready(tmp_path: Path) -> None:
    with Product(tmp_path, {"ATAJO_JOURNAL_BYTES": str(1 << 20)}) as product:
        product.start()
        base = product.metrics_url("gateway").removesuffix("/metrics")
        up = {"auth": "ok", "links": "ok", "analytics": "ok", "journal": "ok"}

        def said(**away: str) -> bool:
            readyz = product.http.get(f"{base}/readyz")
            assert readyz.status_code == 200
            return bool(readyz.json() == {"ready": True, "dependencies": up | away})

        assert said()
        code = product.shorten("https://example.com/")
        product.kill("links", "analytics")
        fill_journal(product.url, code)
        away = {"links": "UNAVAILABLE", "analytics": "UNAVAILABLE", "journal": "JOURNAL_FULL"}
        wait_until(lambda: said(**away), RECOVERY_SECONDS)
        product.start("links", "analytics")
        wait_until(said, RECOVERY_SECONDS)


def test_the_gateway_finishes_its_requests_before_it_stops(tmp_path: Path) -> None:
    body = b'{"data": {"email": "a@example.com", "password": "Camino-42"}}'
    head = (
        "POST /verifyUser HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    with Product(tmp_path, {"ATAJO_DRAIN_SECONDS": "20"}) as product:
        product.start()
        base = product.metrics_url("gateway").removesuffix("/metrics")
        os.kill(product.pid("auth"), signal.SIGSTOP)
        with _connected(product) as under_way:
            under_way.sendall(head.encode() + body)
            assert product.http.get(f"{base}/readyz").status_code == 200
            product.http.get(f"{product.url}/")  # Answered after the log-in was received.
            os.kill(product.pid("gateway"), signal.SIGTERM)
            wait_until(lambda: product.http.get(f"{base}/readyz").status_code == 503)
            assert product.http.get(f"{base}/livez").status_code == 200
            os.kill(product.pid("auth"), signal.SIGCONT)
            assert b"no exist" in under_way.recv(65536)
        assert product.stop("gateway") == 0

        # Fractions of a second work, too.
        product.settings["ATAJO_DRAIN_SECONDS"] = "0.9"
        product.start("gateway")
        with (
            product.suspended("auth"),
            product.suspended("links"),
            _connected(product) as under_way,
            _connected(product) as page,
        ):
            under_way.sendall(head.encode() + body)
            page.sendall(b"GET /zzzzzzzz+ HTTP/1.1\r\nhost: x\r\n\r\n")
            product.http.get(f"{product.url}/")  # Answered after both were received.
            started = time.monotonic()
            assert product.stop("gateway") == 0
            assert time.monotonic() - started >= 0.9, "calls were under way for all that time"
            answer = under_way.recv(65536)
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b'"status":"UNAVAILABLE"' in answer
            assert b'"reason":"STOPPING"' in answer
            assert page.recv(65536).startswith(b"HTTP/1.1 503 ")


def _connected(product: Product) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(product.url.rpartition(":")[2])))


async def test_a_thread_reports_a_blocked_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Much longer than delays on a busy machine, so that the first check is in time.
    monkeypatch.setattr(health_module, "MAX_STALL_SECONDS", 3.0)
    health = Health({}, needed=())
    observation = MonitoringServer("links", ProcessSettings(), health)
    await health.start()
    with ThreadPoolExecutor(1) as other:

        def look() -> int:
            return httpx.get(f"http://{observation.address}/livez", verify=NO_TLS).status_code

        assert await asyncio.to_thread(look) == 200
        until_still = other.submit(wait_until, lambda: look() == 503)
        until_still.result()  # Block the event loop.
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while await asyncio.to_thread(look) != 200:
                continue
    await health.stop()
    health.close()
    observation.close()


async def test_a_dependency_that_answers_late_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_process", background._Process())

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


async def test_a_dependency_is_down_after_two_failed_checks() -> None:
    looks = iter([True, False, True, False, False, True])
    seen: list[bool] = []
    done = asyncio.Event()

    async def answers() -> None:
        well = next(looks, None)
        if well is None:
            done.set()
        elif not well:
            raise Unavailable("It is away.", "SOME_REASON")

    async def tell(is_ready: bool) -> None:
        seen.append(is_ready)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(health_module, "_INTERVAL_SECONDS", 0.01)
        health = Health({"store": answers}, needed=["store"])
        await health.start()
        await health.set_serving(tell)
        await asyncio.wait_for(done.wait(), 10)
        await health.stop()
        health.close()
    assert seen == [True, False, True, False], "ready, two in a row, back, the end"


async def test_one_ready_replica_is_enough() -> None:
    """Other concurrent calls, which advance round robin, do not matter."""

    class Frozen(health_pb2_grpc.HealthServicer):
        async def Check(self, request: Any, context: Any) -> Any:  # noqa: N802
            await asyncio.sleep(60)

    states: tuple[Any, ...] = (SERVING, SERVING, NOT_SERVING)
    servicers = [await _servicer(state) for state in states]
    servers = [await _started(servicer) for servicer in (*servicers, Frozen())]
    ports = [port for _, port in servers]
    for sick in (ports[2], ports[3]):
        target = ",".join(f"127.0.0.1:{port}" for port in (*ports[:2], sick))
        async with channels.open_channel(f"ipv4:{target}", LINKS_SERVICE) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            async with asyncio.timeout(20):
                while not await _serves(channel):  # Until a healthy one is connected, too.
                    continue
            for turn in range(12):
                await channels.check_serving(channel)
                if turn % 2:
                    await asyncio.wait({asyncio.ensure_future(_any(stub))})
    target = f"127.0.0.1:{ports[2]}"
    async with channels.open_channel(target, LINKS_SERVICE) as channel:
        with pytest.raises(Unavailable) as away:
            await channels.check_serving(channel)
        assert away.value.reason == "NOT_READY"
    for server, _ in servers:
        await server.stop(None)


async def _servicer(status: Any) -> Any:
    """A health service with this state."""
    servicer = library.aio.HealthServicer()
    await servicer.set("", status)
    return servicer


async def _started(servicer: Any, target: str = "127.0.0.1:0") -> tuple[grpc.aio.Server, int]:
    """Start a server with a health service, and return its port."""
    server = grpc.aio.server()
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    port = server.add_insecure_port(target)
    await server.start()
    return server, port


async def test_a_new_channel_does_not_inherit_the_backoff_of_another() -> None:
    """One channel is in backoff for an address, the other finds the new server there."""
    refused = asyncio.Semaphore(0)

    def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()
        refused.release()

    listening = await asyncio.start_server(refuse, "127.0.0.1", 0)
    target = f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    async with channels.open_channel(target, LINKS_SERVICE) as earlier:
        earlier.get_state(try_to_connect=True)
        async with asyncio.timeout(20):
            for _ in range(4):  # Its backoff grows.
                await refused.acquire()
        listening.close()
        server, _ = await _started(await _servicer(SERVING), target)
        async with channels.open_channel(target, LINKS_SERVICE) as channel:
            await channels.check_serving(channel)
    await server.stop(None)


async def _serves(channel: grpc.aio.Channel) -> bool:
    try:
        await channels.check_serving(channel)
    except AppError:
        return False
    return True


async def _any(stub: Any) -> None:
    """Another client's call, to any replica."""
    with contextlib.suppress(grpc.aio.AioRpcError):
        await stub.Check(health_pb2.HealthCheckRequest(service="nobody's"), timeout=0.1)


@pytest.mark.parametrize("part", ["health", "heartbeat", "observation", "sqlite-write"])
async def test_a_failed_background_task_ends_the_process_and_leaves_no_caller_waiting(
    part: str, tmp_path: Path
) -> None:
    env = {
        "ATAJO_STORE": f"sqlite:///{tmp_path}/store.db",
        "ATAJO_PUBLIC_URL": "http://localhost:1",
        "BROKEN_PART": part,
    }
    with Process.start("tests.system.broken", env, tmp_path / "log") as process:
        async with channels.open_channel(process.grpc, LINKS_SERVICE) as channel:
            call = links_grpc.LinksServiceStub(channel).CreateLink
            request = links_pb.CreateLinkRequest(code="abcdefgh", url="a.example")
            caller = client.Caller(LINKS_SERVICE)
            asked = [caller.unary("CreateLink", call, request, 20) for _ in range(50)]
            answers = await asyncio.gather(*asked, return_exceptions=True)
        if part == "sqlite-write":
            assert {type(answer) for answer in answers} == {Unavailable}
        assert await asyncio.to_thread(process.wait) == 1
        lines = process.log_lines()
    (failure,) = (line for line in lines if line["event"] == "background_task_failed")
    assert failure["task"] == part
    assert "ZeroDivisionError" in str(failure["exception"])
    assert lines[-1]["event"] == "stopped"


def test_metrics_of_every_process_pass_promtool(product: Product) -> None:
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


async def test_a_silent_client_on_the_metrics_port_is_disconnected(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.shared.observability.monitoring_server._Handler.timeout", 0.5)
    health = Health({}, needed=())
    observation = MonitoringServer("links", ProcessSettings(), health)
    host, _, port = observation.address.partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as silent:
        silent.sendall(b"GET /livez HT")
        assert await asyncio.to_thread(silent.recv, 1) == b""
    observation.close()
    assert "Traceback" not in capfd.readouterr().err
