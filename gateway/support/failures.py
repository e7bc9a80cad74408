"""Requests that fail: the error to log, the client's disconnect, and the end of the process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.shared.errors import AppError, Unavailable

T = TypeVar("T")

_KEY = "atajo.error"
"""The place of a request's error in its state, which copies of the scope share."""
CLIENT_CLOSED_REQUEST = 499
"""Status of a request whose client disconnected, in metrics and logs, as in nginx. Nobody receives
it."""


def note_failure(scope: Scope, error: AppError) -> None:
    """Note the error of a request."""
    scope.setdefault("state", {})[_KEY] = error


def get_failure(scope: Scope) -> AppError | None:
    """Return the error that was noted."""
    error: AppError | None = scope.get("state", {}).get(_KEY)
    return error


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


class Cancellation:
    """Answers requests that uvicorn cancels when its graceful shutdown times out.

    Wraps an application. `respond` makes the response to a cancelled request.
    """

    def __init__(self, app: ASGIApp, respond: Callable[[Unavailable], Response]) -> None:
        self._app = app
        self._respond = respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def send_and_note(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        except asyncio.CancelledError:
            if has_begun:
                raise
            error = Unavailable("The gateway is shutting down.", "STOPPING")
            note_failure(scope, error)
            await self._respond(error)(scope, receive, send)
