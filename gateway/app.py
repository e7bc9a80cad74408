"""Composes the gateway's handlers into one ASGI application.

Redirects            GET and HEAD of a short URL
  Dispatcher           request id, duration, log line of a failure
    FurtherOrigins   everything else on a further origin
    FastAPI          POST of the functions, CORS
    RestApi          the REST API at and below /api/v1
    StatusPage       GET and HEAD of /status
    LinkPages        GET and HEAD of pages that exist only for known codes
    Site             GET and HEAD of pages and files
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI, Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.api.app import RestApi
from gateway.functions.protocol import Decoder, failure, success
from gateway.functions.rejected_reads import RejectedReads
from gateway.functions.table import Function
from gateway.http.metrics import HTTP_SECONDS
from gateway.pages.files import Site
from gateway.pages.status import StatusPage
from gateway.redirects.further_origins import FurtherOrigins
from gateway.redirects.link_pages import LinkPages
from gateway.support.edge import Edge, RawHeaders
from gateway.support.failures import (
    CLIENT_CLOSED_REQUEST,
    Cancellation,
    ClientDisconnectedError,
    get_failure,
    note_failure,
    run_while_connected,
)
from gateway.support.rate_limits import to_networks
from gateway.support.request_id import sending_request_id
from gateway.use_cases.services import Services
from services.shared.errors import AppError, Internal, InvalidArgument, NotFound
from services.shared.observability import logs, request_id

_METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS")

_FAILURES_PER_MINUTE = 10
"""Maximum log lines per reason of failed requests, as in the services: clients cause timeouts."""


def create_functions_app(
    functions: Mapping[str, Function],
    services: Services,
    edge: Edge,
    origins: list[str],
    rejected: RejectedReads,
) -> FastAPI:
    """Return a FastAPI application with the functions that `edge` lists, callable from `origins`.

    Raises ValueError if `edge` lists other functions.
    """

    async def respond(request: Request, error: Exception) -> Response:
        match error:
            case ClientDisconnectedError():
                return Response(status_code=CLIENT_CLOSED_REQUEST)
            case AppError():
                note_failure(request.scope, error)
                rejected.record(error)
                reported = error
            case HTTPException(status_code=404) if request.method == "POST":
                reported = NotFound("There is no such function.")
            case HTTPException():
                reported = InvalidArgument("Functions are called by POST.")
            case _:
                reported = Internal()  # `Dispatcher` logs it.
        return failure(reported, edge.function_headers)

    if (paths := {f"/{name}" for name in functions}) != set(edge.functions):
        raise ValueError(f"Listed in one place only: {paths ^ set(edge.functions)}")
    # FastAPI makes the spans of the functions if tracing is on (services.shared.observability).
    app = FastAPI(
        openapi_url=None,
        redirect_slashes=False,
        exception_handlers=dict.fromkeys(
            (AppError, ClientDisconnectedError, HTTPException, Exception), respond
        ),
        telemetry={"operation_spans": False, "metrics": False, "logs": False},
    )
    for name, function in functions.items():
        # Not `app.post`: it would solve dependencies, which takes a third of the framework's time.
        app.add_route(f"/{name}", _endpoint(f"/{name}", function, services, edge), methods=["POST"])
    app.add_middleware(Cancellation, respond=lambda error: failure(error, edge.function_headers))
    app.add_middleware(_Cors, origins=origins, headers=edge.function_headers)
    return app


def _endpoint(path: str, function: Function, services: Services, edge: Edge) -> Callable[..., Any]:
    """Return the endpoint of a function, which counts a call before it reads the body.

    A body of another type does not count, so that pages of other origins cannot use up the limits
    of their visitors.
    """

    decoder = Decoder(function.payload, edge.body_bytes_of(path))
    is_large = path in edge.large_functions

    async def endpoint(request: Request) -> Response:
        decoder.check_type(request)
        networks = to_networks(services.clients.of(request))
        if function.limit:
            function.limit.hit(networks)
        with services.running.hold(networks, is_large=is_large):
            call = function.call(services, await decoder.read(request), request)
            data = await (run_while_connected(request, call) if function.is_read else call)
        return success(request, data, edge.function_headers)

    return endpoint


class _Cors(CORSMiddleware):
    """Allows calls from `origins`. Preflight responses also have the headers of all responses."""

    def __init__(self, app: ASGIApp, origins: list[str], headers: RawHeaders) -> None:
        super().__init__(
            app,
            allow_origins=origins,
            allow_methods=["POST"],
            allow_headers=[
                *("authorization", "content-type", "firebase-instance-id-token"),
                *("x-firebase-appcheck", request_id.HEADER),
            ],
            expose_headers=["retry-after", request_id.HEADER],
            max_age=3600,
        )
        self._headers = headers

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        response.raw_headers.extend(self._headers)
        return response


class Dispatcher:
    """Dispatches all requests other than redirects, and measures and logs them."""

    def __init__(
        self,
        functions: FastAPI,
        api: RestApi,
        site: Site,
        link_pages: LinkPages,
        status_page: StatusPage,
        further: FurtherOrigins,
        edge: Edge,
    ) -> None:
        self._functions: ASGIApp = functions
        self._api = api
        self._api_prefix = f"{edge.api}/"
        self._site = site
        self._link_pages = link_pages
        self._status_page = status_page
        self._further = further
        self._edge = edge
        self._names = frozenset(edge.functions)
        self._other_paths = frozenset((*edge.functions, *edge.gateway))
        self._failures = logs.Throttled(__name__, max_lines=_FAILURES_PER_MINUTE)
        self._refusals = logs.Throttled(__name__)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']} is not served here")
        started = time.perf_counter()
        send_with_id = sending_request_id(scope, send)
        status = 500
        unexpected: Exception | None = None

        async def send_and_note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send_with_id(message)

        try:
            await self._dispatch(scope, receive, send_and_note_status)
        except Exception as error:  # FastAPI has responded, or a streamed response was interrupted.
            unexpected = error.__cause__ if isinstance(error.__cause__, AppError) else error
            status = 500
        finally:
            seconds = time.perf_counter() - started
            route, method = self._route(scope)
            HTTP_SECONDS.labels(route, method, str(status)).observe(seconds)
            self._log(unexpected or get_failure(scope), route, status, seconds)

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        app: ASGIApp
        if self._further.matches(scope):
            app = self._further.redirect
        elif self._is_of_api(path):
            app = self._api
        elif scope["method"] not in ("GET", "HEAD") or path in self._names:
            app = self._functions
        elif path == self._edge.status:
            app = self._status_page
        else:
            is_link_page = self._edge.page_at(path) in self._edge.link_pages
            app = self._link_pages if is_link_page else self._site
        await app(scope, receive, send)

    def _is_of_api(self, path: str) -> bool:
        return path.startswith(self._api_prefix) or path == self._edge.api

    def _route(self, scope: Scope) -> tuple[str, str]:
        """Return the labels `route` and `method`, `other` for those that the edge does not list."""
        path, method = scope["path"], scope["method"]
        if self._is_of_api(path):
            route = self._api_prefix
        else:
            route = path if path in self._other_paths else self._edge.page_at(path) or "other"
        return route, method if method in _METHODS else "other"

    def _log(self, error: Exception | None, route: str, status: int, seconds: float) -> None:
        """Log a failed request at a limited rate, because any client can cause some.

        The services log their own rejections.
        """
        fields = {"route": route, "status": status, "duration": round(seconds, 6)}
        if isinstance(error, AppError):
            if status >= 500:
                self._failures.error(
                    "request_failed", reason=error.reason, call=error.call, **fields
                )
            elif not error.call:
                self._refusals.info("request_refused", reason=error.reason, **fields)
        elif error:
            self._failures.error("request_failed", exc_info=error, **fields)
