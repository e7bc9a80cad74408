"""Search in an owner's links in an SQLite file, in time linear in the text.

SQLite's LIKE and instr() compare the searched text at every position: on repetitive links that
takes time proportional to the product of both lengths. `bytes.find` is linear: CPython uses the
two-way algorithm where 30,000 bytes and more remain (Objects/stringlib/fastsearch.h). So SQLite
joins the texts of a chunk of links, and Python searches the joined text.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from services.links.domain.link import Account, Guest, Link
from services.links.domain.query import LinkOrder, Position, Wanted
from services.links.storage.sqlite.rows import (
    COLUMNS,
    PEOPLE,
    SEARCHED,
    Select,
    link_of,
    placeholders,
)
from services.shared.timestamps import moment_of

CHUNK_LINKS = 1000
"""Links that one read searches. Between reads others get the connection, and a caller who gave up
ends the search."""
_SEPARATOR = "\x1e"
"""Between the texts of links. Neither they nor a searched text have control characters."""
_PADDING = _SEPARATOR.encode() * 30_000
"""Behind the last text, so that the search is linear in that, too."""
_JOINED = f"CAST(group_concat(text, '{_SEPARATOR}') AS BLOB), group_concat(code, ' ')"
_TEXT = f"code, created_at, coalesce(folded, {SEARCHED}) AS text"


@dataclass(frozen=True, slots=True)
class Search:
    """A search for a text in an owner's links, in an order by age."""

    owner: Account | Guest
    wanted: Wanted
    order: LinkOrder
    now: datetime

    def links(
        self, connection: sqlite3.Connection, after: Position | None, limit: int
    ) -> tuple[list[Link], Position | None]:
        """Up to `limit` links of the next chunk that have the text, and where the chunk ended."""
        connection.execute("BEGIN")  # One snapshot for the texts and the links.
        try:
            codes, end = self.codes(connection, after)
            codes = codes[:limit]
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM links WHERE code IN ({placeholders(codes)})", codes
            )
            found = {link.code: link for link in map(link_of, rows)}
            return [found[code] for code in codes], end
        finally:
            connection.execute("ROLLBACK")

    def codes(
        self, connection: sqlite3.Connection, after: Position | None
    ) -> tuple[list[str], Position | None]:
        """Codes of the next chunk that have the text, and where the chunk ended.

        The end is None where no links follow.
        """
        texts, joined, last_created_at = self._chunk(after).aggregate(
            connection, f"{_JOINED}, {self._last}", _TEXT
        )
        return self._matches(texts, joined, last_created_at)

    def views(
        self, connection: sqlite3.Connection, after: Position | None
    ) -> tuple[list[tuple[str, int]], Position | None]:
        """As `codes`, each with how often people visited it."""
        texts, joined, last_created_at, people = self._chunk(after).aggregate(
            connection,
            f"{_JOINED}, {self._last}, group_concat(people, ' ')",
            f"{_TEXT}, coalesce(({PEOPLE}), 0) AS people",
        )
        codes, end = self._matches(texts, joined, last_created_at)
        people_of = dict(zip(joined.split(), people.split(), strict=True)) if joined else {}
        return [(code, int(people_of[code])) for code in codes], end

    @property
    def _last(self) -> str:
        return "min(created_at)" if self.order is LinkOrder.NEWEST else "max(created_at)"

    def _chunk(self, after: Position | None) -> Select:
        select = Select(self.owner).in_state(self.wanted.state, self.now)
        return select.behind(after, self.order, CHUNK_LINKS)

    def _matches(
        self, texts: bytes | None, joined: str | None, last_created_at: int
    ) -> tuple[list[str], Position | None]:
        if texts is None or joined is None:
            return [], None
        codes = joined.split()
        # Texts that are not ASCII are folded already, and lower() leaves them as they are.
        matches = _find(texts.lower() + _PADDING, self.wanted.text.encode())
        is_full = len(codes) == CHUNK_LINKS
        end = Position(moment_of(last_created_at), codes[-1]) if is_full else None
        return [codes[number] for number in matches], end


def _find(texts: bytes, text: bytes) -> Iterator[int]:
    """The numbers of the texts, separated and padded, that have `text` in them."""
    separator = _SEPARATOR.encode()
    number = start = 0
    while (found := texts.find(text, start)) >= 0:
        number += texts.count(separator, start, found)
        yield number
        start = texts.index(separator, found) + 1
        number += 1
