"""Statistics of groups of links, with the cache for past days."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.analytics.__main__ import STORE_FACTORIES
from services.analytics.application import group_reader
from services.analytics.application.ports import NameDetail, OnDay
from services.analytics.application.query import Queries
from services.analytics.application.store import AnalyticsStore
from services.analytics.domain.batches import Batch, day_increments
from services.analytics.domain.local_time import find_zone
from services.analytics.domain.periods import DateRange, Period, RecentPeriod, resolve_period
from services.analytics.domain.statistics import Statistics, StatisticsBuilder
from services.analytics.domain.visits import Day, Dimension, VisitCount, VisitKind
from tests.analytics.cases import get_database, maintain_all, with_database
from tests.support.crashing_database import Crash, CrashingDatabase
from tests.support.store_fixtures import NewStore, open_new_stores, open_stores_at

PERSON, BOT = VisitKind.PERSON, VisitKind.BOT
FIRST = 20_600
"""The first day with visits."""
CODES = ("abcdefgh", "ABCDEFGH", "--------", "zz-_zz-_")
RequestedPeriod = RecentPeriod | DateRange


def moment(day: int) -> datetime:
    return datetime.fromtimestamp(day * 86_400 + 40_000, UTC)


def date_of(day: int) -> date:
    return moment(day).date()


@dataclass
class Model:
    """A list of all counted visits. Adds up the days of each link separately."""

    visits: list[VisitCount] = field(default_factory=list)
    visitors: dict[tuple[int, str], frozenset[int]] = field(default_factory=dict)

    def apply(self, batch: Batch) -> None:
        self.visits += batch.visits
        for key, numbers in batch.visitors.items():
            self.visitors[key] = self.visitors.get(key, frozenset()) | numbers

    def remove(self, code: str) -> None:
        self.visits = [row for row in self.visits if row.code != code]
        self.visitors = {key: numbers for key, numbers in self.visitors.items() if key[1] != code}

    def statistics(
        self, codes: Sequence[str], requested: RequestedPeriod, timezone: str, now: datetime
    ) -> Statistics:
        hours = [row.hour for row in self.visits if row.code in codes]
        period = resolve_period(requested, find_zone(timezone), now, min(hours, default=None))
        previous = None
        if requested is not RecentPeriod.ALL:
            previous = self._add_up(codes, period.previous()).figures()
        return self._add_up(codes, period).build(previous, len(codes))

    def _add_up(self, codes: Sequence[str], period: Period) -> StatisticsBuilder:
        builder = StatisticsBuilder(period)
        for (day, code), each in day_increments(Batch("all", 1, tuple(self.visits))).items():
            if code in codes and day in period.days:
                visitors = len(self.visitors.get((day, code), ()))
                builder.add_link_day(
                    code, Day.from_hours(day, each.people, each.bots, each.names, visitors)
                )
        return builder


@st.composite
def batches(draw: st.DrawFn, number: int, today: int) -> Batch:
    """Visits of today and of past days."""
    late = st.integers(FIRST, today) | st.integers(max(FIRST, today - 2), today)
    visits = []
    visitors = {}
    for day in draw(st.lists(late, min_size=1, max_size=12)):
        code = draw(st.sampled_from(CODES))
        hours = draw(st.lists(st.integers(0, 23), min_size=1, max_size=3))
        for hour in hours:
            kind = draw(st.sampled_from((PERSON, PERSON, BOT)))
            names = {Dimension.REFERRER: draw(st.sampled_from(("", "a.b", "c.d")))}
            count = draw(st.integers(1, 3))
            visits.append(VisitCount(code, day * 24 + hour, kind, names, count))
        if any(row.kind is PERSON for row in visits[-len(hours) :]):
            numbers = draw(st.frozensets(st.integers(0, 9), max_size=len(hours)))
            visitors[day, code] = frozenset(n << 20 for n in numbers)  # Each has its own register.
    return Batch("one", number, tuple(visits), visitors)


@st.composite
def arguments(draw: st.DrawFn, today: int) -> tuple[list[str], RequestedPeriod, str]:
    codes = draw(st.lists(st.sampled_from(CODES), min_size=2, unique=True))
    dates = st.tuples(*[st.integers(FIRST - 40, today)] * 2).map(sorted)
    requested = draw(
        st.sampled_from(RecentPeriod)
        | dates.map(lambda days: DateRange(*(date_of(day) for day in days)))
    )
    zone = draw(st.sampled_from(("UTC", "America/Santiago", "Pacific/Kiritimati", "Etc/GMT+12")))
    return codes, requested, zone


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_statistics_of_a_group_are_the_sums_of_its_links(
    new_store: NewStore, data: st.DataObject
) -> None:
    """Two replicas with caches read while visits arrive late, links are removed, blocks are
    aggregated, a replica crashes during a batch, and while a batch is being written."""
    model = Model()
    today = FIRST + 60

    async def drive() -> None:
        nonlocal today
        async with AsyncExitStack() as stack:
            setting = stack.enter_context(new_store())
            opened = [
                await stack.enter_async_context(
                    open_stores_at(setting, "analytics", STORE_FACTORIES)
                )
                for _ in range(2)
            ]
            replicas = [Queries(store, lambda: moment(today)) for store in opened]

            async def read(*, compare: bool = True) -> None:
                codes, requested, zone = data.draw(arguments(today))
                replica = data.draw(st.sampled_from(replicas))
                found = await replica.statistics(codes, requested, zone, len(codes))
                if compare:
                    assert found == model.statistics(codes, requested, zone, moment(today))

            for number in range(1, data.draw(st.integers(2, 5)) + 1):
                batch = data.draw(batches(number, today))
                store = data.draw(st.sampled_from(opened))
                if data.draw(st.booleans()):
                    await crash_while_applying(
                        store, batch, data.draw(st.integers(0, 2)), moment(today)
                    )
                    await read(compare=False)
                interrupted = InterruptingDatabase(
                    get_database(store), data.draw(st.integers(0, 2))
                )
                interrupted.before_write = lambda: read(compare=False)
                await with_database(store, interrupted).apply(batch, moment(today))
                model.apply(batch)
                for _ in range(data.draw(st.integers(1, 3))):
                    await read()
                match data.draw(st.sampled_from(("", "maintain", "remove", "next day"))):
                    case "maintain":
                        await maintain_all(store, today)
                    case "remove":
                        code = data.draw(st.sampled_from(CODES))
                        await store.remove([code])
                        model.remove(code)
                    case "next day":
                        today += data.draw(st.integers(1, 40))
                await read()

    asyncio.run(drive())


class InterruptingDatabase:
    """A database that calls `before_write` before one of its writes."""

    before_write: Callable[[], Awaitable[None]]

    def __init__(self, database: Any, writes: int) -> None:
        self._database = database
        self._remaining = writes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def write(self, name: str, operation: Any) -> Any:
        return await self._interrupt(self._database.write, name, operation)

    async def transaction(self, name: str, work: Any) -> Any:
        return await self._interrupt(self._database.transaction, name, work)

    async def _interrupt(self, write: Any, name: str, operation: Any) -> Any:
        if self._remaining == 0:
            await self.before_write()
        self._remaining -= 1
        return await write(name, operation)


async def crash_while_applying(
    store: AnalyticsStore, batch: Batch, writes: int, now: datetime
) -> None:
    """Apply a batch in a process that crashes after a number of writes."""
    faulty = CrashingDatabase(get_database(store))
    faulty.arm(writes, done=False)
    with suppress(Crash):
        await with_database(store, faulty).apply(batch, now)


class Recorder:
    """A store that records which days are read."""

    def __init__(self, store: AnalyticsStore) -> None:
        self._store = store
        self._read: list[tuple[str, int]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def read_days(
        self, codes: Sequence[str], first: int, last: int, on_day: OnDay, names: NameDetail
    ) -> None:
        def record(code: str, day: Day) -> None:
            self._read.append((code, day.day))
            on_day(code, day)

        await self._store.read_days(codes, first, last, record, names)

    def take_read(self) -> set[tuple[str, int]]:
        """Return which days were read since the last call."""
        read, self._read = set(self._read), []
        return read


@pytest.fixture
def thirty_days() -> Batch:
    """A batch with visits of two links on each of thirty days."""
    visits = (
        VisitCount(code, day * 24, PERSON, {}, 1)
        for code in CODES[:2]
        for day in range(FIRST, FIRST + 30)
    )
    return Batch("one", 1, tuple(visits))


async def test_past_days_are_read_once(new_store: NewStore, thirty_days: Batch) -> None:
    now = moment(FIRST + 29)
    recent = {(code, FIRST + day) for code in CODES[:2] for day in (28, 29)}
    async with open_new_stores(new_store, "analytics", STORE_FACTORIES) as store:
        recorder = Recorder(store)
        queries = Queries(cast("AnalyticsStore", recorder), lambda: now)

        async def read(codes: Sequence[str] = CODES) -> set[tuple[str, int]]:
            await queries.statistics(codes, RecentPeriod.MONTH, "UTC", 2)
            return recorder.take_read()

        await store.apply(thirty_days, now)
        assert len(await read()) == 2 * 30
        assert await read() == recent
        late = VisitCount(CODES[2], (FIRST + 5) * 24, PERSON, {}, 1)
        await store.apply(Batch("one", 2, (late,)), now)
        assert await read() == recent | {(code, FIRST + 5) for code in CODES[:3]}
        assert await read(CODES[:2]) == recent, "these links have no late visit"
        recent_visit = VisitCount(CODES[0], (FIRST + 28) * 24, PERSON, {}, 1)
        await store.apply(Batch("one", 3, (recent_visit,)), now)
        assert await read(CODES[:2]) == recent, "yesterday is not a past day"
        late = VisitCount(CODES[0], (FIRST + 5) * 24, PERSON, {}, 1)
        await store.apply(Batch("one", 4, (late,)), now)
        assert (CODES[0], FIRST + 5) in await read(CODES[:2])
        await store.remove([CODES[2]])
        assert await read() == recent, "the other links are cached without the removed one"


async def test_the_cache_evicts_the_least_recently_used_entries(
    new_sqlite: NewStore, thirty_days: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = moment(FIRST + 40)
    monkeypatch.setattr(group_reader, "MAX_CACHE_BYTES", 2_500)  # Enough for ten days.
    async with open_new_stores(new_sqlite, "analytics", STORE_FACTORIES) as store:
        recorder = Recorder(store)
        queries = Queries(cast("AnalyticsStore", recorder), lambda: now)

        async def days_read(first: int, last: int) -> int:
            dates = DateRange(date_of(FIRST + first), date_of(FIRST + last))
            await queries.statistics(CODES, dates, "UTC", 2)
            return len({day for _, day in recorder.take_read()})

        await store.apply(thirty_days, now)
        assert await days_read(20, 23) == 8, "with the previous period"
        assert await days_read(20, 23) == 0
        assert await days_read(0, 9) == 10
        assert await days_read(20, 23) == 8


async def test_days_read_while_a_late_batch_is_written_are_read_again(
    new_store: NewStore, thirty_days: Batch
) -> None:
    now = moment(FIRST + 29)
    late = (VisitCount(CODES[0], (FIRST + 5) * 24, PERSON, {}, 1),)
    async with open_new_stores(new_store, "analytics", STORE_FACTORIES) as store:
        queries = Queries(store, lambda: now)

        async def people() -> int:
            return (await queries.statistics(CODES, RecentPeriod.MONTH, "UTC", 2)).totals.people

        async def read() -> None:
            await people()

        await store.apply(thirty_days, now)
        before = await people()
        for number in range(2, 5):
            interrupted = InterruptingDatabase(get_database(store), number - 2)
            interrupted.before_write = read
            await with_database(store, interrupted).apply(Batch("one", number, late), now)
            assert await people() == before + number - 1


async def test_a_late_visit_may_create_a_day_during_a_read(
    new_store: NewStore, thirty_days: Batch
) -> None:
    now = moment(FIRST + 29)
    gap = (FIRST + 10) * 24
    visits = tuple(visit for visit in thirty_days.visits if visit.hour != gap)
    late = Batch("one", 2, (VisitCount(CODES[0], gap, PERSON, {}, 1),))
    async with open_new_stores(new_store, "analytics", STORE_FACTORIES) as store:

        class Late(Recorder):
            async def read_days(self, *args: Any, **kwargs: Any) -> None:
                await store.apply(late, now)  # Only the first call has an effect.
                await super().read_days(*args, **kwargs)

        await store.apply(Batch("one", 1, visits), now)
        queries = Queries(cast("AnalyticsStore", Late(store)), lambda: now)
        for people in (len(visits), len(visits) + 1):
            found = await queries.statistics(CODES, RecentPeriod.MONTH, "UTC", 2)
            assert found.totals.people == people


async def test_a_period_within_cached_days_has_only_its_own_names(new_store: NewStore) -> None:
    """Although a store may return the names of several days with one of them."""
    visits = tuple(
        VisitCount(code, day * 24 + 12, PERSON, {Dimension.REFERRER: f"{day}.example"}, 1)
        for code in CODES[:2]
        for day in range(FIRST, FIRST + 800)
    )
    now = moment(FIRST + 830)
    model = Model(list(visits))
    async with open_new_stores(new_store, "analytics", STORE_FACTORIES) as store:
        await store.apply(Batch("one", 1, visits), now)
        await maintain_all(store, FIRST + 830)
        queries = Queries(store, lambda: now)
        for first, last in ((0, 829), (0, 80), (10, 40), (100, 700), (200, 600), (300, 399)):
            dates = DateRange(date_of(FIRST + first), date_of(FIRST + last))
            found = await queries.statistics(CODES, dates, "UTC", 2)
            assert found == model.statistics(CODES, dates, "UTC", now), (first, last)
