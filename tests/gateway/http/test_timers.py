"""The timer of a connection, on a clock that the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
import uvicorn
from uvicorn.server import ServerState

from gateway.http.fast_path import protocol_class
from gateway.http.hardening import (
    MAX_LINGER_SECONDS,
    MAX_REQUEST_SECONDS,
    MAX_UNREAD_SECONDS,
    HardenedProtocol,
)
from tests.gateway.http.test_http import FOUND, POST, Held, Server

KEEP_ALIVE_SECONDS = 5.0
GET = b"GET /abcdefgh HTTP/1.1\r\nhost: x\r\n\r\n"


class Timer:
    """A timer of `Clock`."""

    def __init__(self, when: float, callback: Callable[[], object]) -> None:
        self.when = when
        self.callback = callback
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Clock:
    """An event loop whose timers fire when the test moves the time."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.timers: list[Timer] = []
        self.create_task = asyncio.get_running_loop().create_task

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, callback: Callable[[], object]) -> Timer:
        self.timers.append(Timer(when, callback))
        return self.timers[-1]

    def call_later(self, delay: float, callback: Callable[[], object]) -> Timer:
        return self.call_at(self.now + delay, callback)

    @property
    def set_timers(self) -> list[Timer]:
        return [timer for timer in self.timers if not timer.is_cancelled]

    def move(self, seconds: float) -> None:
        """Move the time, and fire the timers that are due, in order."""
        end = self.now + seconds
        while due := [timer for timer in self.set_timers if timer.when <= end]:
            timer = min(due, key=lambda each: each.when)
            self.now = timer.when
            timer.cancel()
            timer.callback()
        self.now = end


class Transport:
    """A transport that records what is sent, and how it ends."""

    def __init__(self) -> None:
        self.sent = b""
        self.ended = ""

    def write(self, data: bytes) -> None:
        self.sent += data

    def write_eof(self) -> None:
        pass

    def is_closing(self) -> bool:
        return bool(self.ended)

    def close(self) -> None:
        self.ended = self.ended or "closed"

    def abort(self) -> None:
        self.ended = "aborted"

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def get_extra_info(self, name: str, default: object = None) -> object:
        return default


class Client:
    """A connection to `Server`, without sockets."""

    def __init__(self, server: Server) -> None:
        self.clock = Clock()
        self.transport = Transport()
        config = uvicorn.Config(server.app, ws="none", lifespan="off", log_config=None)
        config.load()
        kind = cast(Callable[..., HardenedProtocol], protocol_class(server.app))
        self.protocol = kind(
            config=config, server_state=ServerState(), app_state={}, _loop=cast(Any, self.clock)
        )
        self.protocol.connection_made(cast(asyncio.Transport, self.transport))

    def send(self, data: bytes) -> None:
        self.protocol.data_received(data)

    async def end_requests(self) -> None:
        """Wait for the requests that are under way, and for what they write."""
        if tasks := self.protocol.tasks:
            await asyncio.wait(tasks)
        await asyncio.sleep(0)

    def is_ended_after(self, seconds: float) -> bool:
        """Whether the connection ends then, and not before."""
        self.clock.move(seconds - 0.001)
        assert self.transport.ended == ""
        self.clock.move(0.001)
        return self.transport.ended != ""


@asynccontextmanager
async def connected(app: Held | None = None) -> AsyncIterator[Client]:
    """Connect a client to a server that has the link `abcdefgh` in memory."""
    app = app or Held()
    server = Server(app)
    await server.resolver.lookup("abcdefgh")
    client = Client(server)
    yield client
    client.protocol.connection_lost(None)
    app.released.release()
    await client.end_requests()


def connects(client: Client) -> None:
    """Send nothing."""


def begins_a_request(client: Client) -> None:
    client.send(b"GET /abc")


def begins_a_body(client: Client) -> None:
    client.send(POST + b"content-length: 9\r\n\r\nno")


def is_answered(client: Client) -> None:
    client.send(GET)


def is_answered_and_begins_another(client: Client) -> None:
    client.send(GET + b"GET /")


def waits_for_a_lookup(client: Client) -> None:
    client.send(GET.replace(b"abcdefgh", b"lookedup"))


def is_rejected(client: Client) -> None:
    client.send(b"hello\r\n\r\n")


def does_not_read(client: Client) -> None:
    client.send(GET)
    client.protocol.pause_writing()


STATES = (
    *(connects, begins_a_request, begins_a_body, is_answered, is_answered_and_begins_another),
    *(waits_for_a_lookup, is_rejected, does_not_read),
)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("error", [None, ConnectionResetError()], ids=["closed", "reset"])
async def test_a_lost_connection_has_no_timer(
    state: Callable[[Client], None], error: Exception | None
) -> None:
    """What a timer holds would stay in memory until it fires."""
    app = Held()
    async with connected(app) as client:
        state(client)
        client.transport.ended = "lost"
        client.protocol.connection_lost(error)
        assert client.clock.set_timers == []
        app.released.release()
        await client.end_requests()
        assert client.clock.set_timers == []


async def test_a_connection_has_one_timer_whatever_happens_on_it() -> None:
    async with connected() as client:
        for _ in range(1000):
            client.send(GET)
            assert len(client.clock.set_timers) == 1
        await asyncio.sleep(0)
        assert client.transport.sent.count(FOUND) == 1000
        assert len(client.clock.timers) == 2  # The first response moved the deadline forward.
        for state in (begins_a_request, does_not_read):
            state(client)
            assert len(client.clock.set_timers) == 1
        client.clock.move(MAX_REQUEST_SECONDS)
        assert len(client.clock.set_timers) == 1


async def test_an_idle_connection_closes_after_the_last_response() -> None:
    async with connected() as client:
        for _ in range(4):
            client.send(GET)
            client.clock.move(KEEP_ALIVE_SECONDS - 1)
        client.send(GET)
        assert client.is_ended_after(KEEP_ALIVE_SECONDS)


async def test_a_request_has_its_time_from_its_first_byte() -> None:
    async with connected() as client:
        client.send(GET)
        client.clock.move(KEEP_ALIVE_SECONDS - 1)
        client.send(b"GET /")
        for _ in range(int(MAX_REQUEST_SECONDS)):
            client.clock.move(1)
            client.send(b"a")
        # It was rejected, and is read for a while longer.
        assert client.is_ended_after(MAX_LINGER_SECONDS)


@pytest.mark.parametrize("state", [connects, begins_a_request, begins_a_body])
async def test_a_request_that_does_not_arrive_ends_the_connection(
    state: Callable[[Client], None],
) -> None:
    async with connected(Held()) as client:
        state(client)
        assert client.is_ended_after(MAX_REQUEST_SECONDS + MAX_LINGER_SECONDS)


async def test_a_client_that_waits_for_its_response_has_no_deadline() -> None:
    async with connected(Held()) as client:
        client.send(POST + b"content-length: 0\r\n\r\n")
        client.clock.move(1000)
        assert client.transport.ended == ""
        assert client.clock.set_timers == []


async def test_a_client_that_does_not_read_is_disconnected() -> None:
    async with connected(Held()) as client:
        client.send(POST + b"content-length: 0\r\n\r\n")
        client.protocol.pause_writing()
        assert client.is_ended_after(MAX_UNREAD_SECONDS)
        assert client.transport.ended == "aborted"


async def test_a_client_that_reads_again_is_not_disconnected() -> None:
    async with connected(Held()) as client:
        client.send(POST + b"content-length: 0\r\n\r\n")
        for _ in range(3):
            client.protocol.pause_writing()
            client.clock.move(MAX_UNREAD_SECONDS - 1)
            client.protocol.resume_writing()
        client.clock.move(1000)
        assert client.transport.ended == ""


@pytest.mark.parametrize("closes", [True, False], ids=["with the response", "when idle"])
async def test_a_closed_connection_does_not_wait_endlessly_for_a_client_that_does_not_read(
    *, closes: bool
) -> None:
    """The transport keeps it until the rest of the response is sent."""
    app = Held()
    async with connected(app) as client:
        client.send(POST + b"content-length: 0\r\n%s\r\n" % (b"connection: close\r\n" * closes))
        app.released.release()
        await client.end_requests()
        assert client.transport.sent.endswith(b"yes")
        client.clock.move(0 if closes else KEEP_ALIVE_SECONDS)
        assert client.transport.ended == "closed"
        client.clock.move(MAX_UNREAD_SECONDS)
        assert client.transport.ended == "aborted"
        assert client.clock.set_timers == []


async def test_a_closed_connection_does_not_wait_endlessly_for_a_client_that_stops_reading() -> (
    None
):
    """The client reads until the buffer of the transport is no longer full, and then stops."""
    app = Held()
    async with connected(app) as client:
        client.send(POST + b"content-length: 0\r\nconnection: close\r\n\r\n")
        app.released.release()
        await client.end_requests()
        assert client.transport.ended == "closed"
        client.protocol.pause_writing()
        client.clock.move(1)
        client.protocol.resume_writing()
        client.clock.move(MAX_UNREAD_SECONDS)
        assert client.transport.ended == "aborted"
        assert client.clock.set_timers == []
