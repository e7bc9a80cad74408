"""The analytics store in an SQLite file.

The primary key of days starts with the day, so that rows written at the same time are adjacent.
The totals of a link tell which days it has, so reading ten years of a link looks up existing rows
only.

A visitor key is deleted in three steps:

1. Overwrite the key. With `secure_delete` of `services.shared.sqlite`, no copy stays in the file.
2. Checkpoint and empty the write-ahead log.
3. Delete the row.

If the process ends in between, the row still exists and the steps are repeated.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from services.analytics.application.ports import MAX_CHANGES, T, Work
from services.analytics.application.records import (
    AggregateRecord,
    DayRecord,
    GatewayRecord,
    K,
    Key,
    R,
    Table,
    TotalsRecord,
)
from services.analytics.application.store import AnalyticsStore
from services.analytics.domain.batches import MAX_ROWS
from services.shared.feed import FeedPage
from services.shared.sqlite import Database
from services.shared.sqlite.feed import SqliteFeed
from services.shared.unreadable_records import decode_each

_FEED = SqliteFeed(MAX_CHANGES, timedelta(minutes=5))
"""Retains five minutes. With three gateways, each with visits to 5,000 links per second, that takes
40 MB."""
_KEYS = {"totals": ("code",), "days": ("code", "day"), "aggregates": ("code", "block")}
"""The key's columns of each table."""


class _Session:
    """A connection. Implements `ports.Session`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find(self, table: Table[K, R], keys: Collection[K]) -> Iterator[tuple[K, R]]:
        statement = f"SELECT {', '.join(table.fields)} FROM {table.name} WHERE {_match(table)}"
        found: Iterator[tuple[K, Any]] = (
            (key, row)
            for key in sorted(keys, key=_row_order)
            if (row := self._connection.execute(statement, _to_values(key)).fetchone())
        )
        if table.record is AggregateRecord:
            found = decode_each("aggregate", found, _decompress, lambda item: item[0])
        for key, row in found:
            yield key, table.record(*row)

    def put(
        self, table: Table[K, R], records: Mapping[K, R], new: Collection[K] = frozenset()
    ) -> None:
        columns = (*_KEYS[table.name], *table.fields)
        self._connection.executemany(
            f"INSERT OR REPLACE INTO {table.name} ({', '.join(columns)}) "
            f"VALUES ({', '.join('?' * len(columns))})",
            (
                _to_values(key) + _to_columns(records[key])
                for key in sorted(records, key=_row_order)
            ),
        )

    def delete(self, table: Table[K, R], keys: Collection[K]) -> None:
        for name in filter(None, (table.name, table.unreadable)):
            self._execute_each(f"DELETE FROM {name} WHERE {_match(table)}", keys)

    def set_aside(self, table: Table[K, R], keys: Collection[K]) -> None:
        self._execute_each(
            f"INSERT OR REPLACE INTO {table.unreadable} "
            f"SELECT * FROM {table.name} WHERE {_match(table)}",
            keys,
        )
        self._execute_each(f"DELETE FROM {table.name} WHERE {_match(table)}", keys)

    def totals_after(self, code: str, limit: int) -> dict[str, TotalsRecord]:
        rows = self._connection.execute(
            "SELECT code, people, bots, days, aggregated, revision FROM totals "
            "WHERE code > ? ORDER BY code LIMIT ?",
            (code, limit),
        )
        return {row[0]: TotalsRecord(*row[1:]) for row in rows}

    def find_days(self, code: str) -> list[int]:
        # `days` has no index by code: look the code up on each day that any link has. The other
        # table has few rows.
        rows = self._connection.execute(
            "WITH RECURSIVE calendar(day) AS (SELECT min(day) FROM days UNION ALL "
            "SELECT (SELECT min(day) FROM days WHERE day > calendar.day) FROM calendar "
            "WHERE calendar.day IS NOT NULL) "
            "SELECT day FROM calendar WHERE EXISTS "
            "(SELECT 1 FROM days WHERE (days.day, code) = (calendar.day, :code)) "
            "UNION SELECT day FROM unreadable_days WHERE code = :code ORDER BY day",
            {"code": code},
        )
        return [day for (day,) in rows]

    def find_gateways(self, gateway_ids: Collection[str]) -> dict[str, GatewayRecord]:
        statement = "SELECT last_batch, visits FROM gateways WHERE id = ?"
        return {
            gateway_id: GatewayRecord(row[0], None, row[1])
            for gateway_id in gateway_ids
            if (row := self._connection.execute(statement, (gateway_id,)).fetchone())
        }

    def gateways(self) -> Iterator[GatewayRecord]:
        for batch, visits in self._connection.execute("SELECT last_batch, visits FROM gateways"):
            yield GatewayRecord(batch, None, visits)

    def put_gateways(self, records: Mapping[str, GatewayRecord]) -> None:
        # `counted` is None, because one transaction adds the whole batch.
        self._connection.executemany(
            "INSERT OR REPLACE INTO gateways (id, last_batch, visits) VALUES (?, ?, ?)",
            ((id_, record.batch, record.visits) for id_, record in records.items()),
        )

    def publish(self, codes: Sequence[str], now: datetime) -> None:
        _FEED.publish(self._connection, codes, now)

    def _execute_each(self, statement: str, keys: Collection[str | Key]) -> None:
        self._connection.executemany(statement, map(_to_values, keys))


class SqliteStore(AnalyticsStore):
    """The analytics store in an SQLite file."""

    codes_per_transaction = MAX_ROWS

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database

    async def _read(self, name: str, work: Work[T]) -> T:
        return await self._database.read(name, lambda connection: work(_Session(connection)))

    async def _write(self, name: str, work: Work[T]) -> T:
        return await self._database.write(name, lambda connection: work(_Session(connection)))

    async def changed_since(self, cursor: str | None) -> FeedPage:
        return await self._database.read(
            "analytics_changes", lambda connection: _FEED.read_since(connection, cursor)
        )

    async def visitor_key(self, day: int, new_key: bytes) -> bytes:
        def operation(connection: sqlite3.Connection) -> bytes:
            connection.execute(
                "INSERT INTO visitor_keys (day, key) VALUES (?, ?) "
                "ON CONFLICT (day) DO UPDATE SET key = excluded.key WHERE key = x''",
                (day, new_key),
            )
            row = connection.execute("SELECT key FROM visitor_keys WHERE day = ?", (day,))
            key: bytes = row.fetchone()[0]
            return key

        return await self._database.write("analytics_key", operation)

    async def delete_visitor_keys(self, today: int) -> int:
        others = "day NOT BETWEEN ? AND ? + 1"
        days = (today, today)

        def has_expired(connection: sqlite3.Connection) -> bool:
            row = connection.execute(f"SELECT 1 FROM visitor_keys WHERE {others}", days)
            return row.fetchone() is not None

        def overwrite(connection: sqlite3.Connection) -> None:
            connection.execute(f"UPDATE visitor_keys SET key = x'' WHERE {others}", days)

        def delete(connection: sqlite3.Connection) -> int:
            return connection.execute(
                f"DELETE FROM visitor_keys WHERE {others} AND key = x''", days
            ).rowcount

        if not await self._database.read("analytics_keys", has_expired):
            return 0
        await self._database.write("analytics_delete_keys", overwrite)
        await self._database.empty_log()
        return await self._database.write("analytics_delete_keys", delete)


def _match(table: Table[K, R]) -> str:
    """Return the condition for a key."""
    return " AND ".join(f"{column} = ?" for column in _KEYS[table.name])


def _to_values(key: str | Key) -> tuple[object, ...]:
    return (key,) if isinstance(key, str) else key


def _row_order(key: str | Key) -> str | tuple[int, str]:
    """Return the sort key by which rows of totals and days are stored."""
    return key if isinstance(key, str) else (key[1], key[0])


def _to_columns(record: TotalsRecord | DayRecord | AggregateRecord) -> tuple[object, ...]:
    """Return the columns of a record. Columns of aggregates are compressed."""
    return (zlib.compress(record.packed, 1),) if isinstance(record, AggregateRecord) else record


def _decompress(item: tuple[K, Any]) -> tuple[K, Any]:
    key, (compressed,) = item
    return key, (zlib.decompress(compressed),)
