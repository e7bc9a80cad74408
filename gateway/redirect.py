"""GET and HEAD of a short address, answered ahead of everything else.

Ahead of the framework: a framework's route costs many times what this path does (figures in
ARCHITECTURE.md), and this path is what the product is for.
"""

from __future__ import annotations

import asyncio
import contextvars
import time
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.edge import Edge
from gateway.http import BROKEN
from gateway.identify import identified, identify
from gateway.metrics import RedirectMetrics
from gateway.resolver import Resolver, Target, is_code
from gateway.site import Site
from gateway.visits.classify import Headers, looks_ahead
from gateway.visits.pipeline import VisitPipeline
from services.runtime import logs, tracing
from services.runtime.errors import AppError

_BODY = b"Redirecting..."
_QUESTION = "question"
"""In the state of a scope: a question that is under way."""


@dataclass(frozen=True, slots=True)
class _Question:
    """Where a code leads, and since when (`time.perf_counter`) that is being asked."""

    started: float
    answer: asyncio.Future[Target | None]


class Redirects:
    """Answers `/<code>`; hands everything else to `app`.

    `at_once`, `ask` and `answer` are the shortcut of gateway/http.py: a GET of a code that memory
    knows is answered before there is a request to speak of; one of a code that is then found needs
    no task to wait in. Whatever they leave comes here as ASGI.
    """

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
        self._traced = tracing.is_on()
        self._log = logs.Throttled(__name__)
        self._server_headers: Headers = ()
        self._head = b""

    def at_once(self, path: bytes, headers: Headers, server_headers: Headers) -> bytes | None:
        """The whole answer to a GET, its visit taken down, if memory knows the code."""
        started = time.perf_counter()
        code = path[1:].decode("latin-1")
        target = self._resolver.known(code)
        if target is None:
            return None
        return self._found(code, target, headers, server_headers, started)

    def ask(self, scope: Scope) -> asyncio.Future[Target | None] | None:
        """The answer to come of a code of which memory has nothing; the scope keeps the question.

        None where that is not the way: no code, or one of which `resolve` knows more. With traces
        on every question is a span of the application's.
        """
        path = scope["path"]
        if self._traced or path in self._pages or not is_code(path[1:]):
            return None
        started = time.perf_counter()
        if self._resolver.gathers:
            answer = self._resolver.ask(path[1:])
        else:  # The call has the id of this request.
            context = contextvars.Context()
            context.run(identify, scope)
            answer = context.run(self._resolver.ask, path[1:])
        if answer is not None:
            scope["state"][_QUESTION] = _Question(started, answer)
        return answer

    def answer(self, scope: Scope, server_headers: Headers) -> bytes | None:
        """The whole answer to a GET, its visit taken down, if its question found the code."""
        question: _Question = scope["state"][_QUESTION]
        if question.answer.exception() or not (target := question.answer.result()):
            return None
        code = scope["path"][1:]
        return self._found(code, target, scope["headers"], server_headers, question.started)

    def _found(
        self, code: str, target: Target, headers: Headers, server_headers: Headers, started: float
    ) -> bytes:
        self._visit(code, headers)
        if server_headers is not self._server_headers:  # uvicorn makes them anew every second.
            self._server_headers = server_headers
            self._head = b"HTTP/1.1 302 Found\r\n" + _lines([*server_headers, *self._headers])
        answer = b"%slocation: %s\r\n\r\n%s" % (self._head, target[0], _BODY)
        self._metrics.observe("found", time.perf_counter() - started)
        return answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = scope["path"]
            if len(path) == 9 and scope["method"] in ("GET", "HEAD"):
                code = path[1:]
                if path not in self._pages and is_code(code):
                    with tracing.span("redirect", serves=True):
                        await self._answer(scope, receive, send, code)
                    return
        await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, code: str) -> None:
        send_with_id = identified(scope, send)
        state = scope.get("state", {})
        question: _Question | None = state.get(_QUESTION)
        started = question.started if question else time.perf_counter()
        try:
            if broken := state.get(BROKEN):
                raise broken
            if question:
                target = await question.answer
            else:
                target = self._resolver.known(code) or await self._resolver.resolve(code)
            if target and scope["method"] == "GET":
                self._visit(code, scope["headers"])
        except Exception as error:
            self._tell(error, time.perf_counter() - started)
            await self._site.failing(scope, receive, send_with_id)
            result = "failed"
        else:
            if target is None:
                await self._site.missing(scope, receive, send_with_id)
                result = "not_found"
            else:
                headers = [*self._headers, (b"location", target[0])]
                await send({"type": "http.response.start", "status": 302, "headers": headers})
                await send({"type": "http.response.body", "body": _BODY})
                result = "found"
        self._metrics.observe(result, time.perf_counter() - started)

    def _tell(self, error: Exception, seconds: float) -> None:
        """Say why visits fail; how many do is in `atajo_redirects_total`."""
        fields = {"duration": round(seconds, 6)}
        if isinstance(error, AppError):
            self._log.error("redirect_failed", reason=error.reason, call=error.call, **fields)
        else:
            self._log.error("redirect_broke", exc_info=error, **fields)

    def _visit(self, code: str, headers: Headers) -> None:
        """Take a visit down, unless a browser only looks ahead."""
        user_agent = referrer = b""
        for name, value in headers:
            if name == b"user-agent":
                user_agent = value
            elif name == b"referer":
                referrer = value
            elif looks_ahead(name, value):
                return
        self._visits.record(code, user_agent, referrer)


def _lines(headers: Headers) -> bytes:
    return b"".join([b"%s: %s\r\n" % header for header in headers])
