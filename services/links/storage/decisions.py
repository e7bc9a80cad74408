"""The operator's decisions and blocked patterns. In the tables, a pattern is called an address."""

from __future__ import annotations

import re
from collections.abc import Collection

from services.links.domain.block import BlockReason
from services.links.domain.decision import (
    MAX_SEARCHED_DECISIONS,
    BlockedPattern,
    Decision,
    DecisionKind,
)
from services.links.storage.records import Backend, Condition, Record, Search, Session, Table
from services.shared import unreadable_records
from services.shared.timestamps import EPOCH, from_micros, to_micros
from services.shared.unreadable_records import decode_page

_DECISIONS = Table(
    name="decisions",
    key=("number",),
    fields=("kind", "code", "address", "reason", "cause", "decided_at", "reports"),
    left_out={"code": None, "address": None, "reason": None, "cause": "", "reports": 0},
    dated_by="decided_at",
)
_PATTERNS = Table("blocked_addresses", key=("address",), fields=("reason", "blocked_at"))
_NEWEST_FIRST = ("-number",)
_SEARCHED_FIELDS = ("code", "address", "reason", "cause")


class DecisionReader:
    """The `DecisionReader` of a database."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def page(
        self, skip: int, limit: int, search: re.Pattern[str] | None = None
    ) -> list[Decision]:
        searched = search and Search(search, _SEARCHED_FIELDS, MAX_SEARCHED_DECISIONS)

        def work(session: Session) -> list[Decision]:
            return decode_page(
                "decision",
                lambda wanted: session.select(
                    _DECISIONS, order=_NEWEST_FIRST, limit=wanted, search=searched
                ),
                skip + limit,
                _decode_decision,
                lambda record: record["number"],
            )

        decisions = await self._backend.read("links_decisions", work)
        return decisions[skip:]

    async def latest_about_link(self, code: str) -> Decision | None:
        return await self._latest("code", code)

    async def latest_about_pattern(self, pattern: str) -> Decision | None:
        return await self._latest("address", pattern)

    async def blocked_patterns(self) -> list[BlockedPattern]:
        return await self._backend.read(
            "links_addresses",
            # In the thread of the read: there may be thousands.
            lambda session: [_decode_pattern(record) for record in session.select(_PATTERNS)],
        )

    async def blocked_patterns_version(self) -> int:
        return await self._backend.read(
            "links_addresses_version", lambda session: session.blocked_patterns_version()
        )

    async def _latest(self, field: str, subject: str) -> Decision | None:
        conditions: list[Condition] = [
            (field, "=", subject),
            ("kind", "<>", DecisionKind.DISMISS.value),
        ]

        # Decisions are made by hand, so a scan of all is short enough.
        def work(session: Session) -> list[Decision]:
            return decode_page(
                "decision",
                lambda wanted: session.select(
                    _DECISIONS, *conditions, order=_NEWEST_FIRST, limit=wanted
                ),
                1,
                _decode_decision,
                lambda record: record["number"],
            )

        return next(iter(await self._backend.read("links_latest_decision", work)), None)


class DecisionRepository:
    """The `DecisionRepository` of a transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, decision: Decision) -> None:
        record = {
            "kind": decision.kind.value,
            "code": decision.code or None,
            "address": decision.pattern or None,
            "reason": decision.reason and decision.reason.value,
            "cause": decision.comment,
            "decided_at": to_micros(decision.at),
            "reports": decision.reports,
        }
        self._session.add(_DECISIONS, [record])

    def block(self, blocked: BlockedPattern) -> None:
        record = {
            "address": blocked.pattern,
            "reason": blocked.reason.value,
            "blocked_at": to_micros(blocked.blocked_at),
        }
        self._session.put(_PATTERNS, record)
        self._session.change_blocked_patterns_version()

    def unblock(self, pattern: str) -> bool:
        if not self._session.delete(_PATTERNS, [(pattern,)]):
            return False
        self._session.change_blocked_patterns_version()
        return True

    def blocked_among(self, patterns: Collection[str]) -> set[str]:
        found = self._session.find_all(_PATTERNS, [(pattern,) for pattern in patterns])
        return {record["address"] for record in found}


def _decode_decision(record: Record) -> Decision:
    reason = record["reason"]
    return Decision(
        kind=DecisionKind(record["kind"]),
        at=from_micros(record["decided_at"]),
        code=record["code"] or "",
        pattern=record["address"] or "",
        reason=BlockReason(reason) if reason else None,
        comment=record["cause"],
        reports=record["reports"],
    )


def _decode_pattern(record: Record) -> BlockedPattern:
    """Return a blocked pattern. One whose other values cannot be read stays blocked."""
    pattern = record["address"]
    try:
        reason, blocked_at = BlockReason(record["reason"]), from_micros(record["blocked_at"])
    except Exception as error:
        unreadable_records.report("blocked_pattern", pattern, error)
        return BlockedPattern(pattern, BlockReason.OTHER, EPOCH)
    return BlockedPattern(pattern, reason, blocked_at)
