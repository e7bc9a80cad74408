"""Accounts and counted attempts in an SQLite file."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta

from services.auth.domain import Account
from services.auth.store import Attempt
from services.runtime.moments import CLOCK_LEEWAY, micros_of, moment_of
from services.runtime.sqlite import Database

MIGRATIONS = (
    """
    CREATE TABLE accounts (
        id TEXT PRIMARY KEY,
        email TEXT NOT NULL,
        email_key TEXT NOT NULL UNIQUE,
        username TEXT NOT NULL,
        password_hash TEXT NOT NULL,
        salt TEXT NOT NULL,
        created_at INTEGER NOT NULL  -- microseconds since the Unix epoch
    ) WITHOUT ROWID;
    CREATE TABLE attempts (
        key TEXT PRIMARY KEY,
        count INTEGER NOT NULL,
        window_ends INTEGER NOT NULL  -- microseconds since the Unix epoch
    ) WITHOUT ROWID;
    CREATE INDEX attempts_by_end ON attempts (window_ends);
    """,
    """
    ALTER TABLE accounts ADD COLUMN closed INTEGER NOT NULL DEFAULT 0;  -- 1 once being removed
    """,
    """
    ALTER TABLE accounts ADD COLUMN session INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX accounts_closed ON accounts (id) WHERE closed;
    """,
)

_COLUMNS = "id, email, email_key, username, password_hash, salt, created_at, closed, session"
_TIDIED = 100
"""Most expired rows that one attempt clears away: more than the one it may add."""
_ENDED = "(window_ends <= :now OR window_ends > :latest)"


class SqliteAccountStore:
    """The `AccountStore` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, account: Account) -> Account:
        def operation(connection: sqlite3.Connection) -> Account:
            added = connection.execute(
                f"INSERT INTO accounts ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (email_key) DO NOTHING",
                (
                    account.id,
                    account.email,
                    account.email_key,
                    account.username,
                    account.password_hash,
                    account.salt,
                    micros_of(account.created_at),
                    account.closed,
                    account.session,
                ),
            )
            if added.rowcount == 1:
                return account
            held = connection.execute(
                f"SELECT {_COLUMNS} FROM accounts WHERE email_key = ?", (account.email_key,)
            ).fetchone()
            return _account(held)

        return await self._database.write("accounts_add", operation)

    async def by_email(self, email_key: str) -> Account | None:
        def operation(connection: sqlite3.Connection) -> Account | None:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM accounts WHERE email_key = ?", (email_key,)
            ).fetchone()
            return _account(row) if row else None

        return await self._database.read("accounts_by_email", operation)

    async def rekey(self, account: Account, email_key: str) -> bool:
        def operation(connection: sqlite3.Connection) -> bool:
            changed = connection.execute(
                "UPDATE OR IGNORE accounts SET email_key = ? WHERE id = ? AND email_key = ?",
                (email_key, account.id, account.email_key),
            )
            return changed.rowcount == 1

        return await self._database.write("accounts_rekey", operation)

    async def by_id(self, account_id: str) -> Account | None:
        def operation(connection: sqlite3.Connection) -> Account | None:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM accounts WHERE id = ?", (account_id,)
            ).fetchone()
            return _account(row) if row else None

        return await self._database.read("accounts_by_id", operation)

    async def session(self, account_id: str) -> int | None:
        def operation(connection: sqlite3.Connection) -> int | None:
            row = connection.execute(
                "SELECT session FROM accounts WHERE id = ? AND NOT closed", (account_id,)
            ).fetchone()
            return row[0] if row else None

        return await self._database.read("accounts_session", operation)

    async def change_password(self, account: Account, password_hash: str, salt: str) -> bool:
        def operation(connection: sqlite3.Connection) -> bool:
            changed = connection.execute(
                "UPDATE accounts SET password_hash = ?, salt = ?, session = session + 1 "
                "WHERE id = ? AND session = ? AND NOT closed",
                (password_hash, salt, account.id, account.session),
            )
            return changed.rowcount == 1

        return await self._database.write("accounts_change_password", operation)

    async def close(self, email_key: str) -> str | None:
        def operation(connection: sqlite3.Connection) -> str | None:
            closed = connection.execute(
                "UPDATE accounts SET closed = 1 WHERE email_key = ? RETURNING id", (email_key,)
            ).fetchall()
            return closed[0][0] if closed else None

        return await self._database.write("accounts_close", operation)

    async def close_as_read(self, account: Account) -> bool:
        def operation(connection: sqlite3.Connection) -> bool:
            closed = connection.execute(
                "UPDATE accounts SET closed = 1 WHERE id = ? AND session = ? AND NOT closed",
                (account.id, account.session),
            )
            return closed.rowcount == 1

        return await self._database.write("accounts_close_as_read", operation)

    async def closed(self, most: int) -> list[str]:
        def operation(connection: sqlite3.Connection) -> list[str]:
            rows = connection.execute("SELECT id FROM accounts WHERE closed LIMIT ?", (most,))
            return [account_id for (account_id,) in rows]

        return await self._database.read("accounts_closed", operation)

    async def remove(self, account_id: str) -> None:
        def operation(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM accounts WHERE id = ? AND closed", (account_id,))

        await self._database.write("accounts_remove", operation)


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


def _account(row: tuple[str, str, str, str, str, str, int, int, int]) -> Account:
    return Account(*row[:6], created_at=moment_of(row[6]), closed=bool(row[7]), session=row[8])
