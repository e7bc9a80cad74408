"""The operator's decisions and blocked addresses in an SQLite file.

The number of the last decision is the version of the blocked addresses, too: none is blocked or
freed without a decision.
"""

from __future__ import annotations

import sqlite3

from services.links.domain.block import BlockReason
from services.links.domain.decision import BlockedAddress, Decision, DecisionKind
from services.shared.sqlite import Database
from services.shared.timestamps import micros_of, moment_of


class SqliteDecisionReader:
    """The `DecisionReader` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, skip: int, limit: int) -> list[Decision]:
        def operation(connection: sqlite3.Connection) -> list[Decision]:
            rows = connection.execute(
                "SELECT kind, code, address, reason, cause, decided_at, reports FROM decisions "
                "ORDER BY number DESC LIMIT ? OFFSET ?",
                (limit, skip),
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

        return await self._database.read("links_decisions", operation)

    async def blocked_addresses(self) -> list[BlockedAddress]:
        def operation(connection: sqlite3.Connection) -> list[BlockedAddress]:
            rows = connection.execute("SELECT address, reason, blocked_at FROM blocked_addresses")
            return [
                BlockedAddress(address, BlockReason(reason), moment_of(at))
                for address, reason, at in rows
            ]

        return await self._database.read("links_addresses", operation)

    async def addresses_version(self) -> int:
        def operation(connection: sqlite3.Connection) -> int:
            (last,) = connection.execute("SELECT max(number) FROM decisions").fetchone()
            return last or 0

        return await self._database.read("links_addresses_mark", operation)


class SqliteDecisionRepository:
    """The `DecisionRepository` of a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, decision: Decision) -> None:
        self._connection.execute(
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

    def block(self, blocked: BlockedAddress) -> None:
        self._connection.execute(
            "REPLACE INTO blocked_addresses VALUES (?, ?, ?)",
            (blocked.address, blocked.reason.value, micros_of(blocked.blocked_at)),
        )

    def unblock(self, address: str) -> bool:
        deleted = self._connection.execute(
            "DELETE FROM blocked_addresses WHERE address = ?", (address,)
        )
        return deleted.rowcount == 1
