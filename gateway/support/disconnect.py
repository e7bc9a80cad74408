"""Work for a client that is cancelled when the client closes its connection."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

T = TypeVar("T")

CLIENT_CLOSED_REQUEST = 499
"""The status that metrics and logs have of such a request, as nginx does. Nobody receives it."""


class ClientGoneError(Exception):
    """The client closed the connection before its answer was there."""


async def run_while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Run `work` for a request whose body was read. Raises ClientGoneError."""
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_wait_until_gone(request))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGoneError
        return working.result()
    finally:
        for task in (working, watching):
            task.cancel()
        await asyncio.wait({working, watching})


async def _wait_until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
