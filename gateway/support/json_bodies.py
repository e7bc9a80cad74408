"""Reads a JSON body, and bounds its size and its keys before it is validated.

The validator makes an error for each key that it does not know: 40,000 in half a megabyte take
functions 50 ms and the REST API 190 ms of the event loop. Counting them takes 5 ms.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8

from starlette.requests import ClientDisconnect, Request

from services.shared.errors import InvalidArgument

MAX_KEYS = 4000
"""Maximum keys of all objects in a body. A valid one has 1,500 at most."""
TOO_MANY_KEYS = f"The body has more than {MAX_KEYS} keys."

_STRING = re.compile(rb'(?s)"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)')
"""A string, or the rest of a body that ends within one."""


class BodyTooLarge(InvalidArgument):
    """A body has more bytes than its path allows."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(f"The body has more than {max_bytes} bytes.")


class BodyTruncated(InvalidArgument):
    """The client disconnected before the end of the body."""

    def __init__(self) -> None:
        super().__init__("The body ended early.")


async def read_body(request: Request, max_bytes: int) -> bytes:
    """Return the body, without a byte order mark: the mark is no part of the JSON (RFC 8259, 8.1).

    Raises BodyTooLarge as soon as that is known, and BodyTruncated.
    """
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > max_bytes:
        raise BodyTooLarge(max_bytes)
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > max_bytes:
                raise BodyTooLarge(max_bytes)
    except ClientDisconnect:
        raise BodyTruncated from None
    return bytes(body.removeprefix(BOM_UTF8))


def has_too_many_keys(body: bytes) -> bool:
    """Return whether the objects in a body have more than `MAX_KEYS` keys."""
    if body.count(b":") <= MAX_KEYS:
        return False
    return _STRING.sub(b"", body).count(b":") > MAX_KEYS
