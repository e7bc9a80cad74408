"""Reads totals and statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from services.analytics.application.group_reader import GroupReader
from services.analytics.application.link_groups import LinkGroup
from services.analytics.application.ports import NameDetail
from services.analytics.application.store import AnalyticsStore
from services.analytics.domain.errors import TooManyCodes, TooManyReads
from services.analytics.domain.local_time import find_zone
from services.analytics.domain.periods import DateRange, RecentPeriod, resolve_period
from services.analytics.domain.statistics import Figures, Statistics, StatisticsBuilder
from services.analytics.domain.visits import HOURS_PER_DAY, Day, Totals, utc_day
from services.shared.concurrency_limiter import ConcurrencyLimiter
from services.shared.feed import FeedPage
from services.shared.link_codes import is_code

MAX_CODES = 1000
"""Maximum codes per read of totals."""
MAX_RECENT_CODES = 100
"""Maximum links per read of recent people: 3,000 days are read in some 0.1 s."""
RECENT_DAYS = 30
MAX_STATISTICS_CODES = 100_000
"""Maximum links per read of statistics: 3.4 MB of gRPC's 4 MB with codes of the maximum length."""
MAX_READS_WAITING = 64
"""Maximum waiting reads of single links. A read takes some 10 ms."""
GROUP_LINKS = 1000
"""Maximum links of a small group. Reads of small groups do not wait for those of large ones."""
MAX_GROUP_READS = 4
"""Maximum concurrent reads of small groups."""
MAX_GROUP_READS_WAITING = 64
MAX_LARGE_READS = 4
"""Maximum concurrent reads of large groups. One takes up to 50 MB for 100,000 links and ten
years."""
MAX_LARGE_READS_WAITING = 32
"""Maximum waiting reads of large groups. The codes of each take 6 MB for 100,000."""
MAX_WAITING_PER_OWNER = 8
"""Maximum waiting reads of each kind per owner."""
_LATE_DAYS = 1
"""Days before today that may still receive visits and are not cached."""
_RETRY_SECONDS = 1.0


class Queries:
    """Reads totals and statistics. `now` returns the time in UTC.

    Statistics are retained for `retention_days` before today, or without limit if it is None.
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
        self._link_reads = _limiter("link_statistics", 1, MAX_READS_WAITING)
        self._group_reads = _limiter("statistics", MAX_GROUP_READS, MAX_GROUP_READS_WAITING)
        self._large_reads = _limiter("large_statistics", MAX_LARGE_READS, MAX_LARGE_READS_WAITING)
        self._groups = GroupReader(store)

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        """Return totals by code, without malformed codes and links without visits.

        Raises TooManyCodes, Unavailable.
        """
        if len(codes) > MAX_CODES:
            raise TooManyCodes(f"A call has at most {MAX_CODES} codes.")
        wellformed = [code for code in codes if is_code(code)]
        return await self._store.totals(wellformed) if wellformed else {}

    async def changed_totals(self, cursor: str | None) -> tuple[FeedPage, dict[str, Totals]]:
        """Return the page of the change feed after a cursor, and the current totals of its links.

        Without a cursor, the page has the current one only. Raises Unavailable.
        """
        page = await self._store.changed_since(cursor)
        totals: dict[str, Totals] = {}
        for start in range(0, len(page.keys), MAX_CODES):
            totals |= await self._store.totals(page.keys[start : start + MAX_CODES])
        return page, totals

    async def statistics(
        self,
        codes: Sequence[str],
        requested: RecentPeriod | DateRange,
        timezone: str,
        top: int,
        owner: str = "",
    ) -> Statistics:
        """Return statistics of links over a period, with the `top` most visited links.

        Owners share the capacity fairly. Without an `owner`, the first code takes its place.
        Malformed codes and links without visits count zero. Concurrent calls with equal arguments
        share one read. Raises InvalidTimezone, TooManyCodes, TooManyReads, Unavailable.
        """
        if len(codes) > MAX_STATISTICS_CODES:
            raise TooManyCodes(f"A call has at most {MAX_STATISTICS_CODES} codes.")
        zone = find_zone(timezone)
        known = [code for code in dict.fromkeys(codes) if is_code(code)]
        owner = owner or "".join(known[:1])
        read = self._read_statistics(known, requested, zone, top)
        if len(known) <= 1:
            return await self._link_reads.run(owner, read)
        limiter = self._group_reads if len(known) <= GROUP_LINKS else self._large_reads
        return await limiter.run(owner, read, (tuple(known), requested, timezone, top))

    async def recent_visits(self) -> tuple[int, int]:
        """Return the visits of people and bots to all links, today and yesterday in UTC.

        Raises Unavailable.
        """
        today = self._today()
        counts = await self._store.visits_on([today, today - 1])
        return counts[0], counts[1]

    async def recent_people(self, codes: Sequence[str], owner: str = "") -> dict[str, list[int]]:
        """Return the people of each of the last 30 UTC days by code, oldest day first.

        `owner` is as in `statistics`. Malformed codes and links without people on these days are
        absent. Raises TooManyCodes, TooManyReads, Unavailable.
        """
        if len(codes) > MAX_RECENT_CODES:
            raise TooManyCodes(f"A call has at most {MAX_RECENT_CODES} codes.")
        known = [code for code in dict.fromkeys(codes) if is_code(code)]
        if not known:
            return {}
        read = self._read_recent_people(known)
        return await self._group_reads.run(owner or known[0], read, ("recent", tuple(known)))

    async def _read_recent_people(self, codes: Sequence[str]) -> dict[str, list[int]]:
        last = self._today()
        first = last - RECENT_DAYS + 1
        people: dict[str, list[int]] = {}

        def on_day(code: str, day: Day) -> None:
            if day.people:
                people.setdefault(code, [0] * RECENT_DAYS)[day.day - first] += day.people

        await self._store.read_days(codes, first, last, on_day, NameDetail.NONE)
        return people

    async def _read_statistics(
        self, codes: Sequence[str], requested: RecentPeriod | DateRange, zone: ZoneInfo, top: int
    ) -> Statistics:
        now = self._now()
        group: LinkGroup | None = None
        first_hour: int | None = None
        if requested is RecentPeriod.ALL:
            if len(codes) > 1:
                # The local date may be a day ahead of UTC.
                group = await self._groups.read_group(codes, 0, self._today() + 1)
                first_hour = await self._groups.first_hour(group)
            else:
                first_hour = await self._first_hour(codes)
        period = resolve_period(requested, zone, now, first_hour)
        previous = None if requested is RecentPeriod.ALL else period.previous()
        retained_from = self._retained_from()
        if previous and retained_from is not None and previous.days.start < retained_from:
            previous = None  # Some of it has been deleted.
        if group is None and len(codes) > 1:
            first = max(0, (previous or period).days.start)
            group = await self._groups.read_group(codes, first, period.days.stop - 1)
        previous_figures: Figures | None = None
        if previous:
            earlier = StatisticsBuilder(previous)
            await self._add_up(group or codes, earlier, with_names=False)
            previous_figures = earlier.figures()
        builder = StatisticsBuilder(period)
        await self._add_up(group or codes, builder, with_names=True)
        return builder.build(previous_figures, top, retained_from)

    async def _add_up(
        self, links: LinkGroup | Sequence[str], builder: StatisticsBuilder, *, with_names: bool
    ) -> None:
        """Add the visits in a period; those before 1970 do not exist."""
        period = builder.period
        if isinstance(links, LinkGroup):
            before = period.current_day - _LATE_DAYS
            await self._groups.add_up(links, builder, before, with_names=with_names)
            return
        days = range(max(0, period.days.start), period.days.stop)
        names = NameDetail.COMBINED if with_names else NameDetail.NONE
        if days and links:
            await self._store.read_days(links, days[0], days[-1], builder.add_link_day, names)

    async def _first_hour(self, codes: Sequence[str]) -> int | None:
        """Return the hour of the first visit since the Unix epoch, or None without visits."""
        first_day = await self._store.first_day(codes)
        if first_day is None:
            return None
        hours: set[int] = set()

        def on_day(_: str, day: Day) -> None:
            hours.update(*day.hours())

        await self._store.read_days(codes, first_day, first_day, on_day, NameDetail.NONE)
        # No hours if the links' counts were removed meanwhile.
        return first_day * HOURS_PER_DAY + min(hours, default=0)

    def _retained_from(self) -> int | None:
        """Return the first UTC day that is retained, or None if all are."""
        return None if self._retention_days is None else self._today() - self._retention_days

    def _today(self) -> int:
        """Return the current UTC day."""
        return utc_day(self._now())


def _limiter(name: str, max_running: int, max_waiting: int) -> ConcurrencyLimiter:
    return ConcurrencyLimiter(
        name, max_running, max_waiting, MAX_WAITING_PER_OWNER, _too_many_reads
    )


def _too_many_reads() -> TooManyReads:
    return TooManyReads("Too many reads of statistics are waiting.", retry_after=_RETRY_SECONDS)
