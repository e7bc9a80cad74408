"""What the gateway's HTTP server makes of what strangers send, and of faults of its own."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import Any

import pytest
import uvicorn
from prometheus_client import REGISTRY
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.testing import capture_logs

from gateway.edge import Edge
from gateway.http.fast_path import protocol_class
from gateway.metrics import RedirectMetrics
from gateway.redirect import Redirects
from gateway.resolution import Changes, Resolution
from gateway.resolver import Resolver
from gateway.site import Site
from gateway.visits.classify import Headers
from services.runtime import logs
from tests.product import BROWSER, Product
from tests.waiting import await_that

URL = "https://example.com/"


def rejected(product: Product, reason: str) -> float:
    return product.metric(f'atajo_http_rejected_total{{reason="{reason}"}}')


def answer_to(product: Product, *sent: bytes) -> bytes:
    """All that the gateway answers on a connection of its own until it closes it.

    Each of `sent` is a segment of its own.
    """
    port = int(product.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for segment in sent:
            connection.sendall(segment)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def log_lines(product: Product) -> list[dict[str, Any]]:
    return [json.loads(line) for line in product.logs().splitlines()]


def server_lines(product: Product) -> int:
    """Log lines of the HTTP server's own: whole sentences, where our events are names."""
    return sum(" " in line["event"] for line in log_lines(product))


def reasons_of(product: Product, event: str) -> list[str]:
    """The reasons of an event's lines in the gateway's log, in their order."""
    lines = log_lines(product)
    return [
        line["reason"] for line in lines if line["event"] == event and line["service"] == "gateway"
    ]


def assert_told_once_for_a_reason(product: Product, event: str, before: list[str]) -> None:
    """In less than a minute a reason is written once; it may have been written before that."""
    after = reasons_of(product, event)
    new = after[len(before) :]
    assert after
    assert len(new) == len(set(new))


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
def test_what_is_no_http_is_refused_and_counted_and_leaves_no_line(
    product: Product, reason: str, sent: bytes
) -> None:
    lines, before = server_lines(product), rejected(product, reason)
    for _ in range(3):
        assert answer_to(product, sent).startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert rejected(product, reason) == before + 3
    assert server_lines(product) == lines


INVALID_HEADS = {
    "no Host": b"GET /{code} HTTP/1.1\r\n\r\n",
    "no Host among others": b"GET /{code} HTTP/1.1\r\naccept: */*\r\nx-host: x\r\n\r\n",
    "no Host in absolute form": b"GET http://x/{code} HTTP/1.1\r\n\r\n",
    "two Hosts": b"GET /{code} HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n",
    "the same Host twice": b"GET /{code} HTTP/1.1\r\nhost: x\r\na: b\r\nHOST: x\r\n\r\n",
    "two Hosts in HTTP/1.0": b"GET /{code} HTTP/1.0\r\nhost: x\r\nhost: y\r\n\r\n",
    "an empty Host": b"GET /{code} HTTP/1.1\r\nhost: \r\n\r\n",
    "a list of Hosts": b"GET /{code} HTTP/1.1\r\nhost: x, y\r\n\r\n",
    "a Host with a path": b"GET /{code} HTTP/1.1\r\nhost: x/y\r\n\r\n",
    "a Host with user info": b"GET /{code} HTTP/1.1\r\nhost: a@x\r\n\r\n",
    "a Host with a bad port": b"GET /{code} HTTP/1.1\r\nhost: x:80a\r\n\r\n",
    "a Host of raw bytes": b"GET /{code} HTTP/1.1\r\nhost: \xc3\xb1\r\n\r\n",
    "a Host without its bracket": b"GET /{code} HTTP/1.1\r\nhost: [::1\r\n\r\n",
    "an invalid Host in HTTP/1.0": b"GET /{code} HTTP/1.0\r\nhost: x y\r\n\r\n",
    "HTTP/0.9": b"GET /{code}\r\n",
    "HTTP/0.9 with a line feed": b"GET /{code}\n",
    "HTTP/0.9 and an empty line": b"GET /{code}\r\n\r\n",
    "HTTP/0.9 and a header": b"GET /{code}\r\nhost: x\r\n",
    "HTTP/0.9 by its name": b"GET /{code} HTTP/0.9\r\nhost: x\r\n\r\n",
    "HTTP/2.0": b"GET /{code} HTTP/2.0\r\nhost: x\r\n\r\n",
    **{
        f"transfer coding {coding.decode()}": (
            b"POST /accessLink HTTP/1.1\r\nhost: x\r\ntransfer-encoding: %s\r\n\r\n0\r\n\r\n"
            % coding
        )
        for coding in (
            *(b"gzip", b"gzip, chunked", b"foo", b"foo, chunked", b"identity", b"chunked, gzip"),
            *(b"chunked, chunked", b"chunked;a=b", b"gzip\r\ntransfer-encoding: chunked"),
            *(b"chunked\r\ntransfer-encoding: chunked", b"chunked\r\ncontent-length: 5"),
        )
    },
    "a transfer coding of a GET": (
        b"GET /{code} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: br, chunked\r\n\r\n0\r\n\r\n"
    ),
    "a transfer coding in HTTP/1.0": (
        b"POST /accessLink HTTP/1.0\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
}


@pytest.mark.parametrize("sent", INVALID_HEADS.values(), ids=INVALID_HEADS)
@pytest.mark.parametrize("in_memory", [True, False], ids=["in memory", "looked up"])
def test_a_head_that_a_server_must_refuse_is_refused(
    product: Product, sent: bytes, in_memory: bool
) -> None:
    code = product.shorten(URL) if in_memory else "nobody00"
    visits = product.metric('atajo_redirects_total{result="found"}')
    before = rejected(product, "invalid")
    answers = answer_to(product, sent.replace(b"{code}", code.encode()))
    assert re.findall(rb"HTTP/1.1 (\d+) ", answers) == [b"400"]
    assert rejected(product, "invalid") == before + 1
    assert product.metric('atajo_redirects_total{result="found"}') == visits


@pytest.mark.parametrize(
    "head",
    [
        b"GET /{code} HTTP/1.0\r\n",
        b"GET /{code} HTTP/1.0\r\nhost: x\r\n",
        b"GET http://x/{code} HTTP/1.1\r\nhost: y\r\n",
        *(
            b"GET /{code} HTTP/1.1\r\nhost: %s\r\n" % host
            for host in (
                *(b"x", b"x:80", b"x:", b"atajo_gateway", b"xn--and-6ma2c.example.:8080"),
                *(b"192.0.2.1:65535", b"[2001:db8::1]:8080", b"[::ffff:192.0.2.1]", b"x  "),
            )
        ),
    ],
)
def test_a_valid_head_leads_on(product: Product, head: bytes) -> None:
    sent = head.replace(b"{code}", product.shorten(URL).encode()) + b"connection: close\r\n\r\n"
    assert re.findall(rb"HTTP/1.1 (\d+) ", answer_to(product, sent)) == [b"302"]


def test_a_request_line_in_parts_is_not_taken_for_http_0_9(product: Product) -> None:
    code = product.shorten(URL).encode()
    parts = (
        b"\r\n",
        b"GET /",
        code,
        b" HTTP/1.1\r\n",
        b"host: x\r\n",
        b"connection: close\r\n\r\n",
    )
    assert re.findall(rb"HTTP/1.1 (\d+) ", answer_to(product, *parts)) == [b"302"]
    assert answer_to(product, b"GET /", code, b"\r", b"\n").startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("protocol", ["h2c", "websocket", "TLS/1.0"])
def test_a_request_to_speak_another_protocol_is_answered_as_any(
    product: Product, protocol: str
) -> None:
    code = product.shorten(URL)
    lines, before = server_lines(product), rejected(product, "upgrade")
    head = f"host: x\r\nuser-agent: {BROWSER}\r\n"
    asks = f"GET /{code} HTTP/1.1\r\n{head}connection: Upgrade\r\nupgrade: {protocol}\r\n\r\n"
    last = f"GET /{code} HTTP/1.1\r\n{head}connection: close\r\n\r\n"
    answers = answer_to(product, (asks + asks + last).encode())
    assert answers.count(b"HTTP/1.1 302 Found\r\n") == 3
    assert answers.count(f"location: {URL}\r\n".encode()) == 3
    assert rejected(product, "upgrade") == before + 2
    assert server_lines(product) == lines


@pytest.mark.parametrize("at_once", [True, False])
def test_the_body_of_a_request_to_speak_another_protocol_is_no_request(
    product: Product, at_once: bool
) -> None:
    """As Java's and curl's clients ask for HTTP/2: with the POST itself, whose body is read."""
    code, found = product.shorten(URL), 'atajo_redirects_total{result="found"}'
    before = product.metric(found)
    hidden = f"GET /{code} HTTP/1.1\r\nhost: x\r\n\r\n"
    asks = "host: x\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\n"
    data = json.dumps({"data": {"code": code}})
    typed = f"{asks}content-type: application/json\r\n"
    sent = [
        f"POST /accessLink HTTP/1.1\r\n{asks}content-length: {len(hidden)}\r\n\r\n",
        hidden,
        f"GET /{code} HTTP/1.1\r\n{asks}content-length: {len(hidden)}\r\n\r\n",
        hidden,
        f"POST /accessLink HTTP/1.1\r\n{asks}transfer-encoding: chunked\r\n\r\n",
        f"{len(hidden):x}\r\n{hidden}\r\n0\r\n\r\n",
        f"POST /accessLink HTTP/1.1\r\n{typed}content-length: {len(data)}\r\n\r\n",
        data,
        f"GET /{code} HTTP/1.1\r\n{asks.replace('Upgrade,', 'Upgrade, close,')}\r\n",
    ]
    parts = ["".join(sent)] if at_once else sent
    answers = answer_to(product, *[part.encode() for part in parts])
    statuses = re.findall(rb"HTTP/1.1 (\d+) ", answers)
    assert statuses == [b"400", b"302", b"400", b"200", b"302"]
    assert f'"long_link":"{URL}"'.encode() in answers
    assert product.metric(found) == before + 2


def test_redirects_that_fail_leave_a_line_and_not_one_each(product: Product) -> None:
    with product.asleep("links"):
        port = int(product.url.rpartition(":")[2])
        failed = 'atajo_redirects_total{result="failed"}'
        before, lines = product.metric(failed), reasons_of(product, "redirect_failed")
        with ExitStack() as stack:
            for number in range(30):
                address = ("127.0.0.1", port)
                connection = stack.enter_context(socket.create_connection(address, timeout=10))
                request = f"GET /nobody{number:02} HTTP/1.1\r\nhost: x\r\n\r\n"
                connection.sendall(request.encode())
            await_that(lambda: product.metric(failed) >= before + 30, 15.0)
    assert_told_once_for_a_reason(product, "redirect_failed", lines)


def test_calls_that_the_gateway_refuses_leave_a_line_and_not_one_each(product: Product) -> None:
    lines = reasons_of(product, "request_refused")
    for _ in range(20):
        assert product.call("createShortLink", {"code": "no URL"}).status_code == 400
    assert_told_once_for_a_reason(product, "request_refused", lines)


class Source:
    """A link source that knows one code."""

    async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
        return dict.fromkeys(codes, Resolution.active(URL))

    async def changes(self, cursor: str | None) -> Changes:
        raise AssertionError("nobody follows changes here")


class Visits:
    """Counts the visits it is told of."""

    def __init__(self) -> None:
        self.codes: list[str] = []

    def take(self, code: str, headers: Headers, host: str, link_code: str) -> None:
        self.codes.append(code)

    def flush(self) -> None:
        """Keep nothing on file."""


class Server:
    """Short addresses over HTTP in this process, so that a part can be broken."""

    def __init__(self, others: ASGIApp | None = None) -> None:
        edge = Edge.load()
        self.resolver = Resolver(Source(), 1_000_000)
        self.visits = Visits()
        self.metrics = RedirectMetrics()
        site = Site(edge, None)
        self.app = Redirects(others or site, edge, self.resolver, self.visits, site, self.metrics)  # type: ignore[arg-type]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[int]:
        """Serve; the value is the port."""
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

    def failed(self) -> int:
        return sum(self.metrics.counts["failed"])


def rejections(reason: str) -> float:
    """How much this process refused."""
    return REGISTRY.get_sample_value("atajo_http_rejected_total", {"reason": reason}) or 0


async def rejection(before: float) -> None:
    """Wait for one more that is no HTTP."""
    while rejections("invalid") == before:  # noqa: ASYNC110 - It is a number that nobody tells of.
        await asyncio.sleep(0)


async def get(port: int, *codes: str) -> list[bytes]:
    """Status lines of the answers on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    statuses = []
    async with asyncio.timeout(10):
        for code in codes:
            writer.write(f"GET /{code} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            [length] = [
                int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length")
            ]
            await reader.readexactly(length)
            statuses.append(head.partition(b"\r\n")[0])
    writer.close()
    await writer.wait_closed()
    return statuses


FOUND = b"HTTP/1.1 302 Found"
FAILING = b"HTTP/1.1 503 Service Unavailable"


async def test_who_reads_nothing_of_an_answer_is_cut_off(
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
    assert not caplog.messages, "a stranger's doing"


async def test_a_fault_of_the_server_is_no_strangers_and_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks(**_: object) -> None:
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr("gateway.http.hardening.log", logs.Throttled("gateway.http.hardening"))
    server, broke, invalid = Server(), rejections("broke"), rejections("invalid")
    async with server.running() as port:
        with capture_logs() as told, monkeypatch.context() as patch:
            patch.setattr("uvicorn.protocols.http.httptools_impl.RequestResponseCycle", breaks)
            for _ in range(2):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
                async with asyncio.timeout(10):
                    assert (await reader.read()).startswith(b"HTTP/1.1 500 ")
                writer.close()
                await writer.wait_closed()
        assert await get(port, "aaaaaaaa") == [FOUND]
    [line] = told
    assert line["event"] == "http_broke"
    assert isinstance(line["exc_info"], RuntimeError)
    assert (rejections("broke"), rejections("invalid")) == (broke + 2, invalid)


@pytest.mark.parametrize("part", ["hit", "lookup", "take"])
async def test_a_fault_of_the_shortcut_is_answered_counted_and_told_once(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What memory is asked, what links is asked, and what is done once the answer is there."""
    server = Server()
    broken = server.visits if part == "take" else server.resolver

    def breaks(*_: object) -> None:
        raise RuntimeError("nobody foresaw this")

    async with server.running() as port:
        assert await get(port, "aaaaaaaa", "aaaaaaaa") == [FOUND, FOUND]
        with capture_logs() as told, monkeypatch.context() as patch:
            patch.setattr(broken, part, breaks)
            codes = ["bbbbbbbb", "cccccccc", "dddddddd"]
            assert await get(port, *codes) == [FAILING] * 3
            assert server.failed() == 3
        assert [line["event"] for line in told] == ["redirect_broke"]
        assert await get(port, "aaaaaaaa", "eeeeeeee") == [FOUND, FOUND]
        assert server.failed() == 3
        assert len(server.visits.codes) == 4


class Held:
    """An application whose answers wait for `release`, as those that links is asked for."""

    def __init__(self, *, begins: bool = False) -> None:
        self.begins = begins
        """Whether status and headers are sent before it waits."""
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
async def test_what_came_before_what_is_no_http_is_answered_whole(
    *, begins: bool, sent: bytes, answered: int
) -> None:
    """The refusal comes behind the answers, and nothing that stands behind it is answered."""
    app = Held(begins=begins)
    async with Server(app).running() as port, asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        before = rejections("invalid")
        writer.write(sent + WHOLE)
        await rejection(before)
        for _ in range(answered):
            app.released.release()
        answers = await reader.read()
        writer.close()
        await writer.wait_closed()
    assert re.findall(rb"HTTP/1.1 (\d+) ", answers) == [b"200"] * answered + [b"400"]
    assert answers.count(b"\r\n\r\nyes") == answered
    assert answers.endswith(b"Invalid HTTP request received.")
    assert len(app.paths) == answered


@pytest.mark.parametrize(
    ("begins", "status", "end"),
    [(True, b"200", b"\r\n\r\nyes"), (False, b"400", b"Invalid HTTP request received.")],
)
async def test_a_body_that_cannot_be_read_ends_the_connection_with_one_answer(
    *, begins: bool, status: bytes, end: bytes
) -> None:
    """The one that has begun, else the refusal."""
    app = Held(begins=begins)
    with capture_logs() as told:
        async with Server(app).running() as port, asyncio.timeout(10):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(POST + b"transfer-encoding: chunked\r\n\r\n")
            await app.asked.wait()
            before = rejections("invalid")
            chunk = b"%x\r\n%s\r\n" % (100_000, bytes(100_000))
            writer.write(chunk + b"no chunk\r\n" + bytes(16 << 20))
            await rejection(before)
            app.released.release()
            answers = await reader.read()
            writer.close()
            await writer.wait_closed()
    assert re.findall(rb"HTTP/1.1 (\d+) ", answers) == [status]
    assert answers.endswith(end)
    assert not told


async def test_who_sends_faster_than_is_answered_is_read_no_further() -> None:
    """Else the requests that wait would fill the memory."""
    app = Held()
    async with Server(app).running() as port, asyncio.timeout(30):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
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
async def test_what_does_not_come_whole_in_time_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, sent: bytes, statuses: list[bytes]
) -> None:
    """Though something of it comes now and then."""
    monkeypatch.setattr("gateway.http.hardening.MAX_REQUEST_SECONDS", 0.2)
    before = rejections("late")

    async def send_on(writer: asyncio.StreamWriter) -> None:
        while sent:
            await asyncio.sleep(0.02)
            writer.write(b"x")

    app = Held()
    async with Server(app).running() as port, asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        sending = asyncio.create_task(send_on(writer))
        answers = await reader.read()
        sending.cancel()
        app.released.release()
        writer.close()
        await writer.wait_closed()
    assert re.findall(rb"HTTP/1.1 (\d+) ", answers) == statuses
    assert rejections("late") == before + 1


async def test_who_sends_on_for_ever_is_not_read_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.http.hardening.MAX_LINGER_SECONDS", 0.2)
    async with Server().running() as port, asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"hello\r\n\r\n")
        answer = await reader.read()
        with suppress(ConnectionError):  # It is reset once it is closed: that ends the loop.
            while True:
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(0.02)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.endswith(b"Invalid HTTP request received.")


async def test_who_waits_for_an_answer_is_not_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.http.hardening.MAX_REQUEST_SECONDS", 0.1)
    before, app = rejections("late"), Held()
    async with Server(app).running() as port, asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(WHOLE)
        await app.asked.wait()
        await asyncio.sleep(0.3)  # For the time in which it would be cut off.
        app.released.release()
        assert (await reader.readuntil(b"\r\n\r\nyes")).startswith(b"HTTP/1.1 200 ")
        writer.close()
        await writer.wait_closed()
    assert rejections("late") == before
