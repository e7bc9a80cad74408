"""Pages, totals and rankings of an owner's links in an SQLite file, and how often they are visited.

How often a link was visited is a row of its own (`views`). It changes more often than all the rest
of a link, and 140 of those rows share a page: that costs a third of writing the links anew, and a
tenth of the bytes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime
from functools import partial
from typing import TypeVar

from services.links.domain.link import Account, Guest, Link
from services.links.domain.query import LinkOrder, Position, Wanted
from services.links.storage.sqlite import rankings
from services.links.storage.sqlite.rows import Select, StateList
from services.links.storage.sqlite.search import Search
from services.shared.sqlite import Database
from services.shared.timestamps import micros_of

T = TypeVar("T")

_NOTE_VIEWS = """
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
        wanted: Wanted,
        order: LinkOrder,
        after: Position | None,
        limit: int,
        now: datetime,
    ) -> list[Link]:
        if not wanted.text:
            in_state = StateList(owner, wanted.state, now)
            return await self._database.read(
                "links_page", lambda connection: in_state.page(connection, order, after, limit)
            )
        search = Search(owner, wanted, order, now)
        links: list[Link] = []
        end = after
        while len(links) < limit:
            found, end = await self._database.read(
                "links_search", partial(search.links, after=end, limit=limit - len(links))
            )
            links += found
            if end is None:
                break
        return links

    async def count(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> int:
        if not wanted.text:
            return await self._database.read(
                "links_count", StateList(owner, wanted.state, now).total
            )
        search = Search(owner, wanted, LinkOrder.NEWEST, now)
        return sum([len(found) async for found in self._chunks("links_count", search.codes)])

    async def ranking(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> list[str]:
        if not wanted.text:
            select = Select(owner).in_state(wanted.state, now).most_viewed_first()
            return await self._database.read("links_ranking", select.codes)
        search = Search(owner, wanted, LinkOrder.NEWEST, now)
        found = [one async for some in self._chunks("links_ranking", search.views) for one in some]
        found.sort(key=lambda one: -one[1])
        return [code for code, _ in found]

    async def kept_ranking(
        self, owner: Account | Guest, key: str, start: int, limit: int, now: datetime
    ) -> list[str] | None:
        return await self._database.read(
            "links_kept_ranking",
            lambda connection: rankings.kept(connection, owner, key, start, limit, now),
        )

    async def mark_expired(self, now: datetime, limit: int) -> bool:
        due = "FROM links WHERE marked_expired = 0 AND expires_at <= ?"

        def is_due(connection: sqlite3.Connection) -> bool:
            found = connection.execute(f"SELECT 1 {due} LIMIT 1", (micros_of(now),))
            return found.fetchone() is not None

        def mark(connection: sqlite3.Connection) -> bool:
            marked = connection.execute(
                "UPDATE links SET marked_expired = 1 "
                f"WHERE code IN (SELECT code {due} ORDER BY expires_at LIMIT ?)",
                (micros_of(now), limit),
            )
            return marked.rowcount == limit

        # Reading first keeps the writer free.
        if not await self._database.read("links_expired", is_due):
            return False
        return await self._database.write("links_mark_expired", mark)

    async def _chunks(
        self,
        name: str,
        read: Callable[[sqlite3.Connection, Position | None], tuple[list[T], Position | None]],
    ) -> AsyncIterator[list[T]]:
        """Yield what each chunk of a search finds, each in a read of its own."""
        end: Position | None = None
        while True:
            found, end = await self._database.read(name, partial(_read_chunk, read, end))
            yield found
            if end is None:
                return


class SqliteViewCounts:
    """The `ViewCounts` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, people: Mapping[str, int], cursor: str | None) -> None:
        # In the order in which the rows lie.
        numbers = sorted((code, count) for code, count in people.items() if count)

        def operation(connection: sqlite3.Connection) -> None:
            connection.executemany(_NOTE_VIEWS, numbers)
            if cursor is not None:
                connection.execute("REPLACE INTO rank_cursor VALUES (1, ?)", (cursor,))

        await self._database.write("links_rank", operation)

    async def cursor(self) -> str | None:
        def operation(connection: sqlite3.Connection) -> str | None:
            found = connection.execute("SELECT cursor FROM rank_cursor").fetchone()
            return found[0] if found else None

        return await self._database.read("links_rank_cursor", operation)


def _read_chunk(
    read: Callable[[sqlite3.Connection, Position | None], T],
    after: Position | None,
    connection: sqlite3.Connection,
) -> T:
    return read(connection, after)
