"""Follows the change feed of links, so that cached resolutions are correct within seconds.

Once a second the follower asks links what changed after its cursor, and replaces those entries in
the resolver's cache. That costs as much as there were changes, however many links there are. The
cursor is the store's, so no clock matters, and after links was away the next answer holds all that
changed meanwhile.

Entries from before the first cursor may have changed unnoticed, and so may all entries if the feed
is truncated: the resolver looks them up before it uses them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from gateway.redirects.resolution import Changes
from gateway.redirects.resolver import LinkSource, Resolver
from services.shared import background
from services.shared.errors import AppError
from services.shared.observability import logs

EVERY_SECONDS = 1.0
"""How long after it has heard all a gateway asks again. Changes hold within five."""
START_SECONDS = 1.0
"""How long a start waits for the first cursor: earlier look-ups must be repeated."""
FIRST_SECONDS = 0.3
"""How long one replica is given for the first cursor before several are asked: less than a start
waits."""
MOST_PAGES = 1000
"""Answers in a row before a pause as after all others."""
_REPLICAS = 3
"""How many are asked at a time where one did not answer. One after the other, calls between them
would decide which replica it is, and it could be the silent one each time."""


class ChangeFollower:
    """Brings changes from links to a resolver, in the background from `start` to `stop`."""

    def __init__(
        self, source: LinkSource, resolver: Resolver, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._source = source
        self._resolver = resolver
        self._clock = clock
        self._log = logs.Throttled(__name__)
        self._cursor: str | None = None
        self._heard_at = clock()
        self._tried = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self.polls = {"heard": 0, "lost": 0, "failed": 0, "broke": 0}
        """Questions since the start by what became of them."""
        self.told = 0
        """Changes that links told since the start, of whatever codes."""

    @property
    def age_seconds(self) -> float:
        """For how long changes have not been heard in full: since the start, if never."""
        return max(0.0, self._clock() - self._heard_at)

    async def start(self) -> None:
        """Follow in the background. Waits a moment for the first cursor."""
        self._tasks = [
            background.run(self._follow(), "changes"),
            background.run(self._watch_clock(), "changes_clock"),
        ]
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._tried.wait()
        except TimeoutError:
            pass

    async def stop(self) -> None:
        """Follow no longer."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _follow(self) -> None:
        while True:
            await self._catch_up()
            self._tried.set()
            await asyncio.sleep(EVERY_SECONDS)

    async def _watch_clock(self) -> None:
        """Look at the time of day, however long links takes to answer."""
        while True:
            self._resolver.notice_clock()
            await asyncio.sleep(EVERY_SECONDS)

    async def _catch_up(self) -> None:
        """Read the feed to its end."""
        for _ in range(MOST_PAGES):
            try:
                more = await self._hear()
            except AppError as error:
                self.polls["failed"] += 1
                self._log.warning("changes_unheard", reason=error.reason, call=error.call)
                return
            except Exception as error:
                # It would break again: it is passed over, and memory is believed no more.
                self._cursor = None
                self.polls["broke"] += 1
                self._log.error("changes_broke", exc_info=error)
                return
            if not more:
                self._heard_at = self._clock()
                return

    async def _hear(self) -> bool:
        """Ask once, and apply what is told; returns whether there is more."""
        self._resolver.ask_for_changes()
        changes = await self._ask()
        if changes.truncated or self._cursor is None:
            self._resolver.invalidate()
        await self._resolver.apply(changes)
        self._cursor = changes.cursor
        self.polls["lost" if changes.truncated else "heard"] += 1
        self.told += len(changes.resolutions) + len(changes.gone)
        return changes.more

    async def _ask(self) -> Changes:
        """Return what changed after the cursor. Raises AppError where nobody answers."""
        try:
            # Changes are missed before the first cursor: no silent replica may delay it.
            async with asyncio.timeout(FIRST_SECONDS if self._cursor is None else None):
                return await self._source.changes(self._cursor)
        except (AppError, TimeoutError):
            return await self._ask_several()

    async def _ask_several(self) -> Changes:
        """The same, of several replicas at once: who answers first is believed."""
        asked = [
            asyncio.ensure_future(self._source.changes(self._cursor)) for _ in range(_REPLICAS)
        ]
        try:
            for answer in asyncio.as_completed(asked):
                try:
                    return await answer
                except AppError as error:
                    failure = error
            raise failure
        finally:
            for one in asked:
                one.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
