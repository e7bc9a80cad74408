"""Links as rows of the table `links`. Columns are read and written by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, NamedTuple

from services.links.domain.block import BlockReason
from services.links.domain.link import Link
from services.links.domain.owner import ANONYMOUS, Owner
from services.links.domain.resolution import LinkState, Resolution
from services.links.storage.owner_encoding import OwnerValue, owner_of, value_of
from services.links.storage.text_fields import check_text
from services.shared.timestamps import from_micros, to_micros
from services.shared.unreadable_records import decode_each, decode_page


class Column(NamedTuple):
    """The column of a field of `Link`, and the conversions of its value."""

    name: str
    encode: Callable[[Any], Any] | None = None
    decode: Callable[[Any], Any] | None = None


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
            self.code, LinkState.ACTIVE, self.url, _moment(self.expires_at), self.ended_url
        )


def creator_of(owner: Owner) -> str | bytes:
    """Return an owner as the column `creator` has it."""
    return value_of(owner) or ""


def _owner(creator: OwnerValue) -> Owner:
    return owner_of(creator) if creator else ANONYMOUS


def _tags(lines: str) -> tuple[str, ...]:
    return tuple(lines.split("\n")) if lines else ()


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


def _or_null(text: str) -> str | None:
    return text or None


def _or_empty(text: str | None) -> str:
    return text or ""


def _reason_value(reason: BlockReason | None) -> str | None:
    return reason and reason.value


def _reason(value: str | None) -> BlockReason | None:
    return BlockReason(value) if value else None


_CONVERTED = {
    "owner": Column("creator", creator_of, _owner),
    "created_at": Column("created_at", to_micros, from_micros),
    "tags": Column("tags", "\n".join, _tags),
    "changed_at": Column("changed_at", _micros, _moment),
    "expires_at": Column("expires_at", _micros, _moment),
    "public_statistics": Column("public_statistics", int, bool),
    "removed_at": Column("removed_at", _micros, _moment),
    "blocked": Column("blocked", _reason_value, _reason),
    "blocklist": Column("listed", _or_null, _or_empty),
    "exempt": Column("spared", int, bool),
    "exempt_since": Column("spared_at", _micros, _moment),
    "scan_code": Column("scan_code", _or_null, _or_empty),
}
COLUMNS = {field.name: _CONVERTED.get(field.name, Column(field.name)) for field in fields(Link)}
"""The column of every field of `Link`. A text has its own name, and is stored as it is."""
_COLUMNS = list(COLUMNS.values())
_DECODERS = [column.decode for column in _COLUMNS]
LINK_COLUMNS = ", ".join(column.name for column in _COLUMNS)
RESOLUTION_COLUMNS = ", ".join(ResolutionRow._fields)
WRITTEN_COLUMNS = (*(column.name for column in _COLUMNS), "folded", "marked_expired")
"""The keys of `values_of`."""
SEARCH_TEXT = "code || char(10) || url || char(10) || title || char(10) || tags"
"""SQL for `Link.search_text` without case folding."""
PEOPLE = "SELECT people FROM views WHERE views.code = links.code"


def links_of(rows: Iterable[Sequence[Any]]) -> list[Link]:
    """Return the links of rows with `LINK_COLUMNS`, without those that cannot be read."""
    return list(decode_each("link", rows, _link_of, _code_of))


def read_page(
    connection: sqlite3.Connection, statement: str, parameters: Mapping[str, Any]
) -> list[Link]:
    """Return the links that a statement with `LINK_COLUMNS` selects, at most `limit`.

    `limit` is one of the parameters. Fewer links are the last ones.
    """

    def read(limit: int) -> list[Sequence[Any]]:
        return connection.execute(statement, {**parameters, "limit": limit}).fetchall()

    return decode_page("link", read, parameters["limit"], _link_of, _code_of)


def _link_of(row: Sequence[Any]) -> Link:
    return check_text(
        Link(
            *(
                decode(value) if decode else value
                for decode, value in zip(_DECODERS, row, strict=True)
            )
        )
    )


def _code_of(row: Sequence[Any]) -> object:
    return row[0]


def find(connection: sqlite3.Connection, code: str, column: str = "code") -> Link | None:
    """Return the link whose code, or scan code, is `code`. Raises if it cannot be read."""
    row = connection.execute(
        f"SELECT {LINK_COLUMNS} FROM links WHERE {column} = ?", (code,)
    ).fetchone()
    return _link_of(row) if row else None


def find_all(connection: sqlite3.Connection, codes: Sequence[str]) -> dict[str, Link]:
    """Return the links under those of the codes that have one, by code."""
    rows = connection.execute(
        f"SELECT {LINK_COLUMNS} FROM links WHERE code IN ({placeholders(codes)})", codes
    )
    return {link.code: link for link in links_of(rows)}


def values_of(link: Link) -> dict[str, Any]:
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
