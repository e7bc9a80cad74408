"""Counts of visits in an SQLite file."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from services.analytics.domain import (
    HOURS_A_DAY,
    MAX_REFERRERS,
    OTHER_REFERRERS,
    Batch,
    Day,
    Totals,
    VisitKind,
    check_replay,
    closed_seen_at,
)
from services.runtime.sqlite import Database

MIGRATIONS = (
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
_ADD_TO_HOURS = """
    INSERT INTO hours (day, code, hour, people, bots) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (day, code, hour)
    DO UPDATE SET people = people + excluded.people, bots = bots + excluded.bots
"""
# A host that is not there yet comes in while there is room, else it counts as the others.
_ADD_TO_REFERRERS = f"""
    INSERT INTO referrers (day, code, host, people) VALUES (
        ?1, ?2,
        CASE
            WHEN EXISTS (SELECT 1 FROM referrers WHERE (day, code, host) = (?1, ?2, ?3)) THEN ?3
            WHEN (
                SELECT count(*) FROM referrers
                WHERE (day, code) = (?1, ?2) AND host <> '{OTHER_REFERRERS}'
            ) < {MAX_REFERRERS} THEN ?3
            ELSE '{OTHER_REFERRERS}'
        END,
        ?4
    )
    ON CONFLICT (day, code, host) DO UPDATE SET people = people + excluded.people
"""
# One step into the key for each day of the span.
_SPAN = (
    "WITH RECURSIVE span (day) AS (SELECT ?1 UNION ALL SELECT day + 1 FROM span WHERE day < ?2) "
)
_HOURS_OF_SPAN = f"""
    {_SPAN} SELECT day, hour, people, bots FROM span CROSS JOIN hours USING (day) WHERE code = ?3
"""
_REFERRERS_OF_SPAN = f"""
    {_SPAN} SELECT day, host, people FROM span CROSS JOIN referrers USING (day) WHERE code = ?3
"""
# One step into the key for each day that has a row at all.
_DAYS = """
    WITH RECURSIVE days (day) AS (
        SELECT min(day) FROM hours
        UNION ALL
        SELECT (SELECT min(day) FROM hours WHERE day > days.day) FROM days WHERE day IS NOT NULL
    )
    SELECT day FROM days WHERE day IS NOT NULL
"""


class SqliteAnalyticsStore:
    """The `AnalyticsStore` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def apply(self, batch: Batch, now: datetime) -> bool:
        totals, hours, referrers = _sums(batch)
        gateway = (batch.gateway_id, batch.number, int(now.timestamp()))

        def operation(connection: sqlite3.Connection) -> bool:
            for last, seen_at in connection.execute(_GATEWAY, (batch.gateway_id,)):
                check_replay(batch, last, seen_at, now)
            if connection.execute(_ADVANCE_GATEWAY, gateway).rowcount == 0:
                return False
            connection.executemany(_ADD_TO_TOTALS, totals)
            connection.executemany(_ADD_TO_HOURS, hours)
            connection.executemany(_ADD_TO_REFERRERS, referrers)
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
            with connection:  # One transaction, so that both tables are seen at one moment.
                connection.execute("BEGIN")
                hours = connection.execute(_HOURS_OF_SPAN, span).fetchall()
                referrers = connection.execute(_REFERRERS_OF_SPAN, span).fetchall()
            return _days(hours, referrers)

        return await self._database.read("analytics_days", operation)

    async def remove(self, codes: Sequence[str]) -> None:
        def operation(connection: sqlite3.Connection) -> None:
            days = connection.execute(_DAYS).fetchall()
            keys = [(day, code) for (day,) in days for code in codes]
            connection.executemany("DELETE FROM totals WHERE code = ?", [(code,) for code in codes])
            connection.executemany("DELETE FROM hours WHERE day = ? AND code = ?", keys)
            connection.executemany("DELETE FROM referrers WHERE day = ? AND code = ?", keys)

        await self._database.write("analytics_remove", operation)


_Sums = tuple[
    list[tuple[str, int, int]],
    list[tuple[int, str, int, int, int]],
    list[tuple[int, str, str, int]],
]


def _sums(batch: Batch) -> _Sums:
    """The rows to add to totals, hours and referrers, one a key, in the order they lie in."""
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    hours: dict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0])
    referrers: dict[tuple[int, str, str], int] = defaultdict(int)
    for visit in batch.visits:
        column = 0 if visit.kind is VisitKind.PERSON else 1
        totals[visit.code][column] += visit.count
        hours[visit.code, visit.hour][column] += visit.count
        if visit.kind is VisitKind.PERSON and visit.referrer_host:
            referrers[visit.day, visit.code, visit.referrer_host] += visit.count
    return (
        sorted((code, people, bots) for code, (people, bots) in totals.items()),
        sorted(
            (hour // HOURS_A_DAY, code, hour % HOURS_A_DAY, people, bots)
            for (code, hour), (people, bots) in hours.items()
        ),
        sorted((*key, people) for key, people in referrers.items()),
    )


def _days(
    hours: Sequence[tuple[int, int, int, int]], referrers: Sequence[tuple[int, str, int]]
) -> list[Day]:
    people: dict[int, list[int]] = defaultdict(lambda: [0] * HOURS_A_DAY)
    bots: dict[int, int] = defaultdict(int)
    hosts: dict[int, dict[str, int]] = defaultdict(dict)
    for day, hour, people_then, bots_then in hours:
        people[day][hour] = people_then
        bots[day] += bots_then
    for day, host, people_from in referrers:
        hosts[day][host] = people_from
    return [
        Day(day, sum(people[day]), bots[day], tuple(people[day]), hosts[day])
        for day in sorted(people)
    ]
