"""Counts of visits in an SQLite file.

A day of a link is one row, and all that is counted of it one value of that row, `counts`. On
traffic as it comes, where most links have one or two visits a day, rows of their own for each hour
and each name took 95 bytes a visit with six dimensions known; this takes 44, and half the time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import TypeVar

from msgspec import msgpack

from services.analytics.domain import (
    FEED,
    HOURS_A_DAY,
    Batch,
    Day,
    DaySums,
    Dimension,
    Totals,
    check_replay,
    closed_seen_at,
    count_names,
    sums_of,
    totals_of,
)
from services.runtime.feed import Told
from services.runtime.feed_sqlite import announce, announced
from services.runtime.sqlite import Database, Migration

_Counts = tuple[dict[int, int], dict[int, int], dict[int, dict[str, int]]]
"""What is counted of a day: people and bots, each by hour of the day, and people by name in each
dimension, by the dimension's value."""
_Key = TypeVar("_Key")
pack_counts = msgpack.Encoder().encode
"""`_Counts` as they are stored."""
_unpack = msgpack.Decoder(_Counts).decode


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
        counts: _Counts = (
            {hour: people for hour, people, _ in visits if people},
            {hour: bots for hour, _, bots in visits if bots},
            {Dimension.REFERRER.value: dict(hosts)} if hosts else {},
        )
        connection.execute(_SET_DAY, (*key, pack_counts(counts)))
    connection.execute("DROP TABLE hours")
    connection.execute("DROP TABLE referrers")


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
)

_GATEWAY = "SELECT last_batch, seen_at FROM gateways WHERE id = ?"
_ADVANCE_GATEWAY = """
    INSERT INTO gateways (id, last_batch, seen_at) VALUES (?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET last_batch = excluded.last_batch, seen_at = excluded.seen_at
    WHERE last_batch < excluded.last_batch
"""
_CLOSE_GATEWAY = "UPDATE gateways SET seen_at = ? WHERE id = ? AND last_batch = ?"
_ADD_TO_TOTALS = """
    INSERT INTO totals (code, people, bots) VALUES (?, ?, ?)
    ON CONFLICT (code) DO UPDATE SET people = people + excluded.people, bots = bots + excluded.bots
"""
_DAY = "SELECT counts FROM days WHERE (day, code) = (?, ?)"
_SET_DAY = "INSERT OR REPLACE INTO days (day, code, counts) VALUES (?, ?, ?)"
# One step into the key for each day of the span.
_SPAN = (
    "WITH RECURSIVE span (day) AS (SELECT ?1 UNION ALL SELECT day + 1 FROM span WHERE day < ?2) "
)
_DAYS_OF_SPAN = f"""
    {_SPAN} SELECT day, counts FROM span CROSS JOIN days USING (day) WHERE code = ?3 ORDER BY day
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
        days = sorted(sums)
        totals = sorted((code, one.people, one.bots) for code, one in totals_of(sums).items())
        gateway = (batch.gateway_id, batch.number, int(now.timestamp()))

        def operation(connection: sqlite3.Connection) -> bool:
            for last, seen_at in connection.execute(_GATEWAY, (batch.gateway_id,)):
                check_replay(batch, last, seen_at, now)
            if connection.execute(_ADVANCE_GATEWAY, gateway).rowcount == 0:
                return False
            connection.executemany(_ADD_TO_TOTALS, totals)
            for key in days:
                row = connection.execute(_DAY, key).fetchone()
                counts = _unpack(row[0]) if row else ({}, {}, {})
                _add_sums(counts, sums[key])
                connection.execute(_SET_DAY, (*key, pack_counts(counts)))
            announce(connection, FEED, [code for code, _, _ in totals], now)
            return True

        return await self._database.write("analytics_apply", operation)

    async def close_gateway(self, gateway_id: str, number: int, now: datetime) -> None:
        closed = (closed_seen_at(now), gateway_id, number)

        def operation(connection: sqlite3.Connection) -> None:
            connection.execute(_CLOSE_GATEWAY, closed)

        await self._database.write("analytics_close", operation)

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        marks = ", ".join("?" * len(codes))

        def operation(connection: sqlite3.Connection) -> dict[str, Totals]:
            rows = connection.execute(
                f"SELECT code, people, bots FROM totals WHERE code IN ({marks})", codes
            )
            return {code: Totals(people, bots) for code, people, bots in rows}

        return await self._database.read("analytics_totals", operation)

    async def days(self, code: str, first: int, last: int) -> list[Day]:
        span = (first, last, code)

        def operation(connection: sqlite3.Connection) -> list[Day]:
            rows = connection.execute(_DAYS_OF_SPAN, span)
            return [_day(day, _unpack(counts)) for day, counts in rows]

        return await self._database.read("analytics_days", operation)

    async def remove(self, codes: Sequence[str]) -> None:
        def operation(connection: sqlite3.Connection) -> None:
            days = connection.execute(_VISITED_DAYS).fetchall()
            keys = [(day, code) for (day,) in days for code in codes]
            connection.executemany("DELETE FROM totals WHERE code = ?", [(code,) for code in codes])
            connection.executemany("DELETE FROM days WHERE day = ? AND code = ?", keys)

        await self._database.write("analytics_remove", operation)

    async def announcements(self, mark: int | None) -> Told:
        return await self._database.read(
            "analytics_announcements", lambda connection: announced(connection, FEED, mark)
        )


def _add_sums(counts: _Counts, sums: DaySums) -> None:
    """Add what a batch has for a day to what is counted of it."""
    people, bots, breakdowns = counts
    _add(people, sums.people)
    _add(bots, sums.bots)
    for dimension, added in sums.names.items():
        known = breakdowns.setdefault(dimension.value, {})
        _add(known, count_names(added, known))


def _add(counts: dict[_Key, int], added: Mapping[_Key, int]) -> None:
    for key, count in added.items():
        counts[key] = counts.get(key, 0) + count


def _day(day: int, counts: _Counts) -> Day:
    people, bots, breakdowns = counts
    return Day(
        day,
        sum(people.values()),
        sum(bots.values()),
        tuple(people.get(hour, 0) for hour in range(HOURS_A_DAY)),
        {Dimension(value): names for value, names in breakdowns.items()},
    )
