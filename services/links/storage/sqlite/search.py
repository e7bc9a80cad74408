"""Substring search in an owner's links in an SQLite file, in linear time.

SQLite's LIKE and instr() compare the search text at every position: on repetitive links their time
grows with the product of both lengths. `bytes.find` is linear, because CPython uses the two-way
algorithm when at least 30,000 bytes remain (Objects/stringlib/fastsearch.h). So SQLite joins the
texts of a chunk of links, and Python searches the joined text.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from services.links.domain.link import Link
from services.links.domain.owner import Account, Guest
from services.links.domain.query import AgeCursor, LinkFilter, LinkOrder
from services.links.storage.sqlite.owner_query import OwnerQuery
from services.links.storage.sqlite.rows import PEOPLE, SEARCH_TEXT, find_all
from services.shared.timestamps import from_micros

CHUNK_LINKS = 1000
"""Links that one read searches. Between reads other callers get the connection, and a search whose
caller gave up ends."""
_SEPARATOR = "\x1e"
"""Between the texts of links. Neither they nor search texts contain control characters."""
_PADDING = _SEPARATOR.encode() * 30_000
"""After the last text, so that the search is linear there, too."""
_JOINED = f"CAST(group_concat(text, '{_SEPARATOR}') AS BLOB), group_concat(code, ' ')"
_TEXT = f"code, created_at, coalesce(folded, {SEARCH_TEXT}) AS text"


@dataclass(frozen=True, slots=True)
class Search:
    """A search for a text in an owner's links, in an order by age."""

    owner: Account | Guest
    link_filter: LinkFilter
    order: LinkOrder
    now: datetime

    def links(
        self, connection: sqlite3.Connection, after: AgeCursor | None, limit: int
    ) -> tuple[list[Link], AgeCursor | None]:
        """Return up to `limit` matching links of the next chunk, and the cursor at its end."""
        connection.execute("BEGIN")  # One snapshot for the texts and the links.
        try:
            codes, cursor = self.codes(connection, after)
            links: list[Link] = []
            while codes and len(links) < limit:
                some, codes = codes[:limit], codes[limit:]
                found = find_all(connection, some)
                links += (found[code] for code in some if code in found)
            return links[:limit], cursor
        finally:
            connection.execute("ROLLBACK")

    def codes(
        self, connection: sqlite3.Connection, after: AgeCursor | None
    ) -> tuple[list[str], AgeCursor | None]:
        """Return the codes of matching links of the next chunk, and the cursor at its end.

        The cursor is None after the last chunk.
        """
        texts, joined, last_created_at = self._chunk(after).aggregate(
            connection, f"{_JOINED}, {self._last}", _TEXT
        )
        return self._matches(texts, joined, last_created_at)

    def views(
        self, connection: sqlite3.Connection, after: AgeCursor | None
    ) -> tuple[list[tuple[str, int]], AgeCursor | None]:
        """Return codes as `codes` does, each with its number of visits by people."""
        texts, joined, last_created_at, people = self._chunk(after).aggregate(
            connection,
            f"{_JOINED}, {self._last}, group_concat(people, ' ')",
            f"{_TEXT}, coalesce(({PEOPLE}), 0) AS people",
        )
        codes, cursor = self._matches(texts, joined, last_created_at)
        people_of = dict(zip(joined.split(), people.split(), strict=True)) if joined else {}
        return [(code, int(people_of[code])) for code in codes], cursor

    @property
    def _last(self) -> str:
        return "min(created_at)" if self.order is LinkOrder.NEWEST else "max(created_at)"

    def _chunk(self, after: AgeCursor | None) -> OwnerQuery:
        query = OwnerQuery(self.owner).in_state(self.link_filter.state, self.now)
        return query.page(after, self.order, CHUNK_LINKS)

    def _matches(
        self, texts: bytes | None, joined: str | None, last_created_at: int
    ) -> tuple[list[str], AgeCursor | None]:
        if texts is None or joined is None:
            return [], None
        codes = joined.split()
        # Texts that are not ASCII are folded already; lower() does not change them.
        matches = _find(texts.lower() + _PADDING, self.link_filter.text.encode())
        is_full = len(codes) == CHUNK_LINKS
        cursor = AgeCursor(from_micros(last_created_at), codes[-1]) if is_full else None
        return [codes[number] for number in matches], cursor


def _find(texts: bytes, text: bytes) -> Iterator[int]:
    """Yield the indexes of the texts, separated and padded, that contain `text`."""
    separator = _SEPARATOR.encode()
    number = start = 0
    while (found := texts.find(text, start)) >= 0:
        number += texts.count(separator, start, found)
        yield number
        start = texts.index(separator, found) + 1
        number += 1
