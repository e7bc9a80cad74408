"""Sample visits, and helpers to read them back, for the tests of analytics."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from prometheus_client import REGISTRY

from services.analytics.application.ports import MAX_CHANGES, NameDetail
from services.analytics.application.store import AnalyticsStore
from services.analytics.domain.batches import Batch
from services.analytics.domain.visits import Day, Dimension, VisitCount, VisitKind
from services.analytics.storage.mongo import store as mongo_store
from services.shared import mongo, sqlite
from services.shared.feed import FeedPage
from tests.support.mongo import server

Opened = Callable[[], AbstractAsyncContextManager[AnalyticsStore]]
"""Opens a new, empty store each time."""

PERSON, BOT = VisitKind.PERSON, VisitKind.BOT
REFERRER = Dimension.REFERRER
NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAY = 20_512
"""The first day of a block, and of 2026-02-28."""
HOUR = DAY * 24
CODE = "abcdefgh"


def visit(
    code: str = CODE,
    hour: int = HOUR,
    kind: VisitKind = PERSON,
    host: str = "",
    count: int = 1,
    others: Mapping[Dimension, str] = MappingProxyType({}),
) -> VisitCount:
    """Return a row. `others` are names in dimensions other than the referrer."""
    return VisitCount(code, hour, kind, {REFERRER: host, **others}, count)


class DecodedDay(NamedTuple):
    """A day with its visits by hour. Unlike a `Day`, it can be compared."""

    day: int
    people: Mapping[int, int]
    bots: Mapping[int, int]
    breakdowns: Mapping[Dimension, Mapping[str, int]]
    visitors: int

    @classmethod
    def decode(cls, day: Day) -> DecodedDay:
        people, bots = day.hours()
        assert (day.people, day.bots) == (sum(people.values()), sum(bots.values()))
        return cls(day.day, people, bots, day.breakdowns, day.visitors)


async def read_days(store: AnalyticsStore, code: str, first: int, last: int) -> list[DecodedDay]:
    """Return the days of a link, oldest first."""
    found: list[DecodedDay] = []

    def on_day(day_code: str, day: Day) -> None:
        assert day_code == code
        found.append(DecodedDay.decode(day))

    await store.read_days([code], first, last, on_day, NameDetail.PER_DAY)
    return sorted(found)


@dataclass
class PeriodSums:
    """The visits of links in a period, added up."""

    people: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    bots: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    names: Counter[tuple[Dimension, str]] = field(default_factory=Counter)
    visitors: Counter[tuple[str, int]] = field(default_factory=Counter)

    def add(self, code: str, day: Day) -> None:
        for counts, by_hour in zip((self.people, self.bots), day.hours(), strict=True):
            counts.update({(code, day.day, hour): visits for hour, visits in by_hour.items()})
        for dimension, breakdown in day.breakdowns.items():
            self.names.update({(dimension, name): n for name, n in breakdown.items()})
        self.visitors[code, day.day] += min(day.visitors, day.people)


async def add_up(
    store: AnalyticsStore,
    codes: Sequence[str],
    first: int,
    last: int,
    names: NameDetail = NameDetail.COMBINED,
) -> PeriodSums:
    sums = PeriodSums()
    await store.read_days(codes, first, last, sums.add, names)
    return sums


async def maintain_all(store: AnalyticsStore, before: int, retained_from: int | None = None) -> int:
    """Maintain all links. Return the number of deleted days."""
    after: str | None = ""
    total = 0
    while after is not None:
        after, deleted = await store.maintain(after, before, retained_from)
        total += deleted
    return total


async def current_cursor(store: AnalyticsStore) -> str:
    """Return the cursor of the end of the change feed."""
    page = await store.changed_since(None)
    assert page == FeedPage(page.cursor)
    return page.cursor


async def changed_codes(store: AnalyticsStore, cursor: str) -> list[str]:
    """Return the codes of all pages of the change feed after a cursor."""
    page = FeedPage(cursor, more=True)
    codes: list[str] = []
    while page.more:
        page = await store.changed_since(page.cursor)
        assert not page.truncated
        assert len(page.keys) <= MAX_CHANGES
        codes += page.keys
    return codes


async def damage(store: AnalyticsStore, table: str, code: str, **values: object) -> None:
    """Overwrite values of all records of a link, such as its days."""
    database = get_database(store)
    if isinstance(database, sqlite.Database):
        assignments = ", ".join(f"{column} = :{column}" for column in values)
        await database.write(
            "test",
            lambda connection: connection.execute(
                f"UPDATE {table} SET {assignments} WHERE code = :code", {**values, "code": code}
            ),
        )
    else:
        ids = {"_id": {"$regex": f"^{code}(:|$)"}}
        await database.write("test", lambda db: db[table].update_many(ids, {"$set": values}))


async def stored_codes(store: AnalyticsStore, table: str) -> set[str]:
    """Return the codes of the links that have records in a table."""
    database = get_database(store)
    if isinstance(database, sqlite.Database):
        rows = await database.read(
            "test", lambda connection: connection.execute(f"SELECT code FROM {table}").fetchall()
        )
        return {code for (code,) in rows}
    found = await database.read("test", lambda db: db[table].find({}, {"_id": 1}).to_list(None))
    return {one["_id"].split(":")[0] for one in found}


def count_unreadable(record: str) -> float:
    """Return how many records of a kind could not be read since the start."""
    value = REGISTRY.get_sample_value("atajo_unreadable_records_total", {"record": record})
    assert value is not None
    return value


def get_database(store: AnalyticsStore) -> Any:
    return cast("Any", store)._database


def with_database(store: AnalyticsStore, database: Any) -> AnalyticsStore:
    """Return a store like another one, as another process would have it, over a database."""
    return cast("AnalyticsStore", type(cast("Any", store))(database))


@dataclass
class Model:
    """A reference model of a store: a list of all counted visits."""

    last: Counter[str] = field(default_factory=Counter)
    visits: list[VisitCount] = field(default_factory=list)
    visitors: defaultdict[tuple[int, str], set[int]] = field(
        default_factory=lambda: defaultdict(set)
    )

    def apply(self, batch: Batch) -> bool:
        if batch.number <= self.last[batch.gateway_id]:
            return False
        self.last[batch.gateway_id] = batch.number
        self.visits.extend(batch.visits)
        for key, numbers in batch.visitors.items():
            if any(v.kind is PERSON and (v.hour // 24, v.code) == key for v in batch.visits):
                self.visitors[key] |= numbers
        return True

    async def check(self, store: AnalyticsStore, codes: Sequence[str], days: Iterable[int]) -> None:
        """Compare a store with the model for codes and consecutive days."""
        found = await store.totals(codes)
        calendar = list(days)
        for code in codes:
            totals = found.get(code)
            people, bots = (totals.people, totals.bots) if totals else (0, 0)
            assert (people, bots) == (self._sum(code, PERSON), self._sum(code, BOT))
            expected = [day for day in map(self._day, [code] * len(calendar), calendar) if day]
            assert await read_days(store, code, calendar[0], calendar[-1]) == expected

    def _day(self, code: str, day: int) -> DecodedDay | None:
        hours = range(day * 24, day * 24 + 24)
        breakdowns: dict[Dimension, Counter[str]] = {}
        by_hour: dict[VisitKind, Counter[int]] = {PERSON: Counter(), BOT: Counter()}
        for row in self.visits:
            if row.code == code and row.hour in hours:
                by_hour[row.kind][row.hour % 24] += row.count
                for dimension, name in row.names.items():
                    if name and row.kind is PERSON:
                        breakdowns.setdefault(dimension, Counter())[name] += row.count
        people, bots = by_hour[PERSON], by_hour[BOT]
        if not people and not bots:
            return None
        return DecodedDay(day, people, bots, breakdowns, len(self.visitors[day, code]))

    def _sum(self, code: str, kind: VisitKind) -> int:
        return sum(row.count for row in self.visits if (row.code, row.kind) == (code, kind))


@asynccontextmanager
async def open_replicas(server_url: str, count: int) -> AsyncIterator[list[mongo.Database]]:
    """Open a new database as several processes do."""
    async with AsyncExitStack() as stack:
        url = stack.enter_context(server.database(server_url))
        opened = []
        for _ in range(count):
            database = mongo.open_database(url, "", mongo_store.SCHEMA)
            opened.append(await stack.enter_async_context(database))
            await opened[-1].wait_for_schema()
        yield opened
