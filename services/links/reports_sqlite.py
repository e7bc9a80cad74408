"""Reports of links in the file that has the links: they are made and go in its transactions.

Every function runs in one. A link has a row for each reason that it was ever reported for,
until that is forgotten.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate

from services.links.blocks import BlockReason
from services.links.reports import MAX_STATEMENTS, Report, ReportPlace, Statement
from services.runtime.moments import micros_of, moment_of

_HIGHEST = (1 << 63) - 1
"""No link is reported as often: a number of SQLite's is no higher."""

MIGRATION = """
    CREATE TABLE reports (
        code TEXT NOT NULL,
        reason TEXT NOT NULL,
        id TEXT NOT NULL,
        count INTEGER NOT NULL,
        first_at INTEGER NOT NULL,
        last_at INTEGER NOT NULL,
        decided_at INTEGER,  -- null while it waits
        PRIMARY KEY (code, reason)
    ) WITHOUT ROWID;
    CREATE INDEX reports_waiting ON reports (code, count) WHERE decided_at IS NULL;
    CREATE INDEX reports_decided ON reports (decided_at) WHERE decided_at IS NOT NULL;
    CREATE TABLE statements (
        code TEXT NOT NULL,
        reason TEXT NOT NULL,
        number INTEGER NOT NULL,  -- from 1 on
        details TEXT NOT NULL,
        contact TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (code, reason, number)
    ) WITHOUT ROWID;
"""


def add(
    connection: sqlite3.Connection, code: str, reason: BlockReason, said: Statement, new_id: str
) -> str:
    """Count a report of a link that is there; returns its id, `new_id` for the first."""
    of = {"code": code, "reason": reason.value}
    [(report_id, count)] = connection.execute(
        "INSERT INTO reports VALUES (:code, :reason, :id, 1, :at, :at, NULL) "
        "ON CONFLICT (code, reason) DO UPDATE SET "
        "count = CASE WHEN decided_at IS NULL THEN count + 1 ELSE 1 END, "
        "first_at = CASE WHEN decided_at IS NULL THEN min(first_at, :at) ELSE :at END, "
        "last_at = CASE WHEN decided_at IS NULL THEN max(last_at, :at) ELSE :at END, "
        "decided_at = NULL RETURNING id, count",
        {**of, "id": new_id, "at": micros_of(said.at)},
    ).fetchall()
    if count == 1:  # What was said before was decided on.
        connection.execute("DELETE FROM statements WHERE code = :code AND reason = :reason", of)
    if not said.is_empty:
        connection.execute(
            "INSERT INTO statements SELECT :code, :reason, count(*) + 1, :details, :contact, :at "
            "FROM statements WHERE code = :code AND reason = :reason HAVING count(*) < :most",
            {
                **of,
                "details": said.details,
                "contact": said.contact,
                "at": micros_of(said.at),
                "most": MAX_STATEMENTS,
            },
        )
    return str(report_id)


def waiting(
    connection: sqlite3.Connection, after: ReportPlace | None, most: int
) -> tuple[list[Report], ReportPlace | None]:
    """Some of the reports that wait, as `LinkStore.reports` has them."""
    place = after or ReportPlace(_HIGHEST, "")
    order = connection.execute(
        "SELECT sum(count) AS said, code, count(*) FROM reports WHERE decided_at IS NULL "
        "GROUP BY code HAVING said < :reported OR (said = :reported AND code > :code) "
        "ORDER BY said DESC, code LIMIT :most",
        {"reported": place.reported, "code": place.code, "most": most},
    ).fetchall()
    ends = accumulate(reports for _, _, reports in order)
    page = [(said, code) for (said, code, _), end in zip(order, ends, strict=True) if end <= most]
    found = [report for _, code in page for report in _waiting_of(connection, code)]
    is_end = len(page) == len(order) < most
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


def count_waiting(connection: sqlite3.Connection) -> int:
    """How many reports wait."""
    (count,) = connection.execute(
        "SELECT count(*) FROM reports WHERE decided_at IS NULL"
    ).fetchone()
    return int(count)


def decide(connection: sqlite3.Connection, code: str, now: datetime) -> int:
    """The reports of a link wait no more; returns how many did."""
    decided = connection.execute(
        "UPDATE reports SET decided_at = ? WHERE code = ? AND decided_at IS NULL",
        (micros_of(now), code),
    )
    return decided.rowcount


def is_due(connection: sqlite3.Connection, until: datetime) -> bool:
    """Whether something was decided on at a moment or before."""
    found = connection.execute(
        "SELECT 1 FROM reports WHERE decided_at <= ? LIMIT 1", (micros_of(until),)
    )
    return found.fetchone() is not None


def forget(connection: sqlite3.Connection, until: datetime, most: int) -> bool:
    """Delete some of what was decided on at a moment or before; whether there is more."""
    rows = connection.execute(
        "SELECT code, reason FROM reports WHERE decided_at <= ? ORDER BY decided_at LIMIT ?",
        (micros_of(until), most),
    ).fetchall()
    for table in ("reports", "statements"):
        connection.executemany(f"DELETE FROM {table} WHERE code = ? AND reason = ?", rows)
    return len(rows) == most


def purge(connection: sqlite3.Connection, codes: Sequence[str]) -> None:
    """Delete all reports of some links."""
    named = [(code,) for code in codes]
    for table in ("reports", "statements"):
        connection.executemany(f"DELETE FROM {table} WHERE code = ?", named)


def _statements(connection: sqlite3.Connection, code: str, reason: str) -> tuple[Statement, ...]:
    rows = connection.execute(
        "SELECT details, contact, at FROM statements WHERE code = ? AND reason = ? ORDER BY number",
        (code, reason),
    )
    return tuple(Statement(details, contact, moment_of(at)) for details, contact, at in rows)
