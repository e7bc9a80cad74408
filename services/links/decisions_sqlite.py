"""What the operator decided, in an SQLite file. Each write is part of a transaction of the store's.

The number of the last decision is a mark, too: no address is blocked or freed without one.
"""

from __future__ import annotations

import sqlite3

from services.links.blocks import BlockReason
from services.links.decisions import BlockedAddress, Decision, DecisionKind
from services.runtime.moments import micros_of, moment_of

MIGRATION = """
    ALTER TABLE links ADD COLUMN spared_at INTEGER;
    CREATE TABLE decisions (
        number INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        code TEXT,
        address TEXT,
        reason TEXT,
        cause TEXT NOT NULL,
        decided_at INTEGER NOT NULL,
        reports INTEGER NOT NULL
    );
    CREATE TABLE blocked_addresses (
        address TEXT PRIMARY KEY,
        reason TEXT NOT NULL,
        blocked_at INTEGER NOT NULL
    ) WITHOUT ROWID;
    """


def keep(connection: sqlite3.Connection, decision: Decision) -> None:
    """Keep a decision, under the number after the last one."""
    connection.execute(
        "INSERT INTO decisions (kind, code, address, reason, cause, decided_at, reports) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            decision.kind.value,
            decision.code or None,
            decision.address or None,
            decision.reason and decision.reason.value,
            decision.cause,
            micros_of(decision.at),
            decision.reports,
        ),
    )


def behind(connection: sqlite3.Connection, skip: int, most: int) -> list[Decision]:
    """Up to `most` decisions, newest first, behind so many of them."""
    rows = connection.execute(
        "SELECT kind, code, address, reason, cause, decided_at, reports FROM decisions "
        "ORDER BY number DESC LIMIT ? OFFSET ?",
        (most, skip),
    )
    return [
        Decision(
            DecisionKind(kind),
            moment_of(decided_at),
            code or "",
            address or "",
            BlockReason(reason) if reason else None,
            cause,
            reports,
        )
        for kind, code, address, reason, cause, decided_at, reports in rows
    ]


def last_number(connection: sqlite3.Connection) -> int:
    """The number of the last decision; 0 before the first."""
    (last,) = connection.execute("SELECT max(number) FROM decisions").fetchone()
    return last or 0


def put_address(connection: sqlite3.Connection, blocked: BlockedAddress) -> None:
    """Block an address, in the place of a block that there is."""
    connection.execute(
        "REPLACE INTO blocked_addresses VALUES (?, ?, ?)",
        (blocked.address, blocked.reason.value, micros_of(blocked.blocked_at)),
    )


def take_address(connection: sqlite3.Connection, address: str) -> bool:
    """Take the block of an address away; whether there was one."""
    gone = connection.execute("DELETE FROM blocked_addresses WHERE address = ?", (address,))
    return gone.rowcount == 1


def addresses(connection: sqlite3.Connection) -> list[BlockedAddress]:
    """The blocked addresses, in no order."""
    rows = connection.execute("SELECT address, reason, blocked_at FROM blocked_addresses")
    return [BlockedAddress(one, BlockReason(reason), moment_of(at)) for one, reason, at in rows]
