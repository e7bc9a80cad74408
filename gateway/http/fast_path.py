"""Answers GETs of short URLs in the server protocol, without a request object or a task.

A cached link is answered as soon as the headers are read, any other when its lookup ends. If the
response is not a plain redirect, the application sends it. docs/adr/0004-http-fast-path.md explains
why this exists. tests/gateway/redirects/test_redirects.py compares its responses with those of the
application.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol, cast

import httptools
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from gateway.http.coalescing import CoalescingTransport, WriteQueue
from gateway.http.hardening import HardenedProtocol
from gateway.support.headers import Headers, HeadersByName
from services.shared import link_codes

_MIN_PATH_BYTES = 1 + link_codes.MIN_LENGTH
_MAX_PATH_BYTES = 1 + link_codes.MAX_LENGTH
LOOKUP = "lookup"
"""Key of a scope's state for the lookup that the response waits for."""
ERROR = "error"
"""Key of a scope's state for an unexpected error here, which the application reports."""


class Lookup(NamedTuple):
    """A lookup that a response waits for, and when the request arrived (`time.perf_counter`)."""

    started: float
    result: asyncio.Future[Any]


class FastPath(Protocol):
    """Answers plain GETs of possible short URLs."""

    before_sending: Callable[[], None]
    """Called before anything is written to a transport."""

    def hit(
        self, path: bytes, headers: HeadersByName, host: str, server_headers: Headers
    ) -> bytes | None:
        """Return the whole response, including `server_headers`, if the link is cached.

        `host` is the IP address of the connection, empty if unknown.
        """

    def lookup(self, path: bytes, headers: list[tuple[bytes, bytes]]) -> Lookup | None:
        """Start the lookup that `respond` needs. None means that the application answers.

        May add a request id to the headers.
        """

    def respond(
        self,
        path: bytes,
        headers: HeadersByName,
        host: str,
        lookup: Lookup,
        server_headers: Headers,
    ) -> bytes | None:
        """Return the whole response once `lookup` is done, None if the application answers."""


def protocol_class(path: FastPath) -> type[asyncio.Protocol]:
    """Return the class for `uvicorn.Config(http=...)`."""

    class FastPathProtocol(_FastPathProtocol):
        fast_path = path
        queue = WriteQueue(path.before_sending)

    return FastPathProtocol


class _FastPathProtocol(HardenedProtocol):
    fast_path: FastPath
    queue: WriteQueue
    _host = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast(asyncio.Transport, CoalescingTransport(transport, self.queue)))
        self._host = self.client[0] if self.client else ""

    def on_request(self, **state: Any) -> None:
        path = self.url
        if b"?" in path:  # Advertisers append a query. It makes no difference to a short URL.
            path = path[: path.index(b"?")]
        # The connection must be idle: no response under way, and the send buffer not full.
        if (
            self.is_plain_get
            and _MIN_PATH_BYTES <= len(path) <= _MAX_PATH_BYTES
            and (self.cycle is None or self.cycle.response_complete)
            and not (self.pipeline or self.flow.write_paused)
        ):
            try:
                response = self.fast_path.hit(
                    path, self.by_name, self._host, self.server_state.default_headers
                )
                lookup = None if response else self.fast_path.lookup(path, self.headers)
            except Exception as error:
                state[ERROR] = error
            else:
                if response is not None:
                    self.is_answered = True
                    self.transport.write(response)
                    # The rest of `on_response_complete` is for other states of a connection.
                    self.server_state.total_requests += 1
                    self.expect_next_request()
                    return
                if lookup is not None:
                    self._wait_for(path, lookup)
                    return
        # After a hit in the same read, the connection is no longer idle.
        self._unset_keepalive_if_required()
        super().on_request(**state)

    def _wait_for(self, path: bytes, lookup: Lookup) -> None:
        self._unset_keepalive_if_required()
        waiting = _Waiting(path, self.url, self.headers, self.by_name, lookup)
        self.cycle = cast(RequestResponseCycle, waiting)
        # When uvicorn stops, it waits for its tasks, and later cancels them.
        cast(set[asyncio.Future[Any]], self.tasks).add(lookup.result)
        lookup.result.add_done_callback(partial(self._end_lookup, waiting))

    def _end_lookup(self, waiting: _Waiting, result: asyncio.Future[Any]) -> None:
        """Respond after a lookup. The visit counts even if the client has disconnected."""
        cast(set[asyncio.Future[Any]], self.tasks).discard(result)
        if result.cancelled():
            return
        state: dict[str, Any] = {LOOKUP: waiting.lookup}
        if waiting.keep_alive and not self.flow.write_paused:
            try:
                response = self.fast_path.respond(
                    waiting.path,
                    waiting.by_name,
                    self._host,
                    waiting.lookup,
                    self.server_state.default_headers,
                )
            except Exception as error:
                response = None
                state[ERROR] = error
            if response is not None:
                if not waiting.disconnected:
                    self.transport.write(response)
                waiting.response_complete = True
                self.on_response_complete()
                return
        self._hand_over(waiting, state)

    def _hand_over(self, waiting: _Waiting, state: dict[str, Any]) -> None:
        """Let the application answer a waiting request, through a uvicorn cycle."""
        path = self.root_path + waiting.path.decode("ascii")
        scope = {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": "1.1",
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "method": "GET",
            "root_path": self.root_path,
            "path": path,
            "raw_path": path.encode("ascii"),
            "query_string": httptools.parse_url(waiting.url).query or b"",
            "headers": waiting.headers,
            "state": {**self.app_state, **state},
        }
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


class _NoEvent:
    """The message event of a request without an application that waits for it."""

    def set(self) -> None:
        """Do nothing."""


_NO_EVENT = _NoEvent()


@dataclass(slots=True, eq=False)
class _Waiting:
    """Replaces the uvicorn cycle of a GET that waits for its lookup, at a fraction of its cost.

    It has the attributes of a cycle that uvicorn's protocol reads and sets.
    """

    response_started: ClassVar[bool] = False
    path: bytes
    url: bytes
    headers: list[tuple[bytes, bytes]]
    by_name: HeadersByName
    lookup: Lookup
    disconnected: bool = False
    keep_alive: bool = True
    more_body: bool = True
    response_complete: bool = False
    message_event: _NoEvent = _NO_EVENT
