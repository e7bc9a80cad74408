"""Visits, and what the analytics stores return of them, for their suites."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from services.analytics.application.ports import AnalyticsStore, Names
from services.analytics.domain.visits import (
    MAX_CHANGES,
    Batch,
    Day,
    Dimension,
    VisitCount,
    VisitKind,
)
from services.analytics.storage.store import Store
from services.shared.feed import FeedPage

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
    """`others` are names in other dimensions than the referrer."""
    return VisitCount(code, hour, kind, {REFERRER: host, **others}, count)


class Counted(NamedTuple):
    """A day, with its visits by hour. Unlike `Day`, it can be compared."""

    day: int
    people: Mapping[int, int]
    bots: Mapping[int, int]
    breakdowns: Mapping[Dimension, Mapping[str, int]]
    visitors: int

    @classmethod
    def of(cls, day: Day) -> Counted:
        people, bots = day.hours()
        assert (day.people, day.bots) == (sum(people.values()), sum(bots.values()))
        return cls(day.day, people, bots, day.breakdowns, day.visitors)


async def days_of(store: AnalyticsStore, code: str, first: int, last: int) -> list[Counted]:
    """Return the days of a link, oldest first."""
    found: list[Counted] = []

    def take(of: str, day: Day) -> None:
        assert of == code
        found.append(Counted.of(day))

    await store.days([code], first, last, take, Names.BY_DAY)
    return sorted(found)


@dataclass
class Added:
    """The days of some links in a span, added up."""

    people: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    bots: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    names: Counter[tuple[Dimension, str]] = field(default_factory=Counter)
    visitors: Counter[tuple[str, int]] = field(default_factory=Counter)

    def take(self, code: str, day: Day) -> None:
        for sums, by_hour in zip((self.people, self.bots), day.hours(), strict=True):
            sums.update({(code, day.day, hour): visits for hour, visits in by_hour.items()})
        for dimension, breakdown in day.breakdowns.items():
            self.names.update({(dimension, name): n for name, n in breakdown.items()})
        self.visitors[code, day.day] += min(day.visitors, day.people)


async def added_up(
    store: AnalyticsStore,
    codes: Sequence[str],
    first: int,
    last: int,
    names: Names = Names.TOGETHER,
) -> Added:
    added = Added()
    await store.days(codes, first, last, added.take, names)
    return added


async def maintained(store: AnalyticsStore, before: int, kept_from: int | None = None) -> int:
    """Maintain all links; return how many days were deleted."""
    after: str | None = ""
    total = 0
    while after is not None:
        after, deleted = await store.maintain(after, before, kept_from)
        total += deleted
    return total


async def cursor_of(store: AnalyticsStore) -> str:
    """Return the end of the change feed."""
    page = await store.changed_since(None)
    assert page == FeedPage(page.cursor)
    return page.cursor


async def changed_after(store: AnalyticsStore, cursor: str) -> list[str]:
    """Return the codes of all pages of the change feed after a cursor."""
    page = FeedPage(cursor, more=True)
    codes: list[str] = []
    while page.more:
        page = await store.changed_since(page.cursor)
        assert not page.truncated
        assert len(page.keys) <= MAX_CHANGES
        codes += page.keys
    return codes


def database_of(store: AnalyticsStore) -> Any:
    return cast("Any", store)._backend._database


def over(store: AnalyticsStore, database: Any) -> AnalyticsStore:
    """Return the same store over another database, as another process has it."""
    return Store(type(cast("Any", store)._backend)(database))


@dataclass
class Model:
    """The promises of a store in the plainest form: a list of every visit that counts."""

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
        """Compare with what a store has of all these codes and days."""
        found = await store.totals(codes)
        calendar = list(days)
        for code in codes:
            totals = found.get(code)
            people, bots = (totals.people, totals.bots) if totals else (0, 0)
            assert (people, bots) == (self._sum(code, PERSON), self._sum(code, BOT))
            expected = [day for day in map(self._day, [code] * len(calendar), calendar) if day]
            assert await days_of(store, code, calendar[0], calendar[-1]) == expected

    def _day(self, code: str, day: int) -> Counted | None:
        hours = range(day * 24, day * 24 + 24)
        breakdowns: dict[Dimension, Counter[str]] = {}
        by_hour: dict[VisitKind, Counter[int]] = {PERSON: Counter(), BOT: Counter()}
        for one in self.visits:
            if one.code == code and one.hour in hours:
                by_hour[one.kind][one.hour % 24] += one.count
                for dimension, name in one.names.items():
                    if name and one.kind is PERSON:
                        breakdowns.setdefault(dimension, Counter())[name] += one.count
        people, bots = by_hour[PERSON], by_hour[BOT]
        if not people and not bots:
            return None
        return Counted(day, people, bots, breakdowns, len(self.visitors[day, code]))

    def _sum(self, code: str, kind: VisitKind) -> int:
        return sum(one.count for one in self.visits if (one.code, one.kind) == (code, kind))
