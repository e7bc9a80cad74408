"""Remembers codes that have no link."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

NEGATIVE_TTL_SECONDS = 2.0
"""How long the cache remembers that a code has no link."""
MAX_ABSENT = 20_000
"""Maximum codes, which take 6 MB. A gateway can look up fewer per second."""


class NegativeCache:
    """Codes without a link, each for `NEGATIVE_TTL_SECONDS`. Evicts the oldest.

    It has its own bound: requests for unknown codes evict no link. `clock` is in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._expiries: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._expiries)

    def __contains__(self, code: str) -> bool:
        expires = self._expiries.get(code)
        return expires is not None and self._clock() < expires

    def add(self, code: str) -> None:
        """Remember that a code has no link."""
        expiries = self._expiries
        now = self._clock()
        expiries[code] = now + NEGATIVE_TTL_SECONDS
        expiries.move_to_end(code)
        # Dropping two codes for each added one drops expired codes soon, and never many at once.
        for _ in range(2):
            first = next(iter(expiries))
            if len(expiries) <= MAX_ABSENT and now < expiries[first]:
                break
            del expiries[first]

    def discard(self, code: str) -> None:
        """Forget a code, which may have a link by now."""
        self._expiries.pop(code, None)
