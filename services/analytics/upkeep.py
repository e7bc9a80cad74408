"""What goes on in the process by itself: what is past its time goes, what is over is summed up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

from services.analytics.service import AnalyticsService
from services.runtime import logs
from services.runtime.errors import Unavailable

_EVERY = 60.0
"""Most seconds between two looks: the clock may be put forward over the end of a day."""
_PAUSE = 0.05
"""Seconds between two pieces of work, for whoever waits for the store."""
_RETRY = 1.0
"""Seconds until the next try where the store was away."""

log = logs.Throttled(__name__)


async def keep_up(service: AnalyticsService, now: Callable[[], datetime]) -> None:
    """Look after a service until cancelled. The key of a day goes as soon as the day is over.

    What nobody foresaw ends the process: a key that outlived its day would be noticed by nobody.
    Gateways keep visits meanwhile, and followers of links do not see it.
    """
    while True:
        try:
            await service.forget_keys()
            more = await service.forget_days() or await service.sum_up()
            pause = _PAUSE if more else min(_EVERY, _seconds_to_midnight(now()))
        except Unavailable as error:
            log.warning("upkeep_failed", reason=error.reason)
            pause = _RETRY
        await asyncio.sleep(pause)


def _seconds_to_midnight(now: datetime) -> float:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return (midnight - now).total_seconds()
