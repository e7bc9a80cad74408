"""The id of a request: from its `x-request-id` header, or a new one. It is sent in the response.

Redirects do not send it. A successful redirect leaves no log line that an id could lead to, and the
header would slow down the fast path (`gateway/http`), which answers nearly all redirects.
"""

from __future__ import annotations

from starlette.types import Message, Scope, Send

from services.shared.observability import request_id

_HEADER = request_id.HEADER.encode()


def set_request_id(scope: Scope) -> str:
    """Make the request's id the current one, and return it.

    A new id is also added to the request's headers, so that a second call for the same request
    returns the same id.
    """
    given = dict(scope["headers"]).get(_HEADER, b"").decode("latin-1")
    current = request_id.bind(given)
    if current != given:
        scope["headers"] = [*scope["headers"], (_HEADER, current.encode())]
    return current


def sending_request_id(scope: Scope, send: Send) -> Send:
    """Make the request's id the current one, and return a `send` that adds it to the response."""
    current = set_request_id(scope).encode()

    async def send_with_id(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (_HEADER, current)]
        await send(message)

    return send_with_id
