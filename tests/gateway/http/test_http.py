"""The HTTP server with invalid, slow and flooding clients, and after its own errors."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import uvicorn
from prometheus_client import REGISTRY
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.testing import capture_logs

from gateway.http.fast_path import protocol_class
from gateway.pages.files import Site
from gateway.redirects.further_origins import FurtherOrigins
from gateway.redirects.handler import Redirects
from gateway.redirects.metrics import RedirectMetrics
from gateway.redirects.resolution import ChangeFeedPage, Resolution
from gateway.redirects.resolver import Resolver
from gateway.support.edge import Edge
from gateway.support.headers import Headers
from services.shared.errors import Unavailable
from services.shared.observability import logs
from services.shared.origins import Origins
from tests.support.in_process_gateway import InProcessGateway

URL = "https://example.com/"


class Source:
    """A link source in which every code redirects to `URL`."""

    is_away = False

    async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
        if self.is_away:
            raise Unavailable("links is away", "AWAY")
        return dict.fromkeys(codes, Resolution.active(URL))

    async def changes(self, cursor: str | None) -> ChangeFeedPage:
        raise AssertionError("nobody follows changes here")


class Visits:
    """Counts visits."""

    def __init__(self) -> None:
        self.codes: list[str] = []

    def record_request(self, code: str, headers: Headers, host: str, link_code: str) -> None:
        self.codes.append(code)

    def flush(self) -> None:
        """Write nothing."""


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connect(port: int) -> AsyncIterator[Connection]:
    """Open a connection, for at most 30 seconds."""
    async with asyncio.timeout(30):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        yield reader, writer
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


class Server:
    """Redirects over HTTP in this process, so that a test can break a part."""

    def __init__(self, others: ASGIApp | None = None) -> None:
        edge = Edge.load()
        self.source = Source()
        self.resolver = Resolver(self.source, 1_000_000)
        self.visits = Visits()
        self.metrics = RedirectMetrics()
        site = Site(edge, None)
        further = FurtherOrigins(Origins("https://atajo.example"), edge, "")
        self.app = Redirects(
            others or site,
            edge,
            self.resolver,
            self.visits,  # type: ignore[arg-type]
            site,
            further,
            self.metrics,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[int]:
        """Serve, and return the port."""
        listening = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            self.app,
            http=protocol_class(self.app),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve([listening]))
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            await serving

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Connection]:
        """Serve, and return a connection."""
        async with self.running() as port, connect(port) as connection:
            yield connection

    def failed(self) -> int:
        return sum(self.metrics.counts["failed"])


def rejections(reason: str) -> float:
    """Return the number of rejections of this process."""
    return REGISTRY.get_sample_value("atajo_http_rejected_total", {"reason": reason}) or 0


async def wait_for_rejection(before: float) -> None:
    """Wait for one more invalid request."""
    while rejections("invalid") == before:  # noqa: ASYNC110 - It is a number that nobody tells of.
        await asyncio.sleep(0)


async def exchange(port: int, *sent: bytes) -> bytes:
    """Return all responses on a new connection. Each of `sent` is a segment."""
    async with connect(port) as (reader, writer):
        answering = asyncio.create_task(reader.read())
        for segment in sent:
            writer.write(segment)
            await writer.drain()
            if len(sent) > 1:
                await asyncio.sleep(0.005)
        return await answering


def statuses_of(responses: bytes) -> list[bytes]:
    return re.findall(rb"HTTP/1.1 (\d+) ", responses)


async def get(port: int, *codes: str) -> list[bytes]:
    """Return the status lines of responses on one connection."""
    statuses = []
    async with connect(port) as (reader, writer):
        for code in codes:
            writer.write(f"GET /{code} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            [length] = [
                int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length")
            ]
            await reader.readexactly(length)
            statuses.append(head.partition(b"\r\n")[0])
    return statuses


FOUND = b"HTTP/1.1 302 Found"
FAILING = b"HTTP/1.1 503 Service Unavailable"


@pytest.mark.parametrize(
    ("reason", "sent"),
    [
        ("invalid", b"hello\r\n\r\n"),
        ("invalid", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
        ("invalid", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("invalid", b"GET /\xff\xfe HTTP/1.1\r\nhost: x\r\n\r\n"),
        ("invalid", b"GET http://localhost HTTP/1.1\r\nhost: x\r\n\r\n"),
        ("invalid", b"GET http:// HTTP/1.1\r\nhost: x\r\n\r\n"),
        ("invalid", b"CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n"),
        ("too_long", b"GET / HTTP/1.1\r\nx-more: " + b"a" * 100_000),
        ("too_long", b"GET / HTTP/1.1\r\nx-more: " + b"a" * (16 << 20)),
        ("invalid", b"hello\r\n\r\n" + b"a" * (16 << 20)),
    ],
)
async def test_invalid_requests_are_rejected_and_counted_but_not_logged(
    reason: str, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    before = rejections(reason)
    with capture_logs() as logged:
        async with Server().running() as port:
            response = await exchange(port, sent)
    assert response.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert rejections(reason) == before + 1
    assert not logged
    assert not caplog.messages


HEADS = json.loads(Path(__file__).with_name("http_heads.json").read_text(encoding="utf-8"))
"""Heads of requests, one character per byte."""
INVALID_HEADS = {name: head.encode("latin-1") for name, head in HEADS["invalid"].items()}
VALID_HEADS = [head.encode("latin-1") for head in HEADS["valid"]]


async def test_a_head_that_a_server_must_reject_is_rejected() -> None:
    server, before = Server(), rejections("invalid")
    async with server.running() as port:
        await get(port, "inmemory")
        for code in (b"inmemory", b"lookedup"):
            statuses = {
                name: statuses_of(await exchange(port, sent.replace(b"{code}", code)))
                for name, sent in INVALID_HEADS.items()
            }
            assert statuses == {name: [b"400"] for name in INVALID_HEADS}
    assert rejections("invalid") == before + 2 * len(INVALID_HEADS)
    assert server.visits.codes == ["inmemory"]


async def test_a_valid_head_is_accepted() -> None:
    async with Server().running() as port:
        statuses = {
            head: statuses_of(await exchange(port, head + b"connection: close\r\n\r\n"))
            for head in VALID_HEADS
        }
    assert statuses == {head: [b"302"] for head in VALID_HEADS}


async def test_a_split_request_line_is_not_mistaken_for_http_0_9() -> None:
    parts = (
        *(b"\r\n", b"GET /", b"abcdefgh", b" HTTP/1.1\r\n", b"host: x\r\n"),
        b"connection: close\r\n\r\n",
    )
    async with Server().running() as port:
        assert statuses_of(await exchange(port, *parts)) == [b"302"]
        assert statuses_of(await exchange(port, b"GET /", b"abcdefgh", b"\r", b"\n")) == [b"400"]


async def test_a_request_line_in_utf_8_is_answered_as_its_percent_encoding() -> None:
    """Browsers encode it; some other clients send what the user typed."""
    server, before = Server(), rejections("invalid")
    headers = "HTTP/1.1\r\nhost: x\r\nreferer: https://ñ.example/。\r\n"
    raw = [
        f"{method} /{path} {headers}connection: close\r\n\r\n".encode()
        for path in (
            "abcdefgh。",
            "abcdefgh?utm_campaign=niño",
            "abcdefgh\U000e0100",
            "/abcdefgh\uff01",
        )
        for method in ("GET", "HEAD")
    ]
    async with server.running() as port:
        for request in raw:
            assert statuses_of(await exchange(port, request)) == [b"302"], request
        assert server.visits.codes == ["abcdefgh"] * 4
        body = "GET /。".encode()
        post = b"POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body)
        assert statuses_of(await exchange(port, post, body, raw[0])) == [b"404", b"302"]
        for invalid in (b"GET /abcdefgh\xe3\x80 HTTP/1.1\r\nhost: x\r\n\r\n", b"GET /\xf1"):
            assert statuses_of(await exchange(port, invalid)) == [b"400"]
    assert rejections("invalid") == before + 2


@pytest.mark.parametrize("protocol", [b"h2c", b"websocket", b"TLS/1.0"])
async def test_an_upgrade_is_ignored(protocol: bytes, caplog: pytest.LogCaptureFixture) -> None:
    server, before = Server(), rejections("upgrade")
    head = b"GET /abcdefgh HTTP/1.1\r\nhost: x\r\n"
    asks = head + b"connection: Upgrade\r\nupgrade: %s\r\n\r\n" % protocol
    async with server.running() as port:
        responses = await exchange(port, asks + asks + head + b"connection: close\r\n\r\n")
    assert statuses_of(responses) == [b"302"] * 3
    assert responses.count(b"location: %s\r\n" % URL.encode()) == 3
    assert rejections("upgrade") == before + 2
    assert not caplog.messages


@pytest.mark.parametrize("at_once", [True, False])
async def test_the_body_of_an_upgrade_is_not_parsed_as_a_request(*, at_once: bool) -> None:
    """Java's and curl's clients ask for HTTP/2 in the POST itself, whose body must be read."""
    bodies: list[bytes] = []

    async def read(scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message["body"]
            more = message["more_body"]
        bodies.append(body)
        length = (b"content-length", b"0")
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": b""})

    server = Server(read)
    hidden = b"GET /abcdefgh HTTP/1.1\r\nhost: x\r\n\r\n"
    asks = b"host: x\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\n"
    whole = b"content-length: %d\r\n\r\n" % len(hidden)
    sent = [
        b"POST /a/b HTTP/1.1\r\n" + asks + whole,
        hidden,
        b"GET /abcdefgh HTTP/1.1\r\n" + asks + whole,
        hidden,
        b"POST /a/b HTTP/1.1\r\n" + asks + b"transfer-encoding: chunked\r\n\r\n",
        b"%x\r\n%s\r\n0\r\n\r\n" % (len(hidden), hidden),
        b"GET /abcdefgh HTTP/1.1\r\n" + asks.replace(b"Upgrade,", b"Upgrade, close,") + b"\r\n",
    ]
    async with server.running() as port:
        responses = await exchange(port, *([b"".join(sent)] if at_once else sent))
    assert statuses_of(responses) == [b"200", b"302", b"200", b"302"]
    assert bodies == [hidden, hidden]
    assert len(server.visits.codes) == 2


async def test_failing_redirects_are_logged_once_per_reason() -> None:
    server = Server()
    server.source.is_away = True
    async with server.running() as port:
        with capture_logs() as logged:
            assert await get(port, *(f"nobody{n:02}" for n in range(30))) == [FAILING] * 30
    assert server.failed() == 30
    assert [line["event"] for line in logged] == ["redirect_failed"]


def test_calls_rejected_by_the_gateway_are_logged_once_per_reason(tmp_path: Path) -> None:
    with capture_logs() as logged, InProcessGateway(tmp_path) as gateway:
        for _ in range(20):
            assert gateway.call("createShortLink", {"code": "no URL"}).status_code == 400
    assert [line["event"] for line in logged].count("request_refused") == 1


def test_calls_that_time_out_are_logged_ten_times_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client causes it, with more links than can be moved in time."""
    monkeypatch.setattr("gateway.use_cases.links.CLAIM_SECONDS", 0)
    with capture_logs() as logged, InProcessGateway(tmp_path) as gateway:
        token = gateway.log_in(gateway.register())
        for _ in range(20):
            claim = {"token": token, "guest": "g" * 43}
            assert gateway.call("claimLinks", claim).status_code == 504
    failed = [line for line in logged if line["event"] == "request_failed"]
    assert [line["reason"] for line in failed] == ["DEADLINE_EXCEEDED"] * 10


async def test_a_client_that_does_not_read_is_disconnected(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("gateway.http.hardening.MAX_UNREAD_SECONDS", 0.1)
    sent = asyncio.Event()

    async def sends_much(scope: Scope, receive: Receive, send: Send) -> None:
        length = (b"content-length", b"%d" % (100 << 20))
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        for _ in range(100):
            await send({"type": "http.response.body", "body": bytes(1 << 20), "more_body": True})
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b""})
        sent.set()

    server = Server(sends_much)
    async with server.running() as port:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            async with asyncio.timeout(20):
                await sent.wait()
    assert not caplog.messages, "the client caused it"


async def test_an_error_of_the_server_is_logged_and_not_blamed_on_the_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks(**_: object) -> None:
        raise RuntimeError("unexpected")

    monkeypatch.setattr("gateway.http.hardening.log", logs.Throttled("gateway.http.hardening"))
    server, broke, invalid = Server(), rejections("error"), rejections("invalid")
    async with server.running() as port:
        with capture_logs() as logged, monkeypatch.context() as patch:
            patch.setattr("uvicorn.protocols.http.httptools_impl.RequestResponseCycle", breaks)
            for _ in range(2):
                response = await exchange(port, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
                assert response.startswith(b"HTTP/1.1 500 ")
        assert await get(port, "aaaaaaaa") == [FOUND]
    [line] = logged
    assert line["event"] == "http_error"
    assert isinstance(line["exc_info"], RuntimeError)
    assert (rejections("error"), rejections("invalid")) == (broke + 2, invalid)


@pytest.mark.parametrize("begins", [False, True])
async def test_responses_that_break_off_are_logged_once_per_reason(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, *, begins: bool
) -> None:
    async def breaks(scope: Scope, receive: Receive, send: Send) -> None:
        if begins:
            length = (b"content-length", b"9")
            await send({"type": "http.response.start", "status": 200, "headers": [length]})
        if scope["path"] == "/a/raises":
            raise RuntimeError("unexpected")

    monkeypatch.setattr("gateway.http.hardening.log", logs.Throttled("gateway.http.hardening"))
    status = b"200" if begins else b"500"
    async with Server(breaks).running() as port:
        with capture_logs() as logged:
            for path in (b"/a/raises", b"/a/returns") * 10:
                response = await exchange(port, b"GET %s HTTP/1.1\r\nhost: x\r\n\r\n" % path)
                assert statuses_of(response) == [status]
    assert [line["event"] for line in logged] == ["http_response_incomplete"] * 2
    assert isinstance(logged[0]["exc_info"], RuntimeError)
    assert "ASGI callable returned without" in logged[1]["reason"]
    assert not caplog.messages


@pytest.mark.parametrize("part", ["hit", "lookup", "record_request"])
async def test_an_error_in_the_fast_path_is_answered_counted_and_logged_once(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the cache, in the lookup, and after the lookup."""
    server = Server()
    broken = {"hit": server.resolver.cache, "lookup": server.resolver}.get(part, server.visits)

    def breaks(*_: object) -> None:
        raise RuntimeError("unexpected")

    async with server.running() as port:
        assert await get(port, "aaaaaaaa", "aaaaaaaa") == [FOUND, FOUND]
        with capture_logs() as logged, monkeypatch.context() as patch:
            patch.setattr(broken, part, breaks)
            codes = ["bbbbbbbb", "cccccccc", "dddddddd"]
            assert await get(port, *codes) == [FAILING] * 3
            assert server.failed() == 3
        assert [line["event"] for line in logged] == ["redirect_error"]
        assert await get(port, "aaaaaaaa", "eeeeeeee") == [FOUND, FOUND]
        assert server.failed() == 3
        assert len(server.visits.codes) == 4


QUERIES = ("?fbclid=IwAR" + "x" * 200, "?", "??", "?a=%C3%B1/b?c", "?/login", f"?{'&a=b' * 4000}")


def forbid_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every request fail that leaves the fast path."""

    def breaks(**_: object) -> None:
        raise AssertionError("the request left the fast path")

    for module in ("uvicorn.protocols.http.httptools_impl", "gateway.http.fast_path"):
        monkeypatch.setattr(f"{module}.RequestResponseCycle", breaks)


async def test_a_query_does_not_take_a_short_url_off_the_fast_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Networks and newsletters append one to every link."""
    forbid_requests(monkeypatch)
    server = Server()
    async with server.running() as port:
        for length in (4, 8, 32):  # At first a lookup, then hits.
            code = "c" * length
            urls = [f"{code}{query}" for query in QUERIES]
            assert await get(port, *urls, code) == [FOUND] * (len(urls) + 1)
            assert server.visits.codes == [code] * (len(urls) + 1)
            server.visits.codes.clear()
        for query in QUERIES:
            code = f"looked-up-{len(query)}"
            assert await get(port, f"{code}{query}") == [FOUND]
            assert server.visits.codes == [code]
            server.visits.codes.clear()
        assert server.resolver.results == {"hit": 18, "stale": 0, "miss": 3 + len(QUERIES)}


async def test_a_query_reaches_the_application_if_the_fast_path_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The document of an error is in the language that the query asks for."""
    server, queries = Server(), []
    server.source.is_away = True
    send_unavailable = Site.send_unavailable

    async def note(self: Site, scope: Scope, receive: Receive, send: Send) -> None:
        queries.append((scope["path"], scope["raw_path"], scope["query_string"]))
        await send_unavailable(self, scope, receive, send)

    monkeypatch.setattr(Site, "send_unavailable", note)
    async with server.running() as port:
        urls = ("abcdefgh", "abcdefgh?lang=es", "abcdefgh?", "abcdefgh?a?b#c?d")
        assert await get(port, *urls) == [FAILING] * 4
    assert queries == [
        ("/abcdefgh", b"/abcdefgh", query) for query in (b"", b"lang=es", b"", b"a?b")
    ]


class Held:
    """An application whose responses wait for `release`, like lookups."""

    def __init__(self, *, begins: bool = False) -> None:
        self.begins = begins
        """Whether it sends status and headers before it waits."""
        self.asked = asyncio.Event()
        self.released = asyncio.Semaphore(0)
        self.paths: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.paths.append(scope["path"])
        self.asked.set()
        length = (b"content-length", b"3")
        start = {"type": "http.response.start", "status": 200, "headers": [length]}
        if self.begins:
            await send(start)
        else:
            await receive()
        await self.released.acquire()
        if not self.begins:
            await send(start)
        await send({"type": "http.response.body", "body": b"yes"})


POST = b"POST /a/b HTTP/1.1\r\nhost: x\r\n"
WHOLE = POST + b"content-length: 0\r\n\r\n"
BROKEN_BODY = POST + b"transfer-encoding: chunked\r\n\r\nno chunk\r\n"


@pytest.mark.parametrize("begins", [False, True])
@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        (WHOLE + b"hello\r\n\r\n", 1),
        (WHOLE * 3 + b"hello\r\n\r\n", 3),
        (WHOLE + BROKEN_BODY, 1),
    ],
)
async def test_requests_before_an_invalid_one_are_answered_completely(
    *, begins: bool, sent: bytes, answered: int
) -> None:
    """The rejection follows their responses, and nothing after it is answered."""
    app = Held(begins=begins)
    async with Server(app).connect() as (reader, writer):
        before = rejections("invalid")
        writer.write(sent + WHOLE)
        await wait_for_rejection(before)
        for _ in range(answered):
            app.released.release()
        responses = await reader.read()
    assert statuses_of(responses) == [b"200"] * answered + [b"400"]
    assert responses.count(b"\r\n\r\nyes") == answered
    assert responses.endswith(b"Invalid HTTP request received.")
    assert len(app.paths) == answered


@pytest.mark.parametrize(
    ("begins", "status", "end"),
    [(True, b"200", b"\r\n\r\nyes"), (False, b"400", b"Invalid HTTP request received.")],
)
async def test_an_invalid_body_ends_the_connection_with_one_response(
    *, begins: bool, status: bytes, end: bytes
) -> None:
    """The response that has begun, or else the rejection."""
    app = Held(begins=begins)
    with capture_logs() as logged:
        async with Server(app).connect() as (reader, writer):
            writer.write(POST + b"transfer-encoding: chunked\r\n\r\n")
            await app.asked.wait()
            before = rejections("invalid")
            chunk = b"%x\r\n%s\r\n" % (100_000, bytes(100_000))
            writer.write(chunk + b"no chunk\r\n" + bytes(16 << 20))
            await wait_for_rejection(before)
            app.released.release()
            responses = await reader.read()
    assert statuses_of(responses) == [status]
    assert responses.endswith(end)
    assert not logged


async def test_reading_pauses_for_a_client_that_sends_faster_than_it_is_answered() -> None:
    """Otherwise waiting requests would fill the memory."""
    app = Held()
    async with Server(app).connect() as (reader, writer):
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
        requests = (32 << 20) // len(WHOLE)
        writer.write(WHOLE * requests)
        for _ in range(100):
            app.released.release()
            await reader.readuntil(b"\r\n\r\nyes")
        unsent = writer.transport.get_write_buffer_size()
        writer.transport.abort()
        for _ in range(requests):
            app.released.release()
    assert unsent > 16 << 20


@pytest.mark.parametrize(
    ("sent", "statuses"),
    [
        (b"", []),
        (b"GET /aaaaaaaa HTTP/1.1\r\nhost: x\r\n", []),
        (POST + b"content-length: 9999\r\n\r\nno", []),
        (b"GET /aaaaaaaa HTTP/1.1\r\nhost: x\r\n\r\nGET /", [b"302"]),
    ],
)
async def test_a_request_that_does_not_arrive_in_time_ends_the_connection(
    monkeypatch: pytest.MonkeyPatch, sent: bytes, statuses: list[bytes]
) -> None:
    """Even if parts of it arrive continuously."""
    monkeypatch.setattr("gateway.http.hardening.MAX_REQUEST_SECONDS", 0.2)
    before = rejections("timeout")

    async def send_on(writer: asyncio.StreamWriter) -> None:
        while sent:
            await asyncio.sleep(0.02)
            writer.write(b"x")

    app = Held()
    async with Server(app).connect() as (reader, writer):
        writer.write(sent)
        sending = asyncio.create_task(send_on(writer))
        responses = await reader.read()
        sending.cancel()
        app.released.release()
    assert statuses_of(responses) == statuses
    assert rejections("timeout") == before + 1


async def test_a_rejected_client_that_sends_endlessly_is_not_read_endlessly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.http.hardening.MAX_LINGER_SECONDS", 0.2)
    async with Server().connect() as (reader, writer):
        writer.write(b"hello\r\n\r\n")
        response = await reader.read()
        with suppress(ConnectionError):  # A reset after the close ends the loop.
            while True:
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(0.02)
    assert response.startswith(b"HTTP/1.1 400 ")
    assert response.endswith(b"Invalid HTTP request received.")


async def test_a_client_that_waits_for_its_response_is_not_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.http.hardening.MAX_REQUEST_SECONDS", 0.1)
    before, app = rejections("timeout"), Held()
    async with Server(app).connect() as (reader, writer):
        writer.write(WHOLE)
        await app.asked.wait()
        await asyncio.sleep(0.3)  # Longer than the deadline of a request.
        app.released.release()
        assert (await reader.readuntil(b"\r\n\r\nyes")).startswith(b"HTTP/1.1 200 ")
    assert rejections("timeout") == before
