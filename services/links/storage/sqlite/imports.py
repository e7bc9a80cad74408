"""Imports and their rows in an SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from services.links.domain.imports import Import, RowResult, StoredRow, Verdict
from services.links.domain.owner import Account
from services.links.storage.import_key import import_key
from services.links.storage.sqlite.rows import placeholders
from services.shared.sqlite import Database
from services.shared.timestamps import from_micros, to_micros
from services.shared.unreadable_records import decode_each, decode_page

_COLUMNS = "creator, id, started_at, links, removed"


class SqliteImportReader:
    """The `ImportReader` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def newest(self, account: Account, since: datetime, limit: int) -> list[Import]:
        def operation(connection: sqlite3.Connection) -> list[Import]:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM imports WHERE creator = ? AND started_at > ? "
                "ORDER BY started_at DESC, key DESC LIMIT ?",
                (account.id, to_micros(since), limit),
            )
            return list(
                decode_each("import", rows, lambda row: _import_of(*row), lambda row: row[1])
            )

        return await self._database.read("links_imports", operation)

    async def delete_older(self, until: datetime, day: int, limit: int) -> bool:
        last = to_micros(until)

        def is_due(connection: sqlite3.Connection) -> bool:
            found = connection.execute(
                "SELECT 1 FROM imports WHERE started_at <= ? UNION ALL "
                "SELECT 1 FROM import_days WHERE day < ? LIMIT 1",
                (last, day),
            )
            return found.fetchone() is not None

        def delete(connection: sqlite3.Connection) -> bool:
            days = connection.execute(
                "DELETE FROM import_days WHERE creator IN "
                "(SELECT creator FROM import_days WHERE day < ? LIMIT ?)",
                (day, limit),
            ).rowcount
            due = "SELECT key FROM imports WHERE started_at <= ? ORDER BY started_at LIMIT 1"
            return _delete(connection, due, last, limit) or days == limit

        # A read does not occupy the writer.
        if not await self._database.read("links_imports_due", is_due):
            return False
        return await self._database.write("links_imports_delete", delete)

    async def delete_all_of(self, account: Account, limit: int) -> bool:
        def delete(connection: sqlite3.Connection) -> bool:
            connection.execute("DELETE FROM import_days WHERE creator = ?", (account.id,))
            of_account = "SELECT key FROM imports WHERE creator = ? LIMIT 1"
            return _delete(connection, of_account, account.id, limit)

        return await self._database.write("links_imports_delete", delete)


class SqliteImportRepository:
    """The `ImportRepository` of a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find(self, account: Account, import_id: str) -> Import | None:
        row = self._connection.execute(
            f"SELECT {_COLUMNS} FROM imports WHERE key = ?", (import_key(account, import_id),)
        ).fetchone()
        return _import_of(*row) if row else None

    def save(self, one: Import) -> None:
        self._connection.execute(
            f"REPLACE INTO imports (key, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
            (
                import_key(one.account, one.id),
                one.account.id,
                one.id,
                to_micros(one.started_at),
                one.links,
                one.removed,
            ),
        )

    def results(self, account: Account, import_id: str, numbers: Sequence[int]) -> list[RowResult]:
        rows = self._connection.execute(
            "SELECT number, verdict, code FROM import_rows "
            f"WHERE import = ? AND number IN ({placeholders(numbers)})",
            (import_key(account, import_id), *numbers),
        )
        return [_result_of(*row) for row in rows]

    def add_rows(self, account: Account, import_id: str, rows: Sequence[StoredRow]) -> None:
        key = import_key(account, import_id)
        self._connection.executemany(
            "INSERT INTO import_rows (import, number, verdict, code, fingerprint) "
            "VALUES (?, ?, ?, ?, ?)",
            [
                (
                    key,
                    row.result.number,
                    row.result.verdict.value,
                    row.result.code,
                    row.fingerprint or None,
                )
                for row in rows
            ],
        )

    def created_codes(
        self, account: Account, import_id: str, codes: Sequence[str]
    ) -> frozenset[str]:
        rows = self._connection.execute(
            "SELECT code FROM import_rows WHERE fingerprint IS NOT NULL "
            f"AND import = ? AND code IN ({placeholders(codes)})",
            (import_key(account, import_id), *codes),
        )
        return frozenset(code for (code,) in rows)

    def created_rows(
        self, account: Account, import_id: str, after: int, limit: int
    ) -> list[StoredRow]:
        key = import_key(account, import_id)

        def read(wanted: int) -> list[Sequence[Any]]:
            return self._connection.execute(
                "SELECT number, verdict, code, fingerprint FROM import_rows WHERE import = ? "
                "AND number > ? AND fingerprint IS NOT NULL AND NOT undone ORDER BY number LIMIT ?",
                (key, after, wanted),
            ).fetchall()

        def parse_row(row: Sequence[Any]) -> StoredRow:
            *result, fingerprint = row
            return StoredRow(_result_of(*result), fingerprint)

        return decode_page(
            "import_row", read, limit, parse_row, lambda row: f"{import_id} {row[0]}"
        )

    def mark_undone(self, account: Account, import_id: str, numbers: Sequence[int]) -> None:
        self._connection.execute(
            "UPDATE import_rows SET undone = 1 "
            f"WHERE import = ? AND number IN ({placeholders(numbers)})",
            (import_key(account, import_id), *numbers),
        )

    def rows_on(self, account: Account, day: int) -> int:
        found = self._connection.execute(
            "SELECT rows FROM import_days WHERE creator = ? AND day = ?", (account.id, day)
        ).fetchone()
        return found[0] if found else 0

    def save_rows_on(self, account: Account, day: int, count: int) -> None:
        self._connection.execute(
            "REPLACE INTO import_days (creator, day, rows) VALUES (?, ?, ?)",
            (account.id, day, count),
        )


def _delete(connection: sqlite3.Connection, select_key: str, value: str | int, limit: int) -> bool:
    """Delete the imports that a query selects, one after the other, each after its last row.

    Deletes up to `limit` rows and imports. Returns whether there may be more.
    """
    while limit > 0:
        found = connection.execute(select_key, (value,)).fetchone()
        if found is None:
            return False
        (key,) = found
        deleted = connection.execute(
            "DELETE FROM import_rows WHERE import = ? AND number IN "
            "(SELECT number FROM import_rows WHERE import = ? LIMIT ?)",
            (key, key, limit),
        ).rowcount
        if deleted < limit:
            connection.execute("DELETE FROM imports WHERE key = ?", (key,))
        limit -= deleted + 1
    return True


def _import_of(creator: str, import_id: str, started_at: int, links: int, removed: int) -> Import:
    return Import(Account(creator), import_id, from_micros(started_at), links, removed)


def _result_of(number: int, verdict: str, code: str | None) -> RowResult:
    return RowResult(number, Verdict(verdict), code)
