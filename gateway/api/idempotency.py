"""Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): repeated requests write once."""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Annotated, NamedTuple

from fastapi import Depends, Header, Request

from gateway.api.problems import ApiError, Fault

_NAME = "Idempotency-Key"
_PATTERN = r'^(?:[!#-~][!-~]{0,63}|"(?:[!#-\[\]-~]|\\["\\]){1,64}")$'
"""1 to 64 visible ASCII characters, or a string of structured fields with as many (RFC 9651)."""
_ESCAPED = re.compile(r'\\(["\\])')
_RANDOM_BYTES = 32


class Idempotency(NamedTuple):
    """Identifies a request among those of its account."""

    key: bytes
    fingerprint: bytes
    """SHA-256 of method, path and body. Requests with one key must have one fingerprint."""


async def _idempotency(
    request: Request,
    given: Annotated[
        str | None,
        Header(
            alias=_NAME,
            pattern=_PATTERN,
            description="Any text that identifies this request: 1 to 64 visible ASCII characters, "
            "quoted or not. Repeated within 24 hours with the same body, the request returns the "
            "same answer and creates nothing.",
            examples=["order-4711"],
        ),
    ] = None,
) -> Idempotency:
    if len(request.headers.getlist(_NAME)) > 1:
        fault = Fault(pointer=f"#/header/{_NAME}", code="value")
        raise ApiError("invalid_input", faults=[fault])
    # Without a key, only the gateway's own retries repeat the request.
    key = unquoted(given) if given else secrets.token_bytes(_RANDOM_BYTES)
    start = f"{request.method} {request.url.path}\n".encode()
    return Idempotency(key, hashlib.sha256(start + await request.body()).digest())


def unquoted(value: str) -> bytes:
    """Return the key in a valid header."""
    if value.startswith('"'):
        value = _ESCAPED.sub(r"\1", value[1:-1])
    return value.encode("ascii")


IdempotencyOf = Annotated[Idempotency, Depends(_idempotency)]
