"""Attempt counts in an SQLite file."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta

from services.auth.application.ports import AttemptResult
from services.shared.sqlite import Database
from services.shared.timestamps import CLOCK_LEEWAY, from_micros, to_micros

_MAX_DELETED = 100
"""Maximum ended windows that one attempt deletes. It may add one, so the table stays small."""
_MAX_WINDOW = timedelta(days=366)
"""Longer than any window, by the settings."""
_ENDED = "(window_ends <= :now OR window_ends > :latest)"


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
            # Other counters may have longer windows than this one.
            "latest_of_all": to_micros(now + _MAX_WINDOW),
            "max_deleted": _MAX_DELETED,
        }

        def operation(connection: sqlite3.Connection) -> AttemptResult:
            for ended in ("window_ends <= :now", "window_ends > :latest_of_all"):
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
