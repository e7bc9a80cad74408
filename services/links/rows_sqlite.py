"""A link as a row of an SQLite file, and what is asked of such rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from services.links.blocks import BlockReason
from services.links.domain import (
    NOBODY,
    RESTORABLE_FOR,
    Account,
    Guest,
    Link,
    LinkState,
    Owner,
    Resolution,
)
from services.links.listing import LinkOrder, Position, Wanted
from services.links.stored import owner_of, value_of
from services.runtime.moments import micros_of, moment_of

SEARCHED = "code || char(10) || url || char(10) || title || char(10) || tags"
"""What a text is looked for in, as `Link.searched` has it but for case."""
COLUMNS = (
    "code, url, creator, created_at, title, tags, changed_at, created_url, expires_at, ended_url, "
    "public_statistics, removed_at, blocked, listed, spared, spared_at, scan_code"
)
"""What makes a link; `link_of` reads it."""
WRITTEN = f"{COLUMNS}, folded"
"""What is written of one, as `row_of` has it."""
_PEOPLE = "SELECT people FROM views WHERE views.code = links.code"
RESOLVED = "code, url, removed_at, expires_at, blocked, ended_url"
"""What decides what a short address answers; `resolution_of` reads it."""


class Select:
    """What is read of an owner's links, put together of conditions. Its last methods read it."""

    def __init__(self, owner: Account | Guest) -> None:
        self._conditions = ["creator = :creator"]
        self._parameters: dict[str, Any] = {"creator": creator_of(owner)}
        self._end = ""

    def not_removed(self) -> Select:
        self._conditions.append("removed_at IS NULL")
        return self

    def wanted(self, wanted: Wanted, now: datetime) -> Select:
        self._parameters["now"] = micros_of(now)
        self._parameters["gone"] = micros_of(now - RESTORABLE_FOR)
        self._conditions += {
            None: ["removed_at IS NULL"],
            LinkState.ACTIVE: [
                "removed_at IS NULL AND blocked IS NULL",
                "(expires_at IS NULL OR expires_at > :now)",
            ],
            LinkState.EXPIRED: ["removed_at IS NULL AND blocked IS NULL AND expires_at <= :now"],
            LinkState.BLOCKED: ["removed_at IS NULL AND blocked IS NOT NULL"],
            LinkState.REMOVED: ["removed_at > :gone"],
        }[wanted.state]
        if wanted.text:
            # For ASCII, LIKE makes no difference between cases, and is twice as fast as lower().
            self._parameters["text"] = f"%{_literally(wanted.text)}%"
            self._conditions.append(f"coalesce(folded, {SEARCHED}) LIKE :text ESCAPE '!'")
        return self

    def behind(self, after: Position | None, order: LinkOrder, limit: int) -> Select:
        newest = order is LinkOrder.NEWEST
        if after is not None:
            self._parameters["at"], self._parameters["code"] = (
                micros_of(after.created_at),
                after.code,
            )
            self._conditions.append(f"(created_at, code) {'<' if newest else '>'} (:at, :code)")
        direction = "DESC" if newest else "ASC"
        self._parameters["limit"] = limit
        self._end = f"ORDER BY created_at {direction}, code {direction} LIMIT :limit"
        return self

    def most_viewed_first(self) -> Select:
        self._end = f"ORDER BY ({_PEOPLE}) DESC, created_at DESC, code DESC"
        return self

    def first(self, most: int) -> Select:
        """Up to `most` of them, whichever lie first."""
        self._parameters["limit"] = most
        self._end = "LIMIT :limit"
        return self

    def links(self, connection: sqlite3.Connection) -> list[Link]:
        return [link_of(row) for row in self._read(connection, COLUMNS, self._end)]

    def count(self, connection: sqlite3.Connection) -> int:
        (count,) = self._read(connection, "count(*)", "").fetchone()
        return int(count)

    def codes(self, connection: sqlite3.Connection) -> list[str]:
        """Their codes alone, as one text, made with the loop let go on meanwhile."""
        (codes,) = connection.execute(
            f"SELECT group_concat(code, ' ') FROM (SELECT code FROM links "
            f"WHERE {' AND '.join(self._conditions)} {self._end})",
            self._parameters,
        ).fetchone()
        return codes.split() if codes else []

    def _read(self, connection: sqlite3.Connection, columns: str, end: str) -> sqlite3.Cursor:
        where = " AND ".join(self._conditions)
        return connection.execute(
            f"SELECT {columns} FROM links WHERE {where} {end}", self._parameters
        )


def marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _literally(text: str) -> str:
    """A text as the part of a pattern of LIKE that matches it alone."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def creator_of(owner: Owner) -> str | bytes:
    """An owner as the column `creator` has it."""
    return value_of(owner) or ""


def row_of(link: Link) -> tuple[Any, ...]:
    """The columns `WRITTEN` of a link."""
    searched = "\n".join((link.code, link.url, link.title, *link.tags))
    return (
        link.code,
        link.url,
        creator_of(link.owner),
        micros_of(link.created_at),
        link.title,
        "\n".join(link.tags),
        _micros(link.changed_at),
        link.created_url,
        _micros(link.expires_at),
        link.ended_url,
        link.public_statistics,
        _micros(link.removed_at),
        link.blocked and link.blocked.value,
        link.listed or None,
        link.spared,
        _micros(link.spared_at),
        link.scan_code or None,
        None if searched.isascii() else link.searched(),
    )


def link_of(row: tuple[Any, ...]) -> Link:
    return Link(
        code=row[0],
        url=row[1],
        owner=owner_of(row[2]) if row[2] else NOBODY,
        created_at=moment_of(row[3]),
        title=row[4],
        tags=tuple(row[5].split("\n")) if row[5] else (),
        changed_at=_moment(row[6]),
        created_url=row[7],
        expires_at=_moment(row[8]),
        ended_url=row[9],
        public_statistics=bool(row[10]),
        removed_at=_moment(row[11]),
        blocked=BlockReason(row[12]) if row[12] else None,
        listed=row[13] or "",
        spared=bool(row[14]),
        spared_at=_moment(row[15]),
        scan_code=row[16] or "",
    )


def resolution_of(row: Sequence[Any]) -> Resolution:
    """What the short address of a link answers."""
    code, url, removed_at, expires_at, blocked, ended_url = row
    if blocked is not None:
        return Resolution(code, LinkState.BLOCKED, reason=BlockReason(blocked))
    if removed_at is not None:
        return Resolution(code, LinkState.REMOVED)
    return Resolution(code, LinkState.ACTIVE, url, _moment(expires_at), ended_url)


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else micros_of(moment)


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else moment_of(micros)
