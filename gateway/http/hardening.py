"""uvicorn's httptools protocol, hardened against malformed, slow and flooding clients.

What it changes, and why:

- Requests that a server must reject (RFC 9112) but httptools accepts get status 400.
- A request line in UTF-8 is percent-encoded, as nginx does. The parser rejects it.
- `Upgrade` headers are ignored: the request is answered as if it had none.
- Invalid requests are counted and not logged, and responses that break off are logged at a limited
  rate. uvicorn writes a line for each. Any client may cause them.
- A rejection is sent after the responses to earlier requests. uvicorn sends it at once, even
  within another response.
- The connection of a rejected client is read for a while longer. Closing a connection with unread
  bytes resets it, and a reset can overtake the response (RFC 9112, 9.6).
- Pipelined requests are bounded by one read. uvicorn resumes reading after each response, so a
  client that sends faster than it is answered fills the memory.
- Connections are closed if a request does not arrive in time, or if the client does not read.
- A connection has one timer, which ends with it. uvicorn makes and cancels one per response, and a
  connection that the client resets keeps it, with all it holds, until it fires.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sized
from math import inf
from typing import Any, cast

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from gateway.http.metrics import HTTP_REJECTED
from gateway.support.headers import HeadersByName, combined
from services.shared.observability import logs

log = logs.Throttled(__name__)

MAX_HEAD_BYTES = 65_536
"""Maximum bytes of the request line and the headers."""
MAX_REQUEST_SECONDS = 30.0
"""Maximum time for a request to arrive, from its first byte or the start of the connection."""
MAX_UNREAD_SECONDS = 60.0
"""Maximum time that the send buffer may stay full, or a connection close, because the client does
not read."""
MAX_LINGER_SECONDS = 5.0
"""How long the connection of a rejected client is still read."""

_SINGLE_HEADERS = frozenset(
    (
        *(b"authorization", b"content-length", b"content-range", b"content-type", b"expect"),
        *(b"host", b"if-match", b"if-modified-since", b"if-none-match", b"if-range"),
        *(b"if-unmodified-since", b"transfer-encoding"),
    )
)
"""Headers that a request has at most once: those of which nginx rejects a second, and the type of
the body. Of two values, programs would choose differently."""
_HOST = re.compile(rb"(?:[0-9A-Za-z._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?[ \t]*")
"""A Host field: uri-host with an optional port (RFC 9110, 7.2). http requires a host."""
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_INVALID = "Invalid HTTP request received."


class HardenedProtocol(HttpToolsProtocol):
    """Rejects what the parser should reject, and bounds time and memory per connection.

    A subclass may override `on_request`.
    """

    url = b""
    is_plain_get = False
    """Whether the current request is a GET without a body that keeps the connection alive."""
    is_answered = False
    """Whether the current request was answered without uvicorn."""
    by_name: HeadersByName
    """The headers of the current request by name, once all have arrived."""
    _valid_host: bytes | None = None
    """The last valid Host. On one connection nearly all are equal."""
    _head_bytes = 0
    _timer: asyncio.TimerHandle | None = None
    """The timer of the connection. It fires early after a deadline moved, and is set again."""
    _fires_at = inf
    """When the timer fires, by the clock of the loop, as the deadlines below."""
    _request_deadline = inf
    """When the current request must have arrived."""
    _idle_deadline = inf
    """When an idle client, or a rejected one, must have sent a request or closed the connection."""
    _unread_deadline = inf
    """When a client must have read, if its send buffer is full or the connection closes."""
    _is_between_requests = True
    """Whether no request has begun since the last one arrived."""
    _rejection: bytes | None = None
    """Response to send after those to earlier requests. From then on input is ignored."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.logger = cast(logging.Logger, _RESPONSE_LOG)
        self.flow = _Flow(transport, self.pipeline)
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._fires_at = -inf  # No deadline is earlier, so the timer is not set again.
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._rejection is not None:
            return
        self._idle_deadline = inf
        self._head_bytes += len(data)
        if self._is_between_requests and not data.isascii():
            data = _encode_request_line(data)
        try:
            rest: memoryview | None = None
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                rest = memoryview(data)[upgrade.args[0] :]
            if rest is not None:  # Outside the handler, or it would replace the cause of errors.
                self._ignore_upgrade(rest)
        except httptools.HttpParserError as error:
            cause = error.__context__
            if not isinstance(error, httptools.HttpParserCallbackError) or isinstance(
                cause, (httptools.HttpParserError, UnicodeDecodeError)
            ):
                self._reject("invalid", 400, _INVALID)
            else:  # A callback failed, so the request is not to blame.
                log.error("http_error", exc_info=cause)
                self._reject("error", 500, "Internal Server Error")
        if self._rejection is not None:
            return
        if self._head_bytes > MAX_HEAD_BYTES:
            self._reject("too_long", 400, "The headers are too long.")
        elif not self._is_between_requests:
            if self._is_http09_request(data):
                self._reject("invalid", 400, _INVALID)
            elif self._request_deadline == inf:
                self._expect_request()

    def _ignore_upgrade(self, rest: memoryview) -> None:
        """Parse on after the head of a request that asks for another protocol."""
        while True:
            HTTP_REJECTED.labels("upgrade").inc()
            if self.parser.get_method() == b"CONNECT":
                self._reject("invalid", 400, _INVALID)
                return
            # The parser takes what follows for the other protocol, not for this request's body.
            # So a new parser reads the head again, without the Upgrade header.
            head = self._head_without_upgrade()
            self.parser = httptools.HttpRequestParser(self)
            self.parser.feed_data(head)
            if not rest:
                return
            try:
                self.parser.feed_data(rest)
                return
            except httptools.HttpParserUpgrade as upgrade:
                rest = rest[upgrade.args[0] :]

    def _head_without_upgrade(self) -> bytes:
        version = self.parser.get_http_version().encode("ascii")
        lines = [b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, version)]
        lines += [b"%s: %s" % header for header in self.headers if header[0] != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])

    def _is_http09_request(self, data: bytes) -> bool:
        """Whether `data` ends a request line without a version, as HTTP/0.9 has it.

        Its client waits for a response now. The parser sets the version only at the next byte.
        """
        version = self.parser.get_http_version()
        return version == "0.9" or (version == "0.0" and bool(self.url) and data.endswith(b"\n"))

    # Callbacks of the parser

    def on_message_begin(self) -> None:
        # `on_request` makes the scope if one is needed.
        self.url = b""
        self.headers = []
        self.is_answered = False
        self._is_between_requests = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            return  # `_ignore_upgrade` parses the head again.
        self._head_bytes = 0
        self._examine_head()
        # uvicorn assumes that every URL has a path.
        if not self.url.startswith(b"/") and httptools.parse_url(self.url).path is None:
            raise httptools.HttpParserInvalidURLError("There is no path.")
        self.on_request()

    def on_request(self, **state: Any) -> None:
        """Let the application answer the current request, with `state` in its scope."""
        url, headers = self.url, self.headers
        super().on_message_begin()
        self.url = url
        self.headers += headers
        self.expect_100_continue = any(
            name == b"expect" and value.lower() == b"100-continue" for name, value in headers
        )
        self.scope["state"].update(state)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        self._head_bytes = 0
        self._is_between_requests = True
        self._request_deadline = inf
        if not self.is_answered:
            super().on_message_complete()

    def _examine_head(self) -> None:
        """Set `by_name` and `is_plain_get`, reading the headers once.

        Raises HttpParserError for what a server must reject (RFC 9112) but the parser accepts: a
        version other than 1.0 and 1.1; an invalid Host, or none in 1.1 (3.2); a second header of
        `_SINGLE_HEADERS`; a transfer coding other than chunked, or any in 1.0 (6.1).
        """
        parser, headers = self.parser, self.headers
        self.by_name = by_name = combined(headers)
        if len(by_name) != len(headers):
            singles = [name for name, _ in headers if name in _SINGLE_HEADERS]
            if len(singles) != len(set(singles)):
                raise httptools.HttpParserError("A header is repeated.")
        is_1_1 = parser.get_http_version() == "1.1"
        if not is_1_1 and parser.get_http_version() != "1.0":
            raise httptools.HttpParserError("The version is unknown.")
        host = by_name.get(b"host")
        if host is None:
            if is_1_1:
                raise httptools.HttpParserError("There is no Host.")
        elif host != self._valid_host:
            if not _HOST.fullmatch(host):
                raise httptools.HttpParserError("The Host is invalid.")
            self._valid_host = host
        if b"transfer-encoding" in by_name and not (
            is_1_1 and by_name[b"transfer-encoding"].lower() == b"chunked"
        ):
            raise httptools.HttpParserError("The transfer coding is unknown.")
        self.is_plain_get = (
            is_1_1
            and parser.get_method() == b"GET"
            and parser.should_keep_alive()
            and not (
                b"content-length" in by_name
                or b"transfer-encoding" in by_name
                or b"expect" in by_name
            )
        )

    # Rejections

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
        self._end(b"%s%s\r\n%s" % (STATUS_LINE[status], lines, text))

    def _end(self, rejection: bytes) -> None:
        """Close the connection with `rejection` after the responses to earlier requests."""
        self._rejection = rejection
        self._request_deadline = inf
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            self._send_rejection()
        elif cycle.more_body:  # The body of this request cannot be read.
            if self.pipeline:
                self.pipeline.popleft()
            elif cycle.response_started:
                self._rejection = b""  # Its response has begun.
            else:
                self._send_rejection()
                cycle.disconnected = True
                cycle.message_event.set()

    def _send_rejection(self) -> None:
        """Send the rejection, close the sending side, and read on until the client closes."""
        if self._rejection:
            self.transport.write(self._rejection)
        self.transport.write_eof()
        self.flow.resume_reading()
        self._idle_deadline = self._wake_in(MAX_LINGER_SECONDS)

    # Deadlines

    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            self._limit_closing()
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        elif self._rejection is not None:
            self._send_rejection()
        else:
            self.expect_next_request()

    def expect_next_request(self) -> None:
        """Wait for another request, after the response to the last one."""
        self._idle_deadline = deadline = self.loop.time() + self.timeout_keep_alive
        if deadline < self._fires_at:
            self._set_timer(deadline)

    def _unset_keepalive_if_required(self) -> None:
        self._idle_deadline = inf

    def _expect_request(self) -> None:
        self._request_deadline = self._wake_in(MAX_REQUEST_SECONDS)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_deadline = self._wake_in(MAX_UNREAD_SECONDS)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unread_deadline = inf
        if self.transport.is_closing():
            self._limit_closing()  # The transport has yet to send what is left in its buffer.

    def _limit_closing(self) -> None:
        """Bound how long a closed connection waits for a client that does not read the rest."""
        if self._unread_deadline == inf:
            self._unread_deadline = self._wake_in(MAX_UNREAD_SECONDS)

    def _wake_in(self, seconds: float) -> float:
        """Return the time in so many seconds, at which or before which the timer fires."""
        deadline = self.loop.time() + seconds
        if deadline < self._fires_at:
            self._set_timer(deadline)
        return deadline

    def _set_timer(self, deadline: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._fires_at = deadline
        self._timer = self.loop.call_at(deadline, self._wake)

    def _wake(self) -> None:
        """Act on the deadlines that have passed, and set the timer for the next."""
        now, self._timer, self._fires_at = self._fires_at, None, inf
        if self._unread_deadline <= now:
            self._unread_deadline = inf
            self.transport.abort()
        elif self._idle_deadline <= now:
            self._idle_deadline = inf
            self.transport.close()
            self._limit_closing()
        elif self._request_deadline <= now:
            self._cut_off()
        next_deadline = min(self._unread_deadline, self._idle_deadline, self._request_deadline)
        if next_deadline < self._fires_at:
            self._set_timer(next_deadline)

    def _cut_off(self) -> None:
        """Close the connection after the responses to requests before the late one."""
        if self.flow.read_paused:  # The gateway stopped reading, so the client may not be late.
            self._expect_request()
            return
        HTTP_REJECTED.labels("timeout").inc()
        self._end(b"")


def _encode_request_line(data: bytes) -> bytes:
    """Percent-encode the first line if it is UTF-8. Some clients send what the user typed."""
    line, end, rest = data.partition(b"\n")
    try:
        line.decode()
    except UnicodeDecodeError:
        return data
    return _NOT_ASCII.sub(lambda match: b"%%%02X" % match[0][0], line) + end + rest


class _ResponseLog:
    """Writes what uvicorn logs about requests and responses, by its message as the reason."""

    level = logging.INFO

    def warning(self, message: str, *_: object) -> None:
        """Write a warning, unless this one was written within a minute."""
        log.warning("http_request_invalid", reason=message.strip())

    def error(self, message: str, *_: object, exc_info: BaseException | None = None) -> None:
        """Write an error, unless this one was written within a minute."""
        fields = {} if exc_info is None else {"exc_info": exc_info}
        log.error("http_response_incomplete", reason=message.strip(), **fields)


_RESPONSE_LOG = _ResponseLog()


class _Flow(FlowControl):
    """Resumes reading only if no request waits. uvicorn resumes it after each response."""

    def __init__(self, transport: asyncio.Transport, waiting: Sized) -> None:
        super().__init__(transport)
        self._waiting = waiting

    def resume_reading(self) -> None:
        if self.read_paused and not self._waiting:
            super().resume_reading()
