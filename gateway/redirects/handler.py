"""Redirects GET and HEAD of short URLs, ahead of the web framework.

A framework's route costs many times as much (docs/adr/0004-http-fast-path.md).
"""

from __future__ import annotations

import contextvars
import time

from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.http.fast_path import ERROR, LOOKUP, Lookup
from gateway.pages.files import Site
from gateway.redirects.further_origins import FurtherOrigins
from gateway.redirects.metrics import RedirectMetrics
from gateway.redirects.resolution import LinkState, Resolution, to_location
from gateway.redirects.resolver import Resolver
from gateway.support.edge import Edge
from gateway.support.headers import Headers, HeadersByName, combined
from gateway.support.request_id import sending_request_id, set_request_id
from gateway.visits.pipeline import VisitPipeline
from services.shared.errors import AppError
from services.shared.link_codes import ROUTES, code_in_path, is_code
from services.shared.observability import logs, tracing

_BODY = b"Redirecting..."
_STATUS_OF_ENDED = {LinkState.EXPIRED: 410, LinkState.REMOVED: 410, LinkState.BLOCKED: 451}
"""Status for a link without a target: gone, or unavailable for legal reasons."""


class Redirects:
    """Answers `/<code>`, and passes everything else to `app`.

    `hit`, `lookup` and `respond` are the fast path of `gateway/http`: they answer a GET of a cached
    active link without a request object, and a GET of any other active link without a task. All
    other requests arrive as ASGI calls.
    """

    def __init__(
        self,
        app: ASGIApp,
        edge: Edge,
        resolver: Resolver,
        visits: VisitPipeline,
        site: Site,
        further: FurtherOrigins,
        metrics: RedirectMetrics,
    ) -> None:
        self._app = app
        self._resolver = resolver
        self._cache = resolver.cache
        self._visits = visits
        self.before_sending = visits.flush
        self._site = site
        self._further = further
        self._metrics = metrics
        self._headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", b"%d" % len(_BODY)),
            *edge.redirect_headers,
        ]
        self._traced = tracing.is_on()
        self._log = logs.Throttled(__name__)
        self._server_headers: Headers = ()
        self._head = b""

    def hit(
        self, path: bytes, headers: HeadersByName, host: str, server_headers: Headers
    ) -> bytes | None:
        """Return the whole response to a GET of a cached active link, and record the visit."""
        started = time.perf_counter()
        code = path[1:].decode("latin-1")
        location = self._cache.hit(code)
        link_code = ""
        if location is None:
            scanned = self._cache.scan_hit(code)
            if scanned is None:
                return None
            location, link_code = scanned
        return self._redirect(code, location, link_code, headers, host, server_headers, started)

    def lookup(self, path: bytes, headers: list[tuple[bytes, bytes]]) -> Lookup | None:
        """Look up a short URL. None if the path is not a short URL, or if tracing is on.

        With tracing, the application makes a span for every lookup.
        """
        code = path[1:].decode("latin-1")
        if self._traced or not _is_short_url(code):
            return None
        started = time.perf_counter()
        if self._resolver.lookups.is_gathering:
            return Lookup(started, self._resolver.lookup(code))
        # This request starts the call, so the call has its request id.
        context = contextvars.Context()
        scope: Scope = {"headers": headers}
        context.run(set_request_id, scope)
        headers[:] = scope["headers"]
        return Lookup(started, context.run(self._resolver.lookup, code))

    def respond(
        self,
        path: bytes,
        headers: HeadersByName,
        host: str,
        lookup: Lookup,
        server_headers: Headers,
    ) -> bytes | None:
        """Return the whole response if the lookup found an active link, and record the visit."""
        if lookup.result.exception():
            return None
        resolution: Resolution | None = lookup.result.result()
        if resolution is None or resolution.state is not LinkState.ACTIVE:
            return None
        return self._redirect(
            path[1:].decode("latin-1"),
            to_location(resolution.url),
            resolution.link_code,
            headers,
            host,
            server_headers,
            lookup.started,
        )

    def _redirect(
        self,
        code: str,
        location: bytes,
        link_code: str,
        headers: HeadersByName,
        host: str,
        server_headers: Headers,
        started: float,
    ) -> bytes:
        self._visits.record_request(code, headers, host, link_code)
        if server_headers is not self._server_headers:  # uvicorn makes new ones every second.
            self._server_headers = server_headers
            lines = [b"%s: %s\r\n" % header for header in (*server_headers, *self._headers)]
            self._head = b"".join([b"HTTP/1.1 302 Found\r\n", *lines])
        response = b"%slocation: %s\r\n\r\n%s" % (self._head, location, _BODY)
        self._metrics.observe("found", time.perf_counter() - started)
        return response

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if is_read and (code := code_in_path(scope["path"][1:])):
            with tracing.span("redirect", serves=True):
                await self._follow(scope, receive, send, code)
        else:
            await self._app(scope, receive, send)

    async def _follow(self, scope: Scope, receive: Receive, send: Send, code: str) -> None:
        send_with_id = sending_request_id(scope, send)
        state = scope.get("state", {})
        lookup: Lookup | None = state.get(LOOKUP)
        started = lookup.started if lookup else time.perf_counter()
        try:
            if unexpected := state.get(ERROR):
                raise unexpected
            resolution = await (lookup.result if lookup else self._resolver.lookup(code))
            is_active = resolution is not None and resolution.state is LinkState.ACTIVE
            if resolution and is_active and scope["method"] == "GET":
                host = scope["client"][0] if scope.get("client") else ""
                headers = combined(scope["headers"])
                self._visits.record_request(code, headers, host, resolution.link_code)
        except Exception as error:
            self._log_failure(error, time.perf_counter() - started)
            if self._further.matches(scope):
                await self._further.send_unavailable(scope, send_with_id)
            else:
                await self._site.send_unavailable(scope, receive, send_with_id)
            result = "failed"
        else:
            if resolution is None:
                if self._further.matches(scope):
                    await self._further.redirect(scope, receive, send_with_id)
                else:
                    await self._site.send_error(scope, receive, send_with_id)
                result = "not_found"
            else:
                if target := resolution.target:
                    sent = [*self._headers, (b"location", to_location(target))]
                    await send({"type": "http.response.start", "status": 302, "headers": sent})
                    await send({"type": "http.response.body", "body": _BODY})
                else:
                    status = _STATUS_OF_ENDED[resolution.state]
                    if self._further.matches(scope):
                        await self._further.send_ended(scope, send_with_id, status, resolution)
                    else:
                        await self._site.send_error(scope, receive, send_with_id, status)
                result = "found" if is_active else "ended"
        self._metrics.observe(result, time.perf_counter() - started)

    def _log_failure(self, error: Exception, seconds: float) -> None:
        """Log the reason; `atajo_redirects_total` has the number of failures."""
        fields = {"duration": round(seconds, 6)}
        if isinstance(error, AppError):
            self._log.error("redirect_failed", reason=error.reason, call=error.call, **fields)
        else:
            self._log.error("redirect_error", exc_info=error, **fields)


def _is_short_url(code: str) -> bool:
    """Whether `/<code>` is a short URL, whether or not it has a link."""
    return code not in ROUTES and is_code(code)
