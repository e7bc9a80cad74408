"""Links as rows of the table `links`. Columns are read and written by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from services.links.domain.block import BlockReason
from services.links.domain.link import Link
from services.links.domain.owner import Owner
from services.links.domain.resolution import LinkState, Resolution
from services.links.storage.link_encoding import Field, check_text, decode_owner, encode_owner
from services.shared.timestamps import from_micros, to_micros
from services.shared.unreadable_records import decode_each, decode_page


class ResolutionRow(NamedTuple):
    """The columns of `links` that make a `Resolution`."""

    code: str
    scan_code: str | None
    url: str
    removed_at: int | None
    expires_at: int | None
    blocked: str | None
    ended_url: str

    def resolution(self) -> Resolution:
        """Return the resolution of the link's own code."""
        if not (isinstance(self.url, str) and isinstance(self.ended_url, str)):
            raise TypeError("A URL of the link is no text.")
        if self.blocked is not None:
            return Resolution(self.code, LinkState.BLOCKED, reason=BlockReason(self.blocked))
        if self.removed_at is not None:
            return Resolution(self.code, LinkState.REMOVED)
        return Resolution(
            self.code,
            LinkState.ACTIVE,
            self.url,
            None if self.expires_at is None else from_micros(self.expires_at),
            self.ended_url,
        )


def encode_creator(owner: Owner) -> str | bytes:
    """Return an owner as the column `creator` has it."""
    return encode_owner(owner) or ""


def _optional(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a conversion that leaves None as it is."""
    return lambda value: None if value is None else convert(value)


def _moment(name: str) -> Field:
    """Return a column for a moment that may be missing."""
    return Field(name, _optional(to_micros), _optional(from_micros))


def _text(name: str) -> Field:
    """Return a column that is null for an empty text."""
    return Field(name, lambda text: text or None, lambda text: text or "")


def _decode_tags(lines: str) -> tuple[str, ...]:
    return tuple(lines.split("\n")) if lines else ()


_CONVERTED = {
    "owner": Field("creator", encode_creator, lambda creator: decode_owner(creator or None)),
    "created_at": Field("created_at", to_micros, from_micros),
    "tags": Field("tags", "\n".join, _decode_tags),
    "changed_at": _moment("changed_at"),
    "expires_at": _moment("expires_at"),
    "public_statistics": Field("public_statistics", int, bool),
    "removed_at": _moment("removed_at"),
    "blocked": Field("blocked", _optional(attrgetter("value")), _optional(BlockReason)),
    "blocklist": _text("listed"),
    "exempt": Field("spared", int, bool),
    "exempt_since": _moment("spared_at"),
    "scan_code": _text("scan_code"),
}
COLUMNS = {field.name: _CONVERTED.get(field.name, Field(field.name)) for field in fields(Link)}
"""The column of every field of `Link`. A text has its own name, and is stored as it is."""
_COLUMNS = list(COLUMNS.values())
_DECODERS = [column.decode for column in _COLUMNS]
LINK_COLUMNS = ", ".join(column.name for column in _COLUMNS)
RESOLUTION_COLUMNS = ", ".join(ResolutionRow._fields)
WRITTEN_COLUMNS = (*(column.name for column in _COLUMNS), "folded", "marked_expired")
"""The keys of `encode_link`."""
SEARCH_TEXT = "code || char(10) || url || char(10) || title || char(10) || tags"
"""SQL for `Link.search_text` without case folding."""


def decode_links(rows: Iterable[Sequence[Any]]) -> list[Link]:
    """Return the links of rows with `LINK_COLUMNS`, without those that cannot be read."""
    return list(decode_each("link", rows, _decode_link, itemgetter(0)))


def read_page(
    connection: sqlite3.Connection, statement: str, parameters: Mapping[str, Any]
) -> list[Link]:
    """Return the links that a statement with `LINK_COLUMNS` selects, at most `limit`.

    `limit` is one of the parameters. Fewer links are the last ones.
    """

    def read(limit: int) -> list[Sequence[Any]]:
        return connection.execute(statement, {**parameters, "limit": limit}).fetchall()

    return decode_page("link", read, parameters["limit"], _decode_link, itemgetter(0))


def _decode_link(row: Sequence[Any]) -> Link:
    return check_text(
        Link(
            *(
                decode(value) if decode else value
                for decode, value in zip(_DECODERS, row, strict=True)
            )
        )
    )


def find(connection: sqlite3.Connection, code: str, column: str = "code") -> Link | None:
    """Return the link whose code, or scan code, is `code`. Raises if it cannot be read."""
    row = connection.execute(
        f"SELECT {LINK_COLUMNS} FROM links WHERE {column} = ?", (code,)
    ).fetchone()
    return _decode_link(row) if row else None


def find_all(connection: sqlite3.Connection, codes: Sequence[str]) -> dict[str, Link]:
    """Return the links under those of the codes that have one, by code."""
    rows = connection.execute(
        f"SELECT {LINK_COLUMNS} FROM links WHERE code IN ({placeholders(codes)})", codes
    )
    return {link.code: link for link in decode_links(rows)}


def encode_link(link: Link) -> dict[str, Any]:
    """Return the values of a link's row, by column."""
    values: dict[str, Any] = {"folded": _folded(link), "marked_expired": False}
    for name, (column, encode, _) in COLUMNS.items():
        value = getattr(link, name)
        values[column] = encode(value) if encode else value
    return values


def placeholders(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _folded(link: Link) -> str | None:
    """Return the search text unless SQLite's lower(), which knows only ASCII, can derive it."""
    text = "\n".join((link.code, link.url, link.title, *link.tags))
    return None if text.isascii() else link.search_text()
