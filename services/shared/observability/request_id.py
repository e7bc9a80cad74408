"""The id that follows one request through every process and every log line."""

from __future__ import annotations

import re
import secrets
from contextvars import ContextVar

HEADER = "x-request-id"
"""Name of the HTTP header and of the gRPC metadata key."""

_SHAPE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_current: ContextVar[str] = ContextVar("request_id", default="")


def current() -> str:
    """The id of the request in hand, or an empty string outside of one."""
    return _current.get()


def take(given: str | None) -> str:
    """Make `given` the current id where it is well-formed, else a fresh one; returns it."""
    value = given if given and _SHAPE.fullmatch(given) else secrets.token_hex(8)
    _current.set(value)
    return value
