"""Counts of visits in an SQLite file.

A day of a link is one row, and all that is counted of it one value of that row, `counts`, beside
the sketch of its visitors. On traffic as it comes, where most links have one or two visits a day,
rows of their own for each hour and each name took 95 bytes a visit with six dimensions known; this
took 44, and half the time.

Rows lie by day first, so that what is written lies together. Which days a link has is a value of
its totals (`runs`), which changes with a link's first visit of a day: so to read a link over ten
years looks for no row that is not there.

Months and years are summed up in rows of their own (`sums_sqlite`), once they are over.

**Keys.** A key is deleted in three steps: it is overwritten by nothing (`secure_delete` of
`services.runtime.sqlite`), the write-ahead log is moved into the file and emptied, and its row
goes. Whoever ends in between leaves the row, and it is done again.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import groupby
from random import Random
from typing import TypeVar

from services.analytics import sketch
from services.analytics.domain import (
    FEED,
    Batch,
    Breakdown,
    Day,
    DaySums,
    Dimension,
    Totals,
    check_replay,
    closed_seen_at,
    count_names,
    random_of,
    sums_of,
    totals_of,
)
from services.analytics.metrics import note_gathered
from services.analytics.runs import (
    days_of,
    month_of,
    pack,
    with_day,
    without_days,
    year_of,
)
from services.analytics.sums_sqlite import (
    MONTHS,
    PERIODS,
    YEARS,
    Counts,
    Period,
    Row,
    add,
    days_in,
    pack_counts,
    rows_of,
    unpack_counts,
)
from services.runtime.feed import Told
from services.runtime.feed_sqlite import announce, announced
from services.runtime.sqlite import Database, Migration, functions

T = TypeVar("T")
_Gathered = tuple[Dimension, Breakdown, Breakdown]
"""A dimension, names that a batch adds to it, and those under which they are counted."""

_CODES_AT_ONCE = 250
"""Most links whose days are looked up while others wait for the reader."""
_ROWS_AT_ONCE = 400
"""Most rows of days that are read while others wait for the reader: about 20 ms."""
_FORGOTTEN_AT_ONCE = 500
"""Days that are deleted while other writers wait."""


def _merge_into_days(connection: sqlite3.Connection) -> None:
    """Make one row a link's day of the rows that each hour and each referrer had."""
    connection.execute(
        "CREATE TABLE days (day INTEGER NOT NULL, code TEXT NOT NULL, counts BLOB NOT NULL, "
        "PRIMARY KEY (day, code)) WITHOUT ROWID"
    )
    hours = connection.execute("SELECT day, code, hour, people, bots FROM hours ORDER BY day, code")
    for key, rows in groupby(hours, lambda row: row[:2]):
        visits = [row[2:] for row in rows]
        hosts = connection.execute(
            "SELECT host, people FROM referrers WHERE (day, code) = (?, ?)", key
        ).fetchall()
        counts: Counts = (
            {hour: people for hour, people, _ in visits if people},
            {hour: bots for hour, _, bots in visits if bots},
            {Dimension.REFERRER.value: dict(hosts)} if hosts else {},
        )
        connection.execute("INSERT INTO days VALUES (?, ?, ?)", (*key, pack_counts(counts)))
    connection.execute("DROP TABLE hours")
    connection.execute("DROP TABLE referrers")


def _note_days(connection: sqlite3.Connection) -> None:
    """Make room for visitors, their keys and months, and note which days each link has.

    Days that were counted before lack most dimensions. The first that has all of them comes after
    the last day that is there, and tomorrow where a gateway's clock is ahead.
    """
    for statement in (
        "ALTER TABLE days ADD COLUMN sketch BLOB NOT NULL DEFAULT x''",
        # See `services.analytics.runs`.
        "ALTER TABLE totals ADD COLUMN days BLOB NOT NULL DEFAULT x''",
        # In whole months since the year 0.
        "CREATE TABLE months (month INTEGER NOT NULL, code TEXT NOT NULL, counts BLOB NOT NULL, "
        "PRIMARY KEY (month, code)) WITHOUT ROWID",
        # `sweeping` is 1 while one is looked through, and 0 again where it changed meanwhile.
        "CREATE TABLE due_months (month INTEGER PRIMARY KEY, sweeping INTEGER NOT NULL)",
        "CREATE TABLE visitor_keys (day INTEGER PRIMARY KEY, key BLOB NOT NULL)",
        "CREATE TABLE counted_from (day INTEGER NOT NULL)",
    ):
        connection.execute(statement)
    rows = connection.execute("SELECT code, day FROM days ORDER BY code, day")
    for code, visited in groupby(rows, lambda row: row[0]):
        connection.execute(_SET_DAYS, (code, pack(day for _, day in visited)))
    visited_days = [day for (day,) in connection.execute(_VISITED_DAYS)]
    for month in {month_of(day) for day in visited_days}:
        MONTHS.mark_due(connection, month)
    if visited_days:
        today = int(time.time()) // 86_400
        connection.execute(
            "INSERT INTO counted_from VALUES (?)", (min(visited_days[-1], today) + 1,)
        )


def _make_years(connection: sqlite3.Connection) -> None:
    """Make room for years, and let those that are over be summed up."""
    connection.execute(
        "CREATE TABLE years (year INTEGER NOT NULL, code TEXT NOT NULL, counts BLOB NOT NULL, "
        "PRIMARY KEY (year, code)) WITHOUT ROWID"
    )
    connection.execute(
        "CREATE TABLE due_years (year INTEGER PRIMARY KEY, sweeping INTEGER NOT NULL)"
    )
    (first,) = connection.execute("SELECT min(day) FROM days").fetchone()
    if first is not None:
        today = int(time.time()) // 86_400
        for year in range(year_of(first), year_of(today) + 1):
            YEARS.mark_due(connection, year)


MIGRATIONS: tuple[Migration, ...] = (
    """
    CREATE TABLE gateways (
        id TEXT PRIMARY KEY,
        last_batch INTEGER NOT NULL,
        seen_at INTEGER NOT NULL  -- seconds since the Unix epoch
    ) WITHOUT ROWID;
    CREATE TABLE totals (
        code TEXT PRIMARY KEY,
        people INTEGER NOT NULL,
        bots INTEGER NOT NULL
    ) WITHOUT ROWID;
    -- The day comes first in these keys: what is written lies together, however much is kept.
    CREATE TABLE hours (
        day INTEGER NOT NULL,  -- since the Unix epoch
        code TEXT NOT NULL,
        hour INTEGER NOT NULL,  -- of the day
        people INTEGER NOT NULL,
        bots INTEGER NOT NULL,
        PRIMARY KEY (day, code, hour)
    ) WITHOUT ROWID;
    CREATE TABLE referrers (
        day INTEGER NOT NULL,
        code TEXT NOT NULL,
        host TEXT NOT NULL,
        people INTEGER NOT NULL,
        PRIMARY KEY (day, code, host)
    ) WITHOUT ROWID;
    """,
    _merge_into_days,
    """
    CREATE TABLE announcements (
        number INTEGER PRIMARY KEY,
        codes TEXT NOT NULL,  -- with a blank between them
        announced_at INTEGER NOT NULL  -- microseconds since the Unix epoch
    );
    """,
    _note_days,
    """
    -- Months had no Sundays and Mondays by hour.
    INSERT INTO due_months SELECT DISTINCT month, 0 FROM months WHERE true ON CONFLICT DO NOTHING;
    DELETE FROM months;
    -- How often visits of a day were counted.
    CREATE TABLE day_changes (day INTEGER PRIMARY KEY, changes INTEGER NOT NULL);
    """,
    _make_years,
)

_GATEWAY = "SELECT last_batch, seen_at FROM gateways WHERE id = ?"
_ADVANCE_GATEWAY = """
    INSERT INTO gateways (id, last_batch, seen_at) VALUES (?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET last_batch = excluded.last_batch, seen_at = excluded.seen_at
    WHERE last_batch < excluded.last_batch
"""
_CLOSE_GATEWAY = "UPDATE gateways SET seen_at = ? WHERE id = ? AND last_batch = ?"
_ADD_TO_TOTALS = """
    INSERT INTO totals (code, people, bots, days) VALUES (?, ?, ?, ?)
    ON CONFLICT (code) DO UPDATE
    SET people = people + excluded.people, bots = bots + excluded.bots,
        days = CASE excluded.days WHEN x'' THEN days ELSE with_new_days(code, days) END
"""
_SET_DAYS = """
    INSERT INTO totals (code, people, bots, days) VALUES (?, 0, 0, ?)
    ON CONFLICT (code) DO UPDATE SET days = excluded.days
"""
_DAYS_OF = "SELECT days FROM totals WHERE code = ?"
_ADD_TO_DAY = """
    INSERT INTO days (day, code, counts, sketch) VALUES (?, ?, ?, ?)
    ON CONFLICT (day, code) DO UPDATE
    SET counts = with_added(code, counts), sketch = with_visitors(code, sketch)
"""
_DELETE_DAY = "DELETE FROM days WHERE (day, code) = (?, ?)"
_CHANGES = "SELECT day, changes FROM day_changes WHERE day BETWEEN ? AND ?"
_COUNT_CHANGE = """
    INSERT INTO day_changes (day, changes) VALUES (?, 1)
    ON CONFLICT (day) DO UPDATE SET changes = changes + 1
"""
# One step into the key for each day that has a row at all.
_VISITED_DAYS = """
    WITH RECURSIVE visited (day) AS (
        SELECT min(day) FROM days
        UNION ALL
        SELECT (SELECT min(day) FROM days WHERE day > visited.day)
        FROM visited WHERE day IS NOT NULL
    )
    SELECT day FROM visited WHERE day IS NOT NULL
"""


class SqliteAnalyticsStore:
    """The `AnalyticsStore` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def apply(self, batch: Batch, now: datetime) -> bool:
        sums = sums_of(batch)
        # In the order in which the rows lie.
        days = {
            day: [code for _, code in keys]
            for day, keys in groupby(sorted(sums), lambda key: key[0])
        }
        totals = sorted((code, one.people, one.bots) for code, one in totals_of(batch).items())
        gateway = (batch.gateway_id, batch.number, int(now.timestamp()))

        def operation(connection: sqlite3.Connection) -> bool:
            for last, seen_at in connection.execute(_GATEWAY, (batch.gateway_id,)):
                check_replay(batch, last, seen_at, now)
            if connection.execute(_ADVANCE_GATEWAY, gateway).rowcount == 0:
                return False
            new: dict[str, list[int]] = {}
            random = random_of(batch)
            for day, codes in days.items():
                for code in _add_to_day(connection, day, codes, sums, random):
                    new.setdefault(code, []).append(day)
            _add_to_totals(connection, totals, new)
            connection.executemany(_COUNT_CHANGE, [(day,) for day in days])
            for period in PERIODS:
                period.outdate(connection, days)
            announce(connection, FEED, [code for code, _, _ in totals], now)
            return True

        return await self._database.write("analytics_apply", operation)

    async def close_gateway(self, gateway_id: str, number: int, now: datetime) -> None:
        closed = (closed_seen_at(now), gateway_id, number)

        def operation(connection: sqlite3.Connection) -> None:
            connection.execute(_CLOSE_GATEWAY, closed)

        await self._database.write("analytics_close", operation)

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        def operation(connection: sqlite3.Connection) -> dict[str, Totals]:
            rows = connection.execute(
                f"SELECT code, people, bots FROM totals WHERE code IN ({_marks(codes)})", codes
            )
            return {code: Totals(people, bots) for code, people, bots in rows}

        return await self._database.read("analytics_totals", operation)

    async def days(
        self,
        codes: Sequence[str],
        first: int,
        last: int,
        take: Callable[[str, Day], None],
        coarse: bool = False,
        named: bool = True,
        apart: bool = False,
    ) -> None:
        # Without years, names come with a day of their month.
        as_rows = partial(rows_of, years=not apart) if coarse else _days_alone
        for some in _chunks(codes):
            wanted = await self._database.read(
                "analytics_days_of",
                partial(_rows_of, codes=some, first=first, last=last, as_rows=as_rows),
            )
            for rows in _pieces(wanted):
                await self._database.read(
                    "analytics_days", partial(_hand_out, rows=rows, take=take, named=named)
                )

    async def visited(
        self, codes: Sequence[str], first: int, last: int, take: Callable[[str, range], None]
    ) -> None:
        for some in _chunks(codes):
            await self._database.read(
                "analytics_visited",
                partial(_tell_runs, codes=some, first=first, last=last, take=take),
            )

    async def changes(self, days: Sequence[int]) -> dict[int, int]:
        def operation(connection: sqlite3.Connection) -> dict[int, int]:
            rows = connection.execute(_CHANGES, (min(days), max(days)))
            return dict(rows.fetchall())

        return await self._database.read("analytics_changes", operation) if days else {}

    async def first_day(self, codes: Sequence[str]) -> int | None:
        firsts: list[int] = []
        for some in _chunks(codes):
            firsts += await self._database.read(
                "analytics_first_days", partial(_first_days, codes=some)
            )
        return min(firsts, default=None)

    async def counted_from(self) -> int | None:
        def operation(connection: sqlite3.Connection) -> int | None:
            row = connection.execute("SELECT day FROM counted_from").fetchone()
            return row[0] if row else None

        return await self._database.read("analytics_counted_from", operation)

    async def visitor_key(self, day: int, fresh: bytes) -> bytes:
        def operation(connection: sqlite3.Connection) -> bytes:
            connection.execute(
                "INSERT INTO visitor_keys (day, key) VALUES (?, ?) "
                "ON CONFLICT (day) DO UPDATE SET key = excluded.key WHERE key = x''",
                (day, fresh),
            )
            row = connection.execute("SELECT key FROM visitor_keys WHERE day = ?", (day,))
            key: bytes = row.fetchone()[0]
            return key

        return await self._database.write("analytics_key", operation)

    async def forget_keys(self, today: int) -> int:
        others = "day NOT BETWEEN ? AND ? + 1"
        days = (today, today)

        def is_over(connection: sqlite3.Connection) -> bool:
            row = connection.execute(f"SELECT 1 FROM visitor_keys WHERE {others}", days)
            return row.fetchone() is not None

        def overwrite(connection: sqlite3.Connection) -> None:
            connection.execute(f"UPDATE visitor_keys SET key = x'' WHERE {others}", days)

        def delete(connection: sqlite3.Connection) -> int:
            return connection.execute(
                f"DELETE FROM visitor_keys WHERE {others} AND key = x''", days
            ).rowcount

        if not await self._database.read("analytics_keys", is_over):
            return 0
        await self._database.write("analytics_forget_keys", overwrite)
        await self._database.empty_log()
        return await self._database.write("analytics_forget_keys", delete)

    async def forget_days(self, before: int) -> int:
        def is_over(connection: sqlite3.Connection) -> bool:
            (first,) = connection.execute("SELECT min(day) FROM days").fetchone()
            return first is not None and first < before

        def operation(connection: sqlite3.Connection) -> int:
            keys = connection.execute(
                "SELECT day, code FROM days WHERE day < ? ORDER BY day, code LIMIT ?",
                (before, _FORGOTTEN_AT_ONCE),
            ).fetchall()
            _delete_days(connection, keys)
            deleted: dict[str, list[int]] = {}
            for day, code in keys:
                deleted.setdefault(code, []).append(day)
            for code, days in deleted.items():
                row = connection.execute(_DAYS_OF, (code,)).fetchone()
                connection.execute(_SET_DAYS, (code, without_days(row[0], days)))
            return len(keys)

        if not await self._database.read("analytics_days_over", is_over):
            return 0
        return await self._database.write("analytics_forget_days", operation)

    async def sum_up(self, before: int) -> bool:
        for period in PERIODS:  # Years are made of months, so of these none is due any more.
            number = await self._database.read(
                "analytics_due", partial(period.next_due, before=period.of_day(before))
            )
            if number is not None:
                await self._sum_up(period, number)
                return True
        return False

    async def _sum_up(self, period: Period, number: int) -> None:
        """Sum up a month or year of all links that are worth it."""
        await self._database.write("analytics_sum_up", partial(period.begin, number=number))
        codes = await self._database.read(
            "analytics_busy_links", partial(period.lacking, number=number)
        )
        for start in range(0, len(codes), period.at_once):
            some = codes[start : start + period.at_once]
            await self._database.write(
                "analytics_sum_up", partial(period.sum_up, number=number, codes=some)
            )
        await self._database.write("analytics_sum_up", partial(period.end, number=number))

    async def remove(self, codes: Sequence[str]) -> None:
        def operation(connection: sqlite3.Connection) -> None:
            for code, runs in _runs_of(connection, codes):
                _delete_days(connection, [(day, code) for run in runs for day in run])
            connection.executemany("DELETE FROM totals WHERE code = ?", [(code,) for code in codes])

        await self._database.write("analytics_remove", operation)

    async def announcements(self, mark: int | None) -> Told:
        return await self._database.read(
            "analytics_announcements", lambda connection: announced(connection, FEED, mark)
        )


def _add_to_day(
    connection: sqlite3.Connection,
    day: int,
    codes: Sequence[str],
    sums: Mapping[tuple[int, str], DaySums],
    random: Random,
) -> list[str]:
    """Add what a batch has for a day of some links; returns those that have their first visits."""
    had_some: set[str] = set()
    gathered: dict[str, list[_Gathered]] = {}
    # Most links have no more than one visit of a batch: what is counted of it is often the same.
    firsts: dict[int, bytes] = {}

    def added_to(counts: Counts, code: str) -> bytes:
        gathered[code] = _add_sums(counts, sums[day, code], random)
        return pack_counts(counts)

    def first(code: str) -> tuple[int, str, bytes, bytes]:
        added = sums[day, code]
        like = id(added.people)
        counts = firsts.get(like)
        if counts is None:
            counts = firsts[like] = added_to(({}, {}, {}), code)
        return day, code, counts, sketch.add(b"", added.visitors)

    def with_added(code: str, counts: bytes) -> bytes:
        had_some.add(code)
        return added_to(unpack_counts(counts), code)

    def with_visitors(code: str, visitors: bytes) -> bytes:
        return sketch.add(visitors, sums[day, code].visitors)

    with functions(connection, with_added=with_added, with_visitors=with_visitors):
        connection.executemany(_ADD_TO_DAY, map(first, codes))
    for names in gathered.values():
        for one in names:
            note_gathered(*one)
    return [code for code in codes if code not in had_some]


def _add_to_totals(
    connection: sqlite3.Connection,
    totals: Iterable[tuple[str, int, int]],
    new: Mapping[str, Sequence[int]],
) -> None:
    """Add to totals, and the days that are new to a link to those that it has."""

    def with_new_days(code: str, days: bytes) -> bytes:
        for day in new.get(code, ()):
            days = with_day(days, day)
        return days

    with functions(connection, with_new_days=with_new_days):
        rows = ((*row, with_new_days(row[0], b"")) for row in totals)
        connection.executemany(_ADD_TO_TOTALS, rows)


def _delete_days(connection: sqlite3.Connection, keys: Sequence[tuple[int, str]]) -> None:
    """Delete days of links, and the sums of their months and years."""
    connection.executemany(_DELETE_DAY, keys)
    for period in PERIODS:
        period.delete(connection, keys)


def _chunks(some: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(some), _CODES_AT_ONCE):
        yield some[start : start + _CODES_AT_ONCE]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _runs_of(
    connection: sqlite3.Connection, codes: Sequence[str]
) -> Iterator[tuple[str, list[range]]]:
    """The days of those links that have any."""
    rows = connection.execute(
        f"SELECT code, days FROM totals WHERE code IN ({_marks(codes)})", codes
    )
    for code, packed in rows:
        if packed:
            yield code, days_of(packed)


def _clipped(runs: Iterable[range], first: int, last: int) -> Iterator[range]:
    """The days from `first` to `last`, both included."""
    for run in runs:
        if run.start <= last and run.stop > first:
            yield range(max(run.start, first), min(run.stop, last + 1))


def _tell_runs(
    connection: sqlite3.Connection,
    codes: Sequence[str],
    first: int,
    last: int,
    take: Callable[[str, range], None],
) -> None:
    for code, runs in _runs_of(connection, codes):
        for run in _clipped(runs, first, last):
            take(code, run)


def _first_days(connection: sqlite3.Connection, codes: Sequence[str]) -> list[int]:
    return [runs[0][0] for _, runs in _runs_of(connection, codes)]


def _days_alone(code: str, days: Sequence[int], first: int, last: int) -> Iterator[Row]:
    return ((day, code, None) for day in days)


def _rows_of(
    connection: sqlite3.Connection,
    codes: Sequence[str],
    first: int,
    last: int,
    as_rows: Callable[[str, Sequence[int], int, int], Iterable[Row]],
) -> list[Row]:
    """What is to be read of some links from a day to another, in the order in which it lies."""
    rows: list[Row] = []
    for code, runs in _runs_of(connection, codes):
        days = [day for run in _clipped(runs, first, last) for day in run]
        rows += as_rows(code, days, first, last)
    rows.sort(key=lambda row: row[:2])
    return rows


def _pieces(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """At most about `_ROWS_AT_ONCE` rows each."""
    piece: list[Row] = []
    size = 0
    for row in rows:
        piece.append(row)
        size += 1 if row[2] is None else len(row[2])
        if size >= _ROWS_AT_ONCE:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _hand_out(
    connection: sqlite3.Connection,
    rows: Sequence[Row],
    take: Callable[[str, Day], None],
    named: bool,
) -> None:
    for row in rows:
        for day in days_in(connection, row, named):
            take(row[1], day)


def _add_sums(counts: Counts, sums: DaySums, random: Random) -> list[_Gathered]:
    """Add what a batch has for a day to its counts; return the names that had no room."""
    people, bots, breakdowns = counts
    add(people, sums.people)
    add(bots, sums.bots)
    gathered: list[_Gathered] = []
    for dimension, added in sums.names.items():
        known = breakdowns.get(dimension)
        counted, evicted = count_names(added, known or {}, random)
        if counted is not added:
            gathered.append((dimension, added, counted))
        if known is None:
            breakdowns[dimension] = dict(counted)
        else:
            for name in evicted:
                del known[name]
            add(known, counted)
    return gathered
