"""Builds and runs queries for the links of one owner."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import Any

from services.links.domain.link import RESTORABLE_FOR
from services.links.domain.owner import Account, Guest
from services.links.domain.query import AgeCursor, LinkOrder
from services.links.domain.resolution import LinkState
from services.links.storage.sqlite.rows import PEOPLE, creator_of
from services.shared.timestamps import to_micros


class OwnerQuery:
    """A query for an owner's links, built step by step. The last two methods run it."""

    def __init__(self, owner: Account | Guest) -> None:
        self._conditions = ["creator = :creator"]
        self._parameters: dict[str, Any] = {"creator": creator_of(owner)}
        self._end = ""

    def not_removed(self) -> OwnerQuery:
        self._conditions.append("removed_at IS NULL")
        return self

    def in_state(self, state: LinkState | None, now: datetime) -> OwnerQuery:
        self._parameters["now"] = to_micros(now)
        self._parameters["gone"] = to_micros(now - RESTORABLE_FOR)
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

    def page(self, after: AgeCursor | None, order: LinkOrder, limit: int) -> OwnerQuery:
        if after is not None:
            self._parameters |= cursor_parameters(after)
            self._conditions.append(after_cursor(order))
        self._parameters["limit"] = limit
        self._end = f"ORDER BY {by_age(order)} LIMIT :limit"
        return self

    def most_viewed_first(self) -> OwnerQuery:
        self._end = f"ORDER BY ({PEOPLE}) DESC, created_at DESC, code DESC"
        return self

    def first(self, limit: int) -> OwnerQuery:
        """Select up to `limit` of them in no particular order."""
        self._parameters["limit"] = limit
        self._end = "LIMIT :limit"
        return self

    def codes(self, connection: sqlite3.Connection) -> list[str]:
        """Return only the codes. SQLite joins them to one text, which holds the GIL briefly."""
        (codes,) = self.aggregate(connection, "group_concat(code, ' ')", "code")
        return codes.split() if codes else []

    def aggregate(self, connection: sqlite3.Connection, result: str, columns: str) -> Any:
        """Return one row of aggregates over the columns, which are read in order."""
        where = " AND ".join(self._conditions)
        return connection.execute(
            f"SELECT {result} FROM (SELECT {columns} FROM links WHERE {where} {self._end})",
            self._parameters,
        ).fetchone()


def after_cursor(order: LinkOrder) -> str:
    """Return the condition for links after a cursor (`cursor_parameters`)."""
    return f"(created_at, code) {'<' if order is LinkOrder.NEWEST else '>'} (:at, :code)"


def cursor_parameters(cursor: AgeCursor) -> dict[str, Any]:
    return {"at": to_micros(cursor.created_at), "code": cursor.code}


def by_age(order: LinkOrder) -> str:
    direction = "DESC" if order is LinkOrder.NEWEST else "ASC"
    return f"created_at {direction}, code {direction}"
