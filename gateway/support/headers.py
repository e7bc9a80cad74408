"""Headers of a request, as ASGI has them, and a cache of what they say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

Value = TypeVar("Value")
Headers = Collection[tuple[bytes, bytes]]
HeadersByName = Mapping[bytes, bytes]
"""Headers by name, with the values of one name joined."""

MAX_HEADER_BYTES = 512
"""Bytes of a header that are read. The longest User-Agent in the list of bots has 285."""
_MAX_CACHED = 4096
"""Maximum cached values of one kind: 4 MB if all headers are long."""


class HeaderCache(dict[bytes, Value]):
    """Caches a bounded number of values by header, and none longer than `MAX_HEADER_BYTES`.

    Clients choose headers. `parse` receives the first `MAX_HEADER_BYTES` of a header.
    """

    def __init__(self, parse: Callable[[bytes], Value]) -> None:
        super().__init__()
        self._parse = parse

    def __missing__(self, header: bytes) -> Value:
        beginning = header[:MAX_HEADER_BYTES]
        if beginning in self:
            return self[beginning]
        if len(self) >= _MAX_CACHED:
            self.clear()  # Those in use return at once.
        value = self[beginning] = self._parse(beginning)
        return value


def combined(headers: Headers) -> HeadersByName:
    """Return headers by name, with the values of one name joined (RFC 9110, 5.3)."""
    by_name = dict(headers)
    if len(by_name) == len(headers):
        return by_name
    values: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        values.setdefault(name, []).append(value)
    return {name: b", ".join(given) for name, given in values.items()}
