"""Resolves short URLs: from the cache if possible, else by a lookup, and applies changes to both.

Changes of links reach a gateway in two ways, and both replace what is cached or in flight:

- The change feed (`invalidation`) reports them within seconds. While it alone fails, codes are
  looked up instead.
- Edits by this gateway's own calls are served at once. links may acknowledge concurrent edits of
  one link in another order than it committed them, and the feed may report an older state, so
  their codes are also looked up. A lookup that starts after an acknowledgement returns the last
  edit.

While links is unavailable or slow, what is cached is served, however old.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from gateway.redirects.cache import FRESH_SECONDS, STALE_SECONDS, ResolutionCache
from gateway.redirects.lookups import URLS_PER_STEP, Lookups
from gateway.redirects.resolution import (
    ChangeFeedPage,
    LinkSource,
    Resolution,
    Resolutions,
    to_location,
)

CLOCK_STEP_SECONDS = 0.5
"""How far the time of day may drift from the monotonic clock before it counts as set."""


class Resolver:
    """Resolutions over a link source, with a cache of at most `limit_bytes`.

    Belongs to the event loop that it is made in. `clock` is monotonic, in seconds; `wall` is the
    time of day in seconds since the Unix epoch.
    """

    def __init__(
        self,
        source: LinkSource,
        limit_bytes: int,
        clock: Callable[[], float] = time.monotonic,
        fresh_seconds: float = FRESH_SECONDS,
        stale_seconds: float = STALE_SECONDS,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._clock = clock
        self._wall = wall
        self._clock_offset = wall() - clock()
        self.cache = ResolutionCache(
            limit_bytes,
            fresh_seconds,
            stale_seconds,
            lambda code: self.lookups.start(code),
            clock,
            wall,
        )
        self.lookups = Lookups(source, self.cache)
        self._misses = 0
        self._edited: set[str] = set()
        """Codes that calls of this gateway edited since the last poll of the change feed began."""
        self.version = 0
        """Grows with each change, and with what may hide one."""

    @property
    def results(self) -> dict[str, int]:
        """Codes requested since the start, by what the cache had."""
        cache = self.cache
        return {"hit": cache.hits, "stale": cache.stale_hits, "miss": self._misses}

    def lookup(self, code: str) -> asyncio.Future[Resolution | None]:
        """Return a future with the resolution of a well-formed code, None if it has no link.

        The future is done already if the cache has the code. It fails with Unavailable or
        DeadlineExceeded if the cache does not and links is unavailable, and with Internal after an
        unexpected error. Raises Unavailable if too many lookups wait already.
        """
        resolution = self.cache.get(code)
        if resolution is None and not self.cache.has_no_link(code):
            self._misses += 1
            return self.lookups.join(code)
        future: asyncio.Future[Resolution | None] = self._loop.create_future()
        future.set_result(resolution)
        return future

    def put_created(self, code: str, resolution: Resolution, version: int) -> None:
        """Serve what the creation of a link returned.

        `version` is that of this resolver before the call. If it has grown, this link may have
        changed after links answered the call, so the resolution is also confirmed by a lookup.
        """
        if version == self.version:
            self._replace(code, resolution)
        else:
            self._replace_and_confirm(code, resolution)

    def put_edited(self, resolutions: Resolutions) -> None:
        """Serve the resolutions that an acknowledged edit of this gateway returned.

        They are served at once, and while links is unavailable.
        """
        for code, resolution in resolutions.items():
            self.version += 1
            self._edited.add(code)
            self._replace_and_confirm(code, resolution)

    def begin_poll(self) -> None:
        """Note that the change feed is polled: the response may not include later edits."""
        self._edited.clear()

    async def apply(self, changes: ChangeFeedPage) -> None:
        """Replace what is cached or in flight by what changed, and ignore other codes."""
        changed = {**dict.fromkeys(changes.gone), **changes.resolutions}
        self.version += len(changed)
        for number, (code, resolution) in enumerate(changed.items(), 1):
            if code in self._edited:  # The feed may be behind the edit.
                self.cache.distrust(code)
                self.lookups.restart(code)
            elif code in self.cache or code in self.lookups:
                self._replace(code, resolution)
            else:
                self.cache.distrust(code)  # It may be cached as having no link.
            if number % URLS_PER_STEP == 0:
                await asyncio.sleep(0)

    def invalidate(self) -> None:
        """Have every code looked up before it is served again: it may have changed unnoticed.

        From here on the change feed is followed. While links is unavailable, the cache is served.
        """
        self.version += 1
        self.cache.invalidate()

    def stop_following(self) -> None:
        """Have every code looked up before it is served, until `follow`."""
        self.version += 1
        self.cache.stop_following()

    def follow(self) -> None:
        """Note that all changes until now were received and applied."""
        self.cache.follows_changes = True

    def check_clock(self) -> None:
        """Invalidate the cache if the time of day was set, as after a suspend. Call it often.

        Cached links expire by the monotonic clock, counted from the time of day at their lookup.
        """
        offset = self._wall() - self._clock()
        if self.cache.follows_changes and abs(offset - self._clock_offset) > CLOCK_STEP_SECONDS:
            self.invalidate()
        self._clock_offset = offset

    async def close(self) -> None:
        """End the calls in flight."""
        await self.lookups.close()

    def _replace_and_confirm(self, code: str, resolution: Resolution) -> None:
        """Serve a resolution at once, and look its code up.

        Until the lookup succeeds, the resolution is fresh for `UNCONFIRMED_SECONDS` only, and
        served later only if links is unavailable.
        """
        self._replace(code, resolution, is_confirmed=False)
        self.lookups.start(code)

    def _replace(self, code: str, resolution: Resolution | None, is_confirmed: bool = True) -> None:
        """Cache what a code resolves to from now on, and answer callers that wait for it."""
        location = to_location(resolution.url) if resolution else b""
        self.cache.put(code, resolution, location, is_confirmed)
        self.lookups.settle(code, resolution)
