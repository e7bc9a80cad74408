"""Reports of links, in the documents of the links: a purge deletes them with the link.

    reports            by reason: {id, count, first_at, last_at, decided_at, statements};
                       `decided_at` is absent while the report waits, statements are {details,
                       contact, at}
    reported           sum of the counts of waiting reports; absent for none
    reports_waiting    number of waiting reports; absent for none
    reports_decided_at when the first of the decided reports was decided on, or before; absent for
                       none

Moments are microseconds since the Unix epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import accumulate

from pymongo import ASCENDING, DESCENDING, UpdateOne

from services.links.domain.block import BlockReason
from services.links.domain.link import Link
from services.links.domain.report import MAX_STATEMENTS, Report, ReportPlace, Statement
from services.links.storage.mongo import reads
from services.links.storage.mongo.documents import LINK, link_of
from services.shared.mongo import Database, Document
from services.shared.mongo.transactions import Transaction
from services.shared.timestamps import micros_of, moment_of

_WAITING: Document = {"reported": {"$gt": 0}}
_MOST_REPORTED_FIRST: reads.Order = (("reported", DESCENDING), *reads.BY_CODE)


class MongoReportReader:
    """Reports, as the operator reads them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def waiting(
        self, after: ReportPlace | None, limit: int
    ) -> tuple[list[tuple[Link, Report]], ReportPlace | None]:
        query = _WAITING
        if after is not None:
            query = {
                "$or": [
                    {"reported": {"$gt": 0, "$lt": after.reported}},
                    {"reported": after.reported, "_id": {"$gt": after.code}},
                ]
            }
        # The index alone says which links are on the page: a link may have several reports.
        order = await reads.find_ordered(
            self._database,
            "links_reports_order",
            query,
            {"reported": 1, "reports_waiting": 1},
            _MOST_REPORTED_FIRST,
            limit,
        )
        ends = accumulate(one["reports_waiting"] for one in order)
        page = [one for one, end in zip(order, ends, strict=True) if end <= limit]
        is_end = len(page) == len(order) < limit
        # As it was read here: a link that is reported meanwhile moves to the front.
        place = None if is_end else ReportPlace(page[-1]["reported"], page[-1]["_id"])
        codes = [one["_id"] for one in page]
        fields = LINK | {"reports": 1}
        found = await reads.find_documents(self._database, "links_reports", codes, fields)
        documents = {one["_id"]: one for one in found}
        reported = [
            (link, report)
            for code in codes
            if (document := documents.get(code)) and (link := link_of(document))
            for report in _waiting_of(document)
        ]
        # Reports that began to wait between the two reads are on the page when it is read again.
        return reported[:limit], place

    async def count_waiting(self) -> int:
        pipeline = [
            {"$match": _WAITING},
            {"$group": {"_id": None, "waiting": {"$sum": "$reports_waiting"}}},
        ]
        counted = await self._database.read(
            "links_reports_waiting", lambda db: db.links.aggregate(pipeline).to_list(None)
        )
        return int(counted[0]["waiting"]) if counted else 0

    async def forget(self, until: datetime, limit: int) -> bool:
        last = micros_of(until)
        due = {"reports_decided_at": {"$lte": last}}

        def forget(tx: Transaction) -> bool:
            found = tx.db.links.find(
                due,
                {"reports": 1},
                sort=[("reports_decided_at", ASCENDING)],
                limit=limit,
                batch_size=limit,
                session=tx.session,
            ).to_list()
            updates = [UpdateOne({"_id": one["_id"]}, _forgetting(one, last)) for one in found]
            if updates:
                tx.db.links.bulk_write(updates, session=tx.session)
            return len(found) == limit

        return await self._database.transaction("links_reports_forget", forget)


class MongoReportRepository:
    """Reports in a transaction."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def add(self, code: str, reason: BlockReason, said: Statement, new_id: str) -> str:
        name, at = f"reports.{reason.value}", micros_of(said.at)
        statements = [] if said.is_empty else [_statement_document(said)]
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

    def decide(self, code: str, now: datetime) -> int:
        reports = self._find(code, {"reports": 1}).get("reports", {})
        waiting = [reason for reason, report in reports.items() if "decided_at" not in report]
        if waiting:
            at = micros_of(now)
            change = {
                "$set": {f"reports.{reason}.decided_at": at for reason in waiting},
                "$min": {"reports_decided_at": at},
                "$unset": {"reported": "", "reports_waiting": ""},
            }
            self._update(code, change)
        return len(waiting)

    def _find(self, code: str, fields: Document) -> Document:
        return self._tx.db.links.find_one({"_id": code}, fields, session=self._tx.session) or {}

    def _update(self, code: str, change: Document) -> None:
        self._tx.db.links.update_one({"_id": code}, change, session=self._tx.session)


def _forgetting(document: Document, last: int) -> Document:
    """The update that deletes the reports of a link that were decided on at a moment or before."""
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


def _waiting_of(document: Document) -> Iterator[Report]:
    """The waiting reports of a link, the most frequent first."""
    waiting = [
        (reason, report)
        for reason, report in document.get("reports", {}).items()
        if "decided_at" not in report
    ]
    for reason, report in sorted(waiting, key=lambda one: (-one[1]["count"], one[0])):
        yield Report(
            report["id"],
            document["_id"],
            BlockReason(reason),
            report["count"],
            moment_of(report["first_at"]),
            moment_of(report["last_at"]),
            tuple(
                Statement(one["details"], one["contact"], moment_of(one["at"]))
                for one in report["statements"]
            ),
        )


def _statement_document(said: Statement) -> Document:
    return {"details": said.details, "contact": said.contact, "at": micros_of(said.at)}
