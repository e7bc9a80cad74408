"""The change feed of an SQLite file, in its table `changes` (`number`, `codes`, `changed_at`).

A change and its row are one transaction. SQLite numbers the rows without a gap, and a cursor is the
number of the last row that was read, 0 before the first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.shared.feed import FeedPage
from services.shared.timestamps import CLOCK_LEEWAY, micros_of

_MIN_KEPT = 1000
"""Rows that are kept however old they seem: a clock that runs ahead dates rows wrongly."""
_MAX_DIGITS = 19
"""Digits of the largest number of a row."""
_CLEARED = 10
"""Maximum old rows that one change deletes: more than it adds."""


@dataclass(frozen=True, slots=True)
class SqliteFeed:
    """The feed of a file. A page has at most `max_keys` keys. Rows are kept for `kept_for`."""

    max_keys: int
    kept_for: timedelta

    def publish(self, connection: sqlite3.Connection, keys: Sequence[str], now: datetime) -> None:
        """Append keys to the feed and delete some old rows, in the transaction of the change."""
        if not keys:
            return
        for start in range(0, len(keys), self.max_keys):
            connection.execute(
                "INSERT INTO changes (codes, changed_at) VALUES (?, ?)",
                (" ".join(keys[start : start + self.max_keys]), micros_of(now)),
            )
        connection.execute(
            # A row of the far future would otherwise be kept until then, with all rows after it.
            "DELETE FROM changes WHERE NOT (changed_at > ? AND changed_at <= ?) "
            "AND number <= (SELECT max(number) FROM changes) - ? "
            "AND number IN (SELECT number FROM changes ORDER BY number LIMIT ?)",
            (micros_of(now - self.kept_for), micros_of(now + CLOCK_LEEWAY), _MIN_KEPT, _CLEARED),
        )

    def read_since(self, connection: sqlite3.Connection, cursor: str | None) -> FeedPage:
        """Return the next page of the feed after a cursor; None asks for the cursor of now."""
        first, last = connection.execute(
            "SELECT coalesce(min(number), 1), coalesce(max(number), 0) FROM changes"
        ).fetchone()
        if cursor is None:
            return FeedPage(str(last))
        number = int(cursor) if cursor.isdecimal() and len(cursor) <= _MAX_DIGITS else -1
        # Else its row was deleted, or the file was restored to an earlier state.
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
