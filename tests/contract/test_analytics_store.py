"""What every analytics store promises."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.analytics import store_mongo, store_sqlite
from services.analytics.domain import MAX_REFERRERS, Batch, Day, Totals, VisitCount, VisitKind
from services.analytics.store import AnalyticsStore
from services.runtime import mongo, sqlite
from tests.mongo import server

Opened = Callable[[], AbstractAsyncContextManager[AnalyticsStore]]


@asynccontextmanager
async def sqlite_store() -> AsyncIterator[AnalyticsStore]:
    """A store of its own in a new file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "analytics.sqlite3"
        async with sqlite.opened(f"sqlite:///{path}", store_sqlite.MIGRATIONS) as database:
            yield store_sqlite.SqliteAnalyticsStore(database)


@asynccontextmanager
async def mongo_store(server_url: str) -> AsyncIterator[AnalyticsStore]:
    """A store of its own in a new database."""
    with server.database(server_url) as url:
        async with mongo.opened(url, "atajo_analytics", store_mongo.INDEXES) as database:
            yield store_mongo.MongoAnalyticsStore(database)


@pytest.fixture(params=["sqlite", "mongodb"])
def opened(request: pytest.FixtureRequest) -> Opened:
    """Opens a new, empty store, another one each time."""
    if request.param == "sqlite":
        return sqlite_store
    url = request.getfixturevalue("mongo_server")
    return lambda: mongo_store(url)


PERSON, BOT = VisitKind.PERSON, VisitKind.BOT
NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAY = 20_513
HOUR = DAY * 24
CODE = "abcdefgh"


def visit(
    code: str = CODE, hour: int = HOUR, kind: VisitKind = PERSON, host: str = "", count: int = 1
) -> VisitCount:
    return VisitCount(code, hour, kind, host, count)


def hours(**people: int) -> tuple[int, ...]:
    """24 values, given as `h7=2`."""
    return tuple(people.get(f"h{hour}", 0) for hour in range(24))


async def test_a_batch_is_added_up_by_kind_hour_and_referrer(opened: Opened) -> None:
    visits = (
        visit(hour=HOUR + 7, host="a.example", count=2),
        visit(hour=HOUR + 7, host="b.example"),
        visit(hour=HOUR + 23),
        visit(hour=HOUR + 7, host="a.example", count=3),
        visit(hour=HOUR + 7, kind=BOT, host="c.example", count=10),
        visit("other---", hour=HOUR + 24),
    )
    async with opened() as store:
        assert await store.apply(Batch("one", 1, visits), NOW)

        assert await store.totals([CODE, "other---", "nobody--"]) == {
            CODE: Totals(7, 10),
            "other---": Totals(1, 0),
        }
        assert await store.days(CODE, DAY, DAY) == [
            Day(DAY, 7, 10, hours(h7=6, h23=1), {"a.example": 5, "b.example": 1})
        ]


async def test_a_resend_changes_nothing(opened: Opened) -> None:
    batch = Batch("one", 1, (visit(host="a.example"), visit(kind=BOT)))
    async with opened() as store:
        assert await store.apply(batch, NOW)
        before = await store.days(CODE, DAY, DAY)
        assert not await store.apply(batch, NOW)

        assert await store.totals([CODE]) == {CODE: Totals(1, 1)}
        assert await store.days(CODE, DAY, DAY) == before


async def test_an_old_batch_after_newer_ones_changes_nothing(opened: Opened) -> None:
    async with opened() as store:
        for number in (1, 2, 5):
            assert await store.apply(Batch("one", number, (visit(),)), NOW)
        for number in (1, 2, 3, 4, 5):
            assert not await store.apply(Batch("one", number, (visit(),)), NOW)
        assert await store.apply(Batch("one", 6, (visit(),)), NOW)

        assert await store.totals([CODE]) == {CODE: Totals(4, 0)}


async def test_gateways_are_numbered_apart(opened: Opened) -> None:
    async with opened() as store:
        assert await store.apply(Batch("one", 9, (visit(),)), NOW)
        assert await store.apply(Batch("two", 1, (visit(),)), NOW)
        assert not await store.apply(Batch("two", 1, (visit(),)), NOW)

        assert await store.totals([CODE]) == {CODE: Totals(2, 0)}


async def test_a_batch_without_visits_takes_its_number(opened: Opened) -> None:
    async with opened() as store:
        assert await store.apply(Batch("one", 1, ()), NOW)
        assert not await store.apply(Batch("one", 1, ()), NOW)
        assert await store.totals([CODE]) == {}


async def test_fifty_resends_at_once_are_one_batch(opened: Opened) -> None:
    batch = Batch("one", 1, (visit(count=3), visit("other---", host="a.example")))
    async with opened() as store:
        applied = await asyncio.gather(*(store.apply(batch, NOW) for _ in range(50)))

        assert applied.count(True) == 1
        assert await store.totals([CODE, "other---"]) == {
            CODE: Totals(3, 0),
            "other---": Totals(1, 0),
        }


async def test_fifty_gateways_at_once_lose_nothing(opened: Opened) -> None:
    batches = [Batch(f"g{n}", 1, (visit(host="a.example"), visit(kind=BOT))) for n in range(50)]
    async with opened() as store:
        assert all(await asyncio.gather(*(store.apply(batch, NOW) for batch in batches)))

        assert await store.totals([CODE]) == {CODE: Totals(50, 50)}
        assert await store.days(CODE, DAY, DAY) == [
            Day(DAY, 50, 50, hours(h0=50), {"a.example": 50})
        ]


async def test_days_are_those_with_visits_in_the_span_oldest_first(opened: Opened) -> None:
    visits = [visit(hour=(DAY + n) * 24 + 23, kind=BOT) for n in (3, 0, 1, 92)]
    visits.append(visit("other---", hour=(DAY + 2) * 24))
    async with opened() as store:
        await store.apply(Batch("one", 1, tuple(visits)), NOW)

        assert await store.days(CODE, DAY + 1, DAY + 91) == [
            Day(DAY + 1, 0, 1, hours(), {}),
            Day(DAY + 3, 0, 1, hours(), {}),
        ]
        assert await store.days(CODE, DAY + 4, DAY + 91) == []


async def test_a_day_tells_one_hundred_referrers_apart(opened: Opened) -> None:
    first = tuple(visit(host=f"h{n}.example") for n in range(MAX_REFERRERS - 1))
    strangers = tuple(visit(host=f"x{n}.example", count=2) for n in range(MAX_REFERRERS))
    async with opened() as store:
        await store.apply(Batch("one", 1, first), NOW)
        await store.apply(Batch("two", 1, strangers), NOW)
        await store.apply(Batch("two", 2, (visit(host="h0.example"), visit(host="new"))), NOW)
        await store.apply(Batch("two", 3, (visit(hour=HOUR + 24, host="new"),)), NOW)

        today, tomorrow = await store.days(CODE, DAY, DAY + 1)
        named = dict(today.people_by_referrer)
        assert named.pop("*") == 2 * (MAX_REFERRERS - 1) + 1
        assert len(named) == MAX_REFERRERS
        assert named.pop("h0.example") == 2
        assert sum(named.values()) == (MAX_REFERRERS - 2) + 2
        assert today.people == sum(today.people_by_referrer.values())
        assert tomorrow.people_by_referrer == {"new": 1}


@pytest.mark.parametrize(
    "host", ["a.b.c", "$set", "a.$b", "*", "'; DROP TABLE totals", "ñ.example"]
)
async def test_a_referrer_is_kept_letter_by_letter(opened: Opened, host: str) -> None:
    async with opened() as store:
        await store.apply(Batch("one", 1, (visit(host=host),)), NOW)
        await store.apply(Batch("one", 2, (visit(host=host),)), NOW)

        (day,) = await store.days(CODE, DAY, DAY)
        assert day.people_by_referrer == {host: 2}


async def test_codes_differ_by_case(opened: Opened) -> None:
    async with opened() as store:
        await store.apply(Batch("one", 1, (visit("abcdefgh"), visit("ABCDEFGH", count=2))), NOW)

        assert await store.totals(["abcdefgh", "ABCDEFGH", "Abcdefgh"]) == {
            "abcdefgh": Totals(1, 0),
            "ABCDEFGH": Totals(2, 0),
        }


async def test_removed_counts_are_gone_and_visits_that_follow_count_from_nothing(
    opened: Opened,
) -> None:
    # A day without visits between, and one far off the calendar of the others.
    hours_visited = (HOUR, HOUR + 23, HOUR + 48, HOUR + 24 * 1_000_000)
    visits = [
        visit(code, hour, host="a.example") for code in (CODE, "other---") for hour in hours_visited
    ]
    async with opened() as store:
        await store.apply(Batch("one", 1, (*visits, visit(kind=BOT))), NOW)
        others = await store.days("other---", DAY, DAY + 2)

        for _ in range(2):
            await store.remove([CODE, "nobody--"])

            assert await store.totals([CODE, "other---"]) == {"other---": Totals(4, 0)}
            assert await store.days(CODE, DAY, DAY + 2) == []
            assert await store.days(CODE, DAY + 1_000_000, DAY + 1_000_000) == []
            assert await store.days("other---", DAY, DAY + 2) == others

        assert not await store.apply(Batch("one", 1, (visit(),)), NOW)
        assert await store.apply(Batch("one", 2, (visit(host="a.example"),)), NOW)
        assert await store.totals([CODE]) == {CODE: Totals(1, 0)}
        assert await store.days(CODE, DAY, DAY + 2) == [
            Day(DAY, 1, 0, hours(h0=1), {"a.example": 1})
        ]


async def test_a_thousand_totals_are_read_at_once(opened: Opened) -> None:
    codes = [f"code{n:04}" for n in range(1000)]
    async with opened() as store:
        await store.apply(Batch("one", 1, tuple(visit(code) for code in codes)), NOW)

        assert await store.totals(codes) == dict.fromkeys(codes, Totals(1, 0))


@dataclass
class Model:
    """The same promises in the plainest form: a list of every visit that counts."""

    last: Counter[str] = field(default_factory=Counter)
    visits: list[VisitCount] = field(default_factory=list)

    def apply(self, batch: Batch) -> bool:
        if batch.number <= self.last[batch.gateway_id]:
            return False
        self.last[batch.gateway_id] = batch.number
        self.visits.extend(batch.visits)
        return True

    def totals(self, code: str) -> tuple[int, int]:
        return self._sum(code, PERSON), self._sum(code, BOT)

    def day(self, code: str, day: int) -> Day:
        referrers: Counter[str] = Counter()
        for one in self.visits:
            if (one.code, one.hour // 24, one.kind) == (code, day, PERSON) and one.referrer_host:
                referrers[one.referrer_host] += one.count
        day_hours = range(day * 24, day * 24 + 24)
        return Day(
            day,
            sum(self._sum(code, PERSON, hour) for hour in day_hours),
            sum(self._sum(code, BOT, hour) for hour in day_hours),
            tuple(self._sum(code, PERSON, hour) for hour in day_hours),
            dict(referrers),
        )

    def _sum(self, code: str, kind: VisitKind, hour: int | None = None) -> int:
        return sum(
            one.count
            for one in self.visits
            if (one.code, one.kind) == (code, kind) and hour in (None, one.hour)
        )


CODES = ("abcdefgh", "ABCDEFGH", "--------")
# Around the end of a day.
visit_counts = st.builds(
    VisitCount,
    code=st.sampled_from(CODES),
    hour=st.integers(HOUR + 22, HOUR + 25),
    kind=st.sampled_from(VisitKind),
    referrer_host=st.sampled_from(["", "a.example", "b.example"]),
    count=st.integers(1, 5),
)
# The n-th batch of a gateway is the same whenever it is sent; what is drawn is what is sent when.
contents = st.lists(st.lists(visit_counts, max_size=5), min_size=8, max_size=8)
sends = st.lists(st.tuples(st.sampled_from(["one", "two"]), st.integers(1, 4)), max_size=30)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(contents=contents, sends=sends)
def test_whatever_is_sent_again_every_batch_counts_once(
    opened: Opened, contents: list[list[VisitCount]], sends: list[tuple[str, int]]
) -> None:
    batches = {
        (gateway, number): Batch(gateway, number, tuple(contents[4 * first + number - 1]))
        for first, gateway in enumerate(("one", "two"))
        for number in range(1, 5)
    }

    async def drive() -> None:
        model = Model()
        async with opened() as store:
            for key in sends:
                assert await store.apply(batches[key], NOW) == model.apply(batches[key])
            found = await store.totals(CODES)
            for code in CODES:
                totals = found.get(code, Totals(0, 0))
                assert (totals.people, totals.bots) == model.totals(code)
                expected = [model.day(code, day) for day in (DAY, DAY + 1)]
                assert await store.days(code, DAY, DAY + 1) == [
                    day for day in expected if day.people or day.bots
                ]

    asyncio.run(drive())
