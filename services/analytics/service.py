"""What can be done with visits."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from services.analytics.domain import (
    HOURS_A_DAY,
    KEY_BYTES,
    MAX_CODES,
    MAX_RECENT_CODES,
    MAX_REMOVED,
    MAX_STATISTICS_CODES,
    RECENT_DAYS,
    Batch,
    Day,
    GatewayForgotten,
    TooManyCodes,
    TooManyReads,
    Totals,
    Visited,
    VisitKind,
    check_batch,
    check_number,
)
from services.analytics.groups import Group, Groups
from services.analytics.metrics import (
    BATCHES_APPLIED,
    DAYS_DELETED,
    KEYS_DELETED,
    KEYS_MADE,
    VISITS_COUNTED,
)
from services.analytics.spans import Dates, Recent, StepLength, span_of, zone_of
from services.analytics.statistics import Figures, Statistics, Sums
from services.analytics.store import AnalyticsStore
from services.runtime import logs
from services.runtime.codes import is_code
from services.runtime.concurrency_limiter import ConcurrencyLimiter
from services.runtime.errors import InvalidArgument
from services.runtime.moments import EPOCH

log = logs.get(__name__)

MAX_READS_WAITING = 64
"""How many readings of one link's visits may wait for their turn: one takes some 10 ms."""
GROUP_LINKS = 1000
"""Most links that are few: who asks for few does not wait until those of more are read."""
MAX_GROUP_READS = 4
"""How many readings of few links' visits are under way at once, reading in turns, beside one of
those."""
MAX_GROUP_READS_WAITING = 64
"""How many more of them may wait."""
MAX_LARGE_READS = 4
"""How many readings of more links' visits are under way at once, in turns with those: what they
hold of 100,000 links over ten years may be 50 MB each."""
MAX_LARGE_READS_WAITING = 32
"""How many more of them may wait, each with the codes of its links: 6 MB of 100,000."""
MAX_WAITING_PER_OWNER = 8
"""How many readings of each kind may wait for one owner."""
_LATE_DAYS = 1
"""Days before today whose visits still come in, and which are read anew each time."""
_RETRY_AFTER = 1.0


class AnalyticsService:
    """What can be asked about visits. `now` tells the time, in UTC.

    Days are kept for `kept_days` and today; None says for ever.
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
        self._groups = Groups(store)

    async def record(self, batch: Batch) -> bool:
        """Add a batch; False when it had been added before, and then nothing changes.

        Raises InvalidBatch, GatewayForgotten, Unavailable.
        """
        try:
            check_batch(batch)
            applied = await self._store.apply(batch, self._now())
        except InvalidArgument as error:
            BATCHES_APPLIED.labels("refused").inc()
            if isinstance(error, GatewayForgotten):
                log.warning("replay_refused", gateway=batch.gateway_id, batch=batch.number)
            raise
        BATCHES_APPLIED.labels("applied" if applied else "repeated").inc()
        if applied:
            for kind in VisitKind:
                count = sum(visit.count for visit in batch.visits if visit.kind is kind)
                VISITS_COUNTED.labels(kind.value).inc(count)
        return applied

    async def close_gateway(self, gateway_id: str, number: int) -> None:
        """Note that a gateway closed with nothing left to send, its last batch `number`.

        Raises InvalidBatch, Unavailable.
        """
        check_number(gateway_id, number)
        await self._store.close_gateway(gateway_id, number, self._now())

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        """Totals by code; codes nobody visited and malformed ones are left out.

        Raises TooManyCodes, Unavailable.
        """
        if len(codes) > MAX_CODES:
            raise TooManyCodes(f"At most {MAX_CODES} codes can be looked up at once.")
        wellformed = [code for code in codes if is_code(code)]
        return await self._store.totals(wellformed) if wellformed else {}

    async def visited(self, mark: int | None) -> Visited:
        """The totals that changed after a mark; None asks for the mark of now.

        Raises Unavailable.
        """
        told = await self._store.announcements(mark)
        totals: dict[str, Totals] = {}
        for start in range(0, len(told.keys), MAX_CODES):
            totals |= await self._store.totals(told.keys[start : start + MAX_CODES])
        return Visited(told.mark, totals, told.more, told.lost)

    async def statistics(
        self,
        codes: Sequence[str],
        wanted: Recent | Dates,
        timezone: str,
        top: int,
        owner: str = "",
    ) -> Statistics:
        """The visits of some links over a span, and at most `top` of the links.

        Capacity is shared fairly between owners; without an `owner`, the first code stands for it.
        Malformed codes, and those that nobody visited, count nothing. What many links have is told
        as of some moment since the same was first asked and not yet answered. Raises
        InvalidTimezone, TooManyCodes, TooManyReads, Unavailable.
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
            if count := sum(day.people.values()):
                people.setdefault(code, [0] * RECENT_DAYS)[day.day - first] += count

        await self._store.days(codes, first, last, take, named=False)
        return people

    async def visitor_key(self) -> tuple[int, bytes]:
        """The UTC day that runs, and the key under which its visitors are told apart.

        Keys of other days are gone by then. Raises Unavailable.
        """
        await self.forget_keys()
        day = self._today()
        fresh = secrets.token_bytes(KEY_BYTES)
        key = await self._store.visitor_key(day, fresh)
        if key == fresh:
            KEYS_MADE.inc()
        return day, key

    async def forget_keys(self) -> None:
        """Delete the keys of days that are not now. Raises Unavailable."""
        KEYS_DELETED.inc(await self._store.forget_keys(self._today()))

    async def forget_days(self) -> bool:
        """Delete some of the days that are not kept any more; whether to ask again at once.

        Raises Unavailable.
        """
        kept_from = self._kept_from()
        if kept_from is None:
            return False
        deleted = await self._store.forget_days(kept_from)
        DAYS_DELETED.inc(deleted)
        return deleted > 0

    async def sum_up(self) -> bool:
        """Sum up some of the months and years that are over; whether to ask again at once.

        Raises Unavailable.
        """
        return await self._store.sum_up(self._today())

    async def remove(self, codes: Sequence[str]) -> None:
        """Forget all visits of some links. Raises TooManyCodes, Unavailable."""
        if len(codes) > MAX_REMOVED:
            raise TooManyCodes(f"The counts of at most {MAX_REMOVED} codes can be removed at once.")
        if wellformed := [code for code in codes if is_code(code)]:
            await self._store.remove(wellformed)

    async def _statistics(
        self, codes: Sequence[str], wanted: Recent | Dates, zone: ZoneInfo, top: int
    ) -> Statistics:
        now = self._now()
        group: Group | None = None
        first_hour: int | None = None
        if wanted is Recent.ALL:
            if len(codes) > 1:
                # A zone may be a day ahead.
                group = await self._groups.of(codes, 0, self._today() + 1)
                first_hour = await self._groups.first_hour(group)
            else:
                first_hour = await self._first_hour(codes)
        span = span_of(wanted, zone, now, first_hour)
        before = None if wanted is Recent.ALL else span.previous()
        kept_from = self._kept_from()
        if before is not None and kept_from is not None and before.days.start < kept_from:
            before = None  # What was deleted is nothing to compare with.
        if group is None and len(codes) > 1:
            first = max(0, (before or span).days.start)
            group = await self._groups.of(codes, first, span.days.stop - 1)
        counted_from = await self._store.counted_from()
        previous: Figures | None = None
        if before is not None:
            # Of what is not told by step, or by weeks and months, no hours are needed but those of
            # days that a week or month of the zone may share with another.
            earlier = Sums(before)
            await self._add_up(group or codes, earlier, coarse=True, named=False)
            previous = earlier.figures()
        coarse = span.step in (StepLength.WEEK, StepLength.MONTH)
        sums = Sums(span, counted_from)
        await self._add_up(group or codes, sums, coarse=coarse, named=True)
        return sums.told(previous, top, kept_from)

    async def _add_up(
        self, links: Group | Sequence[str], sums: Sums, *, coarse: bool, named: bool
    ) -> None:
        """Add what the store has of a span; before 1970 there is nothing."""
        if isinstance(links, Group):
            over = sums.span.running - _LATE_DAYS
            await self._groups.add_up(links, sums, over, coarse=coarse, named=named)
            return
        days = range(max(0, sums.span.days.start), sums.span.days.stop)
        if days and links:
            await self._store.days(links, days[0], days[-1], sums.take, coarse, named)

    async def _first_hour(self, codes: Sequence[str]) -> int | None:
        """The hour of the first visit, since the Unix epoch; None where nobody came."""
        day = await self._store.first_day(codes)
        if day is None:
            return None
        hours: set[int] = set()

        def take(_: str, first: Day) -> None:
            hours.update(first.people, first.bots)

        await self._store.days(codes, day, day, take, named=False)
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
