"""Pages, totals and rankings of an owner's links in an SQLite file, and their numbers of visits.

The number of visits of a link is in a table of its own (`views`), because it changes more often
than the rest, and 140 of its rows share a page. Compared with rewriting the rows of `links`, that
takes a third of the time and writes a tenth of the bytes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime
from functools import partial
from itertools import chain
from typing import TypeVar

from services.links.domain.link import Link
from services.links.domain.owner import Account, Guest
from services.links.domain.query import AgeCursor, LinkFilter, LinkOrder
from services.links.storage.sqlite import rankings
from services.links.storage.sqlite.owner_query import (
    IN_STATE,
    bind_owner,
    count_in_state,
    read_codes,
    read_state_page,
)
from services.links.storage.sqlite.rows import encode_creator
from services.links.storage.sqlite.search import Search
from services.shared.sqlite import Database
from services.shared.timestamps import to_micros

T = TypeVar("T")

_RECORD_VIEWS = """
    INSERT INTO views (code, people)
    SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM links WHERE code = ?1 AND creator <> '')
    ON CONFLICT (code) DO UPDATE SET people = excluded.people WHERE people < excluded.people
"""


class SqliteLinkLists:
    """The `LinkLists` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self,
        owner: Account | Guest,
        link_filter: LinkFilter,
        order: LinkOrder,
        after: AgeCursor | None,
        limit: int,
        now: datetime,
    ) -> list[Link]:
        state = link_filter.state
        if not link_filter.text:
            return await self._database.read(
                "links_page",
                lambda connection: read_state_page(
                    connection, owner, state, order, after, limit, now
                ),
            )
        search = Search(owner, link_filter, order, now)
        links: list[Link] = []
        cursor = after
        while len(links) < limit:
            found, cursor = await self._database.read(
                "links_search", partial(search.links, cursor, limit - len(links))
            )
            links += found
            if cursor is None:
                break
        return links

    async def count(self, owner: Account | Guest, link_filter: LinkFilter, now: datetime) -> int:
        if not link_filter.text:
            return await self._database.read(
                "links_count",
                lambda connection: count_in_state(connection, owner, link_filter.state, now),
            )
        search = Search(owner, link_filter, LinkOrder.NEWEST, now)
        return sum([len(found) async for found in self._chunks("links_count", search.codes)])

    async def count_all(self, owner: Account | Guest, now: datetime) -> int:
        query = "SELECT coalesce(sum(links), 0) FROM owners WHERE creator = ?"
        (total,) = await self._database.read(
            "links_count_all",
            lambda connection: connection.execute(query, (encode_creator(owner),)).fetchone(),
        )
        return int(total)

    async def ranking(
        self, owner: Account | Guest, link_filter: LinkFilter, now: datetime
    ) -> list[str]:
        if not link_filter.text:
            clauses = (
                f"WHERE creator = :creator AND {IN_STATE[link_filter.state]} "
                "ORDER BY (SELECT people FROM views WHERE views.code = links.code) DESC, "
                "created_at DESC, code DESC"
            )
            return await self._database.read(
                "links_ranking",
                lambda connection: read_codes(connection, clauses, bind_owner(owner, now)),
            )
        search = Search(owner, link_filter, LinkOrder.NEWEST, now)
        chunks = [chunk async for chunk in self._chunks("links_ranking", search.views)]
        found = list(chain.from_iterable(chunks))
        found.sort(key=lambda viewed: -viewed[1])
        return [code for code, _ in found]

    async def stored_ranking(
        self, owner: Account | Guest, key: str, start: int, limit: int, now: datetime
    ) -> list[str] | None:
        return await self._database.read(
            "links_kept_ranking",
            lambda connection: rankings.read(connection, owner, key, start, limit, now),
        )

    async def mark_expired(self, now: datetime, limit: int) -> bool:
        due, at = "FROM links WHERE marked_expired = 0 AND expires_at <= ?", to_micros(now)

        def mark(connection: sqlite3.Connection) -> bool:
            marked = connection.execute(
                "UPDATE links SET marked_expired = 1 "
                f"WHERE code IN (SELECT code {due} ORDER BY expires_at LIMIT ?)",
                (at, limit),
            )
            return marked.rowcount == limit

        # A read does not occupy the writer.
        is_due = await self._database.read(
            "links_expired",
            lambda connection: connection.execute(f"SELECT 1 {due} LIMIT 1", (at,)).fetchone(),
        )
        return bool(is_due) and await self._database.write("links_mark_expired", mark)

    async def record_views(self, people: Mapping[str, int], cursor: str | None) -> None:
        # In the order of the primary key.
        numbers = sorted((code, count) for code, count in people.items() if count)

        def operation(connection: sqlite3.Connection) -> None:
            connection.executemany(_RECORD_VIEWS, numbers)
            if cursor is not None:
                connection.execute("REPLACE INTO rank_cursor (id, cursor) VALUES (1, ?)", (cursor,))

        await self._database.write("links_rank", operation)

    async def view_cursor(self) -> str | None:
        found = await self._database.read(
            "links_rank_cursor",
            lambda connection: connection.execute("SELECT cursor FROM rank_cursor").fetchone(),
        )
        return found[0] if found else None

    async def _chunks(
        self,
        name: str,
        read: Callable[[AgeCursor | None, sqlite3.Connection], tuple[list[T], AgeCursor | None]],
    ) -> AsyncIterator[list[T]]:
        """Yield the results of each chunk of a search, each in a read of its own."""
        cursor: AgeCursor | None = None
        while True:
            found, cursor = await self._database.read(name, partial(read, cursor))
            yield found
            if cursor is None:
                return
