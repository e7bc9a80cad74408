"""uvicorn's httptools protocol, hardened against malformed, slow and flooding clients.

What it changes, and why:

- Requests that RFC 9112 has a server reject, and that httptools' parser accepts, get 400.
- A request for another protocol (`Upgrade`) is read as one that does not ask for it.
- Invalid requests are counted and not logged: uvicorn writes a line for each.
- A rejection is sent after the responses to earlier requests. uvicorn sends it at once, even
  within another response.
- A rejected client is read for a while longer: closing a connection with unread bytes resets it,
  and a reset can overtake the response (RFC 9112, 9.6).
- Requests that wait for an earlier response are bounded by one read. uvicorn resumes reading after
  each response, so a client that sends faster than it is answered fills the memory.
- Requests that do not arrive whole in time are cut off, and so are clients that do not read.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sized
from typing import Any

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from gateway.metrics import HTTP_REJECTED
from services.shared.observability import logs

log = logs.Throttled(__name__)

MAX_HEAD_BYTES = 65_536
"""Of the request line and the headers."""
MAX_REQUEST_SECONDS = 30.0
"""For a request to arrive whole, from the first byte, or from the start of the connection."""
MAX_UNREAD_SECONDS = 60.0
"""For a client to read from a connection whose send buffer is full."""
MAX_LINGER_SECONDS = 5.0
"""For which a rejected client is still read."""

_EXAMINED = frozenset({b"host", b"content-length", b"transfer-encoding", b"expect"})
"""Headers that decide whether a request is valid, or has or may have a body."""
_HOST = re.compile(rb"(?:[0-9A-Za-z._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?[ \t]*")
"""A Host field: uri-host with an optional port (RFC 9110, 7.2), not empty, as http requires."""
_INVALID = "Invalid HTTP request received."


class HardenedProtocol(HttpToolsProtocol):
    """Rejects what the parser should have rejected, and bounds time and memory per connection.

    A subclass may override `on_request`.
    """

    url = b""
    is_plain_get = False
    """Whether the current request is a GET that keeps the connection and has no body."""
    is_answered = False
    """Whether the current request was answered without uvicorn."""
    _valid_host: bytes | None = None
    """The last Host that was valid: on one connection nearly all are equal."""
    _head_bytes = 0
    _unread: asyncio.TimerHandle | None = None
    _late: asyncio.TimerHandle | None = None
    """Expires unless the current request arrives whole, or a rejected client closes."""
    _is_between = False
    """Whether the last request arrived whole and no other has begun."""
    _rejection: bytes | None = None
    """To be sent after the responses to earlier requests. From then on input is ignored."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = _Flow(transport, self.pipeline)
        self._await_rest()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_unread()
        self._forget_late()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._rejection is not None:
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
                self._reject("invalid", 400, _INVALID)
            else:  # A callback failed: the request is not to blame.
                log.error("http_broke", exc_info=cause)
                self._reject("broke", 500, "Internal Server Error")
        if self._rejection is not None:
            return
        if self._head_bytes > MAX_HEAD_BYTES:
            self._reject("too_long", 400, "The headers are too long.")
        elif not self._is_between:
            if self._is_simple_request(data):
                self._reject("invalid", 400, _INVALID)
            elif self._late is None:
                self._await_rest()

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
                self._reject("invalid", 400, _INVALID)
                return
            # The parser takes what follows for the other protocol, not for this request's body.
            # So a new parser reads the head once more, without the Upgrade header.
            head = self._head_without_upgrade()
            self.parser = httptools.HttpRequestParser(self)
            self.parser.feed_data(head)

    def _head_without_upgrade(self) -> bytes:
        version = self.parser.get_http_version().encode("ascii")
        lines = [b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, version)]
        lines += [b"%s: %s" % header for header in self.headers if header[0] != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])

    def _is_simple_request(self, data: bytes) -> bool:
        """Whether `data` ends a request line without a version: HTTP/0.9, whose client now waits.

        The parser sets the version at the byte after the line.
        """
        version = self.parser.get_http_version()
        return version == "0.9" or (version == "0.0" and bool(self.url) and data.endswith(b"\n"))

    # Callbacks of the parser

    def on_message_begin(self) -> None:
        # `on_request` makes the scope, where there is need of one.
        self.url = b""
        self.headers = []
        self.is_answered = False
        self._is_between = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            return  # `_feed` has it read once more.
        self._head_bytes = 0
        self.is_plain_get = self._examine_head()
        # uvicorn assumes that every URL has a path.
        if not self.url.startswith(b"/") and httptools.parse_url(self.url).path is None:
            raise httptools.HttpParserInvalidURLError("There is no path.")
        self.on_request()

    def on_request(self, **state: Any) -> None:
        """Have the application answer the current request, with `state` in its scope."""
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
        self._is_between = True
        self._forget_late()
        if not self.is_answered:
            super().on_message_complete()

    def _examine_head(self) -> bool:
        """Return whether the request is a GET that keeps the connection and has no body.

        Raises HttpParserError for what RFC 9112 has a server reject and the parser accepts: a
        version other than 1.0 and 1.1, no Host (1.1), several or an invalid one (3.2), and a
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
        """End the connection with `rejection`, after the responses to earlier requests."""
        self._rejection = rejection
        self._forget_late()
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            self._send_rejection()
        elif cycle.more_body:  # The body of this request cannot be read.
            if self.pipeline:
                self.pipeline.popleft()
            elif cycle.response_started:
                self._rejection = b""  # It has its response.
            else:
                self._send_rejection()
                cycle.disconnected = True
                cycle.message_event.set()

    def _send_rejection(self) -> None:
        """Send it, close the sending side, and read on until the client closes, too."""
        if self._rejection:
            self.transport.write(self._rejection)
        self.transport.write_eof()
        self.flow.resume_reading()
        self._late = self.loop.call_later(MAX_LINGER_SECONDS, self.transport.close)

    def on_response_complete(self) -> None:
        is_last = not self.pipeline
        super().on_response_complete()
        if is_last and self._rejection is not None and not self.transport.is_closing():
            self._send_rejection()

    # Slow clients

    def _await_rest(self) -> None:
        self._late = self.loop.call_later(MAX_REQUEST_SECONDS, self._cut_off)

    def _forget_late(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _cut_off(self) -> None:
        """End the connection after the responses to requests before the late one."""
        if self.flow.read_paused:  # The gateway does not read, so the client may not be late.
            self._await_rest()
            return
        HTTP_REJECTED.labels("late").inc()
        self._end(b"")

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(MAX_UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._forget_unread()

    def _forget_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None


class _Flow(FlowControl):
    """Resumes reading only while no request waits: uvicorn resumes it after each response."""

    def __init__(self, transport: asyncio.Transport, waiting: Sized) -> None:
        super().__init__(transport)
        self._waiting = waiting

    def resume_reading(self) -> None:
        if self.read_paused and not self._waiting:
            super().resume_reading()
