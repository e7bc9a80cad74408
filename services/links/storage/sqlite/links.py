"""Links by code and by owner in an SQLite file.

The table `links` is clustered by owner and age: a page of an owner's links, and a search in them,
read adjacent rows. Lookups by code go through an index. Figures: docs/adr/0010-sqlite-layout.md.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from services.links.application.ports import MAX_CHANGES
from services.links.application.records.creations import delete_records
from services.links.domain.code import list_codes, may_be_scan_code
from services.links.domain.imports import CodeHolders
from services.links.domain.link import (
    MAX_FORMER_URLS,
    RESTORABLE_FOR,
    WITHDRAWN_BEFORE,
    FormerUrl,
    Link,
    TooManyUrls,
)
from services.links.domain.owner import Account, Guest
from services.links.domain.query import AgeCursor, LinkOrder
from services.links.domain.resolution import Resolution, UnreadableLinks
from services.links.storage.sqlite import hosts, rankings, reports
from services.links.storage.sqlite.owner_query import after_cursor, by_age, read_codes
from services.links.storage.sqlite.records import SqliteSession
from services.links.storage.sqlite.rows import (
    LINK_COLUMNS,
    RESOLUTION_COLUMNS,
    WRITTEN_COLUMNS,
    ResolutionRow,
    decode_links,
    encode_creator,
    encode_link,
    find,
    find_all,
    placeholders,
)
from services.shared.sqlite import Database
from services.shared.sqlite.feed import SqliteFeed
from services.shared.timestamps import from_micros, to_micros
from services.shared.unreadable_records import decode_each

FEED = SqliteFeed(MAX_CHANGES, timedelta(days=1))
_TAKEN = (
    "SELECT 1 FROM links WHERE code = :code UNION ALL "
    "SELECT 1 FROM links WHERE scan_code = :code UNION ALL "
    "SELECT 1 FROM removed_codes WHERE code = :code"
)
"""Returns a row if a code is a link's code or scan code, or that of a purged link."""
_INTO = f"INSERT INTO links ({', '.join(WRITTEN_COLUMNS)})"
_VALUES = ", ".join(f":{name}" for name in WRITTEN_COLUMNS)
_INSERT = f"{_INTO} SELECT {_VALUES} WHERE NOT EXISTS ({_TAKEN})"
_INSERT_FREE = f"{_INTO} VALUES ({_VALUES})"
_IMMUTABLE = ("code", "creator", "created_at")
_UPDATE = (
    "UPDATE links SET "
    f"{', '.join(f'{name} = :{name}' for name in WRITTEN_COLUMNS if name not in _IMMUTABLE)} "
    "WHERE code = :code"
)


class SqliteLinkReader:
    """The `LinkReader` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, link: Link) -> Link | None:
        values = encode_link(link)

        def operation(connection: sqlite3.Connection) -> Link | None:
            if connection.execute(_INSERT, values).rowcount == 1:
                hosts.add(connection, link)
                return link
            return find_all(connection, [link.code]).get(link.code)

        return await self._database.write("links_add", operation)

    async def holders(self, codes: Sequence[str]) -> CodeHolders:
        return await self._database.read(
            "links_holders", lambda connection: _holders(connection, codes)
        )

    async def find(self, code: str) -> Link | None:
        def operation(connection: sqlite3.Connection) -> Link | None:
            return find(connection, code) or find(connection, code, "scan_code")

        return await self._database.read("links_find", operation)

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        def operation(connection: sqlite3.Connection) -> list[Resolution]:
            unreadable: set[str] = set()
            found = list(
                decode_each(
                    "link",
                    _resolutions(connection, "code", codes),
                    ResolutionRow.resolution,
                    lambda row: row.code,
                    unreadable,
                )
            )
            known = unreadable | {resolution.code for resolution in found}
            others = [code for code in codes if code not in known and may_be_scan_code(code)]
            if others:
                found += decode_each(
                    "link",
                    _resolutions(connection, "scan_code", others),
                    lambda row: row.resolution().via_scan_code(row.scan_code or ""),
                    lambda row: row.scan_code,
                    unreadable,
                )
            if unreadable:
                raise UnreadableLinks(unreadable, found)
            return found

        return await self._database.look_up("links_resolve", operation)

    async def find_all(self, owner: Account | Guest, codes: Sequence[str]) -> list[Link]:
        def operation(connection: sqlite3.Connection) -> list[Link]:
            # The plus keeps SQLite from scanning all links of the owner.
            rows = connection.execute(
                f"SELECT {LINK_COLUMNS} FROM links "
                f"WHERE code IN ({placeholders(codes)}) AND +creator = ?",
                (*codes, encode_creator(owner)),
            )
            found = {link.code: link for link in decode_links(rows)}
            return [found[code] for code in codes if code in found]

        return await self._database.read("links_find_all", operation)

    async def history(self, code: str) -> list[FormerUrl]:
        def operation(connection: sqlite3.Connection) -> list[FormerUrl]:
            rows = connection.execute(
                "SELECT url, until FROM former_urls WHERE code = ? ORDER BY number DESC", (code,)
            )
            return list(
                decode_each(
                    "former_url",
                    rows,
                    lambda row: FormerUrl(row[0], from_micros(row[1])),
                    lambda _: code,
                )
            )

        return await self._database.read("links_history", operation)

    async def link_code(self, code: str) -> str | None:
        query = (
            "SELECT code FROM links WHERE code = :code UNION ALL "
            "SELECT code FROM links WHERE scan_code = :code"
        )
        found = await self._database.read(
            "links_link_code",
            lambda connection: connection.execute(query, {"code": code}).fetchone(),
        )
        return found[0] if found else None

    async def page_of_all(
        self, account: Account, after: AgeCursor | None, limit: int
    ) -> list[AgeCursor]:
        condition, parameters = after_cursor(after, LinkOrder.OLDEST)
        query = (
            "SELECT created_at, code FROM links "
            f"WHERE creator = :creator AND {condition} {by_age(LinkOrder.OLDEST)} LIMIT :limit"
        )
        values = {"creator": encode_creator(account), "limit": limit, **parameters}
        rows = await self._database.read(
            "links_of_account", lambda connection: connection.execute(query, values).fetchall()
        )
        return [AgeCursor(from_micros(created_at), code) for created_at, code in rows]

    async def count_stored(self) -> int:
        (count,) = await self._database.read(
            "links_count_stored",
            lambda connection: connection.execute("SELECT count(*) FROM links").fetchone(),
        )
        return int(count)

    async def all_codes(self, owner: Account | Guest, limit: int) -> list[str]:
        return await self._codes(
            "links_newest",
            f"WHERE creator = :creator {by_age(LinkOrder.NEWEST)} LIMIT :limit",
            {"creator": encode_creator(owner), "limit": limit},
        )

    async def owned_codes(self, owner: Account | Guest, limit: int) -> list[str]:
        return await self._codes(
            "links_owned_codes",
            "WHERE creator = :creator AND removed_at IS NULL LIMIT :limit",
            {"creator": encode_creator(owner), "limit": limit},
        )

    async def removed_before(self, moment: datetime, limit: int) -> list[str]:
        return await self._codes(
            "links_removed_before",
            "WHERE removed_at <= :moment ORDER BY removed_at LIMIT :limit",
            {"moment": to_micros(moment), "limit": limit},
        )

    async def codes_after(self, code: str, limit: int) -> list[str]:
        return await self._codes(
            "links_codes_after",
            "WHERE code > :code AND +creator <> '' ORDER BY code LIMIT :limit",
            {"code": code, "limit": limit},
        )

    async def _codes(self, name: str, clauses: str, parameters: Mapping[str, Any]) -> list[str]:
        return await self._database.read(
            name, lambda connection: read_codes(connection, clauses, parameters)
        )


class SqliteLinkRepository:
    """The `LinkRepository` of a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get(self, codes: Sequence[str]) -> dict[str, Link]:
        return find_all(self._connection, codes)

    def holders(self, codes: Sequence[str]) -> CodeHolders:
        return _holders(self._connection, codes)

    def add_all(self, links: Sequence[Link], now: datetime) -> None:
        self._connection.executemany(_INSERT_FREE, [encode_link(link) for link in links])
        for link in links:
            hosts.add(self._connection, link)

    def save(self, updates: Sequence[tuple[Link, Link]], now: datetime) -> None:
        for before, after in updates:
            if after.url != before.url:
                self._add_former_url(before, now)
            if (after.url, after.ended_url) != (before.url, before.ended_url):
                hosts.delete(self._connection, before.code, before.destinations())
                hosts.add(self._connection, after)
            self._connection.execute(_UPDATE, encode_link(after))
        FEED.publish(
            self._connection,
            list_codes(
                after
                for before, after in updates
                if after.resolution() != before.resolution() or after.scan_code != before.scan_code
            ),
            now,
        )

    def reassign(self, guest: Guest, account: Account, limit: int) -> int:
        claimed = self._connection.execute(
            "UPDATE links SET creator = ? "
            "WHERE code IN (SELECT code FROM links WHERE creator = ? LIMIT ?)",
            (encode_creator(account), encode_creator(guest), limit),
        )
        rankings.delete_orphaned(self._connection, [encode_creator(guest)])
        return claimed.rowcount

    def withdraw(self, account: Account, limit: int, now: datetime) -> int:
        withdrawn = self._connection.execute(
            "UPDATE links SET removed_at = ? WHERE code IN (SELECT code FROM links "
            "WHERE creator = ? AND (removed_at IS NULL OR removed_at > ?) LIMIT ?) "
            "RETURNING code, scan_code",
            (
                to_micros(now - WITHDRAWN_BEFORE),
                encode_creator(account),
                to_micros(now - RESTORABLE_FOR),
                limit,
            ),
        ).fetchall()
        FEED.publish(self._connection, [code for row in withdrawn for code in row if code], now)
        return len(withdrawn)

    def save_ranking(
        self, owner: Account | Guest, key: str, codes: Sequence[str], now: datetime
    ) -> None:
        rankings.save(self._connection, owner, key, codes, now)

    def purge(self, codes: Sequence[str], now: datetime) -> list[str]:
        condition = f"code IN ({placeholders(codes)})"
        # Not as links: one that cannot be read is purged, too, and its code stays taken.
        rows = self._connection.execute(
            "SELECT code, scan_code, url, ended_url, creator, created_at "
            f"FROM links WHERE {condition}",
            codes,
        ).fetchall()
        purged = [code for row in rows for code in row[:2] if code]
        self._connection.executemany(
            "INSERT INTO removed_codes (code) VALUES (?)", [(code,) for code in purged]
        )
        for code, _, url, ended_url, _, _ in rows:
            hosts.delete(self._connection, code, (url, ended_url))
        self._connection.execute(f"DELETE FROM links WHERE {condition}", codes)
        self._connection.execute(f"DELETE FROM former_urls WHERE {condition}", codes)
        reports.purge(self._connection, codes)
        delete_records(SqliteSession(self._connection), {row[-2:] for row in rows}, now)
        rankings.delete_orphaned(self._connection, {creator for *_, creator, _ in rows})
        FEED.publish(self._connection, purged, now)
        all_purged = self._connection.execute(
            f"SELECT code FROM removed_codes WHERE {condition}", codes
        )
        return [code for (code,) in all_purged]

    def _add_former_url(self, link: Link, now: datetime) -> None:
        (last,) = self._connection.execute(
            "SELECT coalesce(max(number), 0) FROM former_urls WHERE code = ?", (link.code,)
        ).fetchone()
        if last >= MAX_FORMER_URLS:
            raise TooManyUrls(f"A link can have at most {MAX_FORMER_URLS + 1} URLs.")
        self._connection.execute(
            "INSERT INTO former_urls (code, number, url, until) VALUES (?, ?, ?, ?)",
            (link.code, last + 1, link.url, to_micros(now)),
        )


def _resolutions(
    connection: sqlite3.Connection, column: str, codes: Sequence[str]
) -> list[ResolutionRow]:
    """Read the links whose code or scan code, by `column`, is one of the codes."""
    rows = connection.execute(
        f"SELECT {RESOLUTION_COLUMNS} FROM links WHERE {column} IN ({placeholders(codes)})", codes
    )
    return [ResolutionRow._make(row) for row in rows]


def _holders(connection: sqlite3.Connection, codes: Sequence[str]) -> CodeHolders:
    """Read what holds some codes."""
    listed = placeholders(codes)
    scanned = [code for code in codes if may_be_scan_code(code)]
    others = connection.execute(
        f"SELECT scan_code FROM links WHERE scan_code IN ({placeholders(scanned)}) UNION ALL "
        f"SELECT code FROM removed_codes WHERE code IN ({listed}) UNION ALL "
        f"SELECT code FROM links WHERE code IN ({listed})",
        (*scanned, *codes, *codes),
    )
    links = find_all(connection, codes)
    return CodeHolders(links, frozenset(code for (code,) in others) - links.keys())
