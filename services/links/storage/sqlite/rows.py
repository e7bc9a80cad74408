"""A link as a row of an SQLite file, and what is asked of such rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from services.links.domain.block import BlockReason
from services.links.domain.link import (
    NOBODY,
    RESTORABLE_FOR,
    Account,
    Guest,
    Link,
    LinkState,
    Owner,
    Resolution,
)
from services.links.domain.query import LinkOrder, Position
from services.links.storage.owner_encoding import owner_of, value_of
from services.shared.timestamps import micros_of, moment_of

SEARCHED = "code || char(10) || url || char(10) || title || char(10) || tags"
"""What a text is looked for in, as `Link.searched` has it but for case."""
COLUMNS = (
    "code, url, creator, created_at, title, tags, changed_at, created_url, expires_at, ended_url, "
    "public_statistics, removed_at, blocked, listed, spared, spared_at, scan_code"
)
"""What makes a link; `link_of` reads it."""
WRITTEN = f"{COLUMNS}, folded, marked_expired"
"""What is written of one, as `row_of` has it."""
PEOPLE = "SELECT people FROM views WHERE views.code = links.code"
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

    def in_state(self, state: LinkState | None, now: datetime) -> Select:
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
        }[state]
        return self

    def behind(self, after: Position | None, order: LinkOrder, limit: int) -> Select:
        if after is not None:
            self._parameters |= _position(after)
            self._conditions.append(_behind(order))
        self._parameters["limit"] = limit
        self._end = f"ORDER BY {_by_age(order)} LIMIT :limit"
        return self

    def most_viewed_first(self) -> Select:
        self._end = f"ORDER BY ({PEOPLE}) DESC, created_at DESC, code DESC"
        return self

    def first(self, limit: int) -> Select:
        """Up to `limit` of them, whichever lie first."""
        self._parameters["limit"] = limit
        self._end = "LIMIT :limit"
        return self

    def links(self, connection: sqlite3.Connection) -> list[Link]:
        return [link_of(row) for row in self._read(connection, COLUMNS, self._end)]

    def codes(self, connection: sqlite3.Connection) -> list[str]:
        """Their codes alone, as one text, made with the loop let go on meanwhile."""
        (codes,) = self.aggregate(connection, "group_concat(code, ' ')", "code")
        return codes.split() if codes else []

    def aggregate(self, connection: sqlite3.Connection, result: str, columns: str) -> Any:
        """One row of aggregates over the columns, which are read in order."""
        where = " AND ".join(self._conditions)
        return connection.execute(
            f"SELECT {result} FROM (SELECT {columns} FROM links WHERE {where} {self._end})",
            self._parameters,
        ).fetchone()

    def _read(self, connection: sqlite3.Connection, columns: str, end: str) -> sqlite3.Cursor:
        where = " AND ".join(self._conditions)
        return connection.execute(
            f"SELECT {columns} FROM links WHERE {where} {end}", self._parameters
        )


class StateList:
    """An owner's links in one state, or in all but removed (`state` None).

    A page and the total cost the same however many links the owner has. The column `state` says
    `expired` only once the links service has marked the link. Links that have expired since are
    found by `links_unmarked`, and are few.
    """

    def __init__(self, owner: Account | Guest, state: LinkState | None, now: datetime) -> None:
        self._parameters: dict[str, Any] = {
            "creator": creator_of(owner),
            "now": micros_of(now),
            "gone": micros_of(now - RESTORABLE_FOR),
        }
        self._sources = {
            None: [_in("active"), _in("expired"), _in("blocked")],
            LinkState.ACTIVE: [f"{_in('active')} AND (expires_at IS NULL OR expires_at > :now)"],
            LinkState.EXPIRED: [_in("expired"), _UNMARKED],
            LinkState.BLOCKED: [_in("blocked")],
            LinkState.REMOVED: [f"{_in('removed')} AND removed_at > :gone"],
        }[state]
        self._total = {
            None: f"{_count('active')} + {_count('expired')} + {_count('blocked')}",
            LinkState.ACTIVE: f"{_count('active')} - (SELECT count(*) {_UNMARKED})",
            LinkState.EXPIRED: f"{_count('expired')} + (SELECT count(*) {_UNMARKED})",
            LinkState.BLOCKED: _count("blocked"),
            LinkState.REMOVED: f"{_count('removed')} - (SELECT count(*) {_GONE})",
        }[state]

    def page(
        self,
        connection: sqlite3.Connection,
        order: LinkOrder,
        after: Position | None,
        limit: int,
    ) -> list[Link]:
        """The first `limit` links behind a position."""
        behind = f"AND {_behind(order)}" if after is not None else ""
        end = f"ORDER BY {_by_age(order)} LIMIT :limit"
        keys = " UNION ALL ".join(
            f"SELECT * FROM (SELECT created_at, code {source} {behind} {end})"
            for source in self._sources
        )
        rows = connection.execute(
            f"WITH keys AS (SELECT * FROM ({keys}) {end}) SELECT {COLUMNS} FROM links "
            "WHERE creator = :creator AND (created_at, code) IN keys "
            f"ORDER BY {_by_age(order)}",
            {
                **self._parameters,
                **(_position(after) if after is not None else {}),
                "limit": limit,
            },
        )
        return [link_of(row) for row in rows]

    def total(self, connection: sqlite3.Connection) -> int:
        """How many links there are."""
        (total,) = connection.execute(f"SELECT {self._total}", self._parameters).fetchone()
        return int(total)


def _in(state: str) -> str:
    return (
        "FROM links INDEXED BY links_by_state "
        f"WHERE creator = :creator AND creator <> '' AND state = '{state}'"
    )


def _count(state: str) -> str:
    return (
        "coalesce((SELECT links FROM owners "
        f"WHERE owners.creator = :creator AND state = '{state}'), 0)"
    )


_UNMARKED = (
    "FROM links INDEXED BY links_unmarked "
    "WHERE creator = :creator AND state = 'active' AND expires_at <= :now"
)
"""Links that have expired and are not marked yet."""
_GONE = "FROM links INDEXED BY links_by_removal WHERE +creator = :creator AND removed_at <= :gone"
"""Links whose removal cannot be undone any more, and which are not purged yet."""


def _behind(order: LinkOrder) -> str:
    return f"(created_at, code) {'<' if order is LinkOrder.NEWEST else '>'} (:at, :code)"


def _position(after: Position) -> dict[str, Any]:
    return {"at": micros_of(after.created_at), "code": after.code}


def _by_age(order: LinkOrder) -> str:
    direction = "DESC" if order is LinkOrder.NEWEST else "ASC"
    return f"created_at {direction}, code {direction}"


def placeholders(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


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
        False,
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


def find(connection: sqlite3.Connection, code: str, column: str = "code") -> Link | None:
    """Return the link whose code, or scan code, is `code`."""
    found = connection.execute(
        f"SELECT {COLUMNS} FROM links WHERE {column} = ?", (code,)
    ).fetchone()
    return link_of(found) if found else None
