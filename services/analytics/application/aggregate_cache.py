"""A cache of encoded aggregates, bounded by memory, that evicts the least recently used entries."""

from __future__ import annotations

from collections import OrderedDict

_ENTRY_BYTES = 200
"""Memory of an entry in addition to its value."""


class AggregateCache:
    """Caches encoded aggregates by key, with names or without, in at most `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._values: OrderedDict[tuple[bytes, bool], bytes] = OrderedDict()

    def get(self, key: bytes, *, with_names: bool) -> bytes | None:
        """Return an entry. Without `with_names`, an entry with names is returned as well."""
        for has_names in (True,) if with_names else (True, False):
            value = self._values.get((key, has_names))
            if value is not None:
                self._values.move_to_end((key, has_names))
                return value
        return None

    def put(self, key: bytes, value: bytes, *, with_names: bool) -> None:
        """Store an entry. Replaces one that a concurrent read stored."""
        entry = key, with_names
        previous = self._values.pop(entry, None)
        if previous is not None:
            self._bytes -= len(previous) + _ENTRY_BYTES
        self._values[entry] = value
        self._bytes += len(value) + _ENTRY_BYTES
        while self._bytes > self._max_bytes:
            _, evicted = self._values.popitem(last=False)
            self._bytes -= len(evicted) + _ENTRY_BYTES
