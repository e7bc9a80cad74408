"""The protocol of Firebase callable functions on the wire.

A call is `POST /<name>` with `{"data": payload}`. Its response is `{"data": ...}`, or
`{"error": {"status", "message", "details"}}` with an HTTP status from the table below.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    PlainValidator,
    ValidationError,
    create_model,
)
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Send

from gateway.support import edge
from gateway.support.content_negotiation import content_coding
from gateway.support.json_bodies import TOO_MANY_KEYS, has_too_many_keys, read_body
from gateway.support.timestamps import parse_timestamp
from services.shared import errors
from services.shared.errors import AppError, InvalidArgument

P = TypeVar("P")
PayloadType = TypeVar("PayloadType", bound="Payload")
Reply = dict[str, Any]
"""The `data` of a response."""

# Error, HTTP status, status in the body.
_STATUSES: tuple[tuple[type[AppError], int, str], ...] = (
    (errors.InvalidArgument, 400, "INVALID_ARGUMENT"),
    (errors.Unauthenticated, 401, "UNAUTHENTICATED"),
    (errors.PermissionDenied, 403, "PERMISSION_DENIED"),
    (errors.NotFound, 404, "NOT_FOUND"),
    (errors.AlreadyExists, 409, "ABORTED"),
    (errors.ResourceExhausted, 429, "RESOURCE_EXHAUSTED"),
    (errors.Internal, 500, "INTERNAL"),
    (errors.Unimplemented, 501, "UNIMPLEMENTED"),
    (errors.Unavailable, 503, "UNAVAILABLE"),
    (errors.DeadlineExceeded, 504, "DEADLINE_EXCEEDED"),
)

_NO_CALL = 'The body must be JSON of the form {"data": ...}.'
_MAX_FAULTS = 100
"""Maximum faults of a body whose fields are named. Naming 50,000 takes 0.2 s."""
_MIN_COMPRESSED_BYTES = 1024
"""Minimum length of a body that is compressed."""
_GZIP_LEVEL = 5
_GZIP_FORMAT = 31
"""`wbits` of zlib for gzip with the largest window."""


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("contains a NUL character")
    return text


Text = Annotated[str, AfterValidator(_without_nul)]
"""A string in a payload."""


def _expiry(value: Any) -> datetime | None:
    """Parse `expires_at`. Raises ValueError if it is not a string, and InvalidArgument."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("a timestamp is a string")
    try:
        return parse_timestamp(value)
    except ValueError as error:
        raise InvalidArgument(f"expires_at: {error}.", "INVALID_EXPIRY") from None


Expiry = Annotated[datetime | None, PlainValidator(_expiry)]
"""An `expires_at` in a payload."""


class Payload(BaseModel):
    """The payload of a function. Unknown keys and wrong types are rejected."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


def with_fields_of(
    value: type, types: Mapping[Any, Any], *, without: frozenset[str] = frozenset()
) -> Callable[[type[PayloadType]], type[PayloadType]]:
    """Return a decorator that adds the fields of `value` to a payload that lacks them, as optional.

    `types` has the type of a field in the payload by its type in the value. Raises KeyError for
    a type that it lacks, so the gateway does not start.
    """

    def decorate(payload: type[PayloadType]) -> type[PayloadType]:
        fields: dict[str, Any] = {
            name: (types[kind], None)
            for name, kind in get_type_hints(value).items()
            if name not in payload.model_fields and name not in without
        }
        return create_model(
            payload.__name__,
            __base__=payload,
            __module__=payload.__module__,
            __doc__=payload.__doc__,
            **fields,
        )

    return decorate


class _Envelope(BaseModel, Generic[P]):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    data: P


class Decoder(Generic[P]):
    """Reads the payload of one function from a request."""

    def __init__(self, payload: type[P], body_bytes: int) -> None:
        self._envelope = _Envelope[payload]  # type: ignore[valid-type]
        self._body_bytes = body_bytes

    def check_type(self, request: Request) -> None:
        """Check the type of the body, without reading it. Raises InvalidArgument.

        Without a preflight, a page of another origin can send only other types (Fetch Standard,
        CORS-safelisted request-header).
        """
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type != "application/json":
            raise InvalidArgument("The body must be of type application/json.")

    async def read(self, request: Request) -> P:
        """Return the payload. Raises InvalidArgument if the request has no valid one."""
        body = await read_body(request, self._body_bytes)
        if has_too_many_keys(body):
            raise InvalidArgument(TOO_MANY_KEYS)
        try:
            return self._envelope.model_validate_json(body).data
        except ValidationError as error:
            message = _to_message(error)
        # Raised outside of `except`, to have no ValidationError as its context. The garbage
        # collector cannot look into one, so the request would never be freed.
        raise InvalidArgument(message)


def _to_message(error: ValidationError) -> str:
    """Return a message that names the invalid fields of a body, but not their values."""
    if error.error_count() > _MAX_FAULTS:
        return _NO_CALL
    details = error.errors(include_input=False, include_url=False, include_context=False)
    named = sorted({".".join(str(part) for part in detail["loc"]) for detail in details[:5]})
    if not any(named):
        return _NO_CALL
    # Unknown keys come from the client, so only plain names are echoed.
    plain = [name for name in named if name.replace(".", "").replace("_", "").isalnum()]
    return f"Missing, unknown or of a wrong type: {', '.join(plain) or 'a key'}."


def success(
    request: Request,
    data: dict[str, Any] | AsyncGenerator[bytes, None],
    headers: edge.RawHeaders,
) -> Response:
    """Return the response of a function that returned `data`, compressed if the client accepts it.

    `data` may be a generator of pieces of JSON.
    """
    if not isinstance(data, dict):
        return _StreamedResponse(data, _accepts_gzip(request), headers)
    body = to_json({"data": data})
    size = len(body)
    gzipped = size >= _MIN_COMPRESSED_BYTES and _accepts_gzip(request)
    if gzipped:
        body = zlib.compress(body, _GZIP_LEVEL, wbits=_GZIP_FORMAT)
    response = Response(body, media_type="application/json", headers=_text(headers))
    _set_coding(response, size, gzipped)
    return response


def _set_coding(response: Response, size: int, gzipped: bool) -> None:
    """Set the headers about the content coding of a body of `size` bytes before compression."""
    if size >= _MIN_COMPRESSED_BYTES:
        response.headers["vary"] = "accept-encoding"
    if gzipped:
        response.headers["content-encoding"] = "gzip"


class _StreamedResponse(StreamingResponse):
    """A response whose body is produced while it is sent, to keep little of it in memory.

    An error before the first bytes is a callable error like any other. A later one closes the
    connection, and the client receives a truncated body.
    """

    def __init__(
        self, data: AsyncGenerator[bytes, None], accepts_gzip: bool, headers: edge.RawHeaders
    ) -> None:
        body = _enveloped(data)
        self._body = _gzipped(body) if accepts_gzip else body
        super().__init__(self._body, media_type="application/json", headers=_text(headers))
        _set_coding(self, _MIN_COMPRESSED_BYTES, accepts_gzip)

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


def _accepts_gzip(request: Request) -> bool:
    accepted = ",".join(request.headers.getlist("accept-encoding")).encode("latin-1")
    return content_coding(accepted, [b"gzip"]) == b"gzip"


def failure(error: AppError, headers: edge.RawHeaders) -> Response:
    """Return the response for an error."""
    status, name = next((code, name) for kind, code, name in _STATUSES if isinstance(error, kind))
    details: dict[str, Any] = {"reason": error.reason}
    sent = _text(headers)
    if isinstance(error, errors.ResourceExhausted) and error.retry_after is not None:
        details["retryAfter"] = max(1, math.ceil(error.retry_after))
        sent["retry-after"] = str(details["retryAfter"])
    body = to_json({"error": {"status": name, "message": error.message, "details": details}})
    return Response(body, status, sent, "application/json")


def _text(headers: edge.RawHeaders) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in headers}
