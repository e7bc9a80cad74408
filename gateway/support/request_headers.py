"""Headers of a request, as ASGI has them."""

from __future__ import annotations

from collections.abc import Collection

Headers = Collection[tuple[bytes, bytes]]


def combined(headers: Headers) -> dict[bytes, bytes]:
    """Return headers by name, with the values of one name joined (RFC 9110, 5.3)."""
    values: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        values.setdefault(name, []).append(value)
    return {name: b", ".join(given) for name, given in values.items()}
