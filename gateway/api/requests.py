"""How a request reaches a handler: its body, its key's scope, and the services.

FastAPI reads a body before it resolves dependencies, and accepts any JSON that Python does.
`StrictRoute` checks the key first, bounds the body, and parses it strictly.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from typing import Annotated, Any

import pydantic_core
from fastapi import Depends, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import SecurityScopes
from starlette.responses import Response

from gateway.api.authentication import bearer
from gateway.api.limits import Admission
from gateway.api.problems import ApiError, Fault
from gateway.backends.ports import Scope, VerifiedKey
from gateway.support.edge import Edge
from gateway.support.json_bodies import (
    TOO_MANY_KEYS,
    BodyTooLarge,
    has_too_many_keys,
    read_body,
)
from gateway.use_cases.services import Services

TOO_LARGE_HEADER = "x-body-too-large"
"""nginx sends it instead of a body that is larger than it accepts."""


class StrictRoute(APIRoute):
    """A route whose body must be JSON in UTF-8, not larger than the path allows."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def handle_strictly(request: Request) -> Response:
            edge: Edge = request.app.state.edge
            path = request.url.path
            admission = await _admission(request)
            account = admission.valid_key().account
            is_large = path in edge.large_functions
            running = (await _services(request)).running
            with (
                running.hold(admission.client, is_large=is_large),
                running.hold_account(account.id) if is_large else nullcontext(),
            ):
                body = await _read_body(request, edge.body_bytes_of(path))
                parsed = _ParsedRequest(request, body)
                if has_too_many_keys(body):
                    fault = Fault(pointer="#", code="unknown")
                    raise ApiError("invalid_input", TOO_MANY_KEYS, [fault])
                return await handle(parsed)

        return handle_strictly


class _ParsedRequest(Request):
    """A request with a body that was read and parsed. Raises ApiError for invalid JSON."""

    def __init__(self, request: Request, body: bytes) -> None:
        super().__init__(request.scope, request.receive)
        self._content = body
        try:
            self._parsed = pydantic_core.from_json(body, allow_inf_nan=False)
        except ValueError:
            error = ApiError("invalid_json")
        else:
            return
        raise error

    async def body(self) -> bytes:
        return self._content

    async def json(self) -> Any:
        return self._parsed


async def _read_body(request: Request, max_bytes: int) -> bytes:
    """Return the body. Raises ApiError for another type, and what `read_body` raises."""
    media_type, _, parameters = request.headers.get("content-type", "").lower().partition(";")
    charset = parameters.strip().removeprefix("charset=").strip('"')
    if media_type.strip() != "application/json" or charset not in ("", "utf-8"):
        raise ApiError("unsupported_media_type")
    if TOO_LARGE_HEADER in request.headers:
        raise BodyTooLarge(max_bytes)
    return await read_body(request, max_bytes)


async def _admission(request: Request) -> Admission:
    """Return who sent a request."""
    admission: Admission = request.state.admission
    return admission


async def _authorized(
    admission: AdmissionOf, scopes: SecurityScopes, _scheme: Annotated[Any, Depends(bearer)]
) -> VerifiedKey:
    """Return the key of a request. Raises ApiError or AppError if it may not call the operation."""
    key = admission.valid_key()
    held = {scope.value for scope in key.scopes}
    for scope in scopes.scopes:
        if scope not in held:
            challenge = f'Bearer error="insufficient_scope", scope="{scope}"'
            raise ApiError(
                "insufficient_scope",
                f"The key needs the scope {scope}.",
                headers={"WWW-Authenticate": challenge},
            )
    return key


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


async def _count_edit(
    key: LinksWriter, services: ServicesOf, admission: AdmissionOf
) -> VerifiedKey:
    """Count a change of links for its client; return the key. Raises ResourceExhausted."""
    services.limits.edits.hit(admission.client)
    return key


def key_with(*scopes: Scope) -> Any:
    """Return the dependency for a key with all of these scopes."""
    return Security(_authorized, scopes=[scope.value for scope in scopes])


AnyKey = Annotated[VerifiedKey, key_with()]
LinksReader = Annotated[VerifiedKey, key_with(Scope.LINKS_READ)]
LinksWriter = Annotated[VerifiedKey, key_with(Scope.LINKS_WRITE)]
LinksEditor = Annotated[VerifiedKey, Depends(_count_edit)]
StatisticsKey = Annotated[VerifiedKey, key_with(Scope.STATISTICS_READ)]
ServicesOf = Annotated[Services, Depends(_services)]
AdmissionOf = Annotated[Admission, Depends(_admission)]
