"""Reports of links in the documents of the links.

So a link that is purged leaves none, whatever breaks off, and one write decides on all of a link's.

    reports            by reason: {id, count, first_at, last_at, decided_at, statements}; absent for
                       none. `decided_at` is absent while it waits; statements are {details,
                       contact, at}
    reported           how often it was said what waits; absent where nothing does
    reports_waiting    how many reports wait; absent for none
    reports_decided_at when the first of those was decided on that are kept, or before; absent for
                       none

Moments are microseconds since the Unix epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import accumulate

from services.links.blocks import BlockReason
from services.links.reports import MAX_STATEMENTS, Report, ReportPlace, Statement
from services.runtime.errors import Unavailable
from services.runtime.moments import micros_of, moment_of
from services.runtime.mongo import Database, Document

_TURNS = 50
"""How often others may be faster before a call is given up. Each turn somebody's write succeeds,
and whoever reports for a reason that waits is in nobody's way."""
_WAITING: Document = {"reported": {"$gt": 0}}
_MOST_REPORTED_FIRST = [("reported", -1), ("_id", 1)]


class Reports:
    """The reports of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, code: str, reason: BlockReason, said: Statement, new_id: str) -> str | None:
        """Count a report; returns its id, `new_id` for the first. None where there is no link."""
        for _ in range(_TURNS):
            counted = await self._count(code, reason, said)
            if counted is not None:
                return counted
            link = await self._read(code, {"url": 1, "reports": 1})
            if link is None or "url" not in link:
                return None
            held = link.get("reports", {}).get(reason.value)
            begun = await self._let_wait(code, reason, held, said, new_id)
            if begun is not None:
                return begun
        raise _too_many()

    async def waiting(
        self, after: ReportPlace | None, most: int, fields: Document
    ) -> tuple[list[tuple[Document, Report]], ReportPlace | None]:
        """Some of the reports that wait, each with those fields of its link's document.

        With them comes the place to go on behind, None at the end.
        """
        query = _WAITING
        if after is not None:
            query = {
                "$or": [
                    {"reported": {"$gt": 0, "$lt": after.reported}},
                    {"reported": after.reported, "_id": {"$gt": after.code}},
                ]
            }
        # The index alone says which links are on the page: up to five reports are of one.
        order = await self._database.read(
            "links_reports_order",
            lambda db: db.links.find(
                query,
                {"reported": 1, "reports_waiting": 1},
                sort=_MOST_REPORTED_FIRST,
                limit=most,
                batch_size=most,
            ).to_list(None),
        )
        ends = accumulate(one["reports_waiting"] for one in order)
        page = [one for one, end in zip(order, ends, strict=True) if end <= most]
        is_end = len(page) == len(order) < most
        # As it was read here: who is reported meanwhile would move the place to the front.
        place = None if is_end else ReportPlace(page[-1]["reported"], page[-1]["_id"])
        found = await self._database.read(
            "links_reports",
            lambda db: db.links.find(
                {"_id": {"$in": [one["_id"] for one in page]}, **_WAITING}, {**fields, "reports": 1}
            ).to_list(None),
        )
        documents = {one["_id"]: one for one in found}
        every = [
            (documents[one["_id"]], report)
            for one in page
            if one["_id"] in documents
            for report in _waiting_of(documents[one["_id"]])
        ]
        # What began to wait between the two reads goes on the page that a new look has.
        return every[:most], place

    async def count_waiting(self) -> int:
        """How many reports wait."""
        pipeline = [
            {"$match": _WAITING},
            {"$group": {"_id": None, "waiting": {"$sum": "$reports_waiting"}}},
        ]
        counted = await self._database.read(
            "links_reports_waiting", lambda db: db.links.aggregate(pipeline).to_list(None)
        )
        return int(counted[0]["waiting"]) if counted else 0

    async def count_waiting_of(self, code: str) -> int:
        """How many reports of a link wait."""
        held = await self._read(code, {"reports_waiting": 1})
        return held.get("reports_waiting", 0) if held else 0

    async def decide(self, code: str, now: datetime) -> int:
        """The reports of a link wait no more; returns how many did."""
        for _ in range(_TURNS):
            held = await self._read(code, {"reports": 1, "reports_waiting": 1})
            if held is None or "reports_waiting" not in held:
                return 0
            waiting = [
                f"reports.{reason}"
                for reason, report in held["reports"].items()
                if "decided_at" not in report
            ]
            # Those that wait were read, and no other has begun to: their counts may go up.
            as_read: Document = {"_id": code, "reports_waiting": len(waiting)}
            as_read |= {f"{report}.id": {"$exists": True} for report in waiting}
            as_read |= {f"{report}.decided_at": None for report in waiting}
            decided = await self._change(
                "links_reports_decide",
                as_read,
                {
                    "$set": {f"{report}.decided_at": micros_of(now) for report in waiting},
                    "$min": {"reports_decided_at": micros_of(now)},
                    "$unset": {"reported": "", "reports_waiting": ""},
                },
            )
            if decided:
                return len(waiting)
        raise _too_many()

    async def forget(self, until: datetime, most: int) -> bool:
        """Delete what was decided on at a moment or before, of some links; are there more?"""
        limit = micros_of(until)
        found = await self._database.read_majority(
            "links_reports_due",
            lambda db: db.links.find(
                {"reports_decided_at": {"$lte": limit}},
                {"reports": 1},
                sort=[("reports_decided_at", 1)],
                limit=most,
                batch_size=most,
            ).to_list(None),
        )
        for held in found:
            kept = {
                reason: report
                for reason, report in held["reports"].items()
                if report.get("decided_at", limit + 1) > limit
            }
            decided = [one["decided_at"] for one in kept.values() if "decided_at" in one]
            fields: Document = {
                "reports": kept or None,
                "reports_decided_at": min(decided, default=None),
            }
            gone = {name: "" for name, value in fields.items() if value is None}
            stay = {name: value for name, value in fields.items() if value is not None}
            # Where somebody was faster, it is done in the next round.
            await self._change(
                "links_reports_forget",
                {"_id": held["_id"], "reports": held["reports"]},
                {**({"$set": stay} if stay else {}), **({"$unset": gone} if gone else {})},
            )
        return len(found) == most

    async def _count(self, code: str, reason: BlockReason, said: Statement) -> str | None:
        """Count one more of a report that waits; its id, or None where it does not."""
        report = f"reports.{reason.value}"
        query = {"_id": code, f"{report}.id": {"$exists": True}, f"{report}.decided_at": None}
        change: Document = {
            "$inc": {"reported": 1, f"{report}.count": 1},
            "$min": {f"{report}.first_at": micros_of(said.at)},
            "$max": {f"{report}.last_at": micros_of(said.at)},
        }
        if not said.is_empty:
            new = {"$each": [_statement_document(said)], "$slice": MAX_STATEMENTS}
            change["$push"] = {f"{report}.statements": new}
        found: Document | None = await self._database.write(
            "links_report",
            lambda db: db.links.find_one_and_update(query, change, projection={f"{report}.id": 1}),
        )
        return found["reports"][reason.value]["id"] if found else None

    async def _let_wait(
        self, code: str, reason: BlockReason, held: Document | None, said: Statement, new_id: str
    ) -> str | None:
        """Begin a report, or one anew that was decided on; None where somebody was faster."""
        if held and "decided_at" not in held:
            return None
        report = f"reports.{reason.value}"
        as_read = {
            "_id": code,
            "url": {"$exists": True},
            f"{report}.id": held["id"] if held else None,
            f"{report}.decided_at": held["decided_at"] if held else None,
        }
        report_id: str = held["id"] if held else new_id
        new = {
            "id": report_id,
            "count": 1,
            "first_at": micros_of(said.at),
            "last_at": micros_of(said.at),
            "statements": [] if said.is_empty else [_statement_document(said)],
        }
        begun = {"$set": {report: new}, "$inc": {"reported": 1, "reports_waiting": 1}}
        return report_id if await self._change("links_report_first", as_read, begun) else None

    async def _read(self, code: str, fields: Document) -> Document | None:
        """Some fields of a link's document, as a majority has it."""
        return await self._database.read_majority(
            "links_reported", lambda db: db.links.find_one({"_id": code}, fields)
        )

    async def _change(self, name: str, query: Document, change: Document) -> bool:
        """Change one document; False where there is none as the query wants it."""
        changed = await self._database.write(name, lambda db: db.links.update_one(query, change))
        return changed.matched_count == 1


def _waiting_of(document: Document) -> Iterator[Report]:
    """The reports of a link that wait, the most frequent first."""
    waiting = [
        (reason, report)
        for reason, report in document["reports"].items()
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


def _too_many() -> Unavailable:
    return Unavailable("The link is reported by too many at once.", "STORE_OVERLOADED")
