"""The wire of the functions: what a Firebase Functions client sends and reads.

A call is `POST /<name>` with `{"data": payload}`. The answer is `{"data": ...}`, or
`{"error": {"status", "message", "details"}}` with the HTTP status of the one table below.
"""

from __future__ import annotations

import asyncio
import gzip
import math
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic_core import to_json
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from gateway import edge
from gateway.negotiate import content_coding
from services.runtime import errors
from services.runtime.errors import AppError, InvalidArgument

P = TypeVar("P")

# Error, HTTP status, name of the status in the body.
_TABLE: tuple[tuple[type[AppError], int, str], ...] = (
    (errors.InvalidArgument, 400, "INVALID_ARGUMENT"),
    (errors.Unauthenticated, 401, "UNAUTHENTICATED"),
    (errors.NotFound, 404, "NOT_FOUND"),
    (errors.AlreadyExists, 409, "ABORTED"),
    (errors.ResourceExhausted, 429, "RESOURCE_EXHAUSTED"),
    (errors.Internal, 500, "INTERNAL"),
    (errors.Unimplemented, 501, "UNIMPLEMENTED"),
    (errors.Unavailable, 503, "UNAVAILABLE"),
    (errors.DeadlineExceeded, 504, "DEADLINE_EXCEEDED"),
)

_COMPRESSED_FROM = 1024
"""Bytes of an answer from which it is compressed."""


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("a NUL character is in it")
    return text


Text = Annotated[str, AfterValidator(_without_nul)]
"""A string of a payload."""


class Payload(BaseModel):
    """The payload of a function. Unknown keys and wrong types are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Envelope(BaseModel, Generic[P]):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    data: P


class Decoder(Generic[P]):
    """Reads one function's payload from a request; a FastAPI dependency."""

    def __init__(self, payload: type[P], body_bytes: int) -> None:
        self._envelope = _Envelope[payload]  # type: ignore[valid-type]
        self._body_bytes = body_bytes

    async def __call__(self, request: Request) -> P:
        """The payload. Raises InvalidArgument for anything else."""
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type != "application/json":
            raise InvalidArgument("The body must be of type application/json.")
        body = await self._body(request)
        try:
            return self._envelope.model_validate_json(body).data
        except ValidationError as error:
            raise InvalidArgument(_faults(error)) from None

    async def _body(self, request: Request) -> bytes:
        declared = request.headers.get("content-length", "0")
        if declared.isdecimal() and int(declared) > self._body_bytes:
            raise too_large(self._body_bytes)
        body = bytearray()
        try:
            async for chunk in request.stream():
                body += chunk
                if len(body) > self._body_bytes:
                    raise too_large(self._body_bytes)
        except ClientDisconnect:
            raise InvalidArgument("The body ended early.") from None
        return bytes(body)


def too_large(body_bytes: int) -> InvalidArgument:
    """What is said of a body of more than so many bytes."""
    return InvalidArgument(f"The body has more than {body_bytes} bytes.")


def _faults(error: ValidationError) -> str:
    """Where a body is wrong, in words, without a value of it."""
    faults = error.errors(include_input=False, include_url=False, include_context=False)
    named = sorted({".".join(str(part) for part in fault["loc"]) for fault in faults[:5]})
    if not any(named):
        return 'The body must be JSON of the form {"data": ...}.'
    # An unknown key is the client's own text: it is told back only where it is a plain name.
    plain = [name for name in named if name.replace(".", "").replace("_", "").isalnum()]
    return f"Missing, unknown or of a wrong type: {', '.join(plain) or 'a key'}."


async def success(request: Request, data: dict[str, Any], headers: edge.RawHeaders) -> Response:
    """The answer of a function that did its work."""
    body = to_json({"data": data})
    response = Response(body, media_type="application/json", headers=_text(headers))
    if len(body) >= _COMPRESSED_FROM:
        response.headers["vary"] = "accept-encoding"
        accepted = ",".join(request.headers.getlist("accept-encoding")).encode("latin-1")
        if content_coding(accepted, [b"gzip"]):
            # In a thread: ten thousand links take longer than a redirect may wait.
            response.body = await asyncio.to_thread(gzip.compress, body, 5)
            response.headers["content-encoding"] = "gzip"
            response.headers["content-length"] = str(len(response.body))
    return response


def failure(error: AppError, headers: edge.RawHeaders) -> Response:
    """The answer that tells an error."""
    status, name = next((code, name) for kind, code, name in _TABLE if isinstance(error, kind))
    details: dict[str, Any] = {"reason": error.reason}
    response = Response(media_type="application/json", status_code=status, headers=_text(headers))
    if isinstance(error, errors.ResourceExhausted) and error.retry_after is not None:
        seconds = max(1, math.ceil(error.retry_after))
        details["retryAfter"] = seconds
        response.headers["retry-after"] = str(seconds)
    response.body = to_json(
        {"error": {"status": name, "message": error.message, "details": details}}
    )
    response.headers["content-length"] = str(len(response.body))
    return response


def _text(headers: edge.RawHeaders) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in headers}
