"""Serves pages that exist only for known codes, such as the link preview."""

from __future__ import annotations

import asyncio
import time

from starlette.types import Receive, Scope, Send

from gateway.pages.files import Site
from gateway.redirects.resolver import Resolver
from gateway.support.edge import Edge
from services.shared.errors import AppError
from services.shared.link_codes import is_route
from services.shared.observability import logs


class LinkPages:
    """Answers GET and HEAD of a link's page with the document of the site, in every link state.

    Records no visit. Answers as a redirect does if the code never had a link (404), or if that
    cannot be looked up (503).
    """

    def __init__(self, edge: Edge, resolver: Resolver, site: Site) -> None:
        self._edge = edge
        self._resolver = resolver
        self._site = site
        self._log = logs.Throttled(__name__)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        page = self._edge.page_at(scope["path"]) or ""
        code = self._edge.code_in(page, scope["path"])
        started = time.perf_counter()
        try:
            resolution = None if is_route(code) else await self._resolver.lookup(code)
        except AppError as error:
            seconds = round(time.perf_counter() - started, 6)
            self._log.error("page_failed", reason=error.reason, call=error.call, duration=seconds)
            await self._site.send_unavailable(scope, receive, send)
        except asyncio.CancelledError:  # uvicorn stops, and its grace period is over.
            await self._site.send_unavailable(scope, receive, send)
        else:
            await (self._site if resolution else self._site.send_error)(scope, receive, send)
