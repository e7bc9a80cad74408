"""The change feed in an SQLite file.

A change and its row in the table `changes` are one transaction. SQLite numbers the rows without a
gap, and a cursor is the number of the last row that was read, 0 before the first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta

from services.links.application.ports import MAX_CHANGES, FeedPage
from services.runtime.moments import CLOCK_LEEWAY, micros_of

_KEPT_FOR = timedelta(days=1)
_MIN_KEPT = 1000
"""Rows that are kept however old they seem: a clock that runs ahead dates rows wrongly."""
_CLEARED = 10
"""Maximum old rows that one change deletes: more than it adds."""


def publish(connection: sqlite3.Connection, codes: Sequence[str], now: datetime) -> None:
    """Append codes to the feed and delete some old rows, in the transaction of the change."""
    if not codes:
        return
    for start in range(0, len(codes), MAX_CHANGES):
        connection.execute(
            "INSERT INTO changes (codes, changed_at) VALUES (?, ?)",
            (" ".join(codes[start : start + MAX_CHANGES]), micros_of(now)),
        )
    connection.execute(
        # A row of the far future would otherwise be kept until then, with all rows after it.
        "DELETE FROM changes WHERE NOT (changed_at > ? AND changed_at <= ?) "
        "AND number <= (SELECT max(number) FROM changes) - ? "
        "AND number IN (SELECT number FROM changes ORDER BY number LIMIT ?)",
        (micros_of(now - _KEPT_FOR), micros_of(now + CLOCK_LEEWAY), _MIN_KEPT, _CLEARED),
    )


def read_since(connection: sqlite3.Connection, cursor: str | None) -> FeedPage:
    """Return the next page of the feed after a cursor; None asks for the cursor of now."""
    first, last = connection.execute(
        "SELECT coalesce(min(number), 1), coalesce(max(number), 0) FROM changes"
    ).fetchone()
    if cursor is None:
        return FeedPage(str(last))
    number = int(cursor) if cursor.isdecimal() else -1
    if not first - 1 <= number <= last:  # Deleted, or the file was restored to an earlier state.
        return FeedPage(str(last), truncated=True)
    codes: dict[str, None] = {}
    rows = connection.execute(
        "SELECT number, codes FROM changes WHERE number > ? ORDER BY number LIMIT ?",
        (number, MAX_CHANGES),
    )
    for row_number, joined in rows.fetchall():
        changed = joined.split()
        if codes and len(codes.keys() | changed) > MAX_CHANGES:
            break
        codes.update(dict.fromkeys(changed))
        number = row_number
    return FeedPage(str(number), tuple(codes), more=number < last)
