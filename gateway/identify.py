"""The id of a request: as its header has it or a fresh one, and told in its answer's header.

A redirect tells none: what succeeds leaves no line in a log that an id could lead to, and the
shortcut of gateway/http.py, which answers nearly all of them, would pay for it.
"""

from __future__ import annotations

from starlette.types import Message, Scope, Send

from services.runtime import request_id

_HEADER = request_id.HEADER.encode()


def identify(scope: Scope) -> str:
    """Make the request's id the current one; returns it.

    A request that brings none has the fresh one in its headers from here on: whoever asks again is
    told the same.
    """
    given = dict(scope["headers"]).get(_HEADER, b"").decode("latin-1")
    current = request_id.take(given)
    if current != given:
        scope["headers"] = [*scope["headers"], (_HEADER, current.encode())]
    return current


def identified(scope: Scope, send: Send) -> Send:
    """Make the request's id the current one; what is sent through the result tells it."""
    current = identify(scope).encode()

    async def send_with_id(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (_HEADER, current)]
        await send(message)

    return send_with_id
