"""Follows the change feed of links, so that cached resolutions are correct within seconds.

Once a second the follower asks links what changed after its cursor, and replaces those resolutions
in the resolver's cache. The cost grows with the number of changes, not of links. links issues the
cursors, so no clock matters, and after an outage the next response holds all that changed
meanwhile.

While only the feed fails, no change would be noticed. So three seconds after the feed was last read
to its end, the follower tests whether links answers a lookup but not the feed. Then the resolver
looks codes up before it serves them. If links answers neither, it is unavailable, and the cache is
served as it is.

Resolutions cached before the first cursor may have changed unnoticed, and so may all of them if the
feed is truncated: the resolver looks them up before it serves them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from gateway.redirects.resolution import ChangeFeedPage, LinkSource
from gateway.redirects.resolver import Resolver
from services.shared import background
from services.shared.errors import AppError
from services.shared.observability import logs

POLL_SECONDS = 1.0
"""Pause between two polls. Changes must take effect within five seconds."""
LOST_SECONDS = 3.0
"""How long ago the feed may have been read to its end before the follower tests why. With both
parts of the test and a lookup it is less than five seconds."""
TEST_SECONDS = 0.5
"""How long the test waits for a lookup, and then for the feed."""
_MIN_PAUSE_SECONDS = 0.1
"""Minimum pause between two tests of the feed."""
START_SECONDS = 1.0
"""How long `start` waits for the first cursor. Earlier lookups have to be repeated."""
FIRST_POLL_SECONDS = 0.3
"""How long one replica has to return the first cursor before several are asked. Less than
`START_SECONDS`."""
MAX_PAGES = 1000
"""Maximum pages of the feed that are read without a pause."""
_REPLICAS = 3
"""Concurrent polls after a failed one. With one poll at a time, round-robin with other calls could
reach the same unresponsive replica each time."""


class ChangeFollower:
    """Applies changes of links to a resolver, in the background from `start` to `stop`."""

    def __init__(
        self, source: LinkSource, resolver: Resolver, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._source = source
        self._resolver = resolver
        self._clock = clock
        self._log = logs.Throttled(__name__)
        self._cursor: str | None = None
        self._caught_up_at = clock()
        self._complete_until = clock()
        """Changes until then were received: the start of the poll that read the feed to its end."""
        self._polled = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self.polls = {"ok": 0, "truncated": 0, "failed": 0, "error": 0}
        """Polls since the start by result; "truncated" is a feed that lacks changes."""
        self.received = 0
        """Changes received since the start, of any code."""

    @property
    def age_seconds(self) -> float:
        """Seconds since the feed was last read to its end, or since the start."""
        return max(0.0, self._clock() - self._caught_up_at)

    async def start(self) -> None:
        """Start to follow. Waits up to `START_SECONDS` for the first cursor."""
        self._tasks = [
            background.start_task(self._follow(), "changes"),
            background.start_task(self._watch_clock(), "changes_clock"),
            background.start_task(self._watch_feed(), "changes_age"),
        ]
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._polled.wait()
        except TimeoutError:
            pass

    async def stop(self) -> None:
        """Stop to follow."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _follow(self) -> None:
        while True:
            await self._catch_up()
            self._polled.set()
            await asyncio.sleep(POLL_SECONDS)

    async def _watch_clock(self) -> None:
        """Check the time of day, however long links takes to answer."""
        while True:
            self._resolver.check_clock()
            await asyncio.sleep(POLL_SECONDS)

    async def _watch_feed(self) -> None:
        """Have codes looked up while the feed alone fails, however long its polls take."""
        while True:
            left = self._complete_until + LOST_SECONDS - self._clock()
            pause = max(left, _MIN_PAUSE_SECONDS)
            if left <= 0 and self._resolver.cache.follows_changes:
                if not await self._answers_lookups():
                    pause = POLL_SECONDS
                elif await self._feed_fails():
                    self._resolver.stop_following()
                    self._log.warning("changes_not_followed")
            await asyncio.sleep(min(POLL_SECONDS, pause))

    async def _answers_lookups(self) -> bool:
        """Return whether links answers a lookup in time."""
        try:
            async with asyncio.timeout(TEST_SECONDS):
                await self._resolver.lookups.probe()
        except (AppError, TimeoutError):
            return False
        return True

    async def _feed_fails(self) -> bool:
        """Return whether links does not answer the feed in time, or not to its end."""
        try:
            async with asyncio.timeout(TEST_SECONDS):
                return (await self._source.changes(self._cursor)).more
        except (AppError, TimeoutError):
            return True

    async def _catch_up(self) -> None:
        """Read the feed to its end."""
        for _ in range(MAX_PAGES):
            began = self._clock()
            try:
                more = await self._poll()
            except AppError as error:
                self.polls["failed"] += 1
                self._log.warning("changes_unavailable", reason=error.reason, call=error.call)
                return
            except Exception as error:
                # It would fail again. So skip it, and invalidate the cache at the next poll.
                self._cursor = None
                self.polls["error"] += 1
                self._log.error("changes_error", exc_info=error)
                return
            if not more:
                self._caught_up_at = self._clock()
                self._complete_until = began
                self._resolver.follow()
                return

    async def _poll(self) -> bool:
        """Read one page of the feed, and apply it. Returns whether there is more."""
        self._resolver.begin_poll()
        changes = await self._fetch()
        if changes.truncated or self._cursor is None:
            self._resolver.invalidate()
        await self._resolver.apply(changes)
        self._cursor = changes.cursor
        self.polls["truncated" if changes.truncated else "ok"] += 1
        self.received += len(changes.resolutions) + len(changes.gone)
        return changes.more

    async def _fetch(self) -> ChangeFeedPage:
        """Return what changed after the cursor. Raises AppError if no replica answers."""
        try:
            # Changes before the first cursor are missed, so no silent replica may delay it.
            async with asyncio.timeout(FIRST_POLL_SECONDS if self._cursor is None else None):
                return await self._source.changes(self._cursor)
        except (AppError, TimeoutError):
            return await self._fetch_from_several()

    async def _fetch_from_several(self) -> ChangeFeedPage:
        """Ask several replicas at once, and return the first response."""
        calls = [
            asyncio.ensure_future(self._source.changes(self._cursor)) for _ in range(_REPLICAS)
        ]
        try:
            for call in asyncio.as_completed(calls):
                try:
                    return await call
                except AppError as error:
                    failure = error
            raise failure
        finally:
            for pending in calls:
                pending.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
