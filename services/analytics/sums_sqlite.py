"""Days of links in an SQLite file, and the rows that sum many of them up.

What is counted of a link's day is one value, `Counts` as MessagePack.

**Months.** Of a month that is over, a link with at least `LEAST_DAYS` days in it has a row that
sums them up: its first and its last day, Sundays and Mondays by hour, as months and weeks of other
time zones begin and end in them, the others of each week as one, names of all.

**Years.** Most of what a busy link's months have is names, and most names come again each month. So
where the rows of a year's months take `_LARGE_YEAR` bytes or more, the year has a row of the same
form that sums them up. That is a few links in a thousand, and each takes a tenth of its months.

Both stay exact by being made from the days, or the months that are made of them, in one
transaction, and by going in the transaction that changes one of the days: whoever reads then reads
months or days. Tables of what is due (`due_months`, `due_years`) have those that are to be looked
through, again where something changed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from msgspec import Raw, msgpack

from services.analytics import sketch
from services.analytics.domain import Day, Dimension
from services.analytics.runs import days_of_month, days_of_year, middle_of, month_of, year_of

Hours = dict[int, int]
Names = dict[int, dict[str, int]]
"""People by name in each dimension, by the dimension's value."""
Counts = tuple[Hours, Hours, Names]
"""What is counted of a day: people and bots, each by hour of the day, and names."""
_DaySums = tuple[int, Hours, Hours, int]
"""A day, or several that are told as one of them, with people, bots and visitors."""
_Sums = tuple[list[_DaySums], Names]
"""The days of a month or year, and names of all."""
_Key = TypeVar("_Key")
pack_counts = msgpack.Encoder().encode
"""`Counts`, or what a month or year has, as they are stored."""
unpack_counts = msgpack.Decoder(Counts).decode
# Names are most of what there is, so where nobody asks for them they stay as they are.
_unpack_hours = msgpack.Decoder(tuple[Hours, Hours, Raw]).decode
_unpack_sums = msgpack.Decoder(tuple[list[_DaySums], Raw]).decode
_unpack_names = msgpack.Decoder(Names).decode

DAY = "SELECT counts, sketch FROM days WHERE (day, code) = (?, ?)"
LEAST_DAYS = 8
"""A month of a link with fewer days is read as quickly by day, and a row of it would not pay."""
_LEAST_DAYS_OF_YEAR = 180
"""Fewest days of a link in a year for which a row of that year is looked for."""
_LARGE_YEAR = 64 << 10
"""Fewest bytes in the rows of a link's months for a row of their year."""
_MONTHS_AT_ONCE, _YEARS_AT_ONCE = 20, 4
"""Links of which a month or year is summed up while other writers wait: about 20 ms."""
_DIMENSIONS = {dimension.value: dimension for dimension in Dimension}

Row = tuple[int, str, Sequence[int] | None]
"""What is read of a link: a day and the code; or the days of a month or year that may have a row,
with the first of them ahead."""


@dataclass(frozen=True, slots=True)
class Period:
    """The rows of months, or those of years. A month or year is told by its `number`."""

    name: str
    """Of the column, and with an s of the table."""
    of_day: Callable[[int], int]
    days_of: Callable[[int], range]
    busy_links: str
    """Selects links that are worth a row and lack it."""
    of_link: Callable[[sqlite3.Connection, int, str], _Sums | None]
    """What a link has in one, to be stored."""
    at_once: int
    """Links of which one is summed up in a transaction."""

    def mark_due(self, connection: sqlite3.Connection, number: int) -> None:
        """It is to be looked through, again where that is under way."""
        connection.execute(
            f"INSERT INTO due_{self.name}s ({self.name}, sweeping) VALUES (?, 0) "
            f"ON CONFLICT ({self.name}) DO UPDATE SET sweeping = 0 WHERE sweeping = 1",
            (number,),
        )

    def next_due(self, connection: sqlite3.Connection, before: int) -> int | None:
        """The first that is due, of those before one."""
        row = connection.execute(
            f"SELECT min({self.name}) FROM due_{self.name}s WHERE {self.name} < ?", (before,)
        )
        number: int | None = row.fetchone()[0]
        return number

    def begin(self, connection: sqlite3.Connection, number: int) -> None:
        connection.execute(
            f"UPDATE due_{self.name}s SET sweeping = 1 WHERE {self.name} = ?", (number,)
        )

    def end(self, connection: sqlite3.Connection, number: int) -> None:
        """It stays due where a day of it changed since it was begun."""
        connection.execute(
            f"DELETE FROM due_{self.name}s WHERE {self.name} = ? AND sweeping = 1", (number,)
        )

    def lacking(self, connection: sqlite3.Connection, number: int) -> list[str]:
        """The links that lack their row.

        Where not all is counted from its start, it is to be told which of its days had people.
        """
        row = connection.execute("SELECT day FROM counted_from").fetchone()
        if row and self.of_day(row[0]) == number:
            return []
        days = self.days_of(number)
        keys = {"first": days[0], "last": days[-1], "number": number}
        return [code for (code,) in connection.execute(self.busy_links, keys)]

    def sum_up(self, connection: sqlite3.Connection, number: int, codes: Sequence[str]) -> None:
        """Make the rows of some links."""
        for code in codes:
            sums = self.of_link(connection, number, code)
            if sums is not None:
                connection.execute(
                    f"INSERT OR REPLACE INTO {self.name}s ({self.name}, code, counts) "
                    "VALUES (?, ?, ?)",
                    (number, code, pack_counts(sums)),
                )

    def read(self, connection: sqlite3.Connection, number: int, code: str) -> bytes | None:
        """What the row of a link has; None where there is none."""
        row = connection.execute(
            f"SELECT counts FROM {self.name}s WHERE ({self.name}, code) = (?, ?)", (number, code)
        ).fetchone()
        return row[0] if row else None

    def delete(self, connection: sqlite3.Connection, days: Iterable[tuple[int, str]]) -> None:
        """Delete the rows that have these days of links."""
        connection.executemany(
            f"DELETE FROM {self.name}s WHERE ({self.name}, code) = (?, ?)",
            {(self.of_day(day), code) for day, code in days},
        )

    def outdate(self, connection: sqlite3.Connection, days: Mapping[int, Iterable[str]]) -> None:
        """Delete the rows that have these days of links, and note that they are due.

        `days` has the codes by day, the days in order.
        """
        for number, changed in groupby(days, self.of_day):
            self.mark_due(connection, number)
            # Of those that run there is none, and nearly all visits are of them.
            some = connection.execute(
                f"SELECT 1 FROM {self.name}s WHERE {self.name} = ? LIMIT 1", (number,)
            )
            if some.fetchone():
                self.delete(connection, ((day, code) for day in changed for code in days[day]))


def rows_of(code: str, days: Sequence[int], first: int, last: int, years: bool) -> Iterator[Row]:
    """What is to be read of a link that has these days from one day to another.

    Months may be read as one, and with `years` those, too.
    """
    if len(days) < LEAST_DAYS:
        yield from ((day, code, None) for day in days)
        return
    if not years:
        yield from _months_of(code, days, first, last)
        return
    for year, in_year in groupby(days, year_of):
        some = list(in_year)
        if len(some) >= _LEAST_DAYS_OF_YEAR and _has_all(first, last, days_of_year(year)):
            yield some[0], code, some
        else:
            yield from _months_of(code, some, first, last)


def _months_of(code: str, days: Sequence[int], first: int, last: int) -> Iterator[Row]:
    for month, in_month in groupby(days, month_of):
        some = list(in_month)
        if len(some) >= LEAST_DAYS and _has_all(first, last, days_of_month(month)):
            yield some[0], code, some
        else:
            yield from ((day, code, None) for day in some)


def _has_all(first: int, last: int, days: range) -> bool:
    return first <= days[0] and days[-1] <= last


def days_in(connection: sqlite3.Connection, row: Row, named: bool) -> Iterator[Day]:
    """The days of a row that is to be read, some of them as one where it is a month or year."""
    first, code, days = row
    if days is None:
        yield from _day_in(connection, first, code, named)
        return
    is_year = month_of(first) != month_of(days[-1])
    period = YEARS if is_year else MONTHS
    packed = period.read(connection, period.of_day(first), code)
    if packed is not None:
        yield from _days_of_sums(packed, named)
    elif is_year:
        whole = days_of_year(year_of(first))
        for part in _months_of(code, days, whole[0], whole[-1]):
            yield from days_in(connection, part, named)
    else:
        for day in days:
            yield from _day_in(connection, day, code, named)


def add(counts: dict[_Key, int], added: Mapping[_Key, int]) -> None:
    """Add counts to others, by key."""
    for key, count in added.items():
        counts[key] = counts.get(key, 0) + count


def _day_in(connection: sqlite3.Connection, day: int, code: str, named: bool) -> Iterator[Day]:
    """A day of a link; none where it was removed meanwhile."""
    for counts, visitors in connection.execute(DAY, (day, code)):
        people, bots, names = _unpack_hours(counts)
        breakdowns = _breakdowns(_unpack_names(names)) if named else {}
        yield Day(day, people, bots, breakdowns, sketch.estimate(visitors))


def _days_of_sums(packed: bytes, named: bool) -> Iterator[Day]:
    """What the row of a month or year has, its first day with the names of all."""
    days, names = _unpack_sums(packed)
    breakdowns = _breakdowns(_unpack_names(names)) if named else {}
    for day, people, bots, visitors in days:
        yield Day(day, people, bots, breakdowns, visitors)
        breakdowns = {}


def _breakdowns(names: Names) -> dict[Dimension, dict[str, int]]:
    return {_DIMENSIONS[value]: people for value, people in names.items()}


def _month_of_link(connection: sqlite3.Connection, month: int, code: str) -> _Sums | None:
    """None where some of its days were deleted meanwhile and few are left."""
    count, sums = _summed_days(connection, days_of_month(month), code)
    return sums if count >= LEAST_DAYS else None


def _summed_days(
    connection: sqlite3.Connection, calendar: Iterable[int], code: str
) -> tuple[int, _Sums]:
    """How many of these days of a month a link has, and what they have."""
    days: list[_DaySums] = []
    names: Names = {}
    for day in calendar:
        for counts, visitors in connection.execute(DAY, (day, code)):
            people, bots, breakdowns = unpack_counts(counts)
            days.append((day, people, bots, min(sketch.estimate(visitors), sum(people.values()))))
            _add_names(names, breakdowns)
    return len(days), (_coarse(days), names)


def _year_of_link(connection: sqlite3.Connection, year: int, code: str) -> _Sums:
    days: list[_DaySums] = []
    names: Names = {}
    for month, calendar in groupby(days_of_year(year), month_of):
        packed = MONTHS.read(connection, month, code)
        if packed is None:
            _, (some, breakdowns) = _summed_days(connection, calendar, code)
        else:
            some, raw = _unpack_sums(packed)
            breakdowns = _unpack_names(raw)
        days += some
        _add_names(names, breakdowns)
    return days, names


def _add_names(names: Names, added: Names) -> None:
    for dimension, breakdown in added.items():
        add(names.setdefault(dimension, {}), breakdown)


def _coarse(days: Iterable[_DaySums]) -> list[_DaySums]:
    """The days of a month, those between two edges as one."""
    told: list[_DaySums] = []
    for week, days_of_week in groupby(days, lambda one: middle_of(one[0])):
        some = list(days_of_week)
        told += some if week is None else [_as_one(some)]
    return told


def _as_one(days: Sequence[_DaySums]) -> _DaySums:
    """Days as one of them, all their visits in its first hour."""
    people = sum(sum(day[1].values()) for day in days)
    bots = sum(sum(day[2].values()) for day in days)
    visitors = sum(day[3] for day in days)
    return days[0][0], {0: people} if people else {}, {0: bots} if bots else {}, visitors


MONTHS = Period(
    "month",
    month_of,
    days_of_month,
    "SELECT code FROM days WHERE day BETWEEN :first AND :last "
    f"GROUP BY code HAVING count(*) >= {LEAST_DAYS} "
    "EXCEPT SELECT code FROM months WHERE month = :number",
    _month_of_link,
    _MONTHS_AT_ONCE,
)
YEARS = Period(
    "year",
    year_of,
    days_of_year,
    # Of twelve months.
    "SELECT code FROM months WHERE month BETWEEN 12 * :number AND 12 * :number + 11 "
    f"GROUP BY code HAVING sum(length(counts)) >= {_LARGE_YEAR} "
    "EXCEPT SELECT code FROM years WHERE year = :number",
    _year_of_link,
    _YEARS_AT_ONCE,
)
PERIODS = (MONTHS, YEARS)
