"""GET and HEAD of a short address, answered ahead of everything else.

A bare ASGI application in front of the framework: a framework's route costs four to five times
what this path does (figures in ARCHITECTURE.md), and this path is what the product is for.
"""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.edge import Edge
from gateway.metrics import RedirectMetrics
from gateway.resolver import Resolver, is_code
from gateway.site import Site
from gateway.visits.classify import looks_ahead
from gateway.visits.pipeline import VisitPipeline
from services.runtime import logs
from services.runtime.errors import AppError

log = logs.get(__name__)

_BODY = b"Redirecting..."


class Redirects:
    """Answers `/<code>`; hands everything else to `app`."""

    def __init__(
        self,
        app: ASGIApp,
        edge: Edge,
        resolver: Resolver,
        visits: VisitPipeline,
        site: Site,
        metrics: RedirectMetrics,
    ) -> None:
        self._app = app
        self._resolver = resolver
        self._visits = visits
        self._site = site
        self._metrics = metrics
        self._pages = frozenset(edge.pages)
        self._headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", b"%d" % len(_BODY)),
            *edge.redirect_headers,
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = scope["path"]
            if len(path) == 9 and scope["method"] in ("GET", "HEAD"):
                started = time.perf_counter()
                code = path[1:]
                target = self._resolver.known(code)
                if target is not None:
                    await self._found(scope, send, code, target.location, started)
                    return
                if path not in self._pages and is_code(code):
                    await self._unknown(scope, receive, send, code, started)
                    return
        await self._app(scope, receive, send)

    async def _found(
        self, scope: Scope, send: Send, code: str, location: bytes, started: float
    ) -> None:
        if scope["method"] == "GET":
            user_agent = referrer = b""
            seen = True
            for name, value in scope["headers"]:
                if name == b"user-agent":
                    user_agent = value
                elif name == b"referer":
                    referrer = value
                elif looks_ahead(name, value):
                    seen = False
            if seen:
                self._visits.record(code, user_agent, referrer)
        headers = [*self._headers, (b"location", location)]
        await send({"type": "http.response.start", "status": 302, "headers": headers})
        await send({"type": "http.response.body", "body": _BODY})
        self._metrics.observe("found", time.perf_counter() - started)

    async def _unknown(
        self, scope: Scope, receive: Receive, send: Send, code: str, started: float
    ) -> None:
        try:
            target = await self._resolver.resolve(code)
        except AppError as error:
            log.warning("redirect_failed", reason=error.reason)
            await self._site.failing(scope, receive, send)
            self._metrics.observe("failed", time.perf_counter() - started)
            return
        if target is None:
            await self._site.missing(scope, receive, send)
            self._metrics.observe("not_found", time.perf_counter() - started)
            return
        await self._found(scope, send, code, target.location, started)
