"""Answers requests that uvicorn cancels when its graceful shutdown times out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.support.failure import note_failure
from services.shared.errors import Unavailable


class Cancellation:
    """Wraps an application. `respond` makes the response to a cancelled request."""

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
