"""How often links were visited, for those who show it; nobody waits for analytics twice.

While analytics is away, what is shown comes without these numbers.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from gateway.backends.owners import Owner
from services.shared.errors import AppError, ResourceExhausted
from services.shared.observability import logs

T = TypeVar("T")

RECENT_DAYS = 30

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

    async def recent_people(
        self, codes: Sequence[str], owner: Owner | None = None
    ) -> Mapping[str, Sequence[int]]:
        """Return the people of each of the last 30 UTC days by code, oldest day first.

        Takes at most 100 codes and leaves out links that nobody visited in these days. Owners
        share the capacity fairly.
        """
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
        return await self._ask(self._analytics.totals, codes)

    async def recent_of(
        self, codes: Sequence[str], owner: Owner
    ) -> Mapping[str, Sequence[int]] | None:
        """Return the people of each of the last 30 UTC days by code, oldest day first.

        Leaves out links that nobody visited in these days. Returns None while analytics cannot
        answer.
        """
        return await self._ask(partial(self._analytics.recent_people, owner=owner), codes)

    async def _ask(
        self, call: Callable[[Sequence[str]], Awaitable[Mapping[str, T]]], codes: Sequence[str]
    ) -> Mapping[str, T] | None:
        if self._clock() < self._retry_at:
            return None
        try:
            return await call(codes)
        except ResourceExhausted:  # analytics is available; only this read was rejected.
            return None
        except AppError as error:
            self._retry_at = self._clock() + RETRY_SECONDS
            self._log.error("views_unknown", reason=error.reason, call=error.call)
            return None
