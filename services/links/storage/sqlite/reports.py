"""Reports of links in an SQLite file.

A link has a row for each reason that it was ever reported for, until that is forgotten.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate

from services.links.domain.block import BlockReason
from services.links.domain.link import Link
from services.links.domain.report import MAX_STATEMENTS, Report, ReportPlace, Statement
from services.links.storage.sqlite.rows import find
from services.shared.sqlite import Database
from services.shared.timestamps import micros_of, moment_of

_HIGHEST = (1 << 63) - 1
"""No link is reported as often: a number of SQLite's is no higher."""


class SqliteReportReader:
    """The `ReportReader` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def waiting(
        self, after: ReportPlace | None, limit: int
    ) -> tuple[list[tuple[Link, Report]], ReportPlace | None]:
        def operation(
            connection: sqlite3.Connection,
        ) -> tuple[list[tuple[Link, Report]], ReportPlace | None]:
            connection.execute("BEGIN")  # One snapshot: a link may be purged meanwhile.
            try:
                return _waiting(connection, after, limit)
            finally:
                connection.execute("ROLLBACK")

        return await self._database.read("links_reports", operation)

    async def count_waiting(self) -> int:
        def operation(connection: sqlite3.Connection) -> int:
            (count,) = connection.execute(
                "SELECT count(*) FROM reports WHERE decided_at IS NULL"
            ).fetchone()
            return int(count)

        return await self._database.read("links_reports_waiting", operation)

    async def forget(self, until: datetime, limit: int) -> bool:
        def is_due(connection: sqlite3.Connection) -> bool:
            found = connection.execute(
                "SELECT 1 FROM reports WHERE decided_at <= ? LIMIT 1", (micros_of(until),)
            )
            return found.fetchone() is not None

        def forget(connection: sqlite3.Connection) -> bool:
            rows = connection.execute(
                "SELECT code, reason FROM reports WHERE decided_at <= ? "
                "ORDER BY decided_at LIMIT ?",
                (micros_of(until), limit),
            ).fetchall()
            for table in ("reports", "statements"):
                connection.executemany(f"DELETE FROM {table} WHERE code = ? AND reason = ?", rows)
            return len(rows) == limit

        # There is rarely anything, and reading first keeps the writer free.
        if not await self._database.read("links_reports_due", is_due):
            return False
        return await self._database.write("links_reports_forget", forget)


class SqliteReportRepository:
    """The `ReportRepository` of a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, code: str, reason: BlockReason, said: Statement, new_id: str) -> str:
        of = {"code": code, "reason": reason.value}
        [(report_id, count)] = self._connection.execute(
            "INSERT INTO reports VALUES (:code, :reason, :id, 1, :at, :at, NULL) "
            "ON CONFLICT (code, reason) DO UPDATE SET "
            "count = CASE WHEN decided_at IS NULL THEN count + 1 ELSE 1 END, "
            "first_at = CASE WHEN decided_at IS NULL THEN min(first_at, :at) ELSE :at END, "
            "last_at = CASE WHEN decided_at IS NULL THEN max(last_at, :at) ELSE :at END, "
            "decided_at = NULL RETURNING id, count",
            {**of, "id": new_id, "at": micros_of(said.at)},
        ).fetchall()
        if count == 1:  # What was said before was decided on.
            self._connection.execute(
                "DELETE FROM statements WHERE code = :code AND reason = :reason", of
            )
        if not said.is_empty:
            self._connection.execute(
                "INSERT INTO statements "
                "SELECT :code, :reason, count(*) + 1, :details, :contact, :at "
                "FROM statements WHERE code = :code AND reason = :reason HAVING count(*) < :limit",
                {
                    **of,
                    "details": said.details,
                    "contact": said.contact,
                    "at": micros_of(said.at),
                    "limit": MAX_STATEMENTS,
                },
            )
        return str(report_id)

    def decide(self, code: str, now: datetime) -> int:
        decided = self._connection.execute(
            "UPDATE reports SET decided_at = ? WHERE code = ? AND decided_at IS NULL",
            (micros_of(now), code),
        )
        return decided.rowcount


def purge(connection: sqlite3.Connection, codes: Sequence[str]) -> None:
    """Delete all reports of some links, in the transaction of their purge."""
    named = [(code,) for code in codes]
    for table in ("reports", "statements"):
        connection.executemany(f"DELETE FROM {table} WHERE code = ?", named)


def _waiting(
    connection: sqlite3.Connection, after: ReportPlace | None, limit: int
) -> tuple[list[tuple[Link, Report]], ReportPlace | None]:
    place = after or ReportPlace(_HIGHEST, "")
    order = connection.execute(
        "SELECT sum(count) AS said, code, count(*) FROM reports WHERE decided_at IS NULL "
        "GROUP BY code HAVING said < :reported OR (said = :reported AND code > :code) "
        "ORDER BY said DESC, code LIMIT :limit",
        {"reported": place.reported, "code": place.code, "limit": limit},
    ).fetchall()
    ends = accumulate(reports for _, _, reports in order)
    page = [(said, code) for (said, code, _), end in zip(order, ends, strict=True) if end <= limit]
    found = [
        (link, report)
        for _, code in page
        if (link := find(connection, code))
        for report in _waiting_of(connection, code)
    ]
    is_end = len(page) == len(order) < limit
    return found, None if is_end else ReportPlace(*page[-1])


def _waiting_of(connection: sqlite3.Connection, code: str) -> list[Report]:
    """The reports of a link that wait, the most frequent first."""
    rows = connection.execute(
        "SELECT id, code, reason, count, first_at, last_at FROM reports "
        "WHERE code = ? AND decided_at IS NULL ORDER BY count DESC, reason",
        (code,),
    ).fetchall()
    return [
        Report(
            report_id,
            code,
            BlockReason(reason),
            count,
            moment_of(first_at),
            moment_of(last_at),
            _statements(connection, code, reason),
        )
        for report_id, code, reason, count, first_at, last_at in rows
    ]


def _statements(connection: sqlite3.Connection, code: str, reason: str) -> tuple[Statement, ...]:
    rows = connection.execute(
        "SELECT details, contact, at FROM statements WHERE code = ? AND reason = ? ORDER BY number",
        (code, reason),
    )
    return tuple(Statement(details, contact, moment_of(at)) for details, contact, at in rows)
