"""The SQLite backend of the analytics store.

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
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from services.analytics.application.ports import MAX_CHANGES
from services.analytics.domain.batches import MAX_ROWS
from services.analytics.storage.records import DayRecord, GatewayRecord, Key, TotalsRecord
from services.analytics.storage.session import Work
from services.analytics.storage.store import Store
from services.shared.feed import FeedPage
from services.shared.sqlite import Database
from services.shared.sqlite.feed import SqliteFeed
from services.shared.unreadable_records import decode_each

T = TypeVar("T")

_FEED = SqliteFeed(MAX_CHANGES, timedelta(minutes=5))
"""Retains five minutes. With three gateways, each with visits to 5,000 links per second, that takes
40 MB."""
_SELECT_TOTALS = "SELECT code, people, bots, days, aggregated, revision FROM totals"
_PUT_TOTALS = (
    "INSERT OR REPLACE INTO totals (code, people, bots, days, aggregated, revision) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)
_PUT_DAY = "INSERT OR REPLACE INTO days (day, code, counts, sketch) VALUES (?, ?, ?, ?)"


def open_store(database: Database) -> Store:
    """Return the analytics store in an SQLite file."""
    return Store(_Backend(database))


class _Session:
    """A connection. Implements `session.Session`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def gateway(self, gateway_id: str) -> GatewayRecord | None:
        row = self._connection.execute(
            "SELECT last_batch FROM gateways WHERE id = ?", (gateway_id,)
        ).fetchone()
        return GatewayRecord(row[0], None) if row else None

    def put_gateway(self, gateway_id: str, record: GatewayRecord) -> None:
        # `record.counted` is None, because one transaction adds the whole batch.
        self._connection.execute(
            "INSERT OR REPLACE INTO gateways (id, last_batch) VALUES (?, ?)",
            (gateway_id, record.batch),
        )

    def lock(self, codes: Sequence[str]) -> None:
        """Do nothing: SQLite has a single writer."""

    def totals(self, codes: Sequence[str]) -> dict[str, TotalsRecord]:
        placeholders = ", ".join("?" * len(codes))
        return self._select_totals(f"WHERE code IN ({placeholders})", codes)

    def totals_after(self, code: str, limit: int) -> dict[str, TotalsRecord]:
        return self._select_totals("WHERE code > ? ORDER BY code LIMIT ?", (code, limit))

    def put_totals(self, totals: Mapping[str, TotalsRecord]) -> None:
        self._connection.executemany(
            _PUT_TOTALS, ((code, *record) for code, record in totals.items())
        )

    def delete_totals(self, codes: Sequence[str]) -> None:
        for table in ("totals", "unreadable_totals"):
            self._connection.executemany(
                f"DELETE FROM {table} WHERE code = ?", ((code,) for code in codes)
            )

    def set_totals_aside(self, codes: Sequence[str]) -> None:
        rows = [(code,) for code in codes]
        self._connection.executemany(
            "INSERT OR REPLACE INTO unreadable_totals SELECT * FROM totals WHERE code = ?", rows
        )
        self._connection.executemany("DELETE FROM totals WHERE code = ?", rows)

    def days(self, keys: Sequence[Key]) -> Iterable[tuple[Key, DayRecord]]:
        for code, day in sorted(keys, key=_row_order):
            row = self._connection.execute(
                "SELECT counts, sketch FROM days WHERE (day, code) = (?, ?)", (day, code)
            ).fetchone()
            if row:
                yield (code, day), DayRecord(*row)

    def put_days(self, days: Mapping[Key, DayRecord], new: set[Key]) -> None:
        self._connection.executemany(
            _PUT_DAY, ((day, code, *days[code, day]) for code, day in sorted(days, key=_row_order))
        )

    def delete_days(self, keys: Sequence[Key]) -> None:
        for table in ("days", "unreadable_days"):
            self._connection.executemany(f"DELETE FROM {table} WHERE (code, day) = (?, ?)", keys)

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

    def set_days_aside(self, keys: Sequence[Key]) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO unreadable_days SELECT * FROM days WHERE (code, day) = (?, ?)",
            keys,
        )
        self._connection.executemany("DELETE FROM days WHERE (code, day) = (?, ?)", keys)

    def aggregates(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = {}
        for key in keys:
            row = self._connection.execute(
                "SELECT packed FROM aggregates WHERE (code, block) = (?, ?)", key
            ).fetchone()
            if row:
                found[key] = row[0]
        return dict(decode_each("aggregate", found.items(), _decompress, lambda item: item[0]))

    def put_aggregates(self, aggregates: Mapping[Key, bytes]) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO aggregates (code, block, packed) VALUES (?, ?, ?)",
            ((*key, zlib.compress(packed, 1)) for key, packed in aggregates.items()),
        )

    def delete_aggregates(self, keys: Sequence[Key]) -> None:
        self._connection.executemany("DELETE FROM aggregates WHERE (code, block) = (?, ?)", keys)

    def publish(self, codes: Sequence[str], now: datetime) -> None:
        _FEED.publish(self._connection, codes, now)

    def _select_totals(self, condition: str, values: Sequence[Any]) -> dict[str, TotalsRecord]:
        cursor = self._connection.cursor()
        cursor.row_factory = sqlite3.Row
        rows = cursor.execute(f"{_SELECT_TOTALS} {condition}", values)
        return {
            row["code"]: TotalsRecord(
                people=row["people"],
                bots=row["bots"],
                days=row["days"],
                aggregated=row["aggregated"],
                revision=row["revision"],
            )
            for row in rows
        }


class _Backend:
    """An SQLite file. Implements `session.Backend`."""

    codes_per_transaction = MAX_ROWS

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, name: str, work: Work[T]) -> T:
        return await self._database.read(name, lambda connection: work(_Session(connection)))

    async def write(self, name: str, work: Work[T], size: int = 0) -> T:
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


def _decompress(item: tuple[Key, bytes]) -> tuple[Key, bytes]:
    key, compressed = item
    return key, zlib.decompress(compressed)


def _row_order(key: Key) -> tuple[int, str]:
    """Return the sort key by which rows of days are stored."""
    code, day = key
    return day, code
