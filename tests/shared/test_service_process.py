"""Behavior common to all service processes: startup, health, logs, metrics, draining."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from atajo.analytics.v1 import analytics_pb2 as visits_pb
from atajo.analytics.v1 import analytics_pb2_grpc as visits_grpc
from atajo.auth.v1 import auth_pb2 as accounts_pb
from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.shared.errors import (
    DeadlineExceeded,
    Internal,
    InvalidArgument,
    ResourceExhausted,
    Unavailable,
)
from services.shared.observability import request_id
from services.shared.rpc import channels, client, status
from tests.support.processes import Process
from tests.support.waiting import wait_until

LINKS = pb.DESCRIPTOR.services_by_name["LinksService"]
ANALYTICS = visits_pb.DESCRIPTOR.services_by_name["AnalyticsService"]
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
# Their type stubs know nothing of asynchronous channels.
HealthStub: Any = health_pb2_grpc.HealthStub
ServerReflectionStub: Any = reflection_pb2_grpc.ServerReflectionStub
ReflectionRequest: Any = reflection_pb2.ServerReflectionRequest


def env(folder: Path, **settings: str) -> dict[str, str]:
    """Return the settings of a service with the store `store.db` in a folder."""
    return {
        "ATAJO_STORE": f"sqlite:///{folder}/store.db",
        "ATAJO_PUBLIC_URL": "https://atajo.example",
        **settings,
    }


def start(name: str, folder: Path, **settings: str) -> Process:
    return Process.start(f"services.{name}", env(folder, **settings), folder / "log")


@asynccontextmanager
async def opened(process: Process) -> AsyncIterator[grpc.aio.Channel]:
    async with channels.open_channel(process.grpc, LINKS) as channel:
        yield channel


@asynccontextmanager
async def answered_by(
    method: str, handler: grpc.RpcMethodHandler[Any, Any], concurrent_calls: int | None = None
) -> AsyncIterator[grpc.aio.Channel]:
    """Serve one method of links in this process, and open a channel to it."""
    server = grpc.aio.server(maximum_concurrent_rpcs=concurrent_calls)
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler(LINKS.full_name, {method: handler})]
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with channels.open_channel(f"127.0.0.1:{port}", LINKS) as channel:
        yield channel
    await server.stop(None)


async def record(channel: grpc.aio.Channel, number: int) -> bool:
    """Record one visit of `abcdefgh`."""
    request = visits_pb.RecordVisitsRequest(gateway_id="one", batch_number=number)
    request.visits.add(code="abcdefgh", hour=1, kind=visits_pb.VISIT_KIND_PERSON, count=1)
    call = visits_grpc.AnalyticsServiceStub(channel).RecordVisits
    reply = await client.Caller(ANALYTICS).unary("RecordVisits", call, request, 20)
    return reply.applied


async def test_a_service_may_listen_on_unix_sockets(tmp_path: Path) -> None:
    wanted = {"grpc": f"unix:{tmp_path}/calls%20of%20links", "admin": f"unix:{tmp_path}/admin"}
    settings = {"ATAJO_LISTEN": wanted["grpc"], "ATAJO_ADMIN_LISTEN": wanted["admin"]}
    with start("links", tmp_path, **settings) as process:
        assert wanted.items() <= process.addresses.items()
        assert (tmp_path / "calls of links").is_socket()
        for address in wanted.values():
            async with channels.open_channel(address, LINKS) as channel:
                await channels.check_serving(channel)
        assert process.stop() == 0


def test_a_socket_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    env = {
        "ATAJO_STORE": f"sqlite:///{tmp_path}/links.sqlite3",
        "ATAJO_PUBLIC_URL": "http://localhost:1",
        "ATAJO_LISTEN": f"unix:{tmp_path}/{'long' * 30}",
    }
    with Process.launch("services.links", env, tmp_path / "log") as process:
        assert process.wait() == 1
        assert "Cannot listen on unix:" in process.stderr().splitlines()[-1]
        assert process.stderr().endswith("or the path has more than 107 bytes.\n")


@pytest.mark.parametrize("name", ["auth", "links", "analytics"])
async def test_each_port_serves_and_announces_only_its_own_services(
    name: str, tmp_path: Path
) -> None:
    descriptors = {"auth": accounts_pb, "links": pb, "analytics": visits_pb}[name].DESCRIPTOR
    services = list(descriptors.services_by_name.values())
    names = (f"{name.title()}Service", "AdministrationService")
    public = [service for service in services if service.name in names]
    admin = [service for service in services if service not in public]
    settings = {
        "ATAJO_TOKEN_SECRET": "x" * 48,
        "ATAJO_OIDC_ISSUER": "http://127.0.0.1:1",  # Without it, its calls are unimplemented.
        "ATAJO_OIDC_CLIENT_ID": "atajo",
        "ATAJO_OIDC_CLIENT_SECRET": "secret",
    }
    with start(name, tmp_path, **settings) as process:
        assert process.addresses["admin"].startswith("127.0.0.1:")
        for listener, known, unknown in (("grpc", public, admin), ("admin", admin, public)):
            async with grpc.aio.insecure_channel(process.addresses[listener]) as channel:
                for service in services:
                    for method in service.methods:
                        code = await ending(channel, service.full_name, method.name)
                        assert (code == "UNIMPLEMENTED") == (service in unknown), method.full_name
                for full_name in ("", *(service.full_name for service in known)):
                    request = health_pb2.HealthCheckRequest(service=full_name)
                    assert (await HealthStub(channel).Check(request)).status == SERVING
                stub = ServerReflectionStub(channel)
                listing = ReflectionRequest(list_services="")
                async for reply in stub.ServerReflectionInfo(iter([listing])):
                    found = {service.name for service in reply.list_services_response.service}
                assert found == {
                    *(service.full_name for service in known),
                    "grpc.health.v1.Health",
                    "grpc.reflection.v1alpha.ServerReflection",
                }
        process.cut_lifeline()
        assert process.wait() == 0
        assert process.log_lines()[-1]["event"] == "stopped"
    # Only the operator port has methods that remove data.
    methods = {method.name for service in public for method in service.methods}
    assert not methods & {"CloseAccount", "RemoveAccount"}
    assert not [method for method in methods if method.startswith("Purge")]


async def ending(channel: grpc.aio.Channel, service: str, method: str) -> str:
    """Return the status of a call with an empty request."""
    call: Any = channel.unary_unary(f"/{service}/{method}")
    try:
        await call(b"", timeout=20)
    except grpc.aio.AioRpcError as error:
        return error.code().name
    return "OK"


async def test_draining_reports_not_serving_and_finishes_the_running_call(
    tmp_path: Path,
) -> None:
    with start("analytics", tmp_path, ATAJO_DRAIN_SECONDS="20") as process:
        async with opened(process) as channel:
            watch = HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
            assert (await watch.read()).status == SERVING
            # The running call waits for a lock that this test holds.
            other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            under_way = asyncio.create_task(record(channel, 1))
            # Its response proves that the first call has arrived: both use the same connection.
            await client.Caller(ANALYTICS).unary(
                "GetTotals",
                visits_grpc.AnalyticsServiceStub(channel).GetTotals,
                visits_pb.GetTotalsRequest(codes=["abcdefgh"]),
                20,
            )

            process.terminate()
            assert (await watch.read()).status == NOT_SERVING
            watch.cancel()
            assert not under_way.done()
            other.execute("COMMIT")
            assert await under_way
            assert await asyncio.to_thread(process.wait) == 0
            with pytest.raises(Unavailable):
                await record(channel, 2)

            assert other.execute("SELECT people FROM totals").fetchall() == [(1,)]
            other.close()
    assert process.log_lines()[-1]["event"] == "stopped"


async def test_the_process_ends_after_the_drain_time_despite_a_running_call(tmp_path: Path) -> None:
    with start("analytics", tmp_path, ATAJO_DRAIN_SECONDS="0.1") as process:
        async with opened(process) as channel:
            watch = HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
            assert (await watch.read()).status == SERVING
            process.terminate()
            assert await asyncio.to_thread(process.wait) == 0


async def test_the_log_has_the_request_id_of_each_call_but_no_url(tmp_path: Path) -> None:
    with start("links", tmp_path, ATAJO_LOG_LEVEL="debug") as process:
        async with opened(process) as channel:
            call = pb_grpc.LinksServiceStub(channel).CreateLink
            for given in ("the-id-of-this-call", "not\tan id"):
                request_id.bind(given)
                with pytest.raises(InvalidArgument):
                    await create(channel, "x", "do-not-log.example")
            with pytest.raises(grpc.aio.AioRpcError):
                await call(
                    pb.CreateLinkRequest(code="x"), metadata=((request_id.HEADER, "no good"),)
                )
            with pytest.raises(InvalidArgument):
                await create(channel, "abcdefgh", "javascript:do-not-log")
            await create(channel, "abcdefgh", "do-not-log.example")
        assert process.stop() == 0
        written = process.stderr()

    every = [json.loads(line) for line in written.splitlines()]
    assert all({"time", "level", "service", "event"} <= line.keys() for line in every)
    assert "do-not-log" not in written
    lines = [line for line in every if line["event"] == "call_refused"]
    assert lines[0]["request_id"] == "the-id-of-this-call"
    assert lines[0]["reason"] == "INVALID_CODE"
    assert lines[0]["service"] == "links"
    ids = {line["request_id"] for line in lines[:3]}
    assert len(ids) == 3
    assert not ids & {"not\tan id", "no good"}


async def create(channel: grpc.aio.Channel, code: str, url: str, seconds: float = 20) -> None:
    request = pb.CreateLinkRequest(code=code, url=url)
    call = pb_grpc.LinksServiceStub(channel).CreateLink
    await client.Caller(LINKS).unary("CreateLink", call, request, seconds)


async def metrics_of(process: Process) -> str:
    url = f"http://{process.addresses['metrics']}/metrics"
    return (await asyncio.to_thread(httpx.get, url)).text


async def test_bursts_floods_and_abandoned_calls_are_handled_and_counted(
    tmp_path: Path,
) -> None:
    with start("links", tmp_path) as process:
        async with opened(process) as channel:
            flood = [create(channel, code, "") for code in (*["x"] * 100, "abcdefgh")]
            ends = await asyncio.gather(*flood, return_exceptions=True)
            assert {type(end) for end in ends} == {InvalidArgument}

            caller, call = client.Caller(LINKS), pb_grpc.LinksServiceStub(channel).ResolveLinks
            request = pb.ResolveLinksRequest(codes=["abcdefgh"])
            burst = [caller.unary("ResolveLinks", call, request, 60) for _ in range(3000)]
            await asyncio.gather(*burst)

            other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")  # Blocks all other writes.
            with pytest.raises(DeadlineExceeded):
                await create(channel, "abcdefgh", "a.example", 0.5)
            wait_until(
                lambda: "call_abandoned" in {line["event"] for line in process.log_lines()}, 20
            )
            other.close()
        lines = [line for line in process.log_lines() if line["event"] == "call_refused"]
        shown = await metrics_of(process)

    # A flood produces few log lines, and does not suppress other reasons.
    assert Counter(line["reason"] for line in lines) == {"INVALID_CODE": 10, "INVALID_URL": 1}
    counted = {
        code: sum(
            float(line.split()[-1])
            for line in shown.splitlines()
            if line.startswith("grpc_server_handling_seconds_count")
            and f'grpc_code="{code}",grpc_method="CreateLink"' in line
        )
        for code in ("INVALID_ARGUMENT", "CANCELLED")
    }
    assert counted == {"INVALID_ARGUMENT": 101, "CANCELLED": 1}


async def test_each_link_of_a_batch_is_logged_and_counted_as_a_separate_call(
    tmp_path: Path,
) -> None:
    with start("links", tmp_path) as process:
        async with opened(process) as channel:
            caller, call = client.Caller(LINKS), pb_grpc.LinksServiceStub(channel).CreateLinks
            wanted = [
                pb.CreateLinkRequest(code=code, url="a.example") for code in ("x", "abcdefgh")
            ]
            together = pb.CreateLinksRequest(links=wanted)
            reply = await caller.unary("CreateLinks", call, together, 20)
            too_many = pb.CreateLinksRequest(links=wanted[1:] * 251)
            with pytest.raises(InvalidArgument) as refused:
                await caller.unary("CreateLinks", call, too_many, 20)
        lines = [line for line in process.log_lines() if line["event"] == "call_refused"]
        shown = await metrics_of(process)

    bad, good = reply.creations
    assert (bad.error.code, bad.error.reason) == (3, "INVALID_CODE")
    assert bad.error.message
    assert (good.resolution.code, good.resolution.url) == ("abcdefgh", "http://a.example")
    assert refused.value.reason == "TOO_MANY_CODES"
    assert [(line["method"], line["reason"]) for line in lines] == [
        ("CreateLink", "INVALID_CODE"),
        ("CreateLinks", "TOO_MANY_CODES"),
    ]
    for code in ("OK", "INVALID_ARGUMENT"):
        labels = f'grpc_code="{code}",grpc_method="CreateLink"'
        assert re.search(f"grpc_server_handling_seconds_count{{{labels},.*}} 1.0", shown)


async def test_details_of_an_internal_error_are_logged_but_not_sent_to_the_caller(
    tmp_path: Path,
) -> None:
    with start("links", tmp_path) as process:
        other = sqlite3.connect(tmp_path / "store.db")
        with other:  # A timestamp that no date can represent.
            other.execute(
                "INSERT INTO links (code, url, creator, created_at) "
                f"VALUES ('abcdefgh', 'http://a.example', 'one', {-(2**62)})"
            )
        other.close()
        async with opened(process) as channel:
            stub = pb_grpc.LinksServiceStub(channel)
            request = pb.GetLinkRequest(owner=pb.Owner(account_id="one"), code="abcdefgh")
            with pytest.raises(grpc.aio.AioRpcError) as raw:
                await stub.GetLink(request)
            with pytest.raises(Internal) as mapped:
                await client.Caller(LINKS).unary("GetLink", stub.GetLink, request, 20)
        failures = [line for line in process.log_lines() if line["event"] == "call_failed"]

    assert raw.value.code() == grpc.StatusCode.INTERNAL
    assert raw.value.details() == mapped.value.message == "Something went wrong on our side."
    metadata = str(raw.value.trailing_metadata())
    assert "Traceback" not in metadata
    assert "OverflowError" not in metadata
    assert [line["method"] for line in failures] == ["GetLink", "GetLink"]
    assert all("OverflowError" in str(line["exception"]) for line in failures)


@pytest.mark.parametrize("end", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED])
async def test_a_call_that_a_stopping_replica_drops_is_repeated(end: grpc.StatusCode) -> None:
    """A replica that stops drops the calls it has received but not handled as CANCELLED."""
    calls = 0

    async def answer(request: pb.ResolveLinksRequest, context: Any) -> pb.ResolveLinksResponse:
        nonlocal calls
        calls += 1
        if calls < 3:
            await context.abort(end)
        return pb.ResolveLinksResponse()

    method = grpc.unary_unary_rpc_method_handler(
        answer, pb.ResolveLinksRequest.FromString, pb.ResolveLinksResponse.SerializeToString
    )
    async with answered_by("ResolveLinks", method) as channel:
        call = pb_grpc.LinksServiceStub(channel).ResolveLinks
        request = pb.ResolveLinksRequest(codes=["abcdefgh"])
        await client.Caller(LINKS).unary("ResolveLinks", call, request, 20)
        assert calls == 3


async def test_a_limit_of_grpc_itself_is_not_reported_as_a_rate_limit() -> None:
    """A rate limit becomes a 429 with a time to wait."""
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def answer(request: pb.ResolveLinksRequest, context: Any) -> pb.ResolveLinksResponse:
        if "limited-" in request.codes:
            limited = ResourceExhausted("Too many.", "TOO_MANY", retry_after=7)
            await context.abort_with_status(status.to_status(limited))
        asked.set()
        await may_answer.wait()
        return pb.ResolveLinksResponse()

    method = grpc.unary_unary_rpc_method_handler(
        answer, pb.ResolveLinksRequest.FromString, pb.ResolveLinksResponse.SerializeToString
    )
    async with answered_by("ResolveLinks", method, concurrent_calls=1) as channel:
        call = pb_grpc.LinksServiceStub(channel).ResolveLinks

        async def resolve(*codes: str) -> pb.ResolveLinksResponse:
            request = pb.ResolveLinksRequest(codes=codes)
            return await client.Caller(LINKS).unary("ResolveLinks", call, request, 20)

        with pytest.raises(ResourceExhausted) as ours:
            await resolve("limited-")
        assert (ours.value.reason, ours.value.retry_after) == ("TOO_MANY", 7)
        with pytest.raises(Internal):
            await resolve("x" * (5 << 20))
        under_way = asyncio.create_task(resolve("abcdefgh"))
        await asked.wait()
        with pytest.raises(Unavailable) as busy:
            await resolve("abcdefgh")
        assert busy.value.reason == "TRANSPORT_EXHAUSTED"
        assert busy.value.message == "A service is unavailable."
        may_answer.set()
        await under_way


async def test_closing_a_stream_early_cancels_its_call() -> None:
    """Otherwise the service would continue to send a list that nobody reads."""
    ended = asyncio.Event()

    async def answer(request: pb.ListOwnedCodesRequest, context: Any) -> AsyncIterator[Any]:
        try:
            while True:
                yield pb.ListOwnedCodesResponse()
        finally:
            ended.set()

    method = grpc.unary_stream_rpc_method_handler(
        answer, pb.ListOwnedCodesRequest.FromString, pb.ListOwnedCodesResponse.SerializeToString
    )
    async with answered_by("ListOwnedCodes", method) as channel:
        call = pb_grpc.LinksServiceStub(channel).ListOwnedCodes
        pages = client.Caller(LINKS).stream("ListOwnedCodes", call, pb.ListOwnedCodesRequest(), 600)
        async with aclosing(pages):
            await anext(pages)
        async with asyncio.timeout(20):
            await ended.wait()


def test_an_occupied_port_is_reported_in_one_line(tmp_path: Path) -> None:
    with start("links", tmp_path) as process:
        for port in ("grpc", "admin", "metrics"):
            setting = {"grpc": "ATAJO_LISTEN"}.get(port, f"ATAJO_{port.upper()}_LISTEN")
            taken = process.addresses[port]
            settings = env(tmp_path / port, **{setting: taken})
            with Process.launch("services.analytics", settings, tmp_path / "refused") as refused:
                assert refused.wait() == 1
                (line,) = refused.stderr().splitlines()
            assert line.startswith(f"Cannot listen on {taken}: ")
