"""View counts of links, which are left out while analytics is unavailable.

After a failure, later calls do not wait for analytics again for a while (circuit breaker).
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from gateway.backends.owners import Owner
from services.shared.errors import AppError, ResourceExhausted
from services.shared.observability import logs

if TYPE_CHECKING:
    from gateway.backends.analytics import AnalyticsClient

T = TypeVar("T")

RECENT_DAYS = 30

RETRY_SECONDS = 5.0
"""How long analytics is not called after a failed call: as long as the timeout of that call."""


@dataclass(frozen=True, slots=True)
class Totals:
    """All visits of a link."""

    people: int = 0
    bots: int = 0


NO_VIEWS = Totals()


class ViewCounts:
    """View counts by code, None while analytics is unavailable."""

    def __init__(
        self, analytics: AnalyticsClient, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._analytics = analytics
        self._clock = clock
        self._log = logs.Throttled(__name__)
        self._retry_at = 0.0
        """When (`clock`) analytics may be called again."""

    async def totals(self, codes: Sequence[str]) -> Mapping[str, Totals] | None:
        """Return the visits by code, without links that have none."""
        return await self._call(self._analytics.totals, codes)

    async def recent_people(
        self, codes: Sequence[str], owner: Owner
    ) -> Mapping[str, Sequence[int]] | None:
        """Return the visits of people on each of the last 30 UTC days, oldest first, by code.

        Leaves out links without visits in these days.
        """
        return await self._call(partial(self._analytics.recent_people, owner=owner), codes)

    async def _call(
        self, call: Callable[[Sequence[str]], Awaitable[Mapping[str, T]]], codes: Sequence[str]
    ) -> Mapping[str, T] | None:
        if self._clock() < self._retry_at:
            return None
        try:
            return await call(codes)
        except ResourceExhausted:  # analytics is available, and only rejected this read.
            return None
        except AppError as error:
            self._retry_at = self._clock() + RETRY_SECONDS
            self._log.error("view_counts_unavailable", reason=error.reason, call=error.call)
            return None
