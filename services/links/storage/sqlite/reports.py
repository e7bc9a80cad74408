"""Reports of links in an SQLite file: one row for each link and reason."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate
from typing import Any

from services.links.domain.block import BlockReason
from services.links.domain.report import MAX_STATEMENTS, Report, ReportCursor, ReportPage, Statement
from services.links.storage.sqlite.rows import find_all, placeholders
from services.shared.sqlite import Database
from services.shared.timestamps import from_micros, to_micros
from services.shared.unreadable_records import decode_each

_MAX_INTEGER = (1 << 63) - 1
"""SQLite's largest integer, above every number of reports."""


class SqliteReportReader:
    """The `ReportReader` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def pending(self, after: ReportCursor | None, limit: int) -> ReportPage:
        def operation(connection: sqlite3.Connection) -> ReportPage:
            connection.execute("BEGIN")  # One snapshot, since links may be purged meanwhile.
            try:
                return _pending(connection, after, limit)
            finally:
                connection.execute("ROLLBACK")

        return await self._database.read("links_reports", operation)

    async def pending_of(self, code: str) -> list[Report]:
        return await self._database.read(
            "links_reports_of", lambda connection: _read_pending(connection, code)
        )

    async def count_pending(self) -> int:
        query = "SELECT count(*) FROM reports WHERE decided_at IS NULL"
        (count,) = await self._database.read(
            "links_reports_waiting", lambda connection: connection.execute(query).fetchone()
        )
        return int(count)

    async def oldest_pending(self) -> datetime | None:
        query = "SELECT min(first_at) FROM reports WHERE decided_at IS NULL"
        (oldest,) = await self._database.read(
            "links_reports_oldest", lambda connection: connection.execute(query).fetchone()
        )
        return None if oldest is None else from_micros(oldest)

    async def delete_decided(self, until: datetime, limit: int) -> bool:
        query = "SELECT code, reason FROM reports WHERE decided_at <= ? ORDER BY decided_at LIMIT ?"
        last = to_micros(until)

        def delete(connection: sqlite3.Connection) -> bool:
            rows = connection.execute(query, (last, limit)).fetchall()
            for table in ("reports", "statements"):
                connection.executemany(f"DELETE FROM {table} WHERE code = ? AND reason = ?", rows)
            return len(rows) == limit

        # Usually nothing is due, and a read does not occupy the writer.
        is_due = await self._database.read(
            "links_reports_due", lambda connection: connection.execute(query, (last, 1)).fetchone()
        )
        return bool(is_due) and await self._database.write("links_reports_forget", delete)


class SqliteReportRepository:
    """The `ReportRepository` of a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, code: str, reason: BlockReason, statement: Statement, new_id: str) -> str:
        key = {"code": code, "reason": reason.value}
        [(report_id, count)] = self._connection.execute(
            "INSERT INTO reports (code, reason, id, count, first_at, last_at, decided_at) "
            "VALUES (:code, :reason, :id, 1, :at, :at, NULL) "
            "ON CONFLICT (code, reason) DO UPDATE SET "
            "count = CASE WHEN decided_at IS NULL THEN count + 1 ELSE 1 END, "
            "first_at = CASE WHEN decided_at IS NULL THEN min(first_at, :at) ELSE :at END, "
            "last_at = CASE WHEN decided_at IS NULL THEN max(last_at, :at) ELSE :at END, "
            "decided_at = NULL RETURNING id, count",
            {**key, "id": new_id, "at": to_micros(statement.at)},
        ).fetchall()
        if count == 1:  # The previous statements belong to a decided report.
            self._connection.execute(
                "DELETE FROM statements WHERE code = :code AND reason = :reason", key
            )
        if not statement.is_empty:
            self._connection.execute(
                "INSERT INTO statements (code, reason, number, details, contact, at) "
                "SELECT :code, :reason, count(*) + 1, :details, :contact, :at "
                "FROM statements WHERE code = :code AND reason = :reason HAVING count(*) < :limit",
                {
                    **key,
                    "details": statement.details,
                    "contact": statement.contact,
                    "at": to_micros(statement.at),
                    "limit": MAX_STATEMENTS,
                },
            )
        return str(report_id)

    def decide(self, codes: Sequence[str], now: datetime) -> int:
        decided = self._connection.execute(
            "UPDATE reports SET decided_at = ? "
            f"WHERE code IN ({placeholders(codes)}) AND decided_at IS NULL",
            (to_micros(now), *codes),
        )
        return decided.rowcount


def purge(connection: sqlite3.Connection, codes: Sequence[str]) -> None:
    """Delete all reports of links, in the transaction of their purge."""
    keys = [(code,) for code in codes]
    for table in ("reports", "statements"):
        connection.executemany(f"DELETE FROM {table} WHERE code = ?", keys)


def _pending(connection: sqlite3.Connection, after: ReportCursor | None, limit: int) -> ReportPage:
    cursor = after or ReportCursor(_MAX_INTEGER, "")
    order = connection.execute(
        "SELECT sum(count) AS reported, code, count(*) FROM reports WHERE decided_at IS NULL "
        "GROUP BY code HAVING reported < :reported OR (reported = :reported AND code > :code) "
        "ORDER BY reported DESC, code LIMIT :limit",
        {"reported": cursor.reported, "code": cursor.code, "limit": limit},
    ).fetchall()
    ends = accumulate(reports for _, _, reports in order)
    page = [
        (reported, code)
        for (reported, code, _), end in zip(order, ends, strict=True)
        if end <= limit
    ]
    found = [
        (link, report)
        for _, code in page
        for link in find_all(connection, [code]).values()
        for report in _read_pending(connection, code)
    ]
    is_end = len(page) == len(order) < limit
    return found, None if is_end else ReportCursor(*page[-1])


def _read_pending(connection: sqlite3.Connection, code: str) -> list[Report]:
    """Return the pending reports of a link, the most frequent first."""
    rows = connection.execute(
        "SELECT id, code, reason, count, first_at, last_at FROM reports "
        "WHERE code = ? AND decided_at IS NULL ORDER BY count DESC, reason",
        (code,),
    ).fetchall()

    def to_report(row: Sequence[Any]) -> Report:
        report_id, _, reason, count, first_at, last_at = row
        return Report(
            report_id,
            code,
            BlockReason(reason),
            count,
            from_micros(first_at),
            from_micros(last_at),
            _statements(connection, code, reason),
        )

    return list(decode_each("report", rows, to_report, lambda _: code))


def _statements(connection: sqlite3.Connection, code: str, reason: str) -> tuple[Statement, ...]:
    rows = connection.execute(
        "SELECT details, contact, at FROM statements WHERE code = ? AND reason = ? ORDER BY number",
        (code, reason),
    )
    return tuple(Statement(details, contact, from_micros(at)) for details, contact, at in rows)
