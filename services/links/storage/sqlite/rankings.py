"""Rankings in an SQLite file while they are paged through.

Functions that write are part of a transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime

from services.links.domain.link import Account, Guest
from services.links.domain.query import KEPT_RANKINGS, RANKING_KEPT_FOR
from services.links.storage.sqlite.rows import creator_of
from services.shared.timestamps import micros_of

_TOGETHER = 1000
"""Codes of a ranking in one row."""
_FORGOTTEN = 1000
"""Most rows of old rankings that the next one clears away: more than it makes, of most owners."""


def keep(
    connection: sqlite3.Connection,
    owner: Account | Guest,
    key: str,
    codes: Sequence[str],
    now: datetime,
) -> None:
    """Keep a ranking of an owner under a key, the last ones beside it, and none that is old."""
    creator, kept_at = creator_of(owner), micros_of(now)
    rows = [
        (creator, key, start, " ".join(codes[start : start + _TOGETHER]), kept_at)
        for start in range(0, len(codes), _TOGETHER)
    ]
    connection.execute("DELETE FROM rankings WHERE creator = ? AND key = ?", (creator, key))
    connection.executemany("INSERT INTO rankings VALUES (?, ?, ?, ?, ?)", rows)
    connection.execute(
        "DELETE FROM rankings WHERE creator = :creator AND key NOT IN (SELECT key "
        "FROM rankings WHERE creator = :creator AND start = 0 "
        "ORDER BY kept_at DESC, rowid DESC LIMIT :limit)",
        {"creator": creator, "limit": KEPT_RANKINGS},
    )
    connection.execute(
        "DELETE FROM rankings WHERE rowid IN "
        "(SELECT rowid FROM rankings WHERE kept_at <= ? ORDER BY kept_at LIMIT ?)",
        (micros_of(now - RANKING_KEPT_FOR), _FORGOTTEN),
    )


def kept(
    connection: sqlite3.Connection,
    owner: Account | Guest,
    key: str,
    start: int,
    limit: int,
    now: datetime,
) -> list[str] | None:
    """Return up to `limit` codes of a kept ranking from a place on; None where it is not kept."""
    parameters = {
        "creator": creator_of(owner),
        "key": key,
        "first": start - start % _TOGETHER,
        "end": start + limit,
        "from": micros_of(now - RANKING_KEPT_FOR),
    }
    of_key = "FROM rankings WHERE creator = :creator AND key = :key AND kept_at > :from"
    if not connection.execute(f"SELECT 1 {of_key} AND start = 0", parameters).fetchone():
        return None
    rows = connection.execute(
        f"SELECT codes {of_key} AND start >= :first AND start < :end ORDER BY start", parameters
    )
    codes = [code for (some,) in rows for code in some.split()]
    skipped = start % _TOGETHER
    return codes[skipped : skipped + limit]


def forget(connection: sqlite3.Connection, creators: Iterable[str | bytes]) -> None:
    """Delete the rankings of those of the owners who have no links any more."""
    connection.executemany(
        "DELETE FROM rankings WHERE creator = :creator "
        "AND NOT EXISTS (SELECT 1 FROM links WHERE creator = :creator)",
        [{"creator": creator} for creator in creators],
    )
