"""The REST API `/api/v1` as one ASGI application.

RestApi              preflight, admission, headers of every response, metrics
  Cancellation         503 when the gateway stops
    FastAPI              routing, dependencies, one handler for all errors
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from prometheus_client import Counter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.api import account, links, statistics
from gateway.api.description import PREFIX, describe
from gateway.api.limits import Gate, Quota
from gateway.api.problems import ApiError, from_error
from gateway.support.edge import Edge, RawHeaders
from gateway.support.failures import (
    CLIENT_CLOSED_REQUEST,
    Cancellation,
    ClientDisconnectedError,
    note_failure,
)
from gateway.use_cases.services import Services
from services.shared.errors import AppError, ResourceExhausted
from services.shared.observability import request_id

API_REQUESTS = Counter(
    "atajo_api_requests",
    "Requests of the REST API by operation, status, and the scope that the operation needs; none "
    "for requests that are no operation, and for operations that need no scope.",
    ["operation_id", "status", "scope"],
)
_METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE")
CORS_HEADERS: RawHeaders = (
    (b"access-control-allow-origin", b"*"),
    (
        b"access-control-expose-headers",
        b"RateLimit, RateLimit-Policy, Retry-After, Location, WWW-Authenticate, Allow, "
        + request_id.HEADER.encode(),
    ),
)
"""Any origin may call, without credentials of the browser, and read these headers."""
_PREFLIGHT = {
    "access-control-allow-methods": ", ".join(_METHODS),
    "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key, "
    + request_id.HEADER,
    "access-control-max-age": "3600",
}


def create_app() -> FastAPI:
    """Return the FastAPI application. `RestApi` gives it its services."""
    app = FastAPI(
        openapi_url="/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers=dict.fromkeys(
            (
                *(AppError, ApiError, RequestValidationError, HTTPException),
                *(ClientDisconnectedError, Exception),
            ),
            _respond,
        ),
        telemetry={"operation_spans": False, "metrics": False, "logs": False},
    )
    for router in (links.router, statistics.router, account.router):
        app.include_router(router)
    describe(app)
    return app


async def _respond(request: Request, error: Exception) -> Response:
    """Return the problem for any error. The one handler of all errors."""
    if isinstance(error, ClientDisconnectedError):
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    if isinstance(error, AppError):
        note_failure(request.scope, error)
    problem = from_error(error)
    if problem.code == "method_not_allowed":
        problem.headers["Allow"] = ", ".join(_allowed(request))
    return problem.response()


def _allowed(request: Request) -> list[str]:
    """Return the methods of a path. FastAPI names those of its first route only."""
    path = request.url.path.removeprefix(PREFIX)
    found = {
        method.upper()
        for template, operations in request.app.openapi()["paths"].items()
        if compile_path(template)[0].fullmatch(path)
        for method in operations
    }
    found = found or {"GET"}  # The description itself.
    return [m for m in _METHODS if m in found or (m == "HEAD" and "GET" in found)]


class RestApi:
    """Serves the API for the `Dispatcher`."""

    def __init__(self, services: Services, gate: Gate, edge: Edge) -> None:
        app = create_app()
        app.state.services = services
        app.state.edge = edge
        self._app: ASGIApp = Cancellation(app, lambda error: from_error(error).response())
        self._gate = gate
        self._headers = (*edge.function_headers, *CORS_HEADERS)
        self._scopes = _scopes(app.openapi())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A HEAD is answered as a GET. The server leaves out the body.
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        scope = {**scope, "root_path": PREFIX, "method": method}
        request = Request(scope, receive)
        status = 500
        quota: Quota = self._gate.client_quota(request)

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                added = (*self._headers, *quota.headers())
                message["headers"] = [*message["headers"], *added]
            await send(message)

        try:
            if scope["method"] == "OPTIONS":
                preflight = Response(status_code=204, headers=_PREFLIGHT)
                await preflight(scope, receive, send_with_headers)
                return
            admission = await self._gate.admit(request)
            quota = admission.quota
            request.state.admission = admission
            if isinstance(admission.error, ResourceExhausted):
                response = await _respond(request, admission.error)
                await response(scope, receive, send_with_headers)
                return
            await self._app(scope, receive, send_with_headers)
        finally:
            operation = getattr(scope.get("route"), "operation_id", None) or "none"
            needed = self._scopes.get(operation, "none")
            API_REQUESTS.labels(operation, str(status), needed).inc()


def _scopes(description: dict[str, Any]) -> dict[str, str]:
    """Return the scope that each operation needs, `none` for any."""
    return {
        operation["operationId"]: next(iter(operation["security"][0]["apiKey"]), "none")
        for operations in description["paths"].values()
        for operation in operations.values()
    }
