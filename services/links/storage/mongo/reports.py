"""Reports in the documents of their links, so that a purge deletes both.

    reports            by reason: {id, count, first_at, last_at, decided_at, statements};
                       `decided_at` is absent while the report is pending; statements are {details,
                       contact, at}
    reported           sum of the counts of pending reports; absent for none
    reports_waiting    number of pending reports; absent for none
    reports_decided_at a time not after the first decision on a decided report; absent for none

Times are microseconds since the Unix epoch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import accumulate

from pymongo import ASCENDING, DESCENDING, UpdateOne

from services.links.domain.block import BlockReason
from services.links.domain.report import MAX_STATEMENTS, Report, ReportCursor, ReportPage, Statement
from services.links.storage.mongo import reads
from services.links.storage.mongo.documents import LINK, decode_links
from services.shared import unreadable_records
from services.shared.mongo import Database, Document
from services.shared.mongo.transactions import Transaction
from services.shared.timestamps import from_micros, to_micros
from services.shared.unreadable_records import decode_each

_PENDING: Document = {"reported": {"$gt": 0}}
_MOST_REPORTED_FIRST: reads.Order = (("reported", DESCENDING), *reads.BY_CODE)


class MongoReportReader:
    """The `ReportReader` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def pending(self, after: ReportCursor | None, limit: int) -> ReportPage:
        query = _PENDING
        if after is not None:
            query = {
                "$or": [
                    {"reported": {"$gt": 0, "$lt": after.reported}},
                    {"reported": after.reported, "_id": {"$gt": after.code}},
                ]
            }
        # The index covers this query, which decides how many links fit on the page.
        order = await reads.find_ordered(
            self._database,
            "links_reports_order",
            query,
            {"reported": 1, "reports_waiting": 1},
            _MOST_REPORTED_FIRST,
            limit,
        )
        ends = accumulate(document["reports_waiting"] for document in order)
        page = [document for document, end in zip(order, ends, strict=True) if end <= limit]
        is_end = len(page) == len(order) < limit
        # From this read: a link that is reported meanwhile moves to the front.
        cursor = None if is_end else ReportCursor(page[-1]["reported"], page[-1]["_id"])
        codes = [document["_id"] for document in page]
        fields = LINK | {"reports": 1}
        found = await reads.find_documents(self._database, "links_reports", codes, fields)
        documents = {document["_id"]: document for document in found}
        reported = [
            (link, report)
            for code in codes
            if (document := documents.get(code))
            for link in decode_links([document])
            for report in _read_pending(document)
        ]
        # Reports that became pending between the two reads appear when the page is read again.
        return reported[:limit], cursor

    async def pending_of(self, code: str) -> list[Report]:
        found = await reads.find_documents(
            self._database, "links_reports_of", [code], {"reports": 1}
        )
        return [report for document in found for report in _read_pending(document)]

    async def count_pending(self) -> int:
        pipeline = [
            {"$match": _PENDING},
            {"$group": {"_id": None, "waiting": {"$sum": "$reports_waiting"}}},
        ]
        counted = await self._database.read(
            "links_reports_waiting", lambda db: db.links.aggregate(pipeline).to_list(None)
        )
        return int(counted[0]["waiting"]) if counted else 0

    async def oldest_pending(self) -> datetime | None:
        pipeline: list[Document] = [
            {"$match": _PENDING},
            {"$project": {"reports": {"$objectToArray": "$reports"}}},
            {"$unwind": "$reports"},
            {"$match": {"reports.v.decided_at": {"$exists": False}}},
            {"$group": {"_id": None, "oldest": {"$min": "$reports.v.first_at"}}},
        ]
        found = await self._database.read(
            "links_reports_oldest", lambda db: db.links.aggregate(pipeline).to_list(None)
        )
        return from_micros(found[0]["oldest"]) if found else None

    async def delete_decided(self, until: datetime, limit: int) -> bool:
        last = to_micros(until)
        due = {"reports_decided_at": {"$lte": last}}

        def delete(tx: Transaction) -> bool:
            found = tx.db.links.find(
                due,
                {"reports": 1},
                sort=[("reports_decided_at", ASCENDING)],
                limit=limit,
                batch_size=limit,
                session=tx.session,
            ).to_list()
            updates = [
                UpdateOne({"_id": document["_id"]}, _readable_deletion(document, last))
                for document in found
            ]
            if updates:
                tx.db.links.bulk_write(updates, session=tx.session)
            return len(found) == limit

        return await self._database.transaction("links_reports_forget", delete)


class MongoReportRepository:
    """The `ReportRepository` of a transaction."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def add(self, code: str, reason: BlockReason, statement: Statement, new_id: str) -> str:
        name, at = f"reports.{reason.value}", to_micros(statement.at)
        written = {"details": statement.details, "contact": statement.contact, "at": at}
        statements = [] if statement.is_empty else [written]
        report = self._find(code, {name: 1}).get("reports", {}).get(reason.value)
        if report is None or "decided_at" in report:
            report_id: str = report["id"] if report else new_id
            new = {
                "id": report_id,
                "count": 1,
                "first_at": at,
                "last_at": at,
                "statements": statements,
            }
            self._update(code, {"$set": {name: new}, "$inc": {"reported": 1, "reports_waiting": 1}})
            return report_id
        self._update(
            code,
            {
                "$inc": {"reported": 1, f"{name}.count": 1},
                "$min": {f"{name}.first_at": at},
                "$max": {f"{name}.last_at": at},
                "$push": {f"{name}.statements": {"$each": statements, "$slice": MAX_STATEMENTS}},
            },
        )
        return str(report["id"])

    def decide(self, codes: Sequence[str], now: datetime) -> int:
        query = {"_id": {"$in": list(codes)}, "reports_waiting": {"$gt": 0}}
        found = self._tx.db.links.find(
            query, {"reports": 1}, batch_size=len(codes) + 1, session=self._tx.session
        )
        at = to_micros(now)
        decided = 0
        for document in found.to_list():
            reports = document["reports"]
            waiting = [reason for reason, report in reports.items() if "decided_at" not in report]
            change = {
                "$set": {f"reports.{reason}.decided_at": at for reason in waiting},
                "$min": {"reports_decided_at": at},
                "$unset": {"reported": "", "reports_waiting": ""},
            }
            self._update(document["_id"], change)
            decided += len(waiting)
        return decided

    def _find(self, code: str, fields: Document) -> Document:
        return self._tx.db.links.find_one({"_id": code}, fields, session=self._tx.session) or {}

    def _update(self, code: str, change: Document) -> None:
        self._tx.db.links.update_one({"_id": code}, change, session=self._tx.session)


def _readable_deletion(document: Document, last: int) -> Document:
    """Return `_deletion`; reports that cannot be read are due no more, and stay until a purge."""
    try:
        return _deletion(document, last)
    except Exception as error:
        unreadable_records.report("report", document["_id"], error)
        return {"$unset": {"reports_decided_at": ""}}


def _deletion(document: Document, last: int) -> Document:
    """Return the update that deletes reports of a link decided on at a moment or before."""
    moments = {
        reason: report["decided_at"]
        for reason, report in document["reports"].items()
        if "decided_at" in report
    }
    gone = [reason for reason, at in moments.items() if at <= last]
    left = [at for at in moments.values() if at > last]
    unset = [f"reports.{reason}" for reason in gone]
    if len(gone) == len(document["reports"]):
        unset = ["reports"]
    if left:
        return {"$set": {"reports_decided_at": min(left)}, "$unset": dict.fromkeys(unset, "")}
    return {"$unset": dict.fromkeys([*unset, "reports_decided_at"], "")}


def _read_pending(document: Document) -> Iterator[Report]:
    """Yield the pending reports of a link, the most frequent first."""
    waiting = [
        (reason, report)
        for reason, report in document.get("reports", {}).items()
        if "decided_at" not in report
    ]

    def to_report(item: tuple[str, Document]) -> Report:
        reason, report = item
        return Report(
            id=report["id"],
            code=document["_id"],
            reason=BlockReason(reason),
            count=report["count"],
            first_at=from_micros(report["first_at"]),
            last_at=from_micros(report["last_at"]),
            statements=tuple(
                Statement(written["details"], written["contact"], from_micros(written["at"]))
                for written in report["statements"]
            ),
        )

    reports = decode_each("report", waiting, to_report, lambda _: document["_id"])
    yield from sorted(reports, key=lambda report: (-report.count, report.reason.value))
