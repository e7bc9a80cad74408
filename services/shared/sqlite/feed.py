"""The change feed of an SQLite file, in its table `changes` (`number`, `codes`, `changed_at`).

A change and its row are written in one transaction. SQLite numbers the rows without gaps. A cursor
is the number of the last row that was read, 0 before the first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.shared.feed import FeedPage
from services.shared.timestamps import CLOCK_LEEWAY, to_micros

_MIN_ROWS = 1000
"""Newest rows that are kept regardless of their age, which is wrong if a clock was ahead."""
_MAX_DIGITS = 19
"""Digits of the largest row number."""
_MAX_DELETED = 10
"""Maximum old rows that one change deletes: more than it adds."""


@dataclass(frozen=True, slots=True)
class SqliteFeed:
    """The change feed of a file. A page has at most `max_keys` keys; rows stay for `retention`."""

    max_keys: int
    retention: timedelta

    def publish(self, connection: sqlite3.Connection, keys: Sequence[str], now: datetime) -> None:
        """Append keys to the feed and delete some old rows, in the transaction of the change."""
        if not keys:
            return
        for start in range(0, len(keys), self.max_keys):
            connection.execute(
                "INSERT INTO changes (codes, changed_at) VALUES (?, ?)",
                (" ".join(keys[start : start + self.max_keys]), to_micros(now)),
            )
        connection.execute(
            # Otherwise a row dated in the far future would be kept until then, with all later rows.
            "DELETE FROM changes WHERE NOT (changed_at > ? AND changed_at <= ?) "
            "AND number <= (SELECT max(number) FROM changes) - ? "
            "AND number IN (SELECT number FROM changes ORDER BY number LIMIT ?)",
            (
                to_micros(now - self.retention),
                to_micros(now + CLOCK_LEEWAY),
                _MIN_ROWS,
                _MAX_DELETED,
            ),
        )

    def read_since(self, connection: sqlite3.Connection, cursor: str | None) -> FeedPage:
        """Return the page of the feed after a cursor; None returns the current cursor only."""
        first, last = connection.execute(
            "SELECT coalesce(min(number), 1), coalesce(max(number), 0) FROM changes"
        ).fetchone()
        if cursor is None:
            return FeedPage(str(last))
        number = int(cursor) if cursor.isdecimal() and len(cursor) <= _MAX_DIGITS else -1
        # Otherwise its row was deleted, or the file was restored from a backup.
        if not first - 1 <= number <= last:
            return FeedPage(str(last), truncated=True)
        keys: dict[str, None] = {}
        rows = connection.execute(
            "SELECT number, codes FROM changes WHERE number > ? ORDER BY number LIMIT ?",
            (number, self.max_keys),
        )
        for row_number, joined in rows:
            changed = joined.split()
            if keys and len(keys.keys() | changed) > self.max_keys:
                break
            keys.update(dict.fromkeys(changed))
            number = row_number
        rows.close()
        return FeedPage(str(number), tuple(keys), more=number < last)
