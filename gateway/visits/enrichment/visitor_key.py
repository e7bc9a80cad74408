"""Gets the day's visitor key, with which visitors are hashed, and drops it at the end of the day.

analytics creates a key for each UTC day. All gateways use the same one, so that a visitor of two
gateways counts once. A gateway requests it at its start and when the day changes, and drops it with
the day, even while analytics is unavailable. Without a key, people are counted but visitors are
not.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from gateway.visits.enrichment.visitors import KEY_BYTES, Visitors
from services.shared import background
from services.shared.errors import AppError
from services.shared.observability import logs

CHECK_SECONDS = 1.0
"""Interval of checks of the clock, and of requests for a missing key: the day of analytics may
change a little later than that of the gateway."""
START_SECONDS = 1.0
"""How long `start` waits for the first key."""
DAY_SECONDS = 86_400
_MAX_PAUSE = 8.0
"""Maximum seconds between two requests while analytics is unavailable."""


class KeySource(Protocol):
    """Where keys come from: the analytics service."""

    async def visitor_key(self) -> tuple[int, bytes]:
        """Return the current UTC day, in days since the Unix epoch, and its key of 32 bytes."""


class VisitorKeys:
    """Provides `Visitors` with the current day's key, in the background from `start` to `stop`.

    `clock` is in seconds since the Unix epoch.
    """

    def __init__(
        self,
        source: KeySource,
        visitors: Visitors,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._source = source
        self._visitors = visitors
        self._clock = clock
        self._sleep = sleep
        self._throttled = logs.Throttled(__name__)
        self._tried = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._pause = CHECK_SECONDS
        self.requests = {"changed": 0, "refused": 0, "failed": 0}
        """Requests since the start by result: there is a key now; it was invalid or of another day,
        and is not used; analytics did not answer."""

    @property
    def has_key(self) -> bool:
        """Whether there is a key for the current day."""
        return self._visitors.has_key

    async def start(self) -> None:
        """Start to follow the days. Waits up to `START_SECONDS` for the first key."""
        self._task = background.start_task(self._follow(), "visitor_key")
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._tried.wait()
        except TimeoutError:
            pass

    async def stop(self) -> None:
        """Stop to follow the days."""
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _follow(self) -> None:
        while True:
            self._begin_day()
            pause = CHECK_SECONDS if self.has_key else await self._request()
            self._tried.set()
            await self._sleep(min(pause, DAY_SECONDS - self._clock() % DAY_SECONDS))

    def _begin_day(self) -> int:
        today = int(self._clock() // DAY_SECONDS)
        self._visitors.begin(today)
        return today

    async def _request(self) -> float:
        """Request the key. Returns the seconds until the next check."""
        try:
            day, key = await self._source.visitor_key()
        except AppError as error:
            self.requests["failed"] += 1
            self._throttled.warning("visitor_key_unavailable", reason=error.reason, call=error.call)
            self._pause = min(2 * self._pause, _MAX_PAUSE)
            return self._pause
        self._pause = CHECK_SECONDS
        if day == self._begin_day() and len(key) == KEY_BYTES:
            self._visitors.use(key)
            self.requests["changed"] += 1
        else:
            self.requests["refused"] += 1
        return CHECK_SECONDS
