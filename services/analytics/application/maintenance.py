"""Background work: deletes expired visitor keys and days, and aggregates days that are over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

from services.analytics.application.store import AnalyticsStore
from services.analytics.application.visitor_keys import VisitorKeys
from services.analytics.domain.visits import utc_day
from services.analytics.metrics import DAYS_DELETED
from services.shared.errors import Unavailable
from services.shared.observability import logs

_CHECK_SECONDS = 60.0
"""Maximum seconds between checks. The clock may be set forward past midnight."""
_PAUSE_SECONDS = 0.05
"""Seconds between steps, during which other work can use the store."""
_RETRY_SECONDS = 1.0
"""Seconds until a retry if the store cannot be reached."""
_LATE_DAYS = 1
"""Days before today that may still receive visits and are not aggregated yet."""

log = logs.Throttled(__name__)


class Maintenance:
    """Maintains all links once a day, in bounded steps.

    Retains `retention_days` before today, or all days if it is None.
    """

    def __init__(
        self,
        store: AnalyticsStore,
        now: Callable[[], datetime],
        retention_days: int | None = None,
    ) -> None:
        self._store = store
        self._now = now
        self._retention_days = retention_days
        self._after = ""
        self._completed_day: int | None = None
        """The last day on which all links were maintained."""

    async def step(self) -> bool:
        """Maintain the next links. Return False once all are done for today. Raises Unavailable."""
        today = utc_day(self._now())
        if self._completed_day == today:
            return False
        retained_from = None if self._retention_days is None else today - self._retention_days
        after, deleted = await self._store.maintain(self._after, today - _LATE_DAYS, retained_from)
        DAYS_DELETED.inc(deleted)
        self._after = after or ""
        if after is None:
            self._completed_day = today
        return after is not None


async def run(keys: VisitorKeys, maintenance: Maintenance, now: Callable[[], datetime]) -> None:
    """Delete visitor keys at the end of their day and maintain links, until cancelled.

    An unexpected error ends the process, since a key that outlives its day would go unnoticed.
    Gateways keep their visits meanwhile, and redirects continue.
    """
    while True:
        try:
            await keys.delete_expired()
            more = await maintenance.step()
            pause = _PAUSE_SECONDS if more else min(_CHECK_SECONDS, _seconds_to_midnight(now()))
        except Unavailable as error:
            log.warning("maintenance_failed", reason=error.reason)
            pause = _RETRY_SECONDS
        await asyncio.sleep(pause)


def _seconds_to_midnight(now: datetime) -> float:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return (midnight - now).total_seconds()
