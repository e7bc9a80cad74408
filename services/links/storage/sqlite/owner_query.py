"""Reads of one owner's links: pages and totals of lists, and the codes in other orders.

A page and a total cost the same however many links the owner has. The column `state` becomes
`expired` only when the links service marks the link. Links that have expired since the last marking
are found through the index `links_unmarked`, and are few.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from services.links.domain.link import RESTORABLE_FOR, Link
from services.links.domain.owner import Account, Guest
from services.links.domain.query import AgeCursor, LinkOrder
from services.links.domain.resolution import LinkState
from services.links.storage.sqlite.rows import LINK_COLUMNS, encode_creator, read_page
from services.shared.timestamps import to_micros

IN_STATE = {
    None: "removed_at IS NULL",
    LinkState.ACTIVE: (
        "removed_at IS NULL AND blocked IS NULL AND (expires_at IS NULL OR expires_at > :now)"
    ),
    LinkState.EXPIRED: "removed_at IS NULL AND blocked IS NULL AND expires_at <= :now",
    LinkState.BLOCKED: "removed_at IS NULL AND blocked IS NOT NULL",
    LinkState.REMOVED: "removed_at > :gone",
}
"""The condition of each state for a scan of all links; None stands for all states but removed."""


def _in(state: str) -> str:
    return (
        "FROM links INDEXED BY links_by_state "
        f"WHERE creator = :creator AND creator <> '' AND state = '{state}'"
    )


def _count(*states: str) -> str:
    listed = ", ".join(f"'{state}'" for state in states)
    return (
        "coalesce((SELECT sum(links) FROM owners "
        f"WHERE owners.creator = :creator AND state IN ({listed})), 0)"
    )


_UNMARKED = (
    "FROM links INDEXED BY links_unmarked "
    "WHERE creator = :creator AND state = 'active' AND expires_at <= :now"
)
"""Expired links that are not marked yet."""
_GONE = "FROM links INDEXED BY links_by_removal WHERE +creator = :creator AND removed_at <= :gone"
"""Links whose removal can no longer be undone and that are not purged yet."""
_SOURCES = {
    None: [_in("active"), _in("expired"), _in("blocked")],
    LinkState.ACTIVE: [f"{_in('active')} AND (expires_at IS NULL OR expires_at > :now)"],
    LinkState.EXPIRED: [_in("expired"), _UNMARKED],
    LinkState.BLOCKED: [_in("blocked")],
    LinkState.REMOVED: [f"{_in('removed')} AND removed_at > :gone"],
}
_TOTALS = {
    None: _count("active", "expired", "blocked"),
    LinkState.ACTIVE: f"{_count('active')} - (SELECT count(*) {_UNMARKED})",
    LinkState.EXPIRED: f"{_count('expired')} + (SELECT count(*) {_UNMARKED})",
    LinkState.BLOCKED: _count("blocked"),
    LinkState.REMOVED: f"{_count('removed')} - (SELECT count(*) {_GONE})",
}


def bind_owner(owner: Account | Guest, now: datetime) -> dict[str, Any]:
    """Return the parameters of an owner's links and of their states at a moment."""
    return {
        "creator": encode_creator(owner),
        "now": to_micros(now),
        "gone": to_micros(now - RESTORABLE_FOR),
    }


def after_cursor(cursor: AgeCursor | None, order: LinkOrder) -> tuple[str, dict[str, Any]]:
    """Return the condition for links after a cursor, and its parameters."""
    if cursor is None:
        return "TRUE", {}
    operator = "<" if order is LinkOrder.NEWEST else ">"
    parameters = {"at": to_micros(cursor.created_at), "code": cursor.code}
    return f"(created_at, code) {operator} (:at, :code)", parameters


def by_age(order: LinkOrder) -> str:
    direction = "DESC" if order is LinkOrder.NEWEST else "ASC"
    return f"ORDER BY created_at {direction}, code {direction}"


def read_state_page(
    connection: sqlite3.Connection,
    owner: Account | Guest,
    state: LinkState | None,
    order: LinkOrder,
    after: AgeCursor | None,
    limit: int,
    now: datetime,
) -> list[Link]:
    """Return the first `limit` links in a state after a cursor."""
    condition, parameters = after_cursor(after, order)
    end = f"{by_age(order)} LIMIT :limit"
    keys = " UNION ALL ".join(
        f"SELECT * FROM (SELECT created_at, code {source} AND {condition} {end})"
        for source in _SOURCES[state]
    )
    return read_page(
        connection,
        f"WITH keys AS (SELECT * FROM ({keys}) {end}) SELECT {LINK_COLUMNS} FROM links "
        f"WHERE creator = :creator AND (created_at, code) IN keys {by_age(order)}",
        {**bind_owner(owner, now), **parameters, "limit": limit},
    )


def count_in_state(
    connection: sqlite3.Connection, owner: Account | Guest, state: LinkState | None, now: datetime
) -> int:
    (total,) = connection.execute(f"SELECT {_TOTALS[state]}", bind_owner(owner, now)).fetchone()
    return int(total)


def read_codes(
    connection: sqlite3.Connection, clauses: str, parameters: Mapping[str, Any]
) -> list[str]:
    """Return the codes of the links that clauses select, in their order.

    SQLite joins them to one text, which holds the GIL briefly.
    """
    (codes,) = connection.execute(
        f"SELECT group_concat(code, ' ') FROM (SELECT code FROM links {clauses})", parameters
    ).fetchone()
    return codes.split() if codes else []
