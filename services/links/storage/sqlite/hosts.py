"""The host index of links in an SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from services.links.domain.host import HostCursor, host_at, host_key, key_range, to_host
from services.links.domain.link import Link
from services.links.storage.sqlite.rows import LINK_COLUMNS, find_all, read_page
from services.shared.sqlite import Database


def add(connection: sqlite3.Connection, link: Link) -> None:
    """Add a link to the index, in the transaction of its change."""
    rows = [(host_key(host), link.code) for host in link.hosts()]
    connection.executemany("INSERT OR IGNORE INTO hosts VALUES (?, ?)", rows)


def delete(connection: sqlite3.Connection, code: str, urls: Collection[object]) -> None:
    """Remove a link from the index by its stored URLs, in the transaction of its change.

    Scans the whole index if a URL is damaged and thus does not lead to its entry.
    """
    texts = [url for url in urls if isinstance(url, str)]
    if len(texts) < len(urls):
        connection.execute("DELETE FROM hosts WHERE code = ?", (code,))
    else:
        rows = [(host_key(host_at(url)), code) for url in texts if url]
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
            return [to_host(key) for key in dict.fromkeys(key for (key,) in rows)]

        return await self._database.read("links_hosts", operation)

    async def at(
        self, host: str, after: HostCursor | None, limit: int, *, with_subdomains: bool = False
    ) -> tuple[list[Link], HostCursor | None]:
        first, end = key_range(host, with_subdomains=with_subdomains)
        start = after or HostCursor(first, "")

        def operation(connection: sqlite3.Connection) -> tuple[list[Link], HostCursor | None]:
            entries = connection.execute(
                "SELECT key, code FROM hosts WHERE (key, code) > (?, ?) AND key < ? "
                "ORDER BY key, code LIMIT ?",
                (start.key, start.code, end, limit),
            ).fetchall()
            codes = list(dict.fromkeys(code for _, code in entries))
            links = list(find_all(connection, codes).values())
            return links, HostCursor(*entries[-1]) if len(entries) == limit else None

        return await self._database.read("links_at_host", operation)

    async def listed_after(self, code: str, limit: int) -> list[Link]:
        statement = (
            f"SELECT {LINK_COLUMNS} FROM links "
            "WHERE listed IS NOT NULL AND code > :code ORDER BY code LIMIT :limit"
        )
        return await self._database.read(
            "links_listed",
            lambda connection: read_page(connection, statement, {"code": code, "limit": limit}),
        )
