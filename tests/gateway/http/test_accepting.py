"""Connections do not wait for each other to be accepted."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack

import uvloop

from gateway.__main__ import ACCEPTS, duplicate

WAITING = 4 * ACCEPTS


async def iterations_until_accepted() -> int:
    """Return in how many iterations of the event loop all waiting connections are accepted."""
    accepted: list[asyncio.BaseTransport] = []

    class Accepted(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            accepted.append(transport)

    loop = asyncio.get_running_loop()
    with ExitStack() as open_sockets:
        listening = open_sockets.enter_context(socket.create_server(("127.0.0.1", 0)))
        listening.listen(WAITING)
        for _ in range(WAITING):
            client = socket.create_connection(listening.getsockname())
            open_sockets.enter_context(client)
        servers = [await loop.create_server(Accepted, sock=each) for each in duplicate(listening)]
        iterations = 0
        while len(accepted) < WAITING:
            await asyncio.sleep(0)
            iterations += 1
        for server in servers:
            server.close()
        for transport in accepted:
            transport.close()
    return iterations


def test_several_connections_are_accepted_in_one_iteration() -> None:
    """While an iteration takes long, a new connection waits for few of them."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(iterations_until_accepted()) <= 2 * WAITING / ACCEPTS
