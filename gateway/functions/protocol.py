"""The wire of the functions: what a Firebase Functions client sends and reads.

A call is `POST /<name>` with `{"data": payload}`. Its response is `{"data": ...}`, or
`{"error": {"status", "message", "details"}}` with the HTTP status of the one table below.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic_core import to_json
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Send

from gateway.support import edge
from gateway.support.content_negotiation import content_coding
from services.shared import errors
from services.shared.errors import AppError, InvalidArgument

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

_COMPRESS_FROM = 1024
"""Bytes of a body from which on it is compressed."""
_GZIP_LEVEL = 5
_GZIP_FORMAT = 31
"""What zlib calls gzip with its largest window."""


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
            told = _faults(error)
        # Raised out here, where that error is gone. The garbage collector cannot see into one, so
        # an error that remembers it as its context would keep the whole request for ever.
        raise InvalidArgument(told)

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
    """The error for a body of more than `body_bytes` bytes."""
    return InvalidArgument(f"The body has more than {body_bytes} bytes.")


def _faults(error: ValidationError) -> str:
    """A message that names the fields of a body that are wrong, and never their values."""
    faults = error.errors(include_input=False, include_url=False, include_context=False)
    named = sorted({".".join(str(part) for part in fault["loc"]) for fault in faults[:5]})
    if not any(named):
        return 'The body must be JSON of the form {"data": ...}.'
    # An unknown key is the client's own text: it is told back only where it is a plain name.
    plain = [name for name in named if name.replace(".", "").replace("_", "").isalnum()]
    return f"Missing, unknown or of a wrong type: {', '.join(plain) or 'a key'}."


def success(
    request: Request,
    data: dict[str, Any] | AsyncGenerator[bytes, None],
    headers: edge.RawHeaders,
) -> Response:
    """The response of a function that returned `data`, compressed where the client takes that.

    A generator yields pieces of JSON.
    """
    takes_gzip = _takes_gzip(request)
    if not isinstance(data, dict):
        return _StreamedResponse(data, takes_gzip, headers)
    body = to_json({"data": data})
    size, gzipped = len(body), takes_gzip and len(body) >= _COMPRESS_FROM
    if gzipped:
        body = zlib.compress(body, _GZIP_LEVEL, wbits=_GZIP_FORMAT)
    response = Response(body, media_type="application/json", headers=_text(headers))
    _tell_coding(response, size, gzipped)
    return response


def _tell_coding(response: Response, size: int, gzipped: bool) -> None:
    """Set the headers about the coding of a body, which had `size` bytes before compression."""
    if size >= _COMPRESS_FROM:
        response.headers["vary"] = "accept-encoding"
    if gzipped:
        response.headers["content-encoding"] = "gzip"


class _StreamedResponse(StreamingResponse):
    """A response whose body is produced while it is sent, so that memory holds little of it.

    A failure ahead of the first bytes is a callable error like any other. A later one closes the
    connection, and the client receives a body that is cut off.
    """

    def __init__(
        self, data: AsyncGenerator[bytes, None], takes_gzip: bool, headers: edge.RawHeaders
    ) -> None:
        body = _enveloped(data)
        self._body = _gzipped(body) if takes_gzip else body
        super().__init__(self._body, media_type="application/json", headers=_text(headers))
        _tell_coding(self, _COMPRESS_FROM, takes_gzip)

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self._body) as body:
            piece = await anext(body)
            start = {"type": "http.response.start", "status": self.status_code}
            await send({**start, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            async for piece in body:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})


async def _enveloped(data: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(data):
        yield b'{"data":' + await anext(data)
        async for piece in data:
            yield piece
        yield b"}"


async def _gzipped(body: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    compressor = zlib.compressobj(_GZIP_LEVEL, wbits=_GZIP_FORMAT)
    async with aclosing(body):
        async for piece in body:
            if compressed := compressor.compress(piece):
                yield compressed
    yield compressor.flush()


def _takes_gzip(request: Request) -> bool:
    accepted = ",".join(request.headers.getlist("accept-encoding")).encode("latin-1")
    return content_coding(accepted, [b"gzip"]) == b"gzip"


def failure(error: AppError, headers: edge.RawHeaders) -> Response:
    """The response that tells an error."""
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
