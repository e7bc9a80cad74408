"""Records as rows of tables. Implements `records`."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from itertools import islice
from typing import Any, TypeVar

from services.links.storage.records import Condition, Key, Record, Table, Work
from services.links.storage.sqlite.rows import placeholders
from services.shared.sqlite import Database

T = TypeVar("T")


class SqliteSession:
    """A connection. Implements `records.Session`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find(self, table: Table, *key: Any) -> Record | None:
        return next(iter(self.find_all(table, [key])), None)

    def find_all(self, table: Table, keys: Sequence[Key]) -> list[Record]:
        return self._records(table, *_with_keys(table, keys))

    def select(
        self, table: Table, *conditions: Condition, order: Sequence[str] = (), limit: int = 0
    ) -> list[Record]:
        return self._records(table, *_where(conditions), order, limit)

    def select_keys(self, table: Table, *conditions: Condition, limit: int = 0) -> list[Key]:
        where, values = _where(conditions)
        return self._select(table, table.key, where, values, (), limit).fetchall()

    def select_after(
        self, table: Table, key: Key, *conditions: Condition, limit: int
    ) -> list[Record]:
        *same, (last, after) = zip(table.key, key, strict=True)
        of_key: list[Condition] = [(name, "=", value) for name, value in same]
        return self.select(
            table, *of_key, (last, ">", after), *conditions, order=(last,), limit=limit
        )

    def search(
        self,
        table: Table,
        fields: Sequence[str],
        pattern: re.Pattern[str],
        *,
        order: Sequence[str],
        max_searched: int,
        limit: int,
    ) -> list[Record]:
        # SQLite compares only ASCII without case.
        columns = (*table.key, *table.fields)
        searched = self._select(table, columns, "TRUE", (), order, max_searched)
        records = (dict(zip(columns, row, strict=True)) for row in searched)
        found = (
            record
            for record in records
            if any(pattern.search(text) for name in fields if (text := record[name]))
        )
        return list(islice(found, limit))

    def add(self, table: Table, records: Sequence[Record]) -> None:
        columns = table.fields if table.dated_by else (*table.key, *table.fields)
        self._connection.executemany(
            f"INSERT {_into(table, columns)}",
            [[record[name] for name in columns] for record in records],
        )

    def put(self, table: Table, record: Record) -> None:
        columns = (*table.key, *table.fields)
        self._connection.execute(
            f"REPLACE {_into(table, columns)}", [record[name] for name in columns]
        )

    def put_unless_held(self, table: Table, record: Record, *alternatives: Condition) -> bool:
        columns = (*table.key, *table.fields)
        changes = ", ".join(f"{name} = excluded.{name}" for name in table.fields)
        where, values = _where(alternatives, " OR ")
        stored = self._connection.execute(
            f"INSERT {_into(table, columns)} ON CONFLICT ({', '.join(table.key)}) "
            f"DO UPDATE SET {changes} WHERE {where}",
            [*(record[name] for name in columns), *values],
        )
        return stored.rowcount == 1

    def update(self, table: Table, keys: Sequence[Key], field: str, value: Any) -> None:
        where, values = _with_keys(table, keys)
        self._connection.execute(
            f"UPDATE {table.name} SET {field} = ? WHERE {where}", (value, *values)
        )

    def delete(self, table: Table, keys: Sequence[Key], *conditions: Condition) -> int:
        with_keys, key_values = _with_keys(table, keys)
        where, values = _where(conditions)
        deleted = self._connection.execute(
            f"DELETE FROM {table.name} WHERE {with_keys} AND {where}", (*key_values, *values)
        )
        return deleted.rowcount

    def blocked_patterns_version(self) -> int:
        # No pattern is blocked or unblocked without a decision.
        (last,) = self._connection.execute("SELECT max(number) FROM decisions").fetchone()
        return last or 0

    def change_blocked_patterns_version(self) -> None:
        """Do nothing: a new decision has a higher number."""

    def _records(
        self,
        table: Table,
        where: str,
        values: Sequence[Any],
        order: Sequence[str] = (),
        limit: int = 0,
    ) -> list[Record]:
        columns = (*table.key, *table.fields)
        rows = self._select(table, columns, where, values, order, limit)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def _select(
        self,
        table: Table,
        columns: Sequence[str],
        where: str,
        values: Sequence[Any],
        order: Sequence[str],
        limit: int,
    ) -> sqlite3.Cursor:
        statement = f"SELECT {', '.join(columns)} FROM {table.name} WHERE {where}"
        if order:
            terms = (f"{name[1:]} DESC" if name[0] == "-" else name for name in order)
            statement += f" ORDER BY {', '.join(terms)}"
        # SQLite takes a negative limit for none.
        return self._connection.execute(f"{statement} LIMIT ?", (*values, limit or -1))


class SqliteBackend:
    """An SQLite file. Implements `records.Backend`."""

    deletes_expired = False

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, name: str, work: Work[T]) -> T:
        return await self._database.read(name, lambda connection: work(SqliteSession(connection)))

    async def write(self, name: str, work: Work[T]) -> T:
        return await self._database.write(name, lambda connection: work(SqliteSession(connection)))

    write_one = write


def _into(table: Table, columns: Sequence[str]) -> str:
    return f"INTO {table.name} ({', '.join(columns)}) VALUES ({placeholders(columns)})"


def _where(conditions: Sequence[Condition], joint: str = " AND ") -> tuple[str, list[Any]]:
    """Return conditions in SQL, and the values that they bind."""
    terms, values = [], []
    for name, operator, value in conditions:
        if operator == "is not":  # Only the literal matches a partial index.
            terms.append(f"{name} IS NOT NULL")
        elif operator == "in":
            terms.append(f"{name} IN ({placeholders(value)})")
            values += value
        else:
            terms.append(f"{name} {operator} ?")
            values.append(value)
    return joint.join(terms) or "TRUE", values


def _with_keys(table: Table, keys: Sequence[Key]) -> tuple[str, list[Any]]:
    """Return the condition of having one of some keys, and the values that it binds."""
    if not keys:
        return "FALSE", []
    *same, last = table.key
    conditions: list[Condition] = [
        (name, "=", value) for name, value in zip(same, keys[0][:-1], strict=True)
    ]
    return _where([*conditions, (last, "in", [key[-1] for key in keys])])
