"""Cancels work for a client that closes its connection."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

T = TypeVar("T")

CLIENT_CLOSED_REQUEST = 499
"""Status of such a request in metrics and logs, as in nginx. Nobody receives it."""


class ClientDisconnectedError(Exception):
    """The client closed the connection before it received the response."""


async def run_while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Run `work` for a request whose body was read. Raises ClientDisconnectedError."""
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_wait_for_disconnect(request))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnectedError
        return working.result()
    finally:
        for task in (working, watching):
            task.cancel()
        await asyncio.wait({working, watching})


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
