"""Headers of a request, as ASGI has them."""

from __future__ import annotations

from collections.abc import Collection

Headers = Collection[tuple[bytes, bytes]]


def combined(headers: Headers) -> dict[bytes, bytes]:
    """Return headers by name, with the values of one name joined (RFC 9110, 5.3)."""
    by_name: dict[bytes, bytes] = {}
    for name, value in headers:
        by_name[name] = b"%s, %s" % (by_name[name], value) if name in by_name else value
    return by_name
