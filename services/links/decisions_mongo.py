"""What the operator decided, in a MongoDB database.

    decisions          _id (random), kind, code, address, reason, cause, decided_at, reports, open;
                       those that say nothing are absent. `open` is true until what was decided is
                       done, then absent
    blocked_addresses  _id (the address), reason, blocked_at
    marks              _id "addresses", mark

What is decided takes several writes: the decision is kept first, and open; then it is carried out;
then it is closed, and with it what was left open of the same subject before. A process that is
killed in between has acknowledged nothing. Whoever repeats the command finds the open decision and
goes on with it, so that it is kept once, with the time of the last try. What is never repeated
stands open in the list: it was decided, and may have happened.
"""

from __future__ import annotations

import secrets

from pymongo import DESCENDING, IndexModel
from pymongo.errors import DuplicateKeyError

from services.links.blocks import BlockReason
from services.links.decisions import BlockedAddress, Decision, DecisionKind
from services.runtime.moments import micros_of, moment_of
from services.runtime.mongo import Database, Document

INDEXES = {
    "decisions": [
        IndexModel([("decided_at", DESCENDING), ("_id", DESCENDING)], name="decisions_by_age"),
        IndexModel(
            "open", name="decisions_open", partialFilterExpression={"open": {"$exists": True}}
        ),
    ]
}
_MARK = {"_id": "addresses"}


class Decisions:
    """The decisions of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_open(self, decision: Decision) -> str | None:
        """The id of the same decision where it was left open."""
        same = _without_nothing(decision)
        wanted = {name: same.get(name, {"$exists": False}) for name in ("reason", "cause")}
        query = {"open": True, "kind": same["kind"], **_subject(decision), **wanted}
        found: Document | None = await self._database.read_majority(
            "links_decision_open", lambda db: db.decisions.find_one(query, {"_id": 1})
        )
        return found["_id"] if found else None

    async def begin(self, decision: Decision, left_open: str | None) -> str:
        """Keep a decision that is to be carried out, or go on with one; returns its id."""
        document = _without_nothing(decision) | {"open": True}
        if left_open is None:
            new = {"_id": secrets.token_hex(12), **document}
            await self._database.write(
                "links_decision_begin", lambda db: db.decisions.insert_one(new)
            )
            return str(new["_id"])
        again = {"$set": {"decided_at": document["decided_at"]}}
        await self._database.write(
            "links_decision_again", lambda db: db.decisions.update_one({"_id": left_open}, again)
        )
        return left_open

    async def drop(self, begun: str) -> None:
        """Forget a decision about what turned out not to be there."""
        await self._database.write(
            "links_decision_drop", lambda db: db.decisions.delete_one({"_id": begun})
        )

    async def tell_reports(self, begun: str, reports: int) -> None:
        """Keep how many reports a decision is on; none changes nothing."""
        if reports:
            told = {"$set": {"reports": reports}}
            await self._database.write(
                "links_decision_reports", lambda db: db.decisions.update_one({"_id": begun}, told)
            )

    async def reports_of(self, begun: str) -> int:
        """How many reports a decision is on."""
        found: Document | None = await self._database.read_majority(
            "links_decision", lambda db: db.decisions.find_one({"_id": begun}, {"reports": 1})
        )
        return found.get("reports", 0) if found else 0

    async def close(self, decision: Decision) -> None:
        """Say that a decision is carried out, or was overtaken by this one."""
        of_subject = {"open": True, **_subject(decision)}
        await self._database.write(
            "links_decision_close",
            lambda db: db.decisions.update_many(of_subject, {"$unset": {"open": ""}}),
        )

    async def behind(self, skip: int, most: int) -> list[Decision]:
        """Up to `most` decisions, newest first, behind so many of them."""
        newest_first = [("decided_at", DESCENDING), ("_id", DESCENDING)]
        found = await self._database.read(
            "links_decisions",
            lambda db: db.decisions.find(
                {}, sort=newest_first, skip=skip, limit=most, batch_size=most
            ).to_list(None),
        )
        return [_decision_of(one) for one in found]

    async def put_address(self, blocked: BlockedAddress) -> None:
        """Block an address, in the place of a block that there is."""
        to = {"reason": blocked.reason.value, "blocked_at": micros_of(blocked.blocked_at)}
        await self._upsert(
            "links_block_address", "blocked_addresses", blocked.address, {"$set": to}
        )
        await self._count()

    async def take_address(self, address: str) -> None:
        """Take the block of an address away, if there is one."""
        await self._database.write(
            "links_unblock_address",
            lambda db: db.blocked_addresses.delete_one({"_id": address}),
        )
        await self._count()

    async def is_blocked(self, address: str) -> bool:
        """Whether there is a block of an address."""
        found: Document | None = await self._database.read_majority(
            "links_address", lambda db: db.blocked_addresses.find_one({"_id": address}, {"_id": 1})
        )
        return found is not None

    async def addresses(self) -> list[BlockedAddress]:
        """The blocked addresses, in no order."""
        found = await self._database.read(
            "links_addresses", lambda db: db.blocked_addresses.find({}).to_list(None)
        )
        return [
            BlockedAddress(one["_id"], BlockReason(one["reason"]), moment_of(one["blocked_at"]))
            for one in found
        ]

    async def mark(self) -> int:
        """How often the blocked addresses were changed."""
        found: Document | None = await self._database.read(
            "links_addresses_mark", lambda db: db.marks.find_one(_MARK)
        )
        return found["mark"] if found else 0

    async def _count(self) -> None:
        await self._upsert("links_addresses_count", "marks", _MARK["_id"], {"$inc": {"mark": 1}})

    async def _upsert(self, name: str, collection: str, key: str, change: Document) -> None:
        for is_last in (False, True):
            try:
                await self._database.write(
                    name,
                    lambda db: db[collection].update_one({"_id": key}, change, upsert=True),
                )
                return
            except (
                DuplicateKeyError
            ):  # Another replica made it just now: it is there the next time.
                if is_last:
                    raise


def _subject(decision: Decision) -> Document:
    return {"code": decision.code} if decision.code else {"address": decision.address}


def _without_nothing(decision: Decision) -> Document:
    fields: Document = {
        "kind": decision.kind.value,
        **_subject(decision),
        "reason": decision.reason.value if decision.reason else None,
        "cause": decision.cause or None,
        "decided_at": micros_of(decision.at),
        "reports": decision.reports or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _decision_of(document: Document) -> Decision:
    reason = document.get("reason")
    return Decision(
        DecisionKind(document["kind"]),
        moment_of(document["decided_at"]),
        document.get("code", ""),
        document.get("address", ""),
        BlockReason(reason) if reason else None,
        document.get("cause", ""),
        document.get("reports", 0),
    )
