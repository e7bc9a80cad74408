"""Accounts, attempt counts, API keys, sessions, recovery codes and passkeys in an SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from typing import Any

from services.auth.application.ports import AttemptResult
from services.auth.domain.account import Account
from services.auth.domain.api_key import ApiKey, Scope
from services.auth.domain.passkey import Passkey
from services.auth.domain.recovery_code import RecoveryCode
from services.auth.domain.session import Creator, Session
from services.shared.sqlite import Database
from services.shared.timestamps import CLOCK_LEEWAY, from_micros, to_micros
from services.shared.unreadable_records import decode_each

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
    """
    CREATE TABLE api_keys (
        key_hash BLOB PRIMARY KEY,
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        id TEXT NOT NULL,
        name TEXT NOT NULL,
        prefix TEXT NOT NULL,
        scopes TEXT NOT NULL,  -- separated by spaces
        created_at INTEGER NOT NULL,  -- microseconds since the Unix epoch
        expires_at INTEGER,
        last_used_at INTEGER
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX api_keys_by_account ON api_keys (account_id, id);
    """,
    """
    CREATE TABLE sessions (
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        id TEXT NOT NULL,
        created_at INTEGER NOT NULL,  -- microseconds since the Unix epoch
        expires_at INTEGER NOT NULL,
        last_seen_at INTEGER NOT NULL,
        browser TEXT NOT NULL,
        system TEXT NOT NULL,
        PRIMARY KEY (account_id, id)
    ) WITHOUT ROWID;
    CREATE INDEX sessions_by_end ON sessions (expires_at);
    CREATE TABLE recovery_codes (
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        hash BLOB NOT NULL,
        expires_at INTEGER,  -- of the operator's code, microseconds since the Unix epoch
        PRIMARY KEY (account_id, hash)
    ) WITHOUT ROWID;
    CREATE TABLE passkeys (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        public_key BLOB NOT NULL,
        sign_count INTEGER NOT NULL,
        created_at INTEGER NOT NULL,  -- microseconds since the Unix epoch
        last_used_at INTEGER
    ) WITHOUT ROWID;
    CREATE INDEX passkeys_by_account ON passkeys (account_id);
    """,
    # The session that created a key or passkey, and when recovery codes were created.
    """
    ALTER TABLE api_keys ADD COLUMN creator_id TEXT;
    ALTER TABLE api_keys ADD COLUMN creator_created_at INTEGER;
    ALTER TABLE api_keys ADD COLUMN creator_browser TEXT;
    ALTER TABLE api_keys ADD COLUMN creator_system TEXT;
    ALTER TABLE passkeys ADD COLUMN creator_id TEXT;
    ALTER TABLE passkeys ADD COLUMN creator_created_at INTEGER;
    ALTER TABLE passkeys ADD COLUMN creator_browser TEXT;
    ALTER TABLE passkeys ADD COLUMN creator_system TEXT;
    ALTER TABLE recovery_codes ADD COLUMN created_at INTEGER;
    """,
)

_COLUMNS = tuple(field.name for field in fields(Account))
_INSERT = (
    f"INSERT INTO accounts ({', '.join(_COLUMNS)}) VALUES (:{', :'.join(_COLUMNS)}) "
    "ON CONFLICT (email_key) DO NOTHING"
)
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM accounts"
_CREATOR_FIELDS = tuple(field.name for field in fields(Creator))


def _with_creator(entity: type[ApiKey | Passkey]) -> tuple[str, ...]:
    """Return the columns of an entity, whose `created_by` takes several."""
    own = (field.name for field in fields(entity) if field.name != "created_by")
    return (*own, *(f"creator_{name}" for name in _CREATOR_FIELDS))


_KEY_COLUMNS = _with_creator(ApiKey)
_INSERT_KEY = (
    f"INSERT INTO api_keys ({', '.join(_KEY_COLUMNS)}) VALUES (:{', :'.join(_KEY_COLUMNS)})"
)
_KEY_TIMES = ("created_at", "expires_at", "last_used_at")
_SELECT_KEYS = f"SELECT {', '.join(_KEY_COLUMNS)} FROM api_keys"
_SESSION_COLUMNS = tuple(field.name for field in fields(Session))
_INSERT_SESSION = (
    f"INSERT INTO sessions ({', '.join(_SESSION_COLUMNS)}) VALUES (:{', :'.join(_SESSION_COLUMNS)})"
)
_SESSION_TIMES = ("created_at", "expires_at", "last_seen_at")
_SELECT_SESSIONS = f"SELECT {', '.join(_SESSION_COLUMNS)} FROM sessions"
_PASSKEY_COLUMNS = _with_creator(Passkey)
_INSERT_PASSKEY = (
    f"INSERT INTO passkeys ({', '.join(_PASSKEY_COLUMNS)}) "
    f"VALUES (:{', :'.join(_PASSKEY_COLUMNS)}) "
    "ON CONFLICT (id) DO NOTHING"
)
_PASSKEY_TIMES = ("created_at", "last_used_at")
_SELECT_PASSKEYS = f"SELECT {', '.join(_PASSKEY_COLUMNS)} FROM passkeys"
_MAX_DELETED = 100
"""Maximum expired rows that one insertion deletes. It may add one, so the table stays small."""
_ENDED = "(window_ends <= :now OR window_ends > :latest)"


class SqliteAccountStore:
    """An `AccountStore` in an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, account: Account) -> Account:
        row = {**asdict(account), "created_at": to_micros(account.created_at)}

        def operation(connection: sqlite3.Connection) -> Account:
            if connection.execute(_INSERT, row).rowcount == 1:
                return account
            stored = _find(connection, "email_key", account.email_key)
            assert stored is not None
            return stored

        return await self._database.write("accounts_add", operation)

    async def by_email(self, email_key: str) -> Account | None:
        return await self._database.read(
            "accounts_by_email", lambda connection: _find(connection, "email_key", email_key)
        )

    async def by_id(self, account_id: str) -> Account | None:
        return await self._database.read(
            "accounts_by_id", lambda connection: _find(connection, "id", account_id)
        )

    async def change_password(
        self, account: Account, password_hash: str, salt: str, session: Session, revoke: bool
    ) -> bool:
        changes = "password_hash = ?, salt = ?, session = session + 1"
        row = _session_row(session)

        def operation(connection: sqlite3.Connection) -> bool:
            if not _change(connection, account, changes, password_hash, salt):
                return False
            _delete_all(connection, account.id, "sessions", "recovery_codes")
            connection.execute(_INSERT_SESSION, row)
            if revoke:
                _delete_all(connection, account.id, "api_keys", "passkeys")
            return True

        return await self._database.write("accounts_change_password", operation)

    async def close(self, email_key: str) -> str | None:
        def operation(connection: sqlite3.Connection) -> str | None:
            closed = connection.execute(
                "UPDATE accounts SET closed = 1 WHERE email_key = ? RETURNING id", (email_key,)
            ).fetchall()
            return closed[0][0] if closed else None

        return await self._database.write("accounts_close", operation)

    async def close_in_session(self, account: Account) -> bool:
        return await self._database.write(
            "accounts_close_in_session",
            lambda connection: _change(connection, account, "closed = 1"),
        )

    async def list_closed(self, limit: int) -> list[str]:
        def operation(connection: sqlite3.Connection) -> list[str]:
            rows = connection.execute("SELECT id FROM accounts WHERE closed LIMIT ?", (limit,))
            return [account_id for (account_id,) in rows]

        return await self._database.read("accounts_list_closed", operation)

    async def remove(self, account_id: str) -> None:
        def operation(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM accounts WHERE id = ? AND closed", (account_id,))

        await self._database.write("accounts_remove", operation)


class SqliteAttemptStore:
    """An `AttemptStore` in an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def acquire(
        self, counter: str, limit: int, window: timedelta, now: datetime
    ) -> AttemptResult:
        values = {
            "key": counter,
            "limit": limit,
            "now": to_micros(now),
            "ends": to_micros(now + window),
            "latest": to_micros(now + window + CLOCK_LEEWAY),
            "max_deleted": _MAX_DELETED,
        }

        def operation(connection: sqlite3.Connection) -> AttemptResult:
            for ended in ("window_ends <= :now", "window_ends > :latest"):
                connection.execute(
                    "DELETE FROM attempts WHERE key IN (SELECT key FROM attempts "
                    f"WHERE {ended} ORDER BY window_ends LIMIT :max_deleted)",
                    values,
                )
            counted = connection.execute(
                "INSERT INTO attempts (key, count, window_ends) VALUES (:key, 1, :ends) "
                "ON CONFLICT (key) DO UPDATE SET "
                f"count = iif({_ENDED}, 1, count + 1), "
                f"window_ends = iif({_ENDED}, :ends, window_ends) "
                f"WHERE {_ENDED} OR count < :limit RETURNING window_ends",
                values,
            ).fetchall()
            if counted:
                return AttemptResult(True, from_micros(counted[0][0]))
            (ends,) = connection.execute(
                "SELECT window_ends FROM attempts WHERE key = :key", values
            ).fetchone()
            return AttemptResult(False, from_micros(ends))

        return await self._database.write("attempts_acquire", operation)

    async def release(self, counter: str, window_ends: datetime) -> None:
        window = (counter, to_micros(window_ends))

        def operation(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE attempts SET count = count - 1 WHERE key = ? AND window_ends = ?", window
            )
            connection.execute(
                "DELETE FROM attempts WHERE key = ? AND window_ends = ? AND count <= 0", window
            )

        await self._database.write("attempts_release", operation)


class SqliteApiKeyStore:
    """An `ApiKeyStore` in an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, account: Account, key: ApiKey, limit: int) -> bool:
        row = _key_row(key)

        def operation(connection: sqlite3.Connection) -> bool:
            if not _has_room(connection, "api_keys", account, limit):
                return False
            connection.execute(_INSERT_KEY, row)
            return True

        return await self._database.write("api_keys_add", operation)

    async def list_all(self, account_id: str) -> list[ApiKey]:
        def operation(connection: sqlite3.Connection) -> list[ApiKey]:
            rows = _select(connection, f"{_SELECT_KEYS} WHERE account_id = ?", account_id)
            return list(decode_each("api_key", rows, _key_of, lambda _: account_id))

        return await self._database.read("api_keys_list", operation)

    async def find(self, key_hash: bytes) -> tuple[ApiKey, Account] | None:
        def operation(connection: sqlite3.Connection) -> tuple[ApiKey, Account] | None:
            for row in _select(connection, f"{_SELECT_KEYS} WHERE key_hash = ?", key_hash):
                if account := _find(connection, "id", row["account_id"]):
                    return _key_of(row), account
            return None

        return await self._database.read("api_keys_find", operation)

    async def delete(self, account_id: str, key_id: str) -> bool:
        def operation(connection: sqlite3.Connection) -> bool:
            deleted = connection.execute(
                "DELETE FROM api_keys WHERE account_id = ? AND id = ?", (account_id, key_id)
            )
            return deleted.rowcount == 1

        return await self._database.write("api_keys_delete", operation)

    async def record_uses(self, uses: Mapping[bytes, datetime]) -> None:
        rows = [{"key_hash": key_hash, "at": to_micros(at)} for key_hash, at in uses.items()]

        def operation(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "UPDATE api_keys SET last_used_at = :at "
                "WHERE key_hash = :key_hash AND (last_used_at IS NULL OR last_used_at < :at)",
                rows,
            )

        await self._database.write("api_keys_record_uses", operation)


class SqliteSessionStore:
    """A `SessionStore` in an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, account: Account, session: Session, limit: int) -> bool:
        row = _session_row(session)
        values = {
            **row,
            "password_hash": account.password_hash,
            "limit": limit,
            "max_deleted": _MAX_DELETED,
        }

        def operation(connection: sqlite3.Connection) -> bool:
            connection.execute(
                "DELETE FROM sessions WHERE (account_id, id) IN (SELECT account_id, id "
                "FROM sessions WHERE expires_at <= :created_at ORDER BY expires_at "
                "LIMIT :max_deleted)",
                values,
            )
            may_add = connection.execute(
                "SELECT 1 FROM accounts "
                "WHERE id = :account_id AND password_hash = :password_hash AND NOT closed",
                values,
            ).fetchone()
            if may_add is None:
                return False
            connection.execute(_INSERT_SESSION, row)
            connection.execute(
                "DELETE FROM sessions WHERE account_id = :account_id AND id IN (SELECT id "
                "FROM sessions WHERE account_id = :account_id "
                "ORDER BY created_at DESC, id DESC LIMIT -1 OFFSET :limit)",
                values,
            )
            return True

        return await self._database.write("sessions_add", operation)

    async def find(self, account_id: str, session_id: str) -> tuple[Session, Account] | None:
        def operation(connection: sqlite3.Connection) -> tuple[Session, Account] | None:
            query = f"{_SELECT_SESSIONS} WHERE account_id = ? AND id = ?"
            for row in _select(connection, query, account_id, session_id):
                if account := _find(connection, "id", account_id):
                    return _session_of(row), account
            return None

        return await self._database.read("sessions_find", operation)

    async def list_all(self, account_id: str) -> list[Session]:
        def operation(connection: sqlite3.Connection) -> list[Session]:
            rows = _select(connection, f"{_SELECT_SESSIONS} WHERE account_id = ?", account_id)
            return list(decode_each("session", rows, _session_of, lambda _: account_id))

        return await self._database.read("sessions_list", operation)

    async def delete(self, account_id: str, session_id: str) -> bool:
        def operation(connection: sqlite3.Connection) -> bool:
            deleted = connection.execute(
                "DELETE FROM sessions WHERE account_id = ? AND id = ?", (account_id, session_id)
            )
            return deleted.rowcount == 1

        return await self._database.write("sessions_delete", operation)

    async def delete_others(self, account: Account, session_id: str) -> int | None:
        values = {"account_id": account.id, "session": account.session, "id": session_id}

        def operation(connection: sqlite3.Connection) -> int | None:
            counted = connection.execute(
                "UPDATE accounts SET session = session + EXISTS (SELECT 1 FROM sessions "
                "WHERE account_id = :account_id AND id = :id) "
                "WHERE id = :account_id AND session = :session AND NOT closed",
                values,
            )
            if counted.rowcount != 1:
                return None
            return connection.execute(
                "DELETE FROM sessions WHERE account_id = :account_id AND id != :id", values
            ).rowcount

        return await self._database.write("sessions_delete_others", operation)

    async def record_uses(self, uses: Mapping[tuple[str, str], datetime]) -> None:
        rows = [(to_micros(at), *ids, to_micros(at)) for ids, at in uses.items()]

        def operation(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "UPDATE sessions SET last_seen_at = ? "
                "WHERE account_id = ? AND id = ? AND last_seen_at < ?",
                rows,
            )

        await self._database.write("sessions_record_uses", operation)


class SqliteRecoveryCodeStore:
    """A `RecoveryCodeStore` in an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def replace(
        self, account: Account, hashes: Sequence[bytes], created_at: datetime
    ) -> bool:
        rows = [(account.id, code_hash, to_micros(created_at)) for code_hash in hashes]

        def operation(connection: sqlite3.Connection) -> bool:
            if not _change(connection, account, "session = session"):
                return False
            _delete_all(connection, account.id, "recovery_codes")
            connection.executemany(
                "INSERT INTO recovery_codes (account_id, hash, created_at) VALUES (?, ?, ?)", rows
            )
            return True

        return await self._database.write("recovery_codes_replace", operation)

    async def put_expiring(self, account_id: str, code: RecoveryCode) -> bool:
        expires_at = _micros(code.expires_at)

        def operation(connection: sqlite3.Connection) -> bool:
            connection.execute(
                "DELETE FROM recovery_codes WHERE account_id = ? AND expires_at IS NOT NULL",
                (account_id,),
            )
            added = connection.execute(
                "INSERT INTO recovery_codes (account_id, hash, expires_at) "
                "SELECT id, ?, ? FROM accounts WHERE id = ? AND NOT closed",
                (code.hash, expires_at, account_id),
            )
            return added.rowcount == 1

        return await self._database.write("recovery_codes_put_expiring", operation)

    async def list_all(self, account_id: str) -> list[RecoveryCode]:
        def operation(connection: sqlite3.Connection) -> list[RecoveryCode]:
            rows = connection.execute(
                "SELECT hash, expires_at, created_at FROM recovery_codes WHERE account_id = ?",
                (account_id,),
            )
            return list(decode_each("recovery_code", rows, _to_recovery_code, lambda _: account_id))

        return await self._database.read("recovery_codes_list", operation)

    async def spend(
        self,
        account_id: str,
        code: RecoveryCode,
        password_hash: str,
        salt: str,
        revoke: bool,
        now: datetime,
    ) -> bool:
        spent = (account_id, code.hash, to_micros(now))
        deleted_too = "" if code.is_operators else " AND expires_at IS NOT NULL"

        def operation(connection: sqlite3.Connection) -> bool:
            deleted = connection.execute(
                "DELETE FROM recovery_codes WHERE account_id = ? AND hash = ? "
                "AND (expires_at IS NULL OR expires_at > ?) "
                "AND EXISTS (SELECT 1 FROM accounts WHERE id = account_id AND NOT closed)",
                spent,
            )
            if deleted.rowcount != 1:
                return False
            connection.execute(
                "UPDATE accounts SET password_hash = ?, salt = ?, session = session + 1 "
                "WHERE id = ?",
                (password_hash, salt, account_id),
            )
            connection.execute(
                f"DELETE FROM recovery_codes WHERE account_id = ?{deleted_too}", (account_id,)
            )
            _delete_all(connection, account_id, "sessions")
            if revoke:
                _delete_all(connection, account_id, "api_keys", "passkeys")
            return True

        return await self._database.write("recovery_codes_spend", operation)


class SqlitePasskeyStore:
    """A `PasskeyStore` in an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, account: Account, passkey: Passkey, limit: int) -> bool:
        row = _passkey_row(passkey)

        def operation(connection: sqlite3.Connection) -> bool:
            if not _has_room(connection, "passkeys", account, limit):
                return False
            return connection.execute(_INSERT_PASSKEY, row).rowcount == 1

        return await self._database.write("passkeys_add", operation)

    async def list_all(self, account_id: str) -> list[Passkey]:
        def operation(connection: sqlite3.Connection) -> list[Passkey]:
            rows = _select(connection, f"{_SELECT_PASSKEYS} WHERE account_id = ?", account_id)
            return list(decode_each("passkey", rows, _passkey_of, lambda _: account_id))

        return await self._database.read("passkeys_list", operation)

    async def find(self, passkey_id: str) -> tuple[Passkey, Account] | None:
        def operation(connection: sqlite3.Connection) -> tuple[Passkey, Account] | None:
            for row in _select(connection, f"{_SELECT_PASSKEYS} WHERE id = ?", passkey_id):
                if account := _find(connection, "id", row["account_id"]):
                    return _passkey_of(row), account
            return None

        return await self._database.read("passkeys_find", operation)

    async def record_use(self, passkey: Passkey, sign_count: int, used_at: datetime) -> bool:
        values = (sign_count, to_micros(used_at), passkey.id, passkey.sign_count)

        def operation(connection: sqlite3.Connection) -> bool:
            used = connection.execute(
                "UPDATE passkeys SET sign_count = ?, last_used_at = ? "
                "WHERE id = ? AND sign_count = ?",
                values,
            )
            return used.rowcount == 1

        return await self._database.write("passkeys_record_use", operation)

    async def delete(self, account_id: str, passkey_id: str) -> bool:
        def operation(connection: sqlite3.Connection) -> bool:
            deleted = connection.execute(
                "DELETE FROM passkeys WHERE account_id = ? AND id = ?", (account_id, passkey_id)
            )
            return deleted.rowcount == 1

        return await self._database.write("passkeys_delete", operation)


def _change(connection: sqlite3.Connection, account: Account, changes: str, *values: Any) -> bool:
    """Change an account if it is open and its session number is unchanged."""
    changed = connection.execute(
        f"UPDATE accounts SET {changes} WHERE id = ? AND session = ? AND NOT closed",
        (*values, account.id, account.session),
    )
    return changed.rowcount == 1


def _has_room(connection: sqlite3.Connection, table: str, account: Account, limit: int) -> bool:
    """Return whether an account may have another row of a table.

    It may not if it is closed, or its session number has changed.
    """
    has_room = connection.execute(
        f"SELECT (SELECT count(*) FROM {table} WHERE account_id = accounts.id) < ? "
        "FROM accounts WHERE id = ? AND session = ? AND NOT closed",
        (limit, account.id, account.session),
    ).fetchone()
    return bool(has_room == (1,))


def _delete_all(connection: sqlite3.Connection, account_id: str, *tables: str) -> None:
    """Delete the rows of an account in tables."""
    for table in tables:
        connection.execute(f"DELETE FROM {table} WHERE account_id = ?", (account_id,))


def _find(connection: sqlite3.Connection, column: str, value: str) -> Account | None:
    """Return the account with a value in a unique column."""
    for row in _select(connection, f"{_SELECT} WHERE {column} = ?", value):
        created_at, closed = from_micros(row["created_at"]), bool(row["closed"])
        return Account(**{**row, "created_at": created_at, "closed": closed})
    return None


def _select(connection: sqlite3.Connection, query: str, *values: str | bytes) -> list[sqlite3.Row]:
    """Return the rows of a query."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(query, values).fetchall()


def _session_row(session: Session) -> dict[str, Any]:
    row = asdict(session)
    return row | {name: to_micros(row[name]) for name in _SESSION_TIMES}


def _session_of(row: sqlite3.Row) -> Session:
    return Session(**({**row} | {name: from_micros(row[name]) for name in _SESSION_TIMES}))


def _flattened(row: dict[str, Any]) -> dict[str, Any]:
    """Replace `created_by` by its columns."""
    creator = row.pop("created_by") or dict.fromkeys(_CREATOR_FIELDS)
    columns = {f"creator_{name}": creator[name] for name in _CREATOR_FIELDS}
    return row | columns | {"creator_created_at": _micros(creator["created_at"])}


def _unflattened(row: sqlite3.Row) -> dict[str, Any]:
    values = {**row}
    creator = {name: values.pop(f"creator_{name}") for name in _CREATOR_FIELDS}
    if creator["id"] is None:
        return {**values, "created_by": None}
    created_at = from_micros(creator["created_at"])
    return {**values, "created_by": Creator(**{**creator, "created_at": created_at})}


def _key_row(key: ApiKey) -> dict[str, Any]:
    row = asdict(key)
    row |= {name: _micros(row[name]) for name in _KEY_TIMES}
    return {**_flattened(row), "scopes": " ".join(scope.value for scope in key.scopes)}


def _key_of(row: sqlite3.Row) -> ApiKey:
    values = _unflattened(row)
    values |= {name: _moment(row[name]) for name in _KEY_TIMES}
    scopes = row["scopes"].split(" ")
    values["scopes"] = tuple(scope for scope in Scope if scope.value in scopes)
    return ApiKey(**values)


def _passkey_row(passkey: Passkey) -> dict[str, Any]:
    row = asdict(passkey)
    return _flattened(row) | {name: _micros(row[name]) for name in _PASSKEY_TIMES}


def _passkey_of(row: sqlite3.Row) -> Passkey:
    values = _unflattened(row)
    return Passkey(**(values | {name: _moment(row[name]) for name in _PASSKEY_TIMES}))


def _to_recovery_code(row: tuple[bytes, int | None, int | None]) -> RecoveryCode:
    code_hash, expires_at, created_at = row
    return RecoveryCode(code_hash, _moment(expires_at), _moment(created_at))


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
