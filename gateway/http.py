"""uvicorn's HTTP protocol, with one write an answer and a shortcut for short addresses.

uvicorn hands status line with headers and body to the transport apart, and uvloop sends each at
once: two system calls and two segments. Held back until the loop's turn ends they are one.

A request that can be answered from memory is answered as soon as its headers are read: nothing is
made of it but its headers. One whose answer is a look-up away waits for that without a task, and
goes to the application only where the look-up does not give the plain answer (figures in
ARCHITECTURE.md). This relies on uvicorn's insides, which the lock pins and
tests/integration/test_redirects.py watches over: it compares the shortcut's answers with the
application's own.

What strangers send that is no HTTP is refused and counted, and not logged: uvicorn writes lines for
each, as many as they like. Who sent requests before it gets their answers first: uvicorn refuses at
once, in the midst of an answer too. Who is refused is read on for a while: a connection closed with
bytes unread is reset, and a reset can overtake the refusal (RFC 9112, 9.6). A request to speak
another protocol is read as one that does not ask.

Requests that wait behind another are those of one read at most. uvicorn reads on at each answer:
who sends small requests faster than they are answered fills its memory.

A request that does not come whole in time is cut off: who sends a byte now and then would hold a
connection for ever.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sized
from functools import partial
from typing import Any, NamedTuple, Protocol, cast

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from gateway.metrics import HTTP_REJECTED
from gateway.visits.classify import Headers
from services.runtime import codes, logs

log = logs.Throttled(__name__)

MOST_HEAD_BYTES = 65_536
"""Of a request's line and headers; a longer one is cut off."""

MOST_REQUEST_SECONDS = 30.0
"""For how long a request may be under way, from the connection's or its own first byte on."""

MOST_UNREAD_SECONDS = 60.0
"""For how long a client may leave an answer unread that fills the transport; then it is cut off."""

MOST_LINGER_SECONDS = 5.0
"""For how long a refused client is read on; one that closes its side ends that at once."""

_MIN_PATH_BYTES = 1 + codes.MIN_LENGTH
_MAX_PATH_BYTES = 1 + codes.MAX_LENGTH
"""Of a short address."""
LOOKUP = "lookup"
"""In the state of a scope: the look-up that its answer waits for."""
BROKEN = "broken"
"""In the state of a scope: an error of the shortcut nobody foresaw; the application answers."""
_EXAMINED = frozenset({b"host", b"content-length", b"transfer-encoding", b"expect"})
"""Headers that decide whether a request is valid, or has or may have a body."""
_HOST = re.compile(rb"(?:[0-9A-Za-z._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?[ \t]*")
"""A Host field: uri-host with an optional port (RFC 9110, 7.2), not empty, as http requires."""


class Lookup(NamedTuple):
    """What a request waits for, and when (`time.perf_counter`) it was asked for."""

    started: float
    answer: asyncio.Future[Any]


class Shortcut(Protocol):
    """Answers plain GETs of what may be a short address without a task.

    Where one of these raises, the application finds the error under `BROKEN`.
    """

    before_sending: Callable[[], None]
    """Is called before anything is handed to a transport: visits that it answers go on file."""

    def hit(
        self, path: bytes, headers: Headers, host: str, server_headers: Headers
    ) -> bytes | None:
        """The whole answer, the server's own headers in it, if memory has it.

        `host` is where the connection comes from, empty where that is not known.
        """
        ...

    def lookup(self, path: bytes, headers: list[tuple[bytes, bytes]]) -> Lookup | None:
        """What is to be awaited before `respond`; None: the application answers.

        An id that the request is given is added to its headers.
        """
        ...

    def respond(
        self, path: bytes, headers: Headers, host: str, lookup: Lookup, server_headers: Headers
    ) -> bytes | None:
        """The whole answer when `lookup` is done; None: the application answers.

        It finds the look-up in the state of its scope, under `LOOKUP`.
        """
        ...


def protocol_with(short: Shortcut) -> type[asyncio.Protocol]:
    """The protocol class to give to `uvicorn.Config(http=...)`."""

    class ShortcutProtocol(_Protocol):
        shortcut = short
        outbox = _Outbox(short.before_sending)

    return ShortcutProtocol


class _Protocol(HttpToolsProtocol):
    shortcut: Shortcut
    outbox: _Outbox
    _corked: _CorkedTransport
    """`transport`, with what uvicorn does not know of it."""
    url = b""
    _valid_host: bytes | None = None
    """The last Host that was valid: nearly all of a connection are the same."""
    _head_bytes = 0
    _was_hit = False
    _host = ""
    _unread: asyncio.TimerHandle | None = None
    _late: asyncio.TimerHandle | None = None
    """Runs out while a request is under way, the first from the connection's start on, and while
    a refused client is read on."""
    _is_between = False
    """Whether the last request came whole and no other has begun."""
    _refusal: bytes | None = None
    """Is sent once what came before is answered, and nothing after it; what comes is nothing."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._corked = _CorkedTransport(transport, self.outbox)
        super().connection_made(cast(asyncio.Transport, self._corked))
        self.flow = _Flow(transport, self.pipeline)
        self._host = self.client[0] if self.client else ""
        self._await_rest()

    def data_received(self, data: bytes) -> None:
        if self._refusal is not None:
            return
        self._unset_keepalive_if_required()
        self._head_bytes += len(data)
        try:
            self._feed(data)
        except httptools.HttpParserError as error:
            cause = error.__context__
            if not isinstance(error, httptools.HttpParserCallbackError) or isinstance(
                cause, (httptools.HttpParserError, UnicodeDecodeError)
            ):
                self._reject("invalid", 400, "Invalid HTTP request received.")
            else:  # A callback of ours broke: nothing is wrong with what was sent.
                log.error("http_broke", exc_info=cause)
                self._reject("broke", 500, "Internal Server Error")
        if self._refusal is not None:
            return
        if self._head_bytes > MOST_HEAD_BYTES:
            self._reject("too_long", 400, "The headers are too long.")
        elif not self._is_between:
            if self._is_simple_request(data):
                self._reject("invalid", 400, "Invalid HTTP request received.")
            elif self._late is None:
                self._await_rest()

    def _await_rest(self) -> None:
        self._late = self.loop.call_later(MOST_REQUEST_SECONDS, self._cut_off)

    def _forget_late(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _is_simple_request(self, data: bytes) -> bool:
        """Whether the request line has ended, with `data`, and names no version.

        That is HTTP/0.9, whose client sends nothing more and waits. The parser sets the version at
        the byte after the line.
        """
        version = self.parser.get_http_version()
        return version == "0.9" or (version == "0.0" and bool(self.url) and data.endswith(b"\n"))

    def _cut_off(self) -> None:
        """End the connection behind the answers to what came before the late request."""
        if self.flow.read_paused:  # It is not read: nothing says that it is late.
            self._await_rest()
            return
        HTTP_REJECTED.labels("late").inc()
        self._refuse(b"")

    def _feed(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            try:
                self.parser.feed_data(rest)
                return
            except httptools.HttpParserUpgrade as upgrade:
                rest = rest[upgrade.args[0] :]
            HTTP_REJECTED.labels("upgrade").inc()
            if self.parser.get_method() == b"CONNECT":
                self._reject("invalid", 400, "Invalid HTTP request received.")
                return
            # The parser believes that what follows is the other protocol's, where it is this
            # request's body: the head is read once more, without what asks for that.
            head = self._head_without_upgrade()
            self.parser = httptools.HttpRequestParser(self)
            self.parser.feed_data(head)

    def _head_without_upgrade(self) -> bytes:
        version = self.parser.get_http_version().encode("ascii")
        lines = [b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, version)]
        lines += [b"%s: %s" % header for header in self.headers if header[0] != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])

    def _reject(self, reason: str, status: int, message: str) -> None:
        HTTP_REJECTED.labels(reason).inc()
        text = message.encode("ascii")
        headers = [
            *self.server_state.default_headers,
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", b"%d" % len(text)),
            (b"connection", b"close"),
        ]
        lines = b"".join(b"%s: %s\r\n" % header for header in headers)
        self._refuse(b"%s%s\r\n%s" % (STATUS_LINE[status], lines, text))

    def _refuse(self, refusal: bytes) -> None:
        """End the connection with a refusal of what is read, behind the answers to what was."""
        self._refusal = refusal
        self._forget_late()
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            self._send_refusal()
        elif cycle.more_body:  # It is the body of this request that cannot be read.
            if self.pipeline:
                self.pipeline.popleft()
            elif cycle.response_started:
                self._refusal = b""  # It has its answer.
            else:
                self._send_refusal()
                cycle.disconnected = True
                cycle.message_event.set()

    def _send_refusal(self) -> None:
        """Say that nothing comes behind the refusal, and read on until the client says so too."""
        if self._refusal:
            self.transport.write(self._refusal)
        self._corked.end()
        self.flow.resume_reading()
        self._late = self.loop.call_later(MOST_LINGER_SECONDS, self.transport.close)

    def on_response_complete(self) -> None:
        is_last = not self.pipeline
        super().on_response_complete()
        if is_last and self._refusal is not None and not self.transport.is_closing():
            self._send_refusal()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(MOST_UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._forget_unread()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_unread()
        self._forget_late()
        super().connection_lost(exc)

    def _forget_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def on_message_begin(self) -> None:
        # The scope is made where it is needed: an answer from memory has no use for one.
        self.url = b""
        self.headers = []
        self._was_hit = False
        self._is_between = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def _scope_of(self, headers: list[tuple[bytes, bytes]], **state: Any) -> dict[str, Any]:
        """A request's scope, as uvicorn begins it."""
        return {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": "1.1",
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "root_path": self.root_path,
            "headers": headers,
            "state": {**self.app_state, **state},
        }

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            return  # It is read once more: `_feed`.
        self._head_bytes = 0
        is_plain_get = self._examine_head()
        # uvicorn takes it for granted that a URL has a path.
        if not self.url.startswith(b"/") and httptools.parse_url(self.url).path is None:
            raise httptools.HttpParserInvalidURLError("There is no path.")
        state: dict[str, Any] = {}
        if _MIN_PATH_BYTES <= len(self.url) <= _MAX_PATH_BYTES and is_plain_get and self._is_free():
            try:
                response = self.shortcut.hit(
                    self.url, self.headers, self._host, self.server_state.default_headers
                )
                lookup = None if response else self.shortcut.lookup(self.url, self.headers)
            except Exception as error:
                state[BROKEN] = error
            else:
                if response is not None:
                    self._was_hit = True
                    self.transport.write(response)
                    super().on_response_complete()
                    return
                if lookup is not None:
                    self._wait_for(lookup)
                    return
        self.scope = cast(Any, self._scope_of(self.headers, **state))
        self.expect_100_continue = any(
            name == b"expect" and value.lower() == b"100-continue" for name, value in self.headers
        )
        # An answer given at once may have begun the wait for the next request: this is it.
        self._unset_keepalive_if_required()
        super().on_headers_complete()

    def _wait_for(self, lookup: Lookup) -> None:
        """Have the request answered once its look-up is done."""
        self._unset_keepalive_if_required()
        waiting = _Waiting(self.url, self.headers, lookup)
        self.cycle = cast(RequestResponseCycle, waiting)
        # As a task of uvicorn's: it stops when they have ended, or cancels them.
        cast(set[asyncio.Future[Any]], self.tasks).add(lookup.answer)
        lookup.answer.add_done_callback(partial(self._end_lookup, waiting))

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        self._head_bytes = 0
        self._is_between = True
        self._forget_late()
        if not self._was_hit:
            super().on_message_complete()

    def on_body(self, body: bytes) -> None:
        self._head_bytes = 0
        super().on_body(body)

    def _end_lookup(self, waiting: _Waiting, answer: asyncio.Future[Any]) -> None:
        """Answer who waited for a look-up. One who left meanwhile is counted all the same."""
        cast(set[asyncio.Future[Any]], self.tasks).discard(answer)
        if answer.cancelled():
            return
        state: dict[str, Any] = {LOOKUP: waiting.lookup}
        if waiting.keep_alive and not self.flow.write_paused:
            try:
                response = self.shortcut.respond(
                    waiting.url,
                    waiting.headers,
                    self._host,
                    waiting.lookup,
                    self.server_state.default_headers,
                )
            except Exception as error:
                response = None
                state[BROKEN] = error
            if response is not None:
                if not waiting.disconnected:
                    self.transport.write(response)
                waiting.response_complete = True
                self.on_response_complete()
                return
        self._hand_over(waiting, state)

    def _hand_over(self, waiting: _Waiting, state: dict[str, Any]) -> None:
        """Have the application answer a request that waited, as uvicorn would have had it."""
        scope = self._scope_of(waiting.headers, **state)
        scope["method"] = "GET"
        scope["path"] = self.root_path + waiting.url.decode("ascii")
        scope["raw_path"] = self.root_path.encode("ascii") + waiting.url
        scope["query_string"] = b""
        cycle = RequestResponseCycle(
            scope=cast(Any, scope),
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=waiting.keep_alive,
            on_response=self.on_response_complete,
        )
        cycle.disconnected = waiting.disconnected
        cycle.more_body = waiting.more_body
        if cycle.disconnected or not cycle.more_body:
            cycle.message_event.set()
        if cast(Any, self.cycle) is waiting:
            self.cycle = cycle
        self._start_asgi_task(cycle, self.app)

    def _is_free(self) -> bool:
        """Whether no answer is under way and the client takes what it is sent."""
        ended = self.cycle is None or self.cycle.response_complete
        return ended and not self.pipeline and not self.flow.write_paused

    def _examine_head(self) -> bool:
        """Return whether the request is a GET that keeps the connection and has no body.

        Raises HttpParserError for what RFC 9112 has a server refuse and the parser lets pass:
        another version than 1.0 and 1.1, no Host (1.1), several or an invalid one (3.2), and a
        transfer coding other than chunked, or any in 1.0 (6.1).
        """
        parser = self.parser
        version = parser.get_http_version()
        hosts, has_body = 0, False
        for name, value in self.headers:
            if name not in _EXAMINED:
                continue
            if name == b"host":
                hosts += 1
                if value != self._valid_host:
                    if not _HOST.fullmatch(value):
                        raise httptools.HttpParserError("The Host is invalid.")
                    self._valid_host = value
                continue
            has_body = True
            if name == b"transfer-encoding" and (version != "1.1" or value.lower() != b"chunked"):
                raise httptools.HttpParserError("The transfer coding is unknown.")
        if version == "1.1":
            if hosts != 1:
                raise httptools.HttpParserError("There is not one Host.")
            return not has_body and parser.get_method() == b"GET" and parser.should_keep_alive()
        if version != "1.0" or hosts > 1:
            raise httptools.HttpParserError("The version is unknown, or there are several Hosts.")
        return False


class _Flow(FlowControl):
    """Reads on only where no request waits: uvicorn asks for that at each answer."""

    def __init__(self, transport: asyncio.Transport, waiting: Sized) -> None:
        super().__init__(transport)
        self._waiting = waiting

    def resume_reading(self) -> None:
        if self.read_paused and not self._waiting:
            super().resume_reading()


class _Waiting:
    """A GET whose answer is a look-up away, with what uvicorn sees to of a request's cycle.

    A cycle has a scope, an event and more, and nearly no request needs them.
    """

    __slots__ = (
        "disconnected",
        "headers",
        "keep_alive",
        "lookup",
        "message_event",
        "more_body",
        "response_complete",
        "url",
    )
    response_started = False

    def __init__(self, url: bytes, headers: list[tuple[bytes, bytes]], lookup: Lookup) -> None:
        self.url = url
        self.headers = headers
        self.lookup = lookup
        self.disconnected = False
        self.keep_alive = True
        self.more_body = True
        self.response_complete = False
        self.message_event = _UNHEARD


class _Unheard:
    """The event of a request to which nobody listens."""

    def set(self) -> None:
        """Do nothing."""


_UNHEARD = _Unheard()


class _Outbox:
    """The transports that have something to send, which it leaves at the end of the loop's turn.

    One callback of the loop for all of them: it costs more than what a transport does with it.
    """

    def __init__(self, before_sending: Callable[[], None]) -> None:
        self.before_sending = before_sending
        self._filled: list[_CorkedTransport] = []

    def add(self, transport: _CorkedTransport) -> None:
        """Have a transport send what it holds with this turn's others."""
        if not self._filled:
            asyncio.get_running_loop().call_soon(self._empty)
        self._filled.append(transport)

    def _empty(self) -> None:
        filled, self._filled = self._filled, []
        for transport in filled:
            try:
                transport.flush()
            except Exception as error:  # Of one connection: the others are sent theirs.
                log.error("http_not_sent", exc_info=error)


class _CorkedTransport:
    """A transport whose writes of one turn of the loop leave together; else the one it wraps."""

    def __init__(self, transport: asyncio.Transport, outbox: _Outbox) -> None:
        self._transport = transport
        self._outbox = outbox
        self._held: list[bytes] = []
        self._is_ended = False

    def write(self, data: bytes) -> None:
        """Send `data` with what else is written in this turn."""
        if not self._held:
            self._outbox.add(self)
        self._held.append(data)

    def close(self) -> None:
        """Close once everything written is sent."""
        self.flush()
        self._transport.close()

    def end(self) -> None:
        """Say that nothing more is sent once everything written is, and read on."""
        self.flush()
        if not self.is_closing():
            self._transport.write_eof()
        self._is_ended = True

    def is_closing(self) -> bool:
        """Whether what is written now is sent no more."""
        return self._is_ended or self._transport.is_closing()

    def flush(self) -> None:
        """Hand over what is held, its visits on file."""
        held, self._held = self._held, []
        if held and not self._transport.is_closing():  # Who has left is sent nothing.
            self._outbox.before_sending()
            self._transport.write(b"".join(held))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
