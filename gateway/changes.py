"""Follows what changes in links, so that what is in memory holds within seconds.

Once a second links is asked what changed since the mark of its last answer, and what it tells takes
the place of what the resolver has. That costs as much as there were changes, however many links
there are. A mark is links' own count, so no clock matters, and after links was away the next answer
has all that changed meanwhile.

Nothing is believed for long from before the first mark, since changes of then are not heard of; nor
from before a `lost`, which says that links does not know all changes since the mark any more.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from gateway.resolution import Changes
from gateway.resolver import LinkSource, Resolver
from services.runtime import background, logs
from services.runtime.errors import AppError, Unimplemented

EVERY_SECONDS = 1.0
"""How long after it has heard all a gateway asks again. Changes hold within five."""
START_SECONDS = 1.0
"""How long a start waits for the first mark: what is looked up before it is looked up again."""
FIRST_SECONDS = 0.3
"""How long the first mark is waited for before several replicas are asked for it: less than a start
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
        self._mark: int | None = None
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
        """Follow in the background. Waits a moment for the first mark, which links may owe."""
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
        """Hear all that changed since the mark."""
        for _ in range(MOST_PAGES):
            try:
                more = await self._hear()
            except AppError as error:
                self.polls["failed"] += 1
                self._log.warning("changes_unheard", reason=error.reason, call=error.call)
                if isinstance(error, Unimplemented):  # Links of a version that tells no changes.
                    self._mark = None
                    self._resolver.unhear()
                return
            except Exception as error:
                # It would break again: it is passed over, and memory is believed no more.
                self._mark = None
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
        lost = changes.lost or self._mark is None
        if lost:
            self._resolver.invalidate()
        await self._resolver.apply(changes)
        self._mark = changes.mark
        self.polls["lost" if changes.lost else "heard"] += 1
        self.told += len(changes.resolutions) + len(changes.gone)
        return changes.more

    async def _ask(self) -> Changes:
        """What changed since the mark. Raises AppError where nobody answers."""
        try:
            # Until there is a mark changes are missed: no silent replica may hold the first one up.
            async with asyncio.timeout(FIRST_SECONDS if self._mark is None else None):
                return await self._source.changes(self._mark)
        except (AppError, TimeoutError):
            return await self._ask_several()

    async def _ask_several(self) -> Changes:
        """The same, of several replicas at once: who answers first is believed."""
        asked = [asyncio.ensure_future(self._source.changes(self._mark)) for _ in range(_REPLICAS)]
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
