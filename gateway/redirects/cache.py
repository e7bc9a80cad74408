"""Caches resolutions in bounded memory, and decides which of them may be served without a lookup.

- A resolution is fresh for a minute. For another minute it is stale: the cache serves it and has it
  looked up again (stale-while-revalidate, RFC 5861). Later requests wait for the lookup.
- While the change feed is not followed, but lookups work, a resolution is fresh for two seconds,
  and then looked up before it is served. So is what was cached before (`stop_following`).
- While links is unavailable altogether, what is cached is served, however old.
- An active link is expired from its `expires_at` on, whenever it was cached.
- Beyond the memory limit the least recently used links are evicted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime

from gateway.redirects.entry import (
    ACTIVE,
    EXPIRES_AT,
    FRESH_UNTIL,
    HIT_UNTIL,
    LINK_CODE,
    LOCATION,
    MUST_REVALIDATE,
    NEVER_HIT,
    STATE,
    Entry,
    measure_entry,
    to_entry,
    to_resolution,
)
from gateway.redirects.resolution import Resolution

FRESH_SECONDS = 60.0
"""How long a resolution is served without a lookup."""
STALE_SECONDS = 60.0
"""How long after that it is served while it is looked up."""
UNCONFIRMED_SECONDS = 2.0
"""How long a resolution is fresh that may have changed unnoticed."""
RETRY_SECONDS = 2.0
"""How long after a failed lookup the cached resolution is served before the next one."""
NEGATIVE_TTL_SECONDS = 2.0
"""How long the cache remembers that a code has no link."""
MAX_ABSENT = 20_000
"""Maximum codes, which take 6 MB. A gateway can look up fewer per second."""


class _AbsentCodes:
    """Codes without a link, each for `NEGATIVE_TTL_SECONDS`. Evicts the oldest.

    It has its own bound: requests for unknown codes evict no link. `clock` is in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._expiries: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._expiries)

    def __contains__(self, code: str) -> bool:
        expires = self._expiries.get(code)
        return expires is not None and self._clock() < expires

    def add(self, code: str) -> None:
        """Remember that a code has no link."""
        expiries = self._expiries
        now = self._clock()
        expiries[code] = now + NEGATIVE_TTL_SECONDS
        expiries.move_to_end(code)
        # Dropping two codes for each added one drops expired codes soon, and never many at once.
        for _ in range(2):
            first = next(iter(expiries))
            if len(expiries) <= MAX_ABSENT and now < expiries[first]:
                break
            del expiries[first]

    def discard(self, code: str) -> None:
        """Forget a code, which may have a link by now."""
        self._expiries.pop(code, None)


class ResolutionCache:
    """What codes resolve to, including codes that have no link.

    Takes at most `limit_bytes` for links, with everything that belongs to an entry counted.
    `revalidate` is called with each code that is served stale. `clock` is monotonic, in seconds;
    `wall` is the time of day in seconds since the Unix epoch.
    """

    def __init__(
        self,
        limit_bytes: int,
        fresh_seconds: float,
        stale_seconds: float,
        revalidate: Callable[[str], None],
        clock: Callable[[], float],
        wall: Callable[[], float],
    ) -> None:
        self.limit_bytes = limit_bytes
        self.bytes = 0
        """Memory that the cached links take."""
        self._fresh_seconds = fresh_seconds
        self._stale_seconds = stale_seconds
        self._revalidate = revalidate
        self._clock = clock
        self._wall = wall
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._invalidated: OrderedDict[str, Entry] = OrderedDict()
        """Entries from before the last `invalidate`: only a fallback for failed lookups."""
        self._absent = _AbsentCodes(clock)
        self.follows_changes = False
        """Whether the change feed is followed: not before its first cursor, nor while it alone
        fails (`stop_following`)."""
        self.generation = 0
        """How often the cache was invalidated."""
        self.hits = 0
        self.stale_hits = 0

    def __len__(self) -> int:
        """The number of cached links."""
        return len(self._entries) + len(self._invalidated)

    def __contains__(self, code: str) -> bool:
        """Whether the cache has a resolution of a link, fresh or not."""
        return code in self._entries or code in self._invalidated

    @property
    def absent(self) -> int:
        """The number of codes cached as having no link."""
        return len(self._absent)

    def hit(self, code: str) -> bytes | None:
        """Return the Location of an active link if it may be served without waiting.

        None means: call `lookup` of the resolver, which answers all other cases. Scan codes are
        left to `scan_hit`.
        """
        entry = self._entries.get(code)
        if entry is None:
            return None
        if self._clock() >= entry[HIT_UNTIL]:
            return self._stale_hit(code, entry)
        self.hits += 1
        self._entries.move_to_end(code)
        return entry[LOCATION]

    def scan_hit(self, code: str) -> tuple[bytes, str] | None:
        """Return the Location and the link code of an active link by its scan code."""
        entry = self._entries.get(code)
        if entry is None or not entry[LINK_CODE] or not self._is_active(entry):
            return None
        if not self._serve(code, entry):
            return None
        return entry[LOCATION], entry[LINK_CODE]

    def get(self, code: str) -> Resolution | None:
        """Return the resolution of a link if it may be served without waiting."""
        entry = self._entries.get(code)
        if entry is None or not self._serve(code, entry):
            return None
        return self._to_resolution(entry)

    def has_no_link(self, code: str) -> bool:
        """Whether a code is known to have no link."""
        if code not in self._absent:
            return False
        self.hits += 1
        return True

    def peek(self, code: str) -> Resolution | None:
        """Return the resolution of a link, fresh or not. It does not count as used."""
        entry = self._entries.get(code) or self._invalidated.get(code)
        return None if entry is None else self._to_resolution(entry)

    def put(
        self, code: str, resolution: Resolution | None, location: bytes, is_confirmed: bool = True
    ) -> None:
        """Cache what a code resolves to, None if it has no link.

        `location` is the Location of the URL. `is_confirmed` says that the change feed will report
        every change since; otherwise the resolution is looked up again soon.
        """
        self._remove(code)
        if resolution is None:
            self._absent.add(code)
            return
        self._absent.discard(code)
        must_revalidate = not (is_confirmed and self.follows_changes)
        fresh = self._fresh_seconds
        if must_revalidate:
            fresh = min(fresh, UNCONFIRMED_SECONDS)
        fresh_until = self._clock() + fresh
        hit_until = self._hit_until(
            fresh_until, resolution.state.value, resolution.expires_at, resolution.link_code
        )
        entry = to_entry(resolution, location, hit_until, fresh_until, must_revalidate)
        size = measure_entry(code, entry)
        while self.bytes + size > self.limit_bytes:
            if not len(self):  # It is larger than the whole cache.
                return
            entries = self._invalidated or self._entries
            self.bytes -= measure_entry(*entries.popitem(last=False))
        self._entries[code] = entry
        self.bytes += size

    def current(self, resolution: Resolution) -> Resolution:
        """Return a resolution as it is now: an active link may have expired."""
        return resolution.at(self._wall())

    def distrust(self, code: str) -> None:
        """Have a code looked up before it is served again."""
        self._absent.discard(code)
        if entry := self._entries.get(code):
            self._restart_freshness(code, entry, self._clock(), must_revalidate=True)

    def fall_back(self, code: str) -> Resolution | None:
        """Return the cached resolution, fresh or not, after its lookup failed or is late.

        Serves it for another `RETRY_SECONDS`.
        """
        entry = self._entries.get(code)
        if entry is not None:
            must_revalidate = entry[MUST_REVALIDATE]
        elif (entry := self._invalidated.pop(code, None)) is not None:
            must_revalidate = True
        else:
            return None
        return self._to_resolution(
            self._restart_freshness(code, entry, self._clock() + RETRY_SECONDS, must_revalidate)
        )

    def invalidate(self) -> None:
        """Have every link looked up before it is served again: it may have changed unnoticed.

        From here on the change feed reports changes. While links is unavailable, what was cached
        is still served.
        """
        self.follows_changes = True
        self._distrust_all()

    def stop_following(self) -> None:
        """Have every link looked up before it is served, until the feed is followed again.

        What a lookup returns is fresh for `UNCONFIRMED_SECONDS`.
        """
        self.follows_changes = False
        self._distrust_all()

    def _distrust_all(self) -> None:
        self.generation += 1
        before, self._entries = self._entries, OrderedDict()
        if self._invalidated:
            self._invalidated.update(before)
        else:
            self._invalidated = before

    def _stale_hit(self, code: str, entry: Entry) -> bytes | None:
        """Return what `hit` does once the entry is no hit by its time alone."""
        if (
            entry[LINK_CODE]
            or self._clock() < entry[FRESH_UNTIL]
            or not self._is_active(entry)
            or not self._serve(code, entry)
        ):
            return None
        return entry[LOCATION]

    def _serve(self, code: str, entry: Entry) -> bool:
        """Count a use of an entry, and revalidate a stale one. False if it must be looked up."""
        now = self._clock()
        if now < entry[FRESH_UNTIL]:
            self.hits += 1
            self._entries.move_to_end(code)
            return True
        if entry[MUST_REVALIDATE] or now >= entry[FRESH_UNTIL] + self._stale_seconds:
            return False
        self.stale_hits += 1
        self._entries.move_to_end(code)
        self._revalidate(code)
        return True

    def _is_active(self, entry: Entry) -> bool:
        expires_at = entry[EXPIRES_AT]
        if expires_at is not None and expires_at.timestamp() <= self._wall():
            return False
        return entry[STATE] == ACTIVE

    def _to_resolution(self, entry: Entry) -> Resolution:
        return to_resolution(entry).at(self._wall())

    def _restart_freshness(
        self, code: str, entry: Entry, fresh_until: float, must_revalidate: bool
    ) -> Entry:
        """Replace an entry by one with another end of its freshness, and return that one."""
        hit_until = self._hit_until(fresh_until, entry[STATE], entry[EXPIRES_AT], entry[LINK_CODE])
        renewed: Entry = (hit_until, fresh_until, must_revalidate, *entry[LOCATION:])
        self.bytes += measure_entry(code, renewed) - measure_entry(code, entry)
        self._entries[code] = renewed
        return renewed

    def _hit_until(
        self, fresh_until: float, state: str, expires_at: datetime | None, link_code: str
    ) -> float:
        if state != ACTIVE or link_code:
            return NEVER_HIT
        if expires_at is None:
            return fresh_until
        return min(fresh_until, self._clock() + expires_at.timestamp() - self._wall())

    def _remove(self, code: str) -> None:
        entry = self._entries.pop(code, None) or self._invalidated.pop(code, None)
        if entry is not None:
            self.bytes -= measure_entry(code, entry)
