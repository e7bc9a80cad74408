"""The key of the day, under which visitors are told apart: asked for, used and dropped in time.

Analytics makes a key for each UTC day, and all gateways use the same one, so that a visitor of two
gateways is one. A gateway asks for it at its start and when the day turns, and drops it with the
day, whether analytics is there then or not. While it has none, people count and visitors do not.
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

EVERY_SECONDS = 1.0
"""How long after a look at the clock the next one comes, and how soon a missing key is asked for
again: analytics' day may turn a little later than ours."""
START_SECONDS = 1.0
"""How long a start waits for the first key."""
DAY_SECONDS = 86_400
_LONGEST_PAUSE = 8.0
"""Seconds between two questions while analytics is away."""


class KeySource(Protocol):
    """Who makes the keys: the analytics service."""

    async def visitor_key(self) -> tuple[int, bytes]:
        """The UTC day that runs, in whole days since the Unix epoch, and its key of 32 bytes."""
        ...


class VisitorKeys:
    """Gives visitors the key of the day that runs, in the background from `start` to `stop`.

    `clock` tells the time in seconds since the Unix epoch.
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
        self._pause = EVERY_SECONDS
        self.asked = {"changed": 0, "refused": 0, "failed": 0}
        """Questions since the start by what became of them: there is a key now; it was of another
        day than ours, or none, and is not used; there was no answer."""

    @property
    def has_key(self) -> bool:
        """Whether visitors of the day that runs are told apart."""
        return self._visitors.has_key

    async def start(self) -> None:
        """Follow the days in the background. Waits a moment for the first key."""
        self._task = background.run(self._follow(), "visitor_key")
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._tried.wait()
        except TimeoutError:
            pass

    async def stop(self) -> None:
        """Follow no longer."""
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _follow(self) -> None:
        while True:
            self._begin_day()
            pause = EVERY_SECONDS if self.has_key else await self._ask()
            self._tried.set()
            await self._sleep(min(pause, DAY_SECONDS - self._clock() % DAY_SECONDS))

    def _begin_day(self) -> int:
        today = int(self._clock() // DAY_SECONDS)
        self._visitors.begin(today)
        return today

    async def _ask(self) -> float:
        """Ask for the key; returns after how many seconds to look again."""
        try:
            day, key = await self._source.visitor_key()
        except AppError as error:
            self.asked["failed"] += 1
            self._throttled.warning("visitor_key_unheard", reason=error.reason, call=error.call)
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            return self._pause
        self._pause = EVERY_SECONDS
        if day == self._begin_day() and len(key) == KEY_BYTES:
            self._visitors.use(key)
            self.asked["changed"] += 1
        else:
            self.asked["refused"] += 1
        return EVERY_SECONDS
