"""The id of a request, which follows it through every process and log line."""

from __future__ import annotations

import re
import secrets
from contextvars import ContextVar

HEADER = "x-request-id"
"""Name of the HTTP header and of the gRPC metadata key."""

_VALID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_current: ContextVar[str] = ContextVar("request_id", default="")


def current() -> str:
    """Return the id of the current request, or an empty string outside of one."""
    return _current.get()


def bind(given: str | None) -> str:
    """Set the current id: `given` if it is well-formed, otherwise a random one. Return it."""
    value = given if given and _VALID.fullmatch(given) else secrets.token_hex(8)
    _current.set(value)
    return value
