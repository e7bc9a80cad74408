"""The host index of links in an SQLite file, and how far a rescan has come."""

from __future__ import annotations

import sqlite3

from services.links.domain.host import HostPlace, host_key, host_of_key, keys_below
from services.links.domain.link import Link
from services.links.domain.sweep import Stage, Sweep
from services.links.storage.sqlite.rows import COLUMNS, link_of, placeholders
from services.shared.sqlite import Database


def note(connection: sqlite3.Connection, link: Link) -> None:
    """Add a link to the index, in the transaction of its change."""
    rows = [(host_key(host), link.code) for host in link.hosts()]
    connection.executemany("INSERT OR IGNORE INTO hosts VALUES (?, ?)", rows)


def forget(connection: sqlite3.Connection, link: Link) -> None:
    """Remove a link from the index, in the transaction of its change."""
    rows = [(host_key(host), link.code) for host in link.hosts()]
    connection.executemany("DELETE FROM hosts WHERE key = ? AND code = ?", rows)


class SqliteHostIndex:
    """The `HostIndex` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def hosts_after(self, host: str, limit: int) -> list[str]:
        def operation(connection: sqlite3.Connection) -> list[str]:
            rows = connection.execute(
                "SELECT key FROM hosts WHERE key > ? ORDER BY key LIMIT ?", (host_key(host), limit)
            )
            return [host_of_key(key) for key in dict.fromkeys(key for (key,) in rows)]

        return await self._database.read("links_hosts", operation)

    async def at(self, host: str, code: str, limit: int) -> list[Link]:
        return await self._links(
            "links_at_host",
            "WHERE code IN (SELECT code FROM hosts "
            "WHERE key = ? AND code > ? ORDER BY code LIMIT ?) ORDER BY code",
            (host_key(host), code, limit),
        )

    async def at_or_below(
        self, host: str, after: HostPlace | None, limit: int
    ) -> tuple[list[Link], HostPlace | None]:
        first, end = keys_below(host)
        start = after or HostPlace(first, "")

        def operation(connection: sqlite3.Connection) -> tuple[list[Link], HostPlace | None]:
            places = connection.execute(
                "SELECT key, code FROM hosts WHERE (key, code) > (?, ?) AND key < ? "
                "ORDER BY key, code LIMIT ?",
                (start.key, start.code, end, limit),
            ).fetchall()
            codes = list(dict.fromkeys(code for _, code in places))
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM links WHERE code IN ({placeholders(codes)})", codes
            )
            links = [link_of(row) for row in rows]
            return links, HostPlace(*places[-1]) if len(places) == limit else None

        return await self._database.read("links_at_or_below", operation)

    async def listed_after(self, code: str, limit: int) -> list[Link]:
        return await self._links(
            "links_listed",
            "WHERE listed IS NOT NULL AND code > ? ORDER BY code LIMIT ?",
            (code, limit),
        )

    async def _links(self, name: str, where: str, values: tuple[str | int, ...]) -> list[Link]:
        def operation(connection: sqlite3.Connection) -> list[Link]:
            rows = connection.execute(f"SELECT {COLUMNS} FROM links {where}", values)
            return [link_of(row) for row in rows]

        return await self._database.read(name, operation)


class SqliteSweepProgress:
    """The `SweepProgress` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self) -> Sweep | None:
        def operation(connection: sqlite3.Connection) -> Sweep | None:
            found = connection.execute("SELECT contents, round, stage, after FROM sweep").fetchone()
            return Sweep(found[0], found[1], Stage(found[2]), found[3]) if found else None

        return await self._database.read("links_sweep", operation)

    async def put(self, sweep: Sweep) -> None:
        row = (sweep.contents, sweep.round, sweep.stage.value, sweep.after)
        await self._database.write(
            "links_note_sweep",
            lambda connection: connection.execute("REPLACE INTO sweep VALUES (1, ?, ?, ?, ?)", row),
        )
