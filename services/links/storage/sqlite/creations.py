"""Records of calls that created links, in an SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import datetime

from services.links.domain.creations import Creation
from services.links.domain.owner import Account
from services.links.storage.creation_encoding import creation_key, decode_outcomes, encode_outcomes
from services.shared.sqlite import Database
from services.shared.timestamps import from_micros, to_micros


class SqliteCreationReader:
    """The `CreationReader` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def delete_older(self, until: datetime, limit: int) -> bool:
        last = to_micros(until)

        def is_due(connection: sqlite3.Connection) -> bool:
            found = connection.execute(
                "SELECT 1 FROM creations WHERE created_at <= ? LIMIT 1", (last,)
            )
            return found.fetchone() is not None

        def delete(connection: sqlite3.Connection) -> bool:
            deleted = connection.execute(
                "DELETE FROM creations WHERE key IN (SELECT key FROM creations "
                "WHERE created_at <= ? ORDER BY created_at LIMIT ?)",
                (last, limit),
            )
            return deleted.rowcount == limit

        # A read does not occupy the writer.
        if not await self._database.read("links_creations_due", is_due):
            return False
        return await self._database.write("links_creations_delete", delete)

    async def delete_all_of(self, account: Account, limit: int) -> bool:
        def delete(connection: sqlite3.Connection) -> bool:
            deleted = connection.execute(
                "DELETE FROM creations WHERE key IN "
                "(SELECT key FROM creations WHERE creator = ? LIMIT ?)",
                (account.id, limit),
            )
            return deleted.rowcount == limit

        return await self._database.write("links_creations_delete", delete)


class SqliteCreationRepository:
    """The `CreationRepository` of a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find(self, account: Account, key: bytes) -> Creation | None:
        row = self._connection.execute(
            "SELECT fingerprint, created_at, outcomes FROM creations WHERE key = ?",
            (creation_key(account, key),),
        ).fetchone()
        if row is None:
            return None
        fingerprint, micros, outcomes = row
        created_at = from_micros(micros)
        decoded = decode_outcomes(outcomes, account, created_at)
        return Creation(account, key, fingerprint, created_at, decoded)

    def save(self, creation: Creation) -> None:
        self._connection.execute(
            "REPLACE INTO creations (key, creator, created_at, fingerprint, outcomes) "
            "VALUES (?, ?, ?, ?, ?)",
            (
                creation_key(creation.account, creation.key),
                creation.account.id,
                to_micros(creation.created_at),
                creation.fingerprint,
                encode_outcomes(creation.outcomes),
            ),
        )


def delete_records_of(
    connection: sqlite3.Connection, created: Iterable[tuple[str | bytes, int]]
) -> None:
    """Delete the records of the calls that created links, in the transaction of their purge.

    `created` has the columns `creator` and `created_at` of the links.
    """
    connection.executemany("DELETE FROM creations WHERE creator = ? AND created_at = ?", created)
