"""Links in an SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime

from services.links.domain import FEED, Account, Guest, Link, Resolution
from services.links.stored import OwnerValue, owner_of, value_of
from services.runtime.feed import Told
from services.runtime.feed_sqlite import announce, announced
from services.runtime.moments import micros_of, moment_of
from services.runtime.sqlite import Database

MIGRATIONS = (
    """
    CREATE TABLE links (
        code TEXT PRIMARY KEY,
        url TEXT NOT NULL,
        creator TEXT,  -- the owner: id of an account, or as a blob the hash of a guest's key
        created_at INTEGER NOT NULL  -- microseconds since the Unix epoch
    ) WITHOUT ROWID;
    CREATE INDEX links_of_creator ON links (creator, created_at, code) WHERE creator IS NOT NULL;
    """,
    """
    -- Codes whose link was removed: they are never given out again.
    CREATE TABLE removed_codes (code TEXT PRIMARY KEY) WITHOUT ROWID;
    """,
    """
    -- Which links changed. Numbers have no gap: SQLite gives the one after the highest.
    CREATE TABLE announcements (
        number INTEGER PRIMARY KEY,
        codes TEXT NOT NULL,  -- with a blank between them
        announced_at INTEGER NOT NULL  -- microseconds since the Unix epoch
    );
    """,
)

_COLUMNS = "code, url, creator, created_at"
_RESOLVED = "code, url"
"""What decides what a short address answers; `_resolution` reads it."""
_Row = tuple[str, str, OwnerValue, int]


class SqliteLinkStore:
    """The `LinkStore` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, link: Link) -> Link | None:
        def operation(connection: sqlite3.Connection) -> Link | None:
            added = connection.execute(
                f"INSERT INTO links ({_COLUMNS}) SELECT ?1, ?2, ?3, ?4 "
                "WHERE NOT EXISTS (SELECT 1 FROM removed_codes WHERE code = ?1) "
                "ON CONFLICT (code) DO NOTHING",
                (link.code, link.url, value_of(link.owner), micros_of(link.created_at)),
            )
            if added.rowcount == 1:
                return link
            return _find(connection, link.code)

        return await self._database.write("links_add", operation)

    async def find(self, code: str) -> Link | None:
        return await self._database.read("links_find", lambda connection: _find(connection, code))

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        marks = ", ".join("?" * len(codes))

        def operation(connection: sqlite3.Connection) -> list[Resolution]:
            rows = connection.execute(
                f"SELECT {_RESOLVED} FROM links WHERE code IN ({marks})", codes
            )
            return [_resolution(row) for row in rows]

        return await self._database.read("links_resolve", operation)

    async def by_owner(self, owner: Account | Guest, page_size: int) -> AsyncIterator[list[Link]]:
        # Keyset pages: each goes on below the last link seen, whatever came on top meanwhile.
        last: tuple[int, str] = (2**63 - 1, "")
        while True:
            rows = await self._database.read("links_by_owner", _page(owner, last, page_size))
            if rows:
                yield [_link(row) for row in rows]
            if len(rows) < page_size:
                return
            last = (rows[-1][3], rows[-1][0])

    async def purge(self, codes: Sequence[str], now: datetime) -> list[str]:
        among = f"code IN ({', '.join('?' * len(codes))})"

        def operation(connection: sqlite3.Connection) -> list[str]:
            connection.execute(
                f"INSERT INTO removed_codes (code) SELECT code FROM links WHERE {among}", codes
            )
            connection.execute(f"DELETE FROM links WHERE {among}", codes)
            rows = connection.execute(f"SELECT code FROM removed_codes WHERE {among}", codes)
            removed = [code for (code,) in rows]
            announce(connection, FEED, removed, now)
            return removed

        return await self._database.write("links_remove", operation)

    async def announcements(self, mark: int | None) -> Told:
        return await self._database.read(
            "links_announcements", lambda connection: announced(connection, FEED, mark)
        )


def _find(connection: sqlite3.Connection, code: str) -> Link | None:
    found = connection.execute(f"SELECT {_COLUMNS} FROM links WHERE code = ?", (code,)).fetchone()
    return _link(found) if found else None


def _page(
    owner: Account | Guest, last: tuple[int, str], size: int
) -> Callable[[sqlite3.Connection], list[_Row]]:
    """The operation that reads one page of an owner's links, below `last`."""

    def operation(connection: sqlite3.Connection) -> list[_Row]:
        return connection.execute(
            f"SELECT {_COLUMNS} FROM links WHERE creator = ? AND (created_at, code) < (?, ?) "
            "ORDER BY created_at DESC, code DESC LIMIT ?",
            (value_of(owner), *last, size),
        ).fetchall()

    return operation


def _resolution(row: tuple[str, str]) -> Resolution:
    """What the short address of a link answers."""
    return Resolution.active(*row)


def _link(row: _Row) -> Link:
    code, url, creator, created_at = row
    return Link(code, url, owner_of(creator), moment_of(created_at))
