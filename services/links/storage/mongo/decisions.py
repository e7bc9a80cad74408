"""The operator's decisions in a MongoDB database.

decisions          _id (random), kind, code or address, reason, cause, decided_at, reports;
                   absent where empty
blocked_addresses  _id (the address), reason, blocked_at
marks              _id "addresses", mark (how often the blocked addresses changed)
"""

from __future__ import annotations

import secrets

from pymongo import DESCENDING

from services.links.domain.block import BlockReason
from services.links.domain.decision import BlockedAddress, Decision, DecisionKind
from services.shared.mongo import Database, Document
from services.shared.mongo.transactions import Transaction
from services.shared.timestamps import micros_of, moment_of

_VERSION = {"_id": "addresses"}


class MongoDecisionReader:
    """Decisions and blocked addresses."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, skip: int, limit: int) -> list[Decision]:
        newest_first = [("decided_at", DESCENDING), ("_id", DESCENDING)]
        found = await self._database.read(
            "links_decisions",
            lambda db: db.decisions.find(
                {}, sort=newest_first, skip=skip, limit=limit, batch_size=limit
            ).to_list(None),
        )
        return [_decision_of(one) for one in found]

    async def blocked_addresses(self) -> list[BlockedAddress]:
        found = await self._database.read(
            "links_addresses", lambda db: db.blocked_addresses.find().to_list(None)
        )
        return [
            BlockedAddress(one["_id"], BlockReason(one["reason"]), moment_of(one["blocked_at"]))
            for one in found
        ]

    async def addresses_version(self) -> int:
        found: Document | None = await self._database.read(
            "links_addresses_version", lambda db: db.marks.find_one(_VERSION)
        )
        return found["mark"] if found else 0


class MongoDecisionRepository:
    """Decisions in a transaction."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def add(self, decision: Decision) -> None:
        fields: Document = {
            "_id": secrets.token_hex(12),
            "kind": decision.kind.value,
            "code": decision.code,
            "address": decision.address,
            "reason": decision.reason.value if decision.reason else None,
            "cause": decision.cause,
            "decided_at": micros_of(decision.at),
            "reports": decision.reports,
        }
        new = {name: value for name, value in fields.items() if value}
        self._tx.db.decisions.insert_one(new, session=self._tx.session)

    def block(self, blocked: BlockedAddress) -> None:
        block = {"reason": blocked.reason.value, "blocked_at": micros_of(blocked.blocked_at)}
        self._tx.db.blocked_addresses.replace_one(
            {"_id": blocked.address}, block, upsert=True, session=self._tx.session
        )
        self._change_version()

    def unblock(self, address: str) -> bool:
        deleted = self._tx.db.blocked_addresses.delete_one(
            {"_id": address}, session=self._tx.session
        )
        if not deleted.deleted_count:
            return False
        self._change_version()
        return True

    def _change_version(self) -> None:
        self._tx.db.marks.update_one(
            _VERSION, {"$inc": {"mark": 1}}, upsert=True, session=self._tx.session
        )


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
