"""Links by code and by owner in an SQLite file.

The rows of `links` lie by owner and age: a page of an owner's links, and a search in them, read
adjacent rows. With the 100,000 links of one owner among a million of others, in milliseconds of a
core: a page 1, a search 100, a ranking 120. Rows that lay by code took five times as long for a
search; a copy of URL and the like in an index twice as long, and a third more room. A short address
is found by its code in an index first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta

from services.links.application.ports import MAX_CHANGES
from services.links.domain.code import codes_of, may_be_scan_code
from services.links.domain.link import (
    MAX_FORMER_URLS,
    RESTORABLE_FOR,
    WITHDRAWN_BEFORE,
    Account,
    FormerUrl,
    Guest,
    Link,
    Resolution,
    TooManyUrls,
)
from services.links.domain.query import LinkOrder
from services.links.storage.sqlite import hosts, rankings, reports
from services.links.storage.sqlite.rows import (
    COLUMNS,
    RESOLVED,
    WRITTEN,
    Select,
    creator_of,
    find,
    link_of,
    placeholders,
    resolution_of,
    row_of,
)
from services.shared.sqlite import Database
from services.shared.sqlite.feed import SqliteFeed
from services.shared.timestamps import micros_of, moment_of

FEED = SqliteFeed(MAX_CHANGES, timedelta(days=1))
_TAKEN = (
    "SELECT 1 FROM links WHERE code = ?1 UNION ALL SELECT 1 FROM links WHERE scan_code = ?1 "
    "UNION ALL SELECT 1 FROM removed_codes WHERE code = ?1"
)
"""Finds a row where a code is a link's, the scan code of one, or that of a purged one."""
_PLACES = {name: f"?{place}" for place, name in enumerate(WRITTEN.split(", "), 1)}
_ADD = (
    f"INSERT INTO links ({WRITTEN}) SELECT {', '.join(_PLACES.values())} "
    f"WHERE NOT EXISTS ({_TAKEN})"
)
_CHANGED = [name for name in _PLACES if name not in ("code", "creator", "created_at")]
_CHANGE = (
    f"UPDATE links SET {', '.join(f'{name} = {_PLACES[name]}' for name in _CHANGED)} "
    "WHERE code = ?1"
)


class SqliteLinkReader:
    """The `LinkReader` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, link: Link) -> Link | None:
        row = row_of(link)

        def operation(connection: sqlite3.Connection) -> Link | None:
            if connection.execute(_ADD, row).rowcount == 1:
                hosts.note(connection, link)
                return link
            return find(connection, link.code)

        return await self._database.write("links_add", operation)

    async def find(self, code: str) -> Link | None:
        def operation(connection: sqlite3.Connection) -> Link | None:
            return find(connection, code) or find(connection, code, "scan_code")

        return await self._database.read("links_find", operation)

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        def operation(connection: sqlite3.Connection) -> list[Resolution]:
            rows = connection.execute(
                f"SELECT {RESOLVED} FROM links WHERE code IN ({placeholders(codes)})", codes
            )
            found = [resolution_of(row) for row in rows]
            held = {one.code for one in found}
            others = [code for code in codes if code not in held and may_be_scan_code(code)]
            if others:
                rows = connection.execute(
                    f"SELECT scan_code, {RESOLVED} FROM links "
                    f"WHERE scan_code IN ({placeholders(others)})",
                    others,
                )
                found += [resolution_of(row).by(scan_code) for scan_code, *row in rows]
            return found

        return await self._database.look_up("links_resolve", operation)

    async def find_all(self, owner: Account | Guest, codes: Sequence[str]) -> list[Link]:
        def operation(connection: sqlite3.Connection) -> list[Link]:
            # The plus keeps SQLite from scanning all links of the owner.
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM links "
                f"WHERE code IN ({placeholders(codes)}) AND +creator = ?",
                (*codes, creator_of(owner)),
            )
            found = {link.code: link for link in map(link_of, rows)}
            return [found[code] for code in codes if code in found]

        return await self._database.read("links_find_all", operation)

    async def history(self, code: str) -> list[FormerUrl]:
        def operation(connection: sqlite3.Connection) -> list[FormerUrl]:
            rows = connection.execute(
                "SELECT url, until FROM former_urls WHERE code = ? ORDER BY number DESC", (code,)
            )
            return [FormerUrl(url, moment_of(until)) for url, until in rows]

        return await self._database.read("links_history", operation)

    async def newest(self, owner: Account | Guest, limit: int) -> list[Link]:
        select = Select(owner).behind(None, LinkOrder.NEWEST, limit)
        return await self._database.read("links_newest", select.links)

    async def owned_codes(self, owner: Account | Guest, limit: int) -> list[str]:
        select = Select(owner).not_removed().first(limit)
        return await self._database.read("links_owned_codes", select.codes)

    async def removed_before(self, moment: datetime, limit: int) -> list[str]:
        return await self._codes(
            "links_removed_before",
            "WHERE removed_at <= ? ORDER BY removed_at",
            micros_of(moment),
            limit,
        )

    async def codes_after(self, code: str, limit: int) -> list[str]:
        return await self._codes(
            "links_codes_after", "WHERE code > ? AND +creator <> '' ORDER BY code", code, limit
        )

    async def _codes(self, name: str, where: str, value: str | int, limit: int) -> list[str]:
        def operation(connection: sqlite3.Connection) -> list[str]:
            rows = connection.execute(f"SELECT code FROM links {where} LIMIT ?", (value, limit))
            return [code for (code,) in rows]

        return await self._database.read(name, operation)


class SqliteLinkRepository:
    """The `LinkRepository` of a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get(self, codes: Sequence[str]) -> dict[str, Link]:
        rows = self._connection.execute(
            f"SELECT {COLUMNS} FROM links WHERE code IN ({placeholders(codes)})", codes
        )
        return {link.code: link for link in map(link_of, rows)}

    def is_taken(self, code: str) -> bool:
        return self._connection.execute(_TAKEN, (code,)).fetchone() is not None

    def save(self, changes: Sequence[tuple[Link, Link]], now: datetime) -> None:
        for before, after in changes:
            if after.url != before.url:
                self._keep_former_url(before, now)
            if (after.url, after.ended_url) != (before.url, before.ended_url):
                hosts.forget(self._connection, before)
                hosts.note(self._connection, after)
            self._connection.execute(_CHANGE, row_of(after))
        FEED.publish(
            self._connection,
            codes_of(
                after
                for before, after in changes
                if after.resolution() != before.resolution() or after.scan_code != before.scan_code
            ),
            now,
        )

    def reassign(self, guest: Guest, account: Account, limit: int) -> int:
        claimed = self._connection.execute(
            "UPDATE links SET creator = ? "
            "WHERE code IN (SELECT code FROM links WHERE creator = ? LIMIT ?)",
            (creator_of(account), creator_of(guest), limit),
        )
        rankings.forget(self._connection, [creator_of(guest)])
        return claimed.rowcount

    def withdraw(self, account: Account, limit: int, now: datetime) -> int:
        withdrawn = self._connection.execute(
            "UPDATE links SET removed_at = ? WHERE code IN (SELECT code FROM links "
            "WHERE creator = ? AND (removed_at IS NULL OR removed_at > ?) LIMIT ?) "
            "RETURNING code, scan_code",
            (
                micros_of(now - WITHDRAWN_BEFORE),
                creator_of(account),
                micros_of(now - RESTORABLE_FOR),
                limit,
            ),
        ).fetchall()
        FEED.publish(self._connection, [code for row in withdrawn for code in row if code], now)
        return len(withdrawn)

    def purge(self, codes: Sequence[str], now: datetime) -> list[str]:
        links = self.get(codes).values()
        purged = codes_of(links)
        self._connection.executemany(
            "INSERT INTO removed_codes (code) VALUES (?)", [(code,) for code in purged]
        )
        for link in links:
            hosts.forget(self._connection, link)
        among = f"code IN ({placeholders(codes)})"
        self._connection.execute(f"DELETE FROM links WHERE {among}", codes)
        self._connection.execute(f"DELETE FROM former_urls WHERE {among}", codes)
        reports.purge(self._connection, codes)
        rankings.forget(self._connection, {creator_of(link.owner) for link in links})
        FEED.publish(self._connection, purged, now)
        rows = self._connection.execute(f"SELECT code FROM removed_codes WHERE {among}", codes)
        return [code for (code,) in rows]

    def _keep_former_url(self, link: Link, now: datetime) -> None:
        (last,) = self._connection.execute(
            "SELECT coalesce(max(number), 0) FROM former_urls WHERE code = ?", (link.code,)
        ).fetchone()
        if last >= MAX_FORMER_URLS:
            raise TooManyUrls(f"A link leads to {MAX_FORMER_URLS + 1} URLs at most, in its life.")
        self._connection.execute(
            "INSERT INTO former_urls VALUES (?, ?, ?, ?)",
            (link.code, last + 1, link.url, micros_of(now)),
        )
