"""Substring search in an owner's links in an SQLite file, in linear time.

SQLite's LIKE and instr() compare the search text at every position: on repetitive links their time
grows with the product of both lengths. `bytes.find` is linear, because CPython uses the two-way
algorithm when at least 30,000 bytes remain (Objects/stringlib/fastsearch.h). So SQLite joins the
texts of a chunk of links, and Python searches the joined text.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from services.links.domain.link import Link
from services.links.domain.owner import Account, Guest
from services.links.domain.query import AgeCursor, LinkFilter, LinkOrder
from services.links.storage.sqlite.owner_query import IN_STATE, after_cursor, bind_owner, by_age
from services.links.storage.sqlite.rows import SEARCH_TEXT, find_all
from services.shared.timestamps import from_micros

CHUNK_LINKS = 1000
"""Links that one read searches. Between reads other callers get the connection, and a search whose
caller gave up ends."""
_SEPARATOR = "\x1e"
"""Between the texts of links. Neither they nor search texts contain control characters."""
_PADDING = _SEPARATOR.encode() * 30_000
"""After the last text, so that the search is linear there, too."""


@dataclass(frozen=True, slots=True)
class Search:
    """A search for a text in an owner's links, in an order by age."""

    owner: Account | Guest
    link_filter: LinkFilter
    order: LinkOrder
    now: datetime

    def links(
        self, after: AgeCursor | None, limit: int, connection: sqlite3.Connection
    ) -> tuple[list[Link], AgeCursor | None]:
        """Return up to `limit` matching links of the next chunk, and the cursor at its end."""
        connection.execute("BEGIN")  # One snapshot for the texts and the links.
        try:
            codes, cursor = self.codes(after, connection)
            links: list[Link] = []
            while codes and len(links) < limit:
                some, codes = codes[:limit], codes[limit:]
                found = find_all(connection, some)
                links += (found[code] for code in some if code in found)
            return links[:limit], cursor
        finally:
            connection.execute("ROLLBACK")

    def codes(
        self, after: AgeCursor | None, connection: sqlite3.Connection
    ) -> tuple[list[str], AgeCursor | None]:
        """Return the codes of matching links of the next chunk, and the cursor at its end.

        The cursor is None after the last chunk.
        """
        condition, parameters = after_cursor(after, self.order)
        last = "min" if self.order is LinkOrder.NEWEST else "max"
        texts, joined, last_created_at = connection.execute(
            f"SELECT CAST(group_concat(text, '{_SEPARATOR}') AS BLOB), group_concat(code, ' '), "
            f"{last}(created_at) "
            f"FROM (SELECT code, created_at, coalesce(folded, {SEARCH_TEXT}) AS text FROM links "
            f"WHERE creator = :creator AND {IN_STATE[self.link_filter.state]} AND {condition} "
            f"{by_age(self.order)} LIMIT :limit)",
            {**bind_owner(self.owner, self.now), **parameters, "limit": CHUNK_LINKS},
        ).fetchone()
        if joined is None:
            return [], None
        codes = joined.split()
        # Texts that are not ASCII are folded already; lower() does not change them.
        matches = _find(texts.lower() + _PADDING, self.link_filter.text.encode())
        is_full = len(codes) == CHUNK_LINKS
        cursor = AgeCursor(from_micros(last_created_at), codes[-1]) if is_full else None
        return [codes[number] for number in matches], cursor

    def views(
        self, after: AgeCursor | None, connection: sqlite3.Connection
    ) -> tuple[list[tuple[str, int]], AgeCursor | None]:
        """Return codes as `codes` does, each with its number of visits by people."""
        codes, cursor = self.codes(after, connection)
        (people,) = connection.execute(
            "SELECT group_concat(coalesce((SELECT people FROM views WHERE code = value), 0), ' ') "
            "FROM json_each(?)",
            (json.dumps(codes),),
        ).fetchone()
        return list(zip(codes, map(int, (people or "").split()), strict=True)), cursor


def _find(texts: bytes, text: bytes) -> Iterator[int]:
    """Yield the indexes of the texts, separated and padded, that contain `text`."""
    separator = _SEPARATOR.encode()
    number = start = 0
    while (found := texts.find(text, start)) >= 0:
        number += texts.count(separator, start, found)
        yield number
        start = texts.index(separator, found) + 1
        number += 1
