"""Records as rows of tables. Implements `application.records.session`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from services.links.application.records.session import Condition, Key, Record, Session, Table, Work
from services.links.storage.sqlite.rows import placeholders
from services.shared.sqlite import Database

T = TypeVar("T")

_MAX_INTEGER = (1 << 63) - 1


class SqliteSession(Session):
    """The `Session` of a connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute
        self._execute_many = connection.executemany

    def scan(
        self,
        table: Table,
        conditions: Sequence[Condition],
        order: Sequence[str],
        limit: int,
        index: str = "",
    ) -> Iterator[Record]:
        where, values = _where([_without_date(table, condition) for condition in conditions])
        source = f"{table.name} INDEXED BY {index}" if index else table.name
        statement = f"SELECT {', '.join(table.columns)} FROM {source} WHERE {where}"
        if order:
            terms = (f"{name[1:]} DESC" if name[0] == "-" else name for name in order)
            statement += f" ORDER BY {', '.join(terms)}"
        # SQLite takes a negative limit for none.
        for row in self._execute(f"{statement} LIMIT ?", [*values, limit or -1]):
            yield dict(zip(table.columns, row, strict=True))

    def add(self, table: Table, records: Sequence[Record]) -> None:
        rows = [[record[name] for name in table.columns] for record in records]
        self._execute_many(f"INSERT {_into(table, table.columns)}", rows)

    def append(self, table: Table, record: Record) -> str:
        row = [record[name] for name in table.fields]
        return str(self._execute(f"INSERT {_into(table, table.fields)}", row).lastrowid)

    def parse_key(self, text: str) -> int:
        number = int(text)
        if not 0 < number <= _MAX_INTEGER:
            raise ValueError("This is no number of a row.")
        return number

    def put(self, table: Table, record: Record) -> None:
        row = [record[name] for name in table.columns]
        self._execute(f"REPLACE {_into(table, table.columns)}", row)

    def put_unless_held(self, table: Table, record: Record, *alternatives: Condition) -> bool:
        changes = ", ".join(f"{name} = excluded.{name}" for name in table.fields)
        where, values = _where(alternatives, " OR ")
        stored = self._execute(
            f"INSERT {_into(table, table.columns)} ON CONFLICT ({', '.join(table.key)}) "
            f"DO UPDATE SET {changes} WHERE {where}",
            [*(record[name] for name in table.columns), *values],
        )
        return stored.rowcount == 1

    def update(self, table: Table, keys: Sequence[Key], field: str, value: Any) -> None:
        where, values = _where(table.with_keys(keys))
        self._execute(f"UPDATE {table.name} SET {field} = ? WHERE {where}", [value, *values])

    def delete(self, table: Table, keys: Sequence[Key], *conditions: Condition) -> int:
        where, values = _where([*table.with_keys(keys), *conditions])
        return self._execute(f"DELETE FROM {table.name} WHERE {where}", values).rowcount

    def blocked_patterns_version(self) -> int:
        (last,) = self._execute("SELECT max(number) FROM decisions").fetchone()
        return last or 0

    def change_blocked_patterns_version(self) -> None:
        """Do nothing: no pattern is blocked or unblocked without a decision."""


class SqliteBackend:
    """The `Backend` of an SQLite file."""

    deletes_expired = False
    has_long_transactions = True

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, name: str, work: Work[T]) -> T:
        return await self._database.read(name, lambda connection: work(SqliteSession(connection)))

    async def write(self, name: str, work: Work[T]) -> T:
        return await self._database.write(name, lambda connection: work(SqliteSession(connection)))

    write_one = write


def _into(table: Table, columns: Sequence[str]) -> str:
    return f"INTO {table.name} ({', '.join(columns)}) VALUES ({placeholders(columns)})"


def _without_date(table: Table, condition: Condition) -> Condition:
    """Return a condition with the key alone, which orders the records of the table."""
    name, operator, value = condition
    return (name, operator, value[1]) if table.has_pair(condition) else condition


def _where(conditions: Sequence[Condition], joint: str = " AND ") -> tuple[str, list[Any]]:
    """Return conditions in SQL, and the values that they bind."""
    terms: list[str] = []
    values: list[Any] = []
    for name, operator, value in conditions:
        bound = value if operator == "in" else [value]
        terms.append(f"{name} {operator} ({placeholders(bound)})")
        values += bound
    return joint.join(terms) or "TRUE", values
