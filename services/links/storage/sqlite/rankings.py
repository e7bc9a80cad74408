"""Stored rankings in an SQLite file. Functions that write run in the caller's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime

from services.links.domain.owner import Account, Guest
from services.links.domain.query import MAX_STORED_RANKINGS, RANKING_TTL
from services.links.storage.sqlite.rows import encode_creator
from services.shared.timestamps import to_micros

_CODES_PER_ROW = 1000
_MAX_DELETED = 1000
"""Maximum rows of expired rankings that storing another one deletes: more than it adds, for most
owners."""


def save(
    connection: sqlite3.Connection,
    owner: Account | Guest,
    key: str,
    codes: Sequence[str],
    now: datetime,
) -> None:
    creator, stored_at = encode_creator(owner), to_micros(now)
    rows = [
        (creator, key, start, " ".join(codes[start : start + _CODES_PER_ROW]), stored_at)
        for start in range(0, len(codes), _CODES_PER_ROW)
    ]
    connection.execute("DELETE FROM rankings WHERE creator = ? AND key = ?", (creator, key))
    connection.executemany(
        "INSERT INTO rankings (creator, key, start, codes, kept_at) VALUES (?, ?, ?, ?, ?)", rows
    )
    connection.execute(
        "DELETE FROM rankings WHERE creator = :creator AND key NOT IN (SELECT key "
        "FROM rankings WHERE creator = :creator AND start = 0 "
        "ORDER BY kept_at DESC, rowid DESC LIMIT :limit)",
        {"creator": creator, "limit": MAX_STORED_RANKINGS},
    )
    connection.execute(
        "DELETE FROM rankings WHERE rowid IN "
        "(SELECT rowid FROM rankings WHERE kept_at <= ? ORDER BY kept_at LIMIT ?)",
        (to_micros(now - RANKING_TTL), _MAX_DELETED),
    )


def read(
    connection: sqlite3.Connection,
    owner: Account | Guest,
    key: str,
    start: int,
    limit: int,
    now: datetime,
) -> list[str] | None:
    """Return up to `limit` codes of a stored ranking from `start`; None if it has expired."""
    parameters = {
        "creator": encode_creator(owner),
        "key": key,
        "first": start - start % _CODES_PER_ROW,
        "end": start + limit,
        "from": to_micros(now - RANKING_TTL),
    }
    of_key = "FROM rankings WHERE creator = :creator AND key = :key AND kept_at > :from"
    if not connection.execute(f"SELECT 1 {of_key} AND start = 0", parameters).fetchone():
        return None
    rows = connection.execute(
        f"SELECT codes {of_key} AND start >= :first AND start < :end ORDER BY start", parameters
    )
    codes = [code for (joined,) in rows for code in joined.split()]
    skipped = start % _CODES_PER_ROW
    return codes[skipped : skipped + limit]


def delete_orphaned(connection: sqlite3.Connection, creators: Iterable[str | bytes]) -> None:
    """Delete the rankings of those of the owners who have no links left."""
    connection.executemany(
        "DELETE FROM rankings WHERE creator = :creator "
        "AND NOT EXISTS (SELECT 1 FROM links WHERE creator = :creator)",
        [{"creator": creator} for creator in creators],
    )
