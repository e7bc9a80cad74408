"""The SQLite backend of the auth stores: a table of accounts, and one of each part."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from typing import Any

from services.auth.application.ports import (
    Insert,
    Not,
    Position,
    T,
    Transaction,
    Update,
    Use,
    Where,
)
from services.auth.application.records import SESSIONS, Collection, Part, Record
from services.auth.application.stores import Stores, build_stores
from services.auth.domain.session import Creator
from services.auth.storage.sqlite.attempts import SqliteAttemptStore
from services.shared.sqlite import Database

_CREATOR = "creator_"
"""Prefix of the columns of the creator of a key or passkey."""
_CREATOR_FIELDS = [field.name for field in fields(Creator)]
_MAX_DELETED = 100
"""Maximum expired rows that one insertion deletes. It may add one, so the table stays small."""


def open_stores(database: Database) -> Stores:
    """Return the auth stores in an SQLite file."""
    return build_stores(SqliteBackend(database), SqliteAttemptStore(database))


class SqliteBackend:
    """An SQLite file. Implements `ports.Backend`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def transact(self, name: str, work: Callable[[Transaction], T]) -> T:
        return await self._database.write(name, lambda connection: work(_Transaction(connection)))

    async def list_page(
        self,
        name: str,
        collection: Collection[Any],
        where: Where,
        text: str,
        after: Position | None,
        limit: int,
    ) -> list[Record]:
        table, time = collection.name, collection.time
        condition, values = _condition(where)
        conditions = [condition] if condition else []
        if text:
            conditions.append(f"instr({collection.searched}, ?) > 0")
            values.append(text)
        if after:
            conditions.append(f"({time}, id) < (?, ?)")
            values += after
        order = f"ORDER BY {time} DESC, id DESC"
        # The inner query reads an index alone, however many records it passes over.
        statement = (
            f"SELECT * FROM {table} WHERE id IN (SELECT id FROM {table} "
            f"WHERE {' AND '.join(conditions) or 'true'} {order} LIMIT ?) {order}"
        )

        def operation(connection: sqlite3.Connection) -> list[Record]:
            return _to_records(connection.execute(statement, (*values, limit)))

        return await self._database.read(name, operation)

    async def count(self, name: str, collection: Collection[Any]) -> int:
        return await self._database.read(name, partial(_count, table=collection.name))

    async def insert(self, name: str, account: Record) -> Record:
        def operation(connection: sqlite3.Connection) -> Record:
            _insert(connection, "accounts", account, "ON CONFLICT (email_key) DO NOTHING")
            (stored,) = _select(connection, "accounts", {"email_key": account["email_key"]})
            return stored

        return await self._database.write(name, operation)

    async def find_account(self, name: str, where: Where) -> Record | None:
        return await self._database.read(name, partial(_find, table="accounts", where=where))

    async def find(self, name: str, part: Part[Any], where: Where) -> tuple[Record, Record] | None:
        def operation(connection: sqlite3.Connection) -> tuple[Record, Record] | None:
            for record in _select(connection, part.name, where):
                for account in _select(connection, "accounts", {"id": record["account_id"]}):
                    return record, account
            return None

        return await self._database.read(name, operation)

    async def list_all(self, name: str, part: Part[Any], account_id: str) -> list[Record]:
        where = {"account_id": account_id}
        return await self._database.read(name, partial(_select, table=part.name, where=where))

    async def list_closed(self, name: str, limit: int) -> list[str]:
        def operation(connection: sqlite3.Connection) -> list[str]:
            # SQLite would read all of another index, which has every account.
            statement = "SELECT id FROM accounts INDEXED BY accounts_closed WHERE closed LIMIT ?"
            rows = connection.execute(statement, (limit,))
            return [account_id for (account_id,) in rows]

        return await self._database.read(name, operation)

    async def delete_closed(self, name: str, account_id: str) -> None:
        where = {"id": account_id, "closed": True}
        await self._database.write(name, partial(_delete, table="accounts", where=where))

    async def update(self, name: str, account: Where, update: Update) -> bool:
        return await self.transact(name, lambda transaction: transaction.update(account, update))

    async def delete_other_sessions(self, name: str, account: Where, session_id: str) -> int | None:
        def operation(connection: sqlite3.Connection) -> int | None:
            if not _select(connection, "accounts", account):
                return None
            own = {"account_id": account["id"]}
            is_stored = bool(_select(connection, SESSIONS.name, {**own, "id": session_id}))
            _update_account(connection, account["id"], Update(increments_session=is_stored))
            return _delete(connection, SESSIONS.name, {**own, "id": Not(session_id)})

        return await self._database.write(name, operation)

    async def set_fields(
        self, name: str, part: Part[Any], account_id: str, where: Where, values: Record
    ) -> bool:
        query = {"account_id": account_id, **where}
        update = partial(_set, table=part.name, values=values, where=query)
        return await self._database.write(name, update) == 1

    async def advance(self, name: str, part: Part[Any], field: str, uses: Sequence[Use]) -> None:
        query, _ = _condition(uses[0].where)
        advance = (
            f"UPDATE {part.name} SET {field} = ? WHERE {query} AND ({field} IS NULL OR {field} < ?)"
        )
        see = (
            "UPDATE accounts SET last_seen_at = ? "
            f"WHERE id IN (SELECT account_id FROM {part.name} WHERE {query}) "
            "AND (last_seen_at IS NULL OR last_seen_at < ?)"
        )

        def operation(connection: sqlite3.Connection) -> None:
            connection.executemany(advance, [(at, *where.values(), at) for where, at, _ in uses])
            connection.executemany(see, [(hour, *where.values(), hour) for where, _, hour in uses])

        await self._database.write(name, operation)


class _Transaction:
    """A transaction on an SQLite file. Implements `ports.Transaction`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find_account(self, where: Where) -> Record | None:
        return _find(self._connection, "accounts", where)

    def has_accounts(self) -> bool:
        return bool(self._connection.execute("SELECT 1 FROM accounts LIMIT 1").fetchall())

    def insert_account(self, account: Record) -> None:
        _insert(self._connection, "accounts", account)

    def update(self, account: Where, update: Update) -> bool:
        if not _select(self._connection, "accounts", account):
            return False
        return _update_account(self._connection, account["id"], update)

    def has_other_administrator(self, account_id: str) -> bool:
        administering = self._connection.execute(
            "SELECT id FROM accounts "
            "WHERE role = 'administrator' AND NOT suspended AND NOT closed LIMIT 2"
        )
        return any(found != account_id for (found,) in administering)

    def find(self, collection: Collection[Any], where: Where) -> Record | None:
        return _find(self._connection, collection.name, where)

    def count(self, collection: Collection[Any]) -> int:
        return _count(self._connection, collection.name)

    def insert(self, collection: Collection[Any], record: Record) -> None:
        _insert(self._connection, collection.name, record)

    def delete(self, collection: Collection[Any], where: Where) -> bool:
        return _delete(self._connection, collection.name, where) > 0

    def delete_expired(self, collection: Collection[Any], now: int) -> None:
        statement = f"DELETE FROM {collection.name} WHERE expires_at <= ?"
        self._connection.execute(statement, (now,))


def _update_account(connection: sqlite3.Connection, account_id: str, update: Update) -> bool:
    """Make an update, unless it is refused. Return whether it was made."""
    own = {"account_id": account_id}
    if update.has:
        part, where = update.has
        if not _select(connection, part.name, {**own, **where}):
            return False
    if update.insert and not _may_insert(connection, own, update.insert):
        return False
    if update.fields:
        _set(connection, "accounts", update.fields, {"id": account_id})
    if update.increments_session:
        connection.execute("UPDATE accounts SET session = session + 1 WHERE id = ?", (account_id,))
    for part, where in update.delete:
        _delete(connection, part.name, {**own, **where})
    if update.insert:
        _insert_records(connection, own, update.insert)
    return True


def _may_insert(connection: sqlite3.Connection, own: Where, insert: Insert) -> bool:
    table = insert.part.name
    if insert.limit is not None and len(_select(connection, table, own)) >= insert.limit:
        return False
    ids = [record["id"] for record in insert.records] if insert.part.has_unique_ids else []
    return not any(_select(connection, table, {"id": record_id}) for record_id in ids)


def _insert_records(connection: sqlite3.Connection, own: Where, insert: Insert) -> None:
    table = insert.part.name
    if insert.expired_at is not None:
        connection.execute(
            f"DELETE FROM {table} WHERE (account_id, id) IN (SELECT account_id, id "
            f"FROM {table} WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)",
            (insert.expired_at, _MAX_DELETED),
        )
    for record in insert.records:
        _insert(connection, table, {**own, **record})
    if insert.max_records is not None:
        connection.execute(
            f"DELETE FROM {table} WHERE account_id = :account_id AND id IN (SELECT id "
            f"FROM {table} WHERE account_id = :account_id "
            "ORDER BY created_at DESC, id DESC LIMIT -1 OFFSET :max_records)",
            {**own, "max_records": insert.max_records},
        )


def _select(connection: sqlite3.Connection, table: str, where: Where) -> list[Record]:
    condition, values = _condition(where)
    return _to_records(connection.execute(f"SELECT * FROM {table} WHERE {condition}", values))


def _find(connection: sqlite3.Connection, table: str, where: Where) -> Record | None:
    """Return the only row that matches."""
    found = _select(connection, table, where)
    return found[0] if found else None


def _count(connection: sqlite3.Connection, table: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(count)


def _to_records(rows: sqlite3.Cursor) -> list[Record]:
    columns = [name for name, *_ in rows.description]
    return [_to_record(dict(zip(columns, row, strict=True))) for row in rows]


def _insert(connection: sqlite3.Connection, table: str, record: Record, suffix: str = "") -> None:
    row = _to_row(record)
    connection.execute(
        f"INSERT INTO {table} ({', '.join(row)}) VALUES (:{', :'.join(row)}) {suffix}", row
    )


def _set(connection: sqlite3.Connection, table: str, values: Record, where: Where) -> int:
    """Set fields of rows. Return how many there are."""
    condition, tested = _condition(where)
    assignments = ", ".join(f"{name} = ?" for name in values)
    statement = f"UPDATE {table} SET {assignments} WHERE {condition}"
    return connection.execute(statement, (*values.values(), *tested)).rowcount


def _delete(connection: sqlite3.Connection, table: str, where: Where) -> int:
    """Delete rows. Return how many there were."""
    condition, values = _condition(where)
    return connection.execute(f"DELETE FROM {table} WHERE {condition}", values).rowcount


def _condition(where: Where) -> tuple[str, list[Any]]:
    """Return a query as an SQL expression and its values. `IS` also compares with NULL."""
    tests = [f"{name} IS{' NOT' * isinstance(value, Not)} ?" for name, value in where.items()]
    values = [value.value if isinstance(value, Not) else value for value in where.values()]
    return " AND ".join(tests), values


def _to_row(record: Record) -> Record:
    """Return the columns of a record: its creator takes several, and scopes become a text."""
    row = {**record}
    creator = row.pop("created_by", {})
    row |= {_CREATOR + name: value for name, value in creator.items()}
    if "scopes" in row:
        row["scopes"] = " ".join(row["scopes"])
    return row


def _to_record(row: Record) -> Record:
    """Turn a row into its record. It may be damaged: the decoder will notice."""
    if "creator_id" in row:
        creator = {name: row.pop(_CREATOR + name) for name in _CREATOR_FIELDS}
        row["created_by"] = None if creator["id"] is None else creator
    if isinstance(row.get("scopes"), str):
        row["scopes"] = row["scopes"].split(" ")
    return row
