"""The id of a request: that of its `x-request-id` header or a new one, told in its response.

A redirect tells none. What succeeds leaves no line in a log that an id could lead to, and the
fast path (`gateway/http`), which answers nearly all redirects, would become slower.
"""

from __future__ import annotations

from starlette.types import Message, Scope, Send

from services.shared.observability import request_id

_HEADER = request_id.HEADER.encode()


def identify(scope: Scope) -> str:
    """Make the request's id the current one, and return it.

    A new id is also added to the request's headers, so that a second call for the same request
    gives the same id.
    """
    given = dict(scope["headers"]).get(_HEADER, b"").decode("latin-1")
    current = request_id.take(given)
    if current != given:
        scope["headers"] = [*scope["headers"], (_HEADER, current.encode())]
    return current


def identified(scope: Scope, send: Send) -> Send:
    """Make the request's id the current one, and return a `send` that adds it to the response."""
    current = identify(scope).encode()

    async def send_with_id(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (_HEADER, current)]
        await send(message)

    return send_with_id
