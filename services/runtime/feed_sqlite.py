"""A feed of changes (`feed`) in an SQLite file.

A change and its announcement are one transaction. The table `announcements` has number INTEGER
PRIMARY KEY, codes TEXT (the keys, with a blank between them) and announced_at INTEGER (microseconds
since the Unix epoch). SQLite gives a new row the number after the highest, so numbers have no gap.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from services.runtime.feed import LOOK, Announcement, Feed, Told, told_since
from services.runtime.moments import CLOCK_LEEWAY, micros_of

_CLEARED = 10
"""Most old announcements that one change clears away: more than it makes."""


def announce(
    connection: sqlite3.Connection, feed: Feed, keys: Sequence[str], now: datetime
) -> None:
    """Announce changes in the transaction that made them, and clear some old ones away."""
    for start in range(0, len(keys), feed.most_keys):
        connection.execute(
            "INSERT INTO announcements (codes, announced_at) VALUES (?, ?)",
            (" ".join(keys[start : start + feed.most_keys]), micros_of(now)),
        )
    connection.execute(
        # What a clock dated that ran ahead would else be kept until then, and all behind it.
        "DELETE FROM announcements WHERE NOT (announced_at > ? AND announced_at <= ?) "
        "AND number <= (SELECT max(number) FROM announcements) - ? "
        "AND number IN (SELECT number FROM announcements ORDER BY number LIMIT ?)",
        (
            micros_of(now - feed.kept_for),
            micros_of(now + CLOCK_LEEWAY),
            feed.kept_least,
            _CLEARED,
        ),
    )


def announced(connection: sqlite3.Connection, feed: Feed, mark: int | None) -> Told:
    """What was announced after a mark; None asks for the mark of now."""
    if mark is not None:
        kept = connection.execute(
            "SELECT number, codes FROM announcements WHERE number >= ? ORDER BY number LIMIT ?",
            (mark, LOOK),
        )
        told = told_since(feed, mark, [Announcement(n, codes.split()) for n, codes in kept])
        if told is not None:
            return told
    (last,) = connection.execute("SELECT max(number) FROM announcements").fetchone()
    return Told(last or 0, lost=mark is not None)
