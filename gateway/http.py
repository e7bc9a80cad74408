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
once, in the midst of an answer too. A request to speak another protocol is read as one that does
not ask.

Requests that wait behind another are those of one read at most. uvicorn reads on at each answer:
who sends small requests faster than they are answered fills its memory.

A request that does not come whole in time is cut off: who sends a byte now and then would hold a
connection for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sized
from functools import partial
from typing import Any, Protocol, cast

import httptools
from starlette.types import Scope
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

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

_MIN_PATH_BYTES = 1 + codes.MIN_LENGTH
_MAX_PATH_BYTES = 1 + codes.MAX_LENGTH
"""Of a short address."""
_PLAIN = "plain"
"""In the state of a scope: the shortcut may be taken."""
BROKEN = "broken"
"""In the state of a scope: an error of the shortcut nobody foresaw; the application answers."""
_BROKEN_OFF = (
    b"HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
)
_WITH_BODY = frozenset({b"content-length", b"transfer-encoding", b"expect"})


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

    def lookup(self, scope: Scope) -> asyncio.Future[Any] | None:
        """What is to be awaited before `respond`; None: the application answers."""
        ...

    def respond(self, scope: Scope, server_headers: Headers) -> bytes | None:
        """The whole answer when what `lookup` gave is done; None: the application answers."""
        ...


def protocol_with(short: Shortcut) -> type[asyncio.Protocol]:
    """The protocol class to give to `uvicorn.Config(http=...)`."""

    class ShortcutProtocol(_Protocol):
        shortcut = short

    return ShortcutProtocol


class _Protocol(HttpToolsProtocol):
    shortcut: Shortcut
    _head_bytes = 0
    _was_hit = False
    _host = ""
    _unread: asyncio.TimerHandle | None = None
    _late: asyncio.TimerHandle | None = None
    """Runs out while a request is under way, the first from the connection's start on."""
    _is_between = False
    """Whether the last request came whole and no other has begun."""
    _refusal: Callable[[], None] | None = None
    """Ends the connection once what came before is answered; what comes behind is nothing."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        corked = cast(
            asyncio.Transport,
            _CorkedTransport(transport, self.loop, self.shortcut.before_sending),
        )
        super().connection_made(corked)
        self.flow = _Flow(corked, self.pipeline)
        self._host = self.client[0] if self.client else ""
        self._await_rest()

    def data_received(self, data: bytes) -> None:
        if self._refusal is not None:  # It is read all the same: else a reset overtakes answers.
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
                self._reject("invalid", "Invalid HTTP request received.")
            else:  # A callback of ours broke: nothing is wrong with what was sent.
                HTTP_REJECTED.labels("broke").inc()
                log.error("http_broke", exc_info=cause)
                self._refuse(self._send_broken_off)
        if self._refusal is not None:
            return
        if self._head_bytes > MOST_HEAD_BYTES:
            self._reject("too_long", "The headers are too long.")
        elif not self._is_between and self._late is None:
            self._await_rest()

    def _await_rest(self) -> None:
        self._late = self.loop.call_later(MOST_REQUEST_SECONDS, self._cut_off)

    def _forget_late(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _cut_off(self) -> None:
        """End the connection behind the answers to what came before the late request."""
        if self.flow.read_paused:  # It is not read: nothing says that it is late.
            self._await_rest()
            return
        HTTP_REJECTED.labels("late").inc()
        self._refuse(self.transport.close)

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
                self._reject("invalid", "Invalid HTTP request received.")
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

    def _reject(self, reason: str, message: str) -> None:
        HTTP_REJECTED.labels(reason).inc()
        self._refuse(partial(self.send_400_response, message))

    def _send_broken_off(self) -> None:
        self.transport.write(_BROKEN_OFF)
        self.transport.close()

    def _refuse(self, refusal: Callable[[], None]) -> None:
        """End the connection with a refusal of what is read, behind the answers to what was."""
        self._refusal = refusal
        self._forget_late()
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            refusal()
        elif cycle.more_body:  # It is the body of this request that cannot be read.
            if self.pipeline:
                self.pipeline.popleft()
            elif cycle.response_started:
                cycle.keep_alive = False  # It has its answer, which ends the connection.
            else:
                refusal()

    def on_response_complete(self) -> None:
        is_last = not self.pipeline
        super().on_response_complete()
        if is_last and self._refusal is not None and not self.transport.is_closing():
            self._refusal()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(MOST_UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._forget_unread()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_unread()
        self._forget_late()
        self._refusal = None  # It leads back here: no cycle to be collected.
        super().connection_lost(exc)

    def _forget_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._was_hit = False
        self._is_between = False

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            return  # It is read once more: `_feed`.
        self._head_bytes = 0
        # uvicorn takes it for granted that a URL has a path.
        if not self.url.startswith(b"/") and httptools.parse_url(self.url).path is None:
            raise httptools.HttpParserInvalidURLError("There is no path.")
        if (
            _MIN_PATH_BYTES <= len(self.url) <= _MAX_PATH_BYTES
            and self._is_free()
            and self._is_plain_get()
        ):
            state = self.scope["state"]
            try:
                response = self.shortcut.hit(
                    self.url, self.headers, self._host, self.server_state.default_headers
                )
            except Exception as error:
                state[BROKEN] = error
            else:
                if response is not None:
                    self._was_hit = True
                    self.transport.write(response)
                    super().on_response_complete()
                    return
                state[_PLAIN] = True
        # An answer given at once may have begun the wait for the next request: this is it.
        self._unset_keepalive_if_required()
        super().on_headers_complete()

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

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        scope = cast(Scope, cycle.scope)
        lookup = self._lookup(scope) if _PLAIN in scope["state"] else None
        if lookup is None:
            super()._start_asgi_task(cycle, app)
        else:
            # As a task of uvicorn's: it stops when they have ended, or cancels them.
            tasks = cast(set[asyncio.Future[Any]], self.tasks)
            tasks.add(lookup)
            lookup.add_done_callback(tasks.discard)
            lookup.add_done_callback(lambda _: self._end_lookup(cycle, app, lookup))

    def _lookup(self, scope: Scope) -> asyncio.Future[Any] | None:
        try:
            return self.shortcut.lookup(scope)
        except Exception as error:
            scope["state"][BROKEN] = error
            return None

    def _end_lookup(
        self, cycle: RequestResponseCycle, app: Any, lookup: asyncio.Future[Any]
    ) -> None:
        """Answer who waited for a look-up. One who left meanwhile is counted all the same."""
        if lookup.cancelled():
            return
        if cycle.keep_alive and not self.flow.write_paused:
            scope = cast(Scope, cycle.scope)
            try:
                response = self.shortcut.respond(scope, self.server_state.default_headers)
            except Exception as error:
                response = None
                scope["state"][BROKEN] = error
            if response is not None:
                if not cycle.disconnected:
                    self.transport.write(response)
                cycle.response_complete = True
                cycle.on_response = _nothing  # It leads back here: no cycle to be collected.
                self.on_response_complete()
                return
        super()._start_asgi_task(cycle, app)

    def _is_free(self) -> bool:
        """Whether no answer is under way and the client takes what it is sent."""
        ended = self.cycle is None or self.cycle.response_complete
        return ended and not self.pipeline and not self.flow.write_paused

    def _is_plain_get(self) -> bool:
        for name, _ in self.headers:
            if name in _WITH_BODY:
                return False
        parser = self.parser
        return (
            parser.get_method() == b"GET"
            and parser.get_http_version() == "1.1"
            and parser.should_keep_alive()
        )


def _nothing() -> None:
    """There is no more to do."""


class _Flow(FlowControl):
    """Reads on only where no request waits: uvicorn asks for that at each answer."""

    def __init__(self, transport: asyncio.Transport, waiting: Sized) -> None:
        super().__init__(transport)
        self._waiting = waiting

    def resume_reading(self) -> None:
        if self.read_paused and not self._waiting:
            super().resume_reading()


class _CorkedTransport:
    """A transport whose writes of one turn of the loop leave together; else the one it wraps."""

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        before_sending: Callable[[], None],
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._before_sending = before_sending
        self._held: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send `data` with what else is written in this turn."""
        if not self._held:
            self._loop.call_soon(self._flush)
        self._held.append(data)

    def close(self) -> None:
        """Close once everything written is sent."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        held, self._held = self._held, []
        if held and not self._transport.is_closing():  # Who has left is sent nothing.
            self._before_sending()
            self._transport.write(b"".join(held))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
