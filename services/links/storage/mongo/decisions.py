"""The operator's decisions and blocked patterns in a MongoDB database.

decisions          _id (random), kind, code or address (the pattern), reason, cause (the comment),
                   decided_at, reports; empty fields are absent
blocked_addresses  _id (the pattern), reason, blocked_at
marks              _id "addresses", mark (the version of the blocked patterns)
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection

from pymongo import DESCENDING

from services.links.domain.block import BlockReason
from services.links.domain.decision import (
    MAX_SEARCHED_DECISIONS,
    BlockedPattern,
    Decision,
    DecisionKind,
)
from services.links.storage.pattern_encoding import decode_pattern
from services.shared.mongo import Database, Document
from services.shared.mongo.transactions import Transaction
from services.shared.timestamps import from_micros, to_micros
from services.shared.unreadable_records import decode_page_async

_VERSION = {"_id": "addresses"}
_NEWEST_FIRST = (("decided_at", DESCENDING), ("_id", DESCENDING))


class MongoDecisionReader:
    """The `DecisionReader` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, skip: int, limit: int, search: re.Pattern[str] | None = None
    ) -> list[Decision]:
        pipeline: list[Document] = [{"$sort": dict(_NEWEST_FIRST)}]
        if search is not None:
            matching = {"$regex": search.pattern, "$options": "i"}
            fields = ("code", "address", "reason", "cause")
            pipeline += [
                {"$limit": MAX_SEARCHED_DECISIONS},
                {"$match": {"$or": [{field: matching} for field in fields]}},
            ]

        async def read(wanted: int) -> list[Document]:
            stages = [*pipeline, {"$limit": wanted}]
            return await self._database.read(
                "links_decisions", lambda db: db.decisions.aggregate(stages).to_list(None)
            )

        decisions = await decode_page_async(
            "decision", read, skip + limit, _decision_of, lambda document: document["_id"]
        )
        return decisions[skip:]

    async def latest_about_link(self, code: str) -> Decision | None:
        return await self._latest({"code": code})

    async def latest_about_pattern(self, pattern: str) -> Decision | None:
        return await self._latest({"address": pattern})

    async def blocked_patterns(self) -> list[BlockedPattern]:
        found = await self._database.read(
            "links_addresses", lambda db: db.blocked_addresses.find().to_list(None)
        )
        return [
            decode_pattern(block["_id"], block.get("reason"), block.get("blocked_at"))
            for block in found
        ]

    async def blocked_patterns_version(self) -> int:
        found: Document | None = await self._database.read(
            "links_addresses_version", lambda db: db.marks.find_one(_VERSION)
        )
        return found["mark"] if found else 0

    async def _latest(self, subject: Document) -> Decision | None:
        # Decisions are made by hand, so a scan of the index by age is short enough.
        query = {**subject, "kind": {"$ne": DecisionKind.DISMISS.value}}
        found: Document | None = await self._database.read(
            "links_latest_decision",
            lambda db: db.decisions.find_one(query, sort=list(_NEWEST_FIRST)),
        )
        return _decision_of(found) if found else None


class MongoDecisionRepository:
    """The `DecisionRepository` of a transaction."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def add(self, decision: Decision) -> None:
        fields: Document = {
            "_id": secrets.token_hex(12),
            "kind": decision.kind.value,
            "code": decision.code,
            "address": decision.pattern,
            "reason": decision.reason.value if decision.reason else None,
            "cause": decision.comment,
            "decided_at": to_micros(decision.at),
            "reports": decision.reports,
        }
        new = {name: value for name, value in fields.items() if value}
        self._tx.db.decisions.insert_one(new, session=self._tx.session)

    def block(self, blocked: BlockedPattern) -> None:
        block = {"reason": blocked.reason.value, "blocked_at": to_micros(blocked.blocked_at)}
        self._tx.db.blocked_addresses.replace_one(
            {"_id": blocked.pattern}, block, upsert=True, session=self._tx.session
        )
        self._change_version()

    def unblock(self, pattern: str) -> bool:
        deleted = self._tx.db.blocked_addresses.delete_one(
            {"_id": pattern}, session=self._tx.session
        )
        if not deleted.deleted_count:
            return False
        self._change_version()
        return True

    def blocked_among(self, patterns: Collection[str]) -> set[str]:
        query = {"_id": {"$in": list(patterns)}}
        found = self._tx.db.blocked_addresses.find(query, {"_id": 1}, session=self._tx.session)
        return {one["_id"] for one in found}

    def _change_version(self) -> None:
        self._tx.db.marks.update_one(
            _VERSION, {"$inc": {"mark": 1}}, upsert=True, session=self._tx.session
        )


def _decision_of(document: Document) -> Decision:
    reason = document.get("reason")
    return Decision(
        kind=DecisionKind(document["kind"]),
        at=from_micros(document["decided_at"]),
        code=document.get("code", ""),
        pattern=document.get("address", ""),
        reason=BlockReason(reason) if reason else None,
        comment=document.get("cause", ""),
        reports=document.get("reports", 0),
    )
