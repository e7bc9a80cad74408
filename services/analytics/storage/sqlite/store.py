"""The analytics store in an SQLite file.

Rows of days lie by day first, so that what is written lies together. Which days a link has is known
from its totals: reading ten years of a link looks up no row that is not there.

A visitor key is deleted in three steps: it is overwritten (`secure_delete` of
`services.shared.sqlite`), the write-ahead log is moved into the file and emptied, and its row is
deleted. If the process ends in between, the row is still there and the steps are repeated.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from services.analytics.domain.visits import MAX_CHANGES, MAX_VISITS
from services.analytics.storage.records import DayRecord, GatewayRecord, Key, TotalsRecord
from services.analytics.storage.store import Store, Work
from services.shared.feed import FeedPage
from services.shared.sqlite import Database
from services.shared.sqlite.feed import SqliteFeed

T = TypeVar("T")

_FEED = SqliteFeed(MAX_CHANGES, timedelta(minutes=5))
"""With three gateways that each visit 5,000 links a second it takes 40 MB."""
_TOTALS = "SELECT code, people, bots, days, aggregated, revision FROM totals"


def store(database: Database) -> Store:
    """Return the analytics store in a file."""
    return Store(_Backend(database))


class _Session:
    """A connection. The methods are those of `records.Session`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def gateway(self, gateway_id: str) -> GatewayRecord | None:
        row = self._connection.execute(
            "SELECT last_batch FROM gateways WHERE id = ?", (gateway_id,)
        ).fetchone()
        return GatewayRecord(row[0], None) if row else None

    def put_gateway(self, gateway_id: str, record: GatewayRecord) -> None:
        # A transaction has the whole batch.
        self._connection.execute(
            "INSERT OR REPLACE INTO gateways VALUES (?, ?)", (gateway_id, record.batch)
        )

    def lock(self, codes: Sequence[str]) -> None:
        """Do nothing: the file has one writer."""

    def totals(self, codes: Sequence[str]) -> dict[str, TotalsRecord]:
        query = f"{_TOTALS} WHERE code IN ({', '.join('?' * len(codes))})"
        rows = self._connection.execute(query, codes)
        return {code: TotalsRecord(*fields) for code, *fields in rows}

    def totals_after(self, code: str, limit: int) -> dict[str, TotalsRecord]:
        query = f"{_TOTALS} WHERE code > ? ORDER BY code LIMIT ?"
        rows = self._connection.execute(query, (code, limit))
        return {code: TotalsRecord(*fields) for code, *fields in rows}

    def put_totals(self, totals: Mapping[str, TotalsRecord]) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO totals VALUES (?, ?, ?, ?, ?, ?)",
            ((code, *record) for code, record in totals.items()),
        )

    def delete_totals(self, codes: Sequence[str]) -> None:
        self._connection.executemany(
            "DELETE FROM totals WHERE code = ?", ((code,) for code in codes)
        )

    def days(self, keys: Sequence[Key]) -> Iterable[tuple[Key, DayRecord]]:
        for code, day in sorted(keys, key=_place):
            row = self._connection.execute(
                "SELECT counts, sketch FROM days WHERE (day, code) = (?, ?)", (day, code)
            ).fetchone()
            if row:
                yield (code, day), DayRecord(*row)

    def put_days(self, days: Mapping[Key, DayRecord], new: set[Key]) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO days VALUES (?, ?, ?, ?)",
            ((key[1], key[0], *days[key]) for key in sorted(days, key=_place)),
        )

    def delete_days(self, keys: Sequence[Key]) -> None:
        self._connection.executemany("DELETE FROM days WHERE (code, day) = (?, ?)", keys)

    def aggregates(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = {}
        for key in keys:
            row = self._connection.execute(
                "SELECT packed FROM aggregates WHERE (code, block) = (?, ?)", key
            ).fetchone()
            if row:
                found[key] = zlib.decompress(row[0])
        return found

    def put_aggregates(self, aggregates: Mapping[Key, bytes]) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO aggregates VALUES (?, ?, ?)",
            ((*key, zlib.compress(packed, 1)) for key, packed in aggregates.items()),
        )

    def delete_aggregates(self, keys: Sequence[Key]) -> None:
        self._connection.executemany("DELETE FROM aggregates WHERE (code, block) = (?, ?)", keys)

    def publish(self, codes: Sequence[str], now: datetime) -> None:
        _FEED.publish(self._connection, codes, now)


class _Backend:
    """A file. The methods are those of `store.Backend`."""

    codes_per_transaction = MAX_VISITS

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


def _place(key: Key) -> tuple[int, str]:
    """Return where the row of a day lies."""
    return key[1], key[0]
