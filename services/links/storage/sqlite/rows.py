"""Links as rows of the table `links`. Columns are read and written by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from services.links.domain.block import BlockReason
from services.links.domain.link import Link
from services.links.domain.owner import ANONYMOUS, Owner
from services.links.domain.resolution import LinkState, Resolution
from services.links.storage.owner_encoding import OwnerValue, owner_of, value_of
from services.shared.timestamps import from_micros, to_micros


class LinkRow(NamedTuple):
    """The columns of `links` that make a `Link`."""

    code: str
    url: str
    creator: OwnerValue
    created_at: int
    title: str
    tags: str
    changed_at: int | None
    created_url: str
    expires_at: int | None
    ended_url: str
    public_statistics: int
    removed_at: int | None
    blocked: str | None
    listed: str | None
    spared: int
    spared_at: int | None
    scan_code: str | None

    def link(self) -> Link:
        return Link(
            code=self.code,
            url=self.url,
            owner=owner_of(self.creator) if self.creator else ANONYMOUS,
            created_at=from_micros(self.created_at),
            title=self.title,
            tags=tuple(self.tags.split("\n")) if self.tags else (),
            changed_at=_moment(self.changed_at),
            created_url=self.created_url,
            expires_at=_moment(self.expires_at),
            ended_url=self.ended_url,
            public_statistics=bool(self.public_statistics),
            removed_at=_moment(self.removed_at),
            blocked=BlockReason(self.blocked) if self.blocked else None,
            blocklist=self.listed or "",
            exempt=bool(self.spared),
            exempt_since=_moment(self.spared_at),
            scan_code=self.scan_code or "",
        )


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
        if self.blocked is not None:
            return Resolution(self.code, LinkState.BLOCKED, reason=BlockReason(self.blocked))
        if self.removed_at is not None:
            return Resolution(self.code, LinkState.REMOVED)
        return Resolution(
            self.code, LinkState.ACTIVE, self.url, _moment(self.expires_at), self.ended_url
        )


LINK_COLUMNS = ", ".join(LinkRow._fields)
RESOLUTION_COLUMNS = ", ".join(ResolutionRow._fields)
WRITTEN_COLUMNS = (*LinkRow._fields, "folded", "marked_expired")
"""The keys of `values_of`."""
SEARCH_TEXT = "code || char(10) || url || char(10) || title || char(10) || tags"
"""SQL for `Link.search_text` without case folding."""
PEOPLE = "SELECT people FROM views WHERE views.code = links.code"


def links_of(rows: Iterable[Sequence[Any]]) -> list[Link]:
    """Return the links of rows with `LINK_COLUMNS`."""
    return [LinkRow._make(row).link() for row in rows]


def find(connection: sqlite3.Connection, code: str, column: str = "code") -> Link | None:
    """Return the link whose code, or scan code, is `code`."""
    rows = connection.execute(f"SELECT {LINK_COLUMNS} FROM links WHERE {column} = ?", (code,))
    return next(iter(links_of(rows)), None)


def find_all(connection: sqlite3.Connection, codes: Sequence[str]) -> dict[str, Link]:
    """Return the links under those of the codes that have one, by code."""
    rows = connection.execute(
        f"SELECT {LINK_COLUMNS} FROM links WHERE code IN ({placeholders(codes)})", codes
    )
    return {link.code: link for link in links_of(rows)}


def values_of(link: Link) -> dict[str, Any]:
    """Return the values of a link's row, by column."""
    return {
        "code": link.code,
        "url": link.url,
        "creator": creator_of(link.owner),
        "created_at": to_micros(link.created_at),
        "title": link.title,
        "tags": "\n".join(link.tags),
        "changed_at": _micros(link.changed_at),
        "created_url": link.created_url,
        "expires_at": _micros(link.expires_at),
        "ended_url": link.ended_url,
        "public_statistics": link.public_statistics,
        "removed_at": _micros(link.removed_at),
        "blocked": link.blocked and link.blocked.value,
        "listed": link.blocklist or None,
        "spared": link.exempt,
        "spared_at": _micros(link.exempt_since),
        "scan_code": link.scan_code or None,
        "folded": _folded(link),
        "marked_expired": False,
    }


def creator_of(owner: Owner) -> str | bytes:
    """Return an owner as the column `creator` has it."""
    return value_of(owner) or ""


def placeholders(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _folded(link: Link) -> str | None:
    """Return the search text unless SQLite's lower(), which knows only ASCII, can derive it."""
    text = "\n".join((link.code, link.url, link.title, *link.tags))
    return None if text.isascii() else link.search_text()


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
