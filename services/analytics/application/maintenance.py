"""Work in the background: visitor keys and days expire, and days that ended are aggregated."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta

from services.analytics.application.ports import AnalyticsStore, VisitorKeyRepository
from services.analytics.domain.visits import KEY_BYTES
from services.analytics.metrics import DAYS_DELETED, KEYS_DELETED, KEYS_MADE
from services.shared.errors import Unavailable
from services.shared.observability import logs
from services.shared.timestamps import EPOCH

_CHECK_SECONDS = 60.0
"""Maximum seconds between two checks: the clock may be set forward over the end of a day."""
_PAUSE_SECONDS = 0.05
"""Seconds between two steps, for those who wait for the store."""
_RETRY_SECONDS = 1.0
"""Seconds until the next attempt if the store could not be reached."""
_LATE_DAYS = 1
"""Days before today that still get visits and are not aggregated yet."""

log = logs.Throttled(__name__)


class VisitorKeys:
    """Hands out the key under which visitors of the day are hashed. `now` is in UTC."""

    def __init__(self, store: VisitorKeyRepository, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    async def current(self) -> tuple[int, bytes]:
        """Return the current UTC day and its key. Keys of other days are deleted by then.

        Raises Unavailable.
        """
        await self.forget()
        day = _day_of(self._now())
        fresh = secrets.token_bytes(KEY_BYTES)
        key = await self._store.visitor_key(day, fresh)
        if key == fresh:
            KEYS_MADE.inc()
        return day, key

    async def forget(self) -> None:
        """Delete the keys of days other than the current one. Raises Unavailable."""
        KEYS_DELETED.inc(await self._store.forget_keys(_day_of(self._now())))


class Maintenance:
    """Goes through all links once a day, in bounded steps.

    Days are kept for `kept_days` and today; None means for ever.
    """

    def __init__(
        self, store: AnalyticsStore, now: Callable[[], datetime], kept_days: int | None = None
    ) -> None:
        self._store = store
        self._now = now
        self._kept_days = kept_days
        self._after = ""
        self._done: int | None = None
        """The day on which all links were done."""

    async def step(self) -> bool:
        """Maintain the next links; return False once all are done for today. Raises Unavailable."""
        today = _day_of(self._now())
        if self._done == today:
            return False
        kept_from = None if self._kept_days is None else today - self._kept_days
        after, deleted = await self._store.maintain(self._after, today - _LATE_DAYS, kept_from)
        DAYS_DELETED.inc(deleted)
        self._after = after or ""
        if after is None:
            self._done = today
        return after is not None


async def run(keys: VisitorKeys, maintenance: Maintenance, now: Callable[[], datetime]) -> None:
    """Maintain the store until cancelled. The key of a day is deleted once the day has ended.

    An unexpected error ends the process: nobody would notice a key that outlived its day. Gateways
    keep visits meanwhile, and redirects go on.
    """
    while True:
        try:
            await keys.forget()
            more = await maintenance.step()
            pause = _PAUSE_SECONDS if more else min(_CHECK_SECONDS, _seconds_to_midnight(now()))
        except Unavailable as error:
            log.warning("upkeep_failed", reason=error.reason)
            pause = _RETRY_SECONDS
        await asyncio.sleep(pause)


def _day_of(now: datetime) -> int:
    return (now - EPOCH) // timedelta(days=1)


def _seconds_to_midnight(now: datetime) -> float:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return (midnight - now).total_seconds()
