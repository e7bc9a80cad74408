"""Reading totals and statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from services.analytics.application.aggregate_cache import AggregateCache, Group
from services.analytics.application.ports import AnalyticsStore, Names
from services.analytics.domain.periods import Dates, Recent, span_of, zone_of
from services.analytics.domain.statistics import Figures, Statistics, Sums
from services.analytics.domain.visits import (
    HOURS_A_DAY,
    MAX_CODES,
    MAX_RECENT_CODES,
    MAX_STATISTICS_CODES,
    RECENT_DAYS,
    Day,
    TooManyCodes,
    TooManyReads,
    Totals,
    Visited,
)
from services.shared.codes import is_code
from services.shared.concurrency_limiter import ConcurrencyLimiter
from services.shared.timestamps import EPOCH

MAX_READS_WAITING = 64
"""Maximum waiting reads of one link. A read takes some 10 ms."""
GROUP_LINKS = 1000
"""Maximum links of a small group. Reads of small groups do not wait for those of large ones."""
MAX_GROUP_READS = 4
"""Maximum concurrent reads of small groups."""
MAX_GROUP_READS_WAITING = 64
MAX_LARGE_READS = 4
"""Maximum concurrent reads of large groups. One holds up to 50 MB for 100,000 links and ten
years."""
MAX_LARGE_READS_WAITING = 32
"""Maximum waiting reads of large groups, each with its codes: 6 MB of 100,000."""
MAX_WAITING_PER_OWNER = 8
"""Maximum waiting reads of each kind for one owner."""
_LATE_DAYS = 1
"""Days before today that still get visits and are read anew each time."""
_RETRY_AFTER = 1.0


class Queries:
    """Answers questions about visits. `now` returns the time in UTC.

    Statistics are kept for `kept_days` and today; None means for ever.
    """

    def __init__(
        self, store: AnalyticsStore, now: Callable[[], datetime], kept_days: int | None = None
    ) -> None:
        self._store = store
        self._now = now
        self._kept_days = kept_days
        self._reads = _limiter("link_statistics", 1, MAX_READS_WAITING)
        self._group_reads = _limiter("statistics", MAX_GROUP_READS, MAX_GROUP_READS_WAITING)
        self._large_reads = _limiter("large_statistics", MAX_LARGE_READS, MAX_LARGE_READS_WAITING)
        self._cache = AggregateCache(store)

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        """Return totals by code, without malformed codes and links without visits.

        Raises TooManyCodes, Unavailable.
        """
        if len(codes) > MAX_CODES:
            raise TooManyCodes(f"At most {MAX_CODES} codes can be looked up at once.")
        wellformed = [code for code in codes if is_code(code)]
        return await self._store.totals(wellformed) if wellformed else {}

    async def visited(self, cursor: str | None) -> Visited:
        """Return the totals that changed after a cursor; None asks for the cursor of now.

        Raises Unavailable.
        """
        page = await self._store.changed_since(cursor)
        totals: dict[str, Totals] = {}
        for start in range(0, len(page.keys), MAX_CODES):
            totals |= await self._store.totals(page.keys[start : start + MAX_CODES])
        return Visited(page.cursor, totals, page.more, page.truncated)

    async def statistics(
        self,
        codes: Sequence[str],
        wanted: Recent | Dates,
        timezone: str,
        top: int,
        owner: str = "",
    ) -> Statistics:
        """Return statistics of some links over a span, with at most `top` of the links.

        Owners share the capacity fairly; without an `owner`, the first code stands for it.
        Malformed codes and links without visits count zero. Concurrent calls for the same group
        share one read. Raises InvalidTimezone, TooManyCodes, TooManyReads, Unavailable.
        """
        if len(codes) > MAX_STATISTICS_CODES:
            raise TooManyCodes(f"At most {MAX_STATISTICS_CODES} codes can be added up at once.")
        zone = zone_of(timezone)
        known = [code for code in dict.fromkeys(codes) if is_code(code)]
        owner = owner or "".join(known[:1])
        reading = self._statistics(known, wanted, zone, top)
        if len(known) <= 1:
            return await self._reads.run(owner, reading)
        limiter = self._group_reads if len(known) <= GROUP_LINKS else self._large_reads
        return await limiter.run(owner, reading, (tuple(known), wanted, timezone, top))

    async def recent_people(self, codes: Sequence[str], owner: str = "") -> dict[str, list[int]]:
        """Count the people of each of the last 30 UTC days, by code, oldest day first.

        `owner` is as in `statistics`. Leaves out malformed codes and links that nobody visited in
        these days. Raises TooManyCodes, TooManyReads, Unavailable.
        """
        if len(codes) > MAX_RECENT_CODES:
            raise TooManyCodes(f"At most {MAX_RECENT_CODES} codes can be read at once.")
        known = [code for code in dict.fromkeys(codes) if is_code(code)]
        if not known:
            return {}
        reading = self._recent_people(known)
        return await self._group_reads.run(owner or known[0], reading, ("recent", tuple(known)))

    async def _recent_people(self, codes: Sequence[str]) -> dict[str, list[int]]:
        last = self._today()
        first = last - RECENT_DAYS + 1
        people: dict[str, list[int]] = {}

        def take(code: str, day: Day) -> None:
            if day.people:
                people.setdefault(code, [0] * RECENT_DAYS)[day.day - first] += day.people

        await self._store.days(codes, first, last, take, Names.NONE)
        return people

    async def _statistics(
        self, codes: Sequence[str], wanted: Recent | Dates, zone: ZoneInfo, top: int
    ) -> Statistics:
        now = self._now()
        group: Group | None = None
        first_hour: int | None = None
        if wanted is Recent.ALL:
            if len(codes) > 1:
                # A zone may be a day ahead.
                group = await self._cache.of(codes, 0, self._today() + 1)
                first_hour = await self._cache.first_hour(group)
            else:
                first_hour = await self._first_hour(codes)
        span = span_of(wanted, zone, now, first_hour)
        before = None if wanted is Recent.ALL else span.previous()
        kept_from = self._kept_from()
        if before is not None and kept_from is not None and before.days.start < kept_from:
            before = None  # What was deleted is nothing to compare with.
        if group is None and len(codes) > 1:
            first = max(0, (before or span).days.start)
            group = await self._cache.of(codes, first, span.days.stop - 1)
        previous: Figures | None = None
        if before is not None:
            earlier = Sums(before)
            await self._add_up(group or codes, earlier, Names.NONE)
            previous = earlier.figures()
        sums = Sums(span)
        await self._add_up(group or codes, sums, Names.TOGETHER)
        return sums.told(previous, top, kept_from)

    async def _add_up(self, links: Group | Sequence[str], sums: Sums, names: Names) -> None:
        """Add what the store has of a span; nothing before 1970."""
        if isinstance(links, Group):
            over = sums.span.running - _LATE_DAYS
            await self._cache.add_up(links, sums, over, names)
            return
        days = range(max(0, sums.span.days.start), sums.span.days.stop)
        if days and links:
            await self._store.days(links, days[0], days[-1], sums.take, names)

    async def _first_hour(self, codes: Sequence[str]) -> int | None:
        """The hour of the first visit, since the Unix epoch; None where nobody came."""
        day = await self._store.first_day(codes)
        if day is None:
            return None
        hours: set[int] = set()

        def take(_: str, first: Day) -> None:
            hours.update(*first.hours())

        await self._store.days(codes, day, day, take, Names.NONE)
        # Nothing where the links' counts were removed meanwhile.
        return day * HOURS_A_DAY + min(hours, default=0)

    def _kept_from(self) -> int | None:
        """The first UTC day that is kept; None where all are."""
        return None if self._kept_days is None else self._today() - self._kept_days

    def _today(self) -> int:
        """The UTC day that runs."""
        return (self._now() - EPOCH) // timedelta(days=1)


def _limiter(name: str, max_running: int, max_waiting: int) -> ConcurrencyLimiter:
    return ConcurrencyLimiter(
        name, max_running, max_waiting, MAX_WAITING_PER_OWNER, _too_many_reads
    )


def _too_many_reads() -> TooManyReads:
    return TooManyReads("Too many statistics are read at once.", retry_after=_RETRY_AFTER)
