"""Many links are added up as each of them by itself, whatever is remembered of them."""

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

from services.analytics.__main__ import ADAPTERS
from services.analytics.application import aggregate_cache
from services.analytics.application.ports import AnalyticsStore, Names
from services.analytics.application.query import Queries
from services.analytics.domain.periods import Dates, Recent, Span, span_of, zone_of
from services.analytics.domain.statistics import Statistics, Sums
from services.analytics.domain.visits import Batch, Day, Dimension, VisitCount, VisitKind, sums_of
from tests.analytics.cases import database_of, maintained, over
from tests.support.faulty import Crash, Faulty
from tests.support.stores import NewStore, opened_anew, opened_at

PERSON, BOT = VisitKind.PERSON, VisitKind.BOT
FIRST = 20_600
"""Visits come from this day on."""
CODES = ("abcdefgh", "ABCDEFGH", "--------", "zz-_zz-_")
Wanted = Recent | Dates


def moment(day: int) -> datetime:
    return datetime.fromtimestamp(day * 86_400 + 40_000, UTC)


def date_of(day: int) -> date:
    return moment(day).date()


@dataclass
class Model:
    """A list of every visit that counts, each link's days added up by themselves."""

    visits: list[VisitCount] = field(default_factory=list)
    visitors: dict[tuple[int, str], frozenset[int]] = field(default_factory=dict)

    def apply(self, batch: Batch) -> None:
        self.visits += batch.visits
        for key, numbers in batch.visitors.items():
            self.visitors[key] = self.visitors.get(key, frozenset()) | numbers

    def remove(self, code: str) -> None:
        self.visits = [one for one in self.visits if one.code != code]
        self.visitors = {key: some for key, some in self.visitors.items() if key[1] != code}

    def statistics(
        self, codes: Sequence[str], wanted: Wanted, timezone: str, now: datetime
    ) -> Statistics:
        hours = [one.hour for one in self.visits if one.code in codes]
        span = span_of(wanted, zone_of(timezone), now, min(hours, default=None))
        before = None if wanted is Recent.ALL else self._sums(codes, span.previous()).figures()
        return self._sums(codes, span).told(before, len(codes))

    def _sums(self, codes: Sequence[str], span: Span) -> Sums:
        sums = Sums(span)
        for (day, code), one in sums_of(Batch("all", 1, tuple(self.visits))).items():
            if code in codes and day in span.days:
                visitors = len(self.visitors.get((day, code), ()))
                sums.take(code, Day.of(day, one.people, one.bots, one.names, visitors))
        return sums


@st.composite
def batches(draw: st.DrawFn, number: int, today: int) -> Batch:
    """Visits of today, and of days that are over."""
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
        if any(one.kind is PERSON for one in visits[-len(hours) :]):
            numbers = draw(st.frozensets(st.integers(0, 9), max_size=len(hours)))
            visitors[day, code] = frozenset(n << 20 for n in numbers)  # A register of its own each.
    return Batch("one", number, tuple(visits), visitors)


@st.composite
def questions(draw: st.DrawFn, today: int) -> tuple[list[str], Wanted, str]:
    codes = draw(st.lists(st.sampled_from(CODES), min_size=2, unique=True))
    dates = st.tuples(*[st.integers(FIRST - 40, today)] * 2).map(sorted)
    wanted = draw(
        st.sampled_from(Recent) | dates.map(lambda some: Dates(*(date_of(day) for day in some)))
    )
    zone = draw(st.sampled_from(("UTC", "America/Santiago", "Pacific/Kiritimati", "Etc/GMT+12")))
    return codes, wanted, zone


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_many_links_are_told_as_the_sum_of_each(new_store: NewStore, data: st.DataObject) -> None:
    """By two replicas that remember what they read, while visits come late, links are removed,
    months are summed up, one that counts is killed, and one is asked in the midst of counting."""
    model = Model()
    today = FIRST + 60

    async def drive() -> None:
        nonlocal today
        async with AsyncExitStack() as stack:
            setting = stack.enter_context(new_store())
            opened = [
                await stack.enter_async_context(opened_at(setting, "analytics", ADAPTERS))
                for _ in range(2)
            ]
            replicas = [Queries(store, lambda: moment(today)) for store in opened]

            async def ask(expected: bool = True) -> None:
                codes, wanted, zone = data.draw(questions(today))
                replica = data.draw(st.sampled_from(replicas))
                found = await replica.statistics(codes, wanted, zone, len(codes))
                if expected:
                    assert found == model.statistics(codes, wanted, zone, moment(today))

            for number in range(1, data.draw(st.integers(2, 5)) + 1):
                batch = data.draw(batches(number, today))
                store = data.draw(st.sampled_from(opened))
                if data.draw(st.booleans()):
                    await broken_off(store, batch, data.draw(st.integers(0, 2)), moment(today))
                    await ask(expected=False)
                halted = Halted(database_of(store), data.draw(st.integers(0, 2)))
                halted.meanwhile = lambda: ask(expected=False)
                await over(store, halted).apply(batch, moment(today))
                model.apply(batch)
                for _ in range(data.draw(st.integers(1, 3))):
                    await ask()
                match data.draw(st.sampled_from(("", "sum up", "remove", "next day"))):
                    case "sum up":
                        await maintained(store, today)
                    case "remove":
                        code = data.draw(st.sampled_from(CODES))
                        await store.remove([code])
                        model.remove(code)
                    case "next day":
                        today += data.draw(st.integers(1, 40))
                await ask()

    asyncio.run(drive())


class Halted:
    """A database on which something else is done ahead of one of the writes."""

    meanwhile: Callable[[], Awaitable[None]]

    def __init__(self, database: Any, writes: int) -> None:
        self._database = database
        self._left = writes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def write(self, name: str, operation: Any) -> Any:
        return await self._halted(self._database.write, name, operation)

    async def transaction(self, name: str, work: Any) -> Any:
        return await self._halted(self._database.transaction, name, work)

    async def _halted(self, write: Any, name: str, operation: Any) -> Any:
        if self._left == 0:
            await self.meanwhile()
        self._left -= 1
        return await write(name, operation)


async def broken_off(store: AnalyticsStore, batch: Batch, writes: int, now: datetime) -> None:
    """Count a batch in a process that ends after so many of its writes."""
    faulty = Faulty(database_of(store))
    faulty.arm(writes, done=False)
    with suppress(Crash):
        await over(store, faulty).apply(batch, now)


class Counted:
    """A store that counts which days it hands out."""

    def __init__(self, store: AnalyticsStore) -> None:
        self._store = store
        self.read: list[tuple[str, int]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def days(
        self,
        codes: Sequence[str],
        first: int,
        last: int,
        take: Callable[[str, Day], None],
        names: Names,
    ) -> None:
        def note(code: str, day: Day) -> None:
            self.read.append((code, day.day))
            take(code, day)

        await self._store.days(codes, first, last, note, names)

    def told(self) -> set[tuple[str, int]]:
        """What was read since this was asked last."""
        read, self.read = set(self.read), []
        return read


@pytest.fixture
def of_each_day() -> Batch:
    """Two links, visited on each of thirty days."""
    visits = (
        VisitCount(code, day * 24, PERSON, {}, 1)
        for code in CODES[:2]
        for day in range(FIRST, FIRST + 30)
    )
    return Batch("one", 1, tuple(visits))


async def test_days_that_are_over_are_read_once(new_store: NewStore, of_each_day: Batch) -> None:
    now = moment(FIRST + 29)
    recent = {(code, FIRST + day) for code in CODES[:2] for day in (28, 29)}
    async with opened_anew(new_store, "analytics", ADAPTERS) as store:
        counted = Counted(store)
        service = Queries(cast("AnalyticsStore", counted), lambda: now)

        async def read(codes: Sequence[str] = CODES) -> set[tuple[str, int]]:
            await service.statistics(codes, Recent.MONTH, "UTC", 2)
            return counted.told()

        await store.apply(of_each_day, now)
        assert len(await read()) == 2 * 30
        assert await read() == recent
        late = VisitCount(CODES[2], (FIRST + 5) * 24, PERSON, {}, 1)
        await store.apply(Batch("one", 2, (late,)), now)
        assert await read() == recent | {(code, FIRST + 5) for code in CODES[:3]}
        assert await read(CODES[:2]) == recent, "the others have no late visit"
        recent_visit = VisitCount(CODES[0], (FIRST + 28) * 24, PERSON, {}, 1)
        await store.apply(Batch("one", 3, (recent_visit,)), now)
        assert await read(CODES[:2]) == recent, "yesterday is not past"
        late = VisitCount(CODES[0], (FIRST + 5) * 24, PERSON, {}, 1)
        await store.apply(Batch("one", 4, (late,)), now)
        assert (CODES[0], FIRST + 5) in await read(CODES[:2])
        await store.remove([CODES[2]])
        assert await read() == recent, "what is left is known of the others alone"


async def test_what_was_not_asked_for_the_longest_makes_room(
    new_sqlite: NewStore, of_each_day: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = moment(FIRST + 40)
    monkeypatch.setattr(aggregate_cache, "MAX_BYTES", 2_500)  # Of ten days.
    async with opened_anew(new_sqlite, "analytics", ADAPTERS) as store:
        counted = Counted(store)
        service = Queries(cast("AnalyticsStore", counted), lambda: now)

        async def days_read(first: int, last: int) -> int:
            dates = Dates(date_of(FIRST + first), date_of(FIRST + last))
            await service.statistics(CODES, dates, "UTC", 2)
            return len({day for _, day in counted.told()})

        await store.apply(of_each_day, now)
        assert await days_read(20, 23) == 8, "with the span before"
        assert await days_read(20, 23) == 0
        assert await days_read(0, 9) == 10
        assert await days_read(20, 23) == 8


async def test_what_was_read_in_the_midst_of_a_late_batch_is_not_told_after_it(
    new_store: NewStore, of_each_day: Batch
) -> None:
    now = moment(FIRST + 29)
    late = (VisitCount(CODES[0], (FIRST + 5) * 24, PERSON, {}, 1),)
    async with opened_anew(new_store, "analytics", ADAPTERS) as store:
        service = Queries(store, lambda: now)

        async def people() -> int:
            return (await service.statistics(CODES, Recent.MONTH, "UTC", 2)).totals.people

        async def ask() -> None:
            await people()

        await store.apply(of_each_day, now)
        before = await people()
        for number in range(2, 5):
            halted = Halted(database_of(store), number - 2)
            halted.meanwhile = ask
            await over(store, halted).apply(Batch("one", number, late), now)
            assert await people() == before + number - 1


async def test_a_visit_that_makes_a_day_meanwhile_breaks_no_reading(
    new_store: NewStore, of_each_day: Batch
) -> None:
    now = moment(FIRST + 29)
    gap = (FIRST + 10) * 24
    visits = tuple(one for one in of_each_day.visits if one.hour != gap)
    late = Batch("one", 2, (VisitCount(CODES[0], gap, PERSON, {}, 1),))
    async with opened_anew(new_store, "analytics", ADAPTERS) as store:

        class Late(Counted):
            async def days(self, *args: Any, **kwargs: Any) -> None:
                await store.apply(late, now)  # Once, however often it is sent.
                await super().days(*args, **kwargs)

        await store.apply(Batch("one", 1, visits), now)
        service = Queries(cast("AnalyticsStore", Late(store)), lambda: now)
        for people in (len(visits), len(visits) + 1):
            found = await service.statistics(CODES, Recent.MONTH, "UTC", 2)
            assert found.totals.people == people


async def test_a_span_within_what_is_remembered_has_its_own_names(new_store: NewStore) -> None:
    """Though a store may tell the names of many days with one of them."""
    visits = tuple(
        VisitCount(code, day * 24 + 12, PERSON, {Dimension.REFERRER: f"{day}.example"}, 1)
        for code in CODES[:2]
        for day in range(FIRST, FIRST + 800)
    )
    now = moment(FIRST + 830)
    model = Model(list(visits))
    async with opened_anew(new_store, "analytics", ADAPTERS) as store:
        await store.apply(Batch("one", 1, visits), now)
        await maintained(store, FIRST + 830)
        service = Queries(store, lambda: now)
        for first, last in ((0, 829), (0, 80), (10, 40), (100, 700), (200, 600), (300, 399)):
            dates = Dates(date_of(FIRST + first), date_of(FIRST + last))
            found = await service.statistics(CODES, dates, "UTC", 2)
            assert found == model.statistics(CODES, dates, "UTC", now), (first, last)
