"""Accounts and counted attempts in an SQLite file."""

from __future__ import annotations

import sqlite3
from dataclasses import astuple, fields, replace
from datetime import datetime, timedelta
from typing import Any

from services.auth.application.ports import Attempt
from services.auth.domain.account import Account
from services.shared.sqlite import Database
from services.shared.timestamps import CLOCK_LEEWAY, micros_of, moment_of

MIGRATIONS = (
    """
    CREATE TABLE accounts (
        id TEXT PRIMARY KEY,
        email TEXT NOT NULL,
        email_key TEXT NOT NULL UNIQUE,
        username TEXT NOT NULL,
        password_hash TEXT NOT NULL,
        salt TEXT NOT NULL,
        created_at INTEGER NOT NULL,  -- microseconds since the Unix epoch
        closed INTEGER NOT NULL,  -- 1 once being removed
        session INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX accounts_closed ON accounts (id) WHERE closed;
    CREATE TABLE attempts (
        key TEXT PRIMARY KEY,
        count INTEGER NOT NULL,
        window_ends INTEGER NOT NULL  -- microseconds since the Unix epoch
    ) WITHOUT ROWID;
    CREATE INDEX attempts_by_end ON attempts (window_ends);
    """,
)

_COLUMNS = ", ".join(field.name for field in fields(Account))
_VALUES = ", ".join("?" for _ in fields(Account))
_TIDIED = 100
"""Maximum expired rows that one attempt clears away: more than the one it may add."""
_ENDED = "(window_ends <= :now OR window_ends > :latest)"


class SqliteAccountStore:
    """The `AccountStore` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, account: Account) -> Account:
        row = (*astuple(account)[:6], micros_of(account.created_at), *astuple(account)[7:])

        def operation(connection: sqlite3.Connection) -> Account:
            added = connection.execute(
                f"INSERT INTO accounts ({_COLUMNS}) VALUES ({_VALUES}) "
                "ON CONFLICT (email_key) DO NOTHING",
                row,
            )
            held = account if added.rowcount == 1 else _find(connection, "email_key", row[2])
            assert held is not None
            return held

        return await self._database.write("accounts_add", operation)

    async def by_email(self, email_key: str) -> Account | None:
        return await self._database.read(
            "accounts_by_email", lambda connection: _find(connection, "email_key", email_key)
        )

    async def by_id(self, account_id: str) -> Account | None:
        return await self._database.read(
            "accounts_by_id", lambda connection: _find(connection, "id", account_id)
        )

    async def change_password(self, account: Account, password_hash: str, salt: str) -> bool:
        changes = "password_hash = ?, salt = ?, session = session + 1"
        return await self._change("accounts_change_password", account, changes, password_hash, salt)

    async def close(self, email_key: str) -> str | None:
        def operation(connection: sqlite3.Connection) -> str | None:
            closed = connection.execute(
                "UPDATE accounts SET closed = 1 WHERE email_key = ? RETURNING id", (email_key,)
            ).fetchall()
            return closed[0][0] if closed else None

        return await self._database.write("accounts_close", operation)

    async def close_in_session(self, account: Account) -> bool:
        return await self._change("accounts_close_in_session", account, "closed = 1")

    async def closed(self, limit: int) -> list[str]:
        def operation(connection: sqlite3.Connection) -> list[str]:
            rows = connection.execute("SELECT id FROM accounts WHERE closed LIMIT ?", (limit,))
            return [account_id for (account_id,) in rows]

        return await self._database.read("accounts_closed", operation)

    async def remove(self, account_id: str) -> None:
        def operation(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM accounts WHERE id = ? AND closed", (account_id,))

        await self._database.write("accounts_remove", operation)

    async def _change(self, name: str, account: Account, changes: str, *values: Any) -> bool:
        """Change an account that is open and in the session in which it was read."""

        def operation(connection: sqlite3.Connection) -> bool:
            changed = connection.execute(
                f"UPDATE accounts SET {changes} WHERE id = ? AND session = ? AND NOT closed",
                (*values, account.id, account.session),
            )
            return changed.rowcount == 1

        return await self._database.write(name, operation)


class SqliteAttemptStore:
    """The `AttemptStore` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, key: str, limit: int, window: timedelta, now: datetime) -> Attempt:
        values = {
            "key": key,
            "limit": limit,
            "now": micros_of(now),
            "ends": micros_of(now + window),
            "latest": micros_of(now + window + CLOCK_LEEWAY),
            "tidied": _TIDIED,
        }

        def operation(connection: sqlite3.Connection) -> Attempt:
            for ended in ("window_ends <= :now", "window_ends > :latest"):
                connection.execute(
                    "DELETE FROM attempts WHERE key IN (SELECT key FROM attempts "
                    f"WHERE {ended} ORDER BY window_ends LIMIT :tidied)",
                    values,
                )
            taken = connection.execute(
                "INSERT INTO attempts (key, count, window_ends) VALUES (:key, 1, :ends) "
                "ON CONFLICT (key) DO UPDATE SET "
                f"count = iif({_ENDED}, 1, count + 1), "
                f"window_ends = iif({_ENDED}, :ends, window_ends) "
                f"WHERE {_ENDED} OR count < :limit RETURNING window_ends",
                values,
            ).fetchall()
            if taken:
                return Attempt(True, moment_of(taken[0][0]))
            (ends,) = connection.execute(
                "SELECT window_ends FROM attempts WHERE key = :key", values
            ).fetchone()
            return Attempt(False, moment_of(ends))

        return await self._database.write("attempts_take", operation)

    async def give_back(self, key: str, window_ends: datetime) -> None:
        window = (key, micros_of(window_ends))

        def operation(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE attempts SET count = count - 1 WHERE key = ? AND window_ends = ?", window
            )
            connection.execute(
                "DELETE FROM attempts WHERE key = ? AND window_ends = ? AND count <= 0", window
            )

        await self._database.write("attempts_give_back", operation)


def _find(connection: sqlite3.Connection, column: str, value: str) -> Account | None:
    """The account whose unique `column` has a value."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM accounts WHERE {column} = ?", (value,)
    ).fetchone()
    if row is None:
        return None
    account = Account(*row)
    return replace(account, created_at=moment_of(row[6]), closed=bool(account.closed))
