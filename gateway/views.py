"""How often links were visited, for those who show it; nobody waits for analytics twice.

While analytics is away, what is shown comes without these numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from services.runtime import logs
from services.runtime.errors import AppError

RETRY_SECONDS = 5.0
"""For how long analytics is not called after a call failed, for whoever asks: as long as the
deadline of that call."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Visits of a link since it exists."""

    people: int = 0
    bots: int = 0


NONE = Totals()


class ViewCounts(Protocol):
    """Where visits are counted: the analytics service."""

    async def totals(self, codes: Sequence[str]) -> Mapping[str, Totals]:
        """Visits by code, of at most 1000 codes; links nobody visited may be left out."""
        ...


class Views:
    """What analytics counts, as far as it can tell."""

    def __init__(self, analytics: ViewCounts, clock: Callable[[], float] = time.monotonic) -> None:
        self._analytics = analytics
        self._clock = clock
        self._log = logs.Throttled(__name__)
        self._retry_at = 0.0
        """Until when (`clock`) analytics is not called."""

    async def of(self, codes: Sequence[str]) -> Mapping[str, Totals] | None:
        """Visits by code, those without any left out; None where analytics cannot tell."""
        if self._clock() < self._retry_at:
            return None
        try:
            return await self._analytics.totals(codes)
        except AppError as error:
            self._retry_at = self._clock() + RETRY_SECONDS
            self._log.error("views_unknown", reason=error.reason, call=error.call)
            return None
