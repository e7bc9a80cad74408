"""Pages and totals of an owner's links in one state, in constant time."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import Any

from services.links.domain.link import RESTORABLE_FOR, Link
from services.links.domain.owner import Account, Guest
from services.links.domain.query import AgeCursor, LinkOrder
from services.links.domain.resolution import LinkState
from services.links.storage.sqlite.owner_query import after_cursor, by_age, cursor_parameters
from services.links.storage.sqlite.rows import LINK_COLUMNS, creator_of, read_page
from services.shared.timestamps import to_micros


class StateList:
    """An owner's links in one state, or in all but removed (`state` None).

    A page and the total cost the same however many links the owner has. The column `state` becomes
    `expired` only when the links service marks the link. Links that have expired since the last
    marking are found through the index `links_unmarked`, and are few.
    """

    def __init__(self, owner: Account | Guest, state: LinkState | None, now: datetime) -> None:
        self._parameters: dict[str, Any] = {
            "creator": creator_of(owner),
            "now": to_micros(now),
            "gone": to_micros(now - RESTORABLE_FOR),
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
        after: AgeCursor | None,
        limit: int,
    ) -> list[Link]:
        """Return the first `limit` links after a cursor."""
        condition = f"AND {after_cursor(order)}" if after is not None else ""
        end = f"ORDER BY {by_age(order)} LIMIT :limit"
        keys = " UNION ALL ".join(
            f"SELECT * FROM (SELECT created_at, code {source} {condition} {end})"
            for source in self._sources
        )
        return read_page(
            connection,
            f"WITH keys AS (SELECT * FROM ({keys}) {end}) SELECT {LINK_COLUMNS} FROM links "
            "WHERE creator = :creator AND (created_at, code) IN keys "
            f"ORDER BY {by_age(order)}",
            {
                **self._parameters,
                **(cursor_parameters(after) if after is not None else {}),
                "limit": limit,
            },
        )

    def total(self, connection: sqlite3.Connection) -> int:
        """Return the number of links."""
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
"""Expired links that are not marked yet."""
_GONE = "FROM links INDEXED BY links_by_removal WHERE +creator = :creator AND removed_at <= :gone"
"""Links whose removal can no longer be undone and that are not purged yet."""
