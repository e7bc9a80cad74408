"""The operator's decisions and blocked patterns in an SQLite file.

The number of the last decision also serves as the version of the blocked patterns: none is blocked
or unblocked without a decision.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterator
from itertools import islice
from typing import NamedTuple

from services.links.domain.block import BlockReason
from services.links.domain.decision import (
    MAX_SEARCHED_DECISIONS,
    BlockedPattern,
    Decision,
    DecisionKind,
)
from services.links.storage.pattern_encoding import decode_pattern
from services.shared.sqlite import Database
from services.shared.timestamps import from_micros, to_micros
from services.shared.unreadable_records import decode_page


class _DecisionRow(NamedTuple):
    kind: str
    code: str | None
    address: str | None
    reason: str | None
    cause: str
    decided_at: int
    reports: int

    def contains(self, search: re.Pattern[str]) -> bool:
        fields = (self.code, self.address, self.reason, self.cause)
        return any(search.search(text) for text in fields if text)

    def decision(self) -> Decision:
        return Decision(
            kind=DecisionKind(self.kind),
            at=from_micros(self.decided_at),
            code=self.code or "",
            pattern=self.address or "",
            reason=BlockReason(self.reason) if self.reason else None,
            comment=self.cause,
            reports=self.reports,
        )


_COLUMNS = ", ".join(_DecisionRow._fields)


class SqliteDecisionReader:
    """The `DecisionReader` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, skip: int, limit: int, search: re.Pattern[str] | None = None
    ) -> list[Decision]:
        def operation(connection: sqlite3.Connection) -> list[Decision]:
            def read(wanted: int) -> list[_DecisionRow]:
                if search is None:
                    return list(_newest(connection, wanted))
                # SQLite compares only ASCII without case.
                searched = _newest(connection, MAX_SEARCHED_DECISIONS)
                return list(islice((row for row in searched if row.contains(search)), wanted))

            decisions = decode_page(
                "decision",
                read,
                skip + limit,
                _DecisionRow.decision,
                lambda row: f"decided_at {row.decided_at}",
            )
            return decisions[skip:]

        return await self._database.read("links_decisions", operation)

    async def latest_about_link(self, code: str) -> Decision | None:
        return await self._latest("code", code)

    async def latest_about_pattern(self, pattern: str) -> Decision | None:
        return await self._latest("address", pattern)

    async def blocked_patterns(self) -> list[BlockedPattern]:
        def operation(connection: sqlite3.Connection) -> list[BlockedPattern]:
            rows = connection.execute("SELECT address, reason, blocked_at FROM blocked_addresses")
            return [decode_pattern(*row) for row in rows]

        return await self._database.read("links_addresses", operation)

    async def blocked_patterns_version(self) -> int:
        def operation(connection: sqlite3.Connection) -> int:
            (last,) = connection.execute("SELECT max(number) FROM decisions").fetchone()
            return last or 0

        return await self._database.read("links_addresses_version", operation)

    async def _latest(self, column: str, subject: str) -> Decision | None:
        def operation(connection: sqlite3.Connection) -> Decision | None:
            found = connection.execute(
                f"SELECT {_COLUMNS} FROM decisions WHERE {column} = ? AND kind <> 'dismiss' "
                "ORDER BY number DESC LIMIT 1",
                (subject,),
            ).fetchone()
            return _DecisionRow._make(found).decision() if found else None

        return await self._database.read("links_latest_decision", operation)


class SqliteDecisionRepository:
    """The `DecisionRepository` of a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, decision: Decision) -> None:
        row = _DecisionRow(
            kind=decision.kind.value,
            code=decision.code or None,
            address=decision.pattern or None,
            reason=decision.reason and decision.reason.value,
            cause=decision.comment,
            decided_at=to_micros(decision.at),
            reports=decision.reports,
        )
        self._connection.execute(
            f"INSERT INTO decisions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", row
        )

    def block(self, blocked: BlockedPattern) -> None:
        self._connection.execute(
            "REPLACE INTO blocked_addresses (address, reason, blocked_at) VALUES (?, ?, ?)",
            (blocked.pattern, blocked.reason.value, to_micros(blocked.blocked_at)),
        )

    def unblock(self, pattern: str) -> bool:
        deleted = self._connection.execute(
            "DELETE FROM blocked_addresses WHERE address = ?", (pattern,)
        )
        return deleted.rowcount == 1

    def blocked_among(self, patterns: Collection[str]) -> set[str]:
        marks = ", ".join("?" * len(patterns))
        found = self._connection.execute(
            f"SELECT address FROM blocked_addresses WHERE address IN ({marks})", tuple(patterns)
        )
        return {address for (address,) in found}


def _newest(connection: sqlite3.Connection, limit: int) -> Iterator[_DecisionRow]:
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM decisions ORDER BY number DESC LIMIT ?", (limit,)
    )
    return map(_DecisionRow._make, rows)
