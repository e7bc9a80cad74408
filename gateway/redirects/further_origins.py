"""Answers requests to the further origins of an instance: what they have beside short URLs.

The pages are at the public URL only. A link that is not active keeps its status here.
"""

from __future__ import annotations

from starlette.types import Receive, Scope, Send

from gateway.pages import languages
from gateway.pages.further import POLICY, TEXTS, render, render_unavailable
from gateway.redirects.resolution import BlockReason, LinkState, Resolution
from gateway.support.edge import Edge
from services.shared.origins import Origins


class FurtherOrigins:
    """Recognizes requests to a further origin by their `Host`, and answers them."""

    def __init__(self, origins: Origins, edge: Edge, contact: str) -> None:
        self._public = origins.public
        self._hosts = origins.further_hosts
        self._contact = contact
        self._retry_after = (b"retry-after", b"%d" % edge.retry_after)
        self._moved_headers = (
            # A browser that kept the redirect would loop once the two origins change roles.
            (b"cache-control", edge.cache_error),
            (b"content-length", b"0"),
            *edge.plain_headers,
        )
        self._headers = (
            (b"content-type", b"text/html; charset=utf-8"),
            (b"cache-control", edge.cache_error),
            (b"vary", languages.VARY.encode()),
            (b"content-security-policy", POLICY.encode()),
            *edge.plain_headers,
        )

    def matches(self, scope: Scope) -> bool:
        """Return whether a request is to one of the further origins."""
        if not self._hosts:
            return False
        return any(
            name == b"host" and value.lower() in self._hosts for name, value in scope["headers"]
        )

    async def redirect(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Redirect to the same path and query of the public URL."""
        path, query = scope["raw_path"], scope["query_string"]
        # What is no path (as `*`) would become part of the host.
        target = (path if path.startswith(b"/") else b"/") + (b"?" + query if query else b"")
        headers = [(b"location", self._public.encode() + target), *self._moved_headers]
        await send({"type": "http.response.start", "status": 301, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def send_ended(
        self, scope: Scope, send: Send, status: int, resolution: Resolution
    ) -> None:
        """Say why a link leads nowhere."""
        language = _choose_language(scope)
        texts = TEXTS[language]
        sentences = [texts.removed if resolution.state is LinkState.REMOVED else texts.expired]
        if resolution.state is LinkState.BLOCKED:
            why = texts.blocked[(resolution.reason or BlockReason.OTHER).value]
            sentences = [why, texts.blocked_by, texts.appeal.format(contact=self._contact)]
        await self._send(send, status, render(self._public, language, sentences))

    async def send_unavailable(self, scope: Scope, send: Send) -> None:
        """Say that a link cannot be looked up now."""
        body = render_unavailable(self._public, _choose_language(scope))
        await self._send(send, 503, body, self._retry_after)

    async def _send(
        self, send: Send, status: int, body: bytes, *extra_headers: tuple[bytes, bytes]
    ) -> None:
        headers = [*self._headers, *extra_headers, (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _choose_language(scope: Scope) -> str:
    """Return the language that a request asks for, as the pages do."""
    header = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1")
    query = scope["query_string"].decode("latin-1")
    return languages.choose(query, header, list(TEXTS)).language
