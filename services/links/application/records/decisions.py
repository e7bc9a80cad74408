"""Decisions and blocked patterns. In the tables, a pattern is called an address."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Literal

from services.links.application.records.session import Backend, Condition, Record, Session, Table
from services.links.domain.block import BlockReason
from services.links.domain.creations import IdempotencyMismatch
from services.links.domain.decision import (
    MAX_SEARCHED_DECISIONS,
    OPERATOR,
    BlockedPattern,
    Decision,
    DecisionCursor,
    DecisionKind,
)
from services.links.domain.query import InvalidCursor
from services.shared import unreadable_records
from services.shared.timestamps import EPOCH, from_micros, to_micros
from services.shared.unreadable_records import decode_page

_DECISIONS = Table(
    name="decisions",
    key=("number",),
    fields=(
        *("kind", "code", "address", "reason", "cause", "decided_at", "reports"),
        *("account", "decided_by", "call"),
    ),
    left_out={
        "code": None,
        "address": None,
        "reason": None,
        "cause": "",
        "reports": 0,
        "account": None,
        "decided_by": OPERATOR,
        "call": None,
    },
    dated_by="decided_at",
)
_PATTERNS = Table("blocked_addresses", key=("address",), fields=("reason", "blocked_at"))
_NEWEST_FIRST = ("-number",)
DecisionSubject = Literal["code", "address", "account"]
"""The fields of a decision that say what it is about."""
_SEARCHED_FIELDS = ("code", "address", "account", "reason", "cause", "decided_by")


class DecisionReader:
    """Decisions and blocked patterns."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def page(
        self,
        skip: int,
        limit: int,
        search: re.Pattern[str] | None = None,
        before: DecisionCursor | None = None,
    ) -> list[Decision]:
        """Return `limit` decisions, newest first, after skipping some. Fewer are the last ones.

        `before` selects those that follow a decision in this order. `search` selects those whose
        subject, class, comment or administrator contains a match, of the newest
        `MAX_SEARCHED_DECISIONS`. Raises InvalidCursor.
        """

        def read(session: Session, wanted: int) -> Sequence[Record]:
            conditions = _before(session, before)
            if search is None:
                return session.select(_DECISIONS, *conditions, order=_NEWEST_FIRST, limit=wanted)
            return session.search(
                _DECISIONS,
                _SEARCHED_FIELDS,
                search,
                conditions,
                _NEWEST_FIRST,
                MAX_SEARCHED_DECISIONS,
                wanted,
            )

        return (await self._read("links_decisions", read, skip + limit))[skip:]

    async def about(self, field: DecisionSubject, subject: str, limit: int) -> list[Decision]:
        """Return the last decisions about a subject, newest first."""
        return await self._read(
            "links_decisions_about",
            # Decisions are made by hand, so a scan of all is short enough.
            lambda session, wanted: session.select(
                _DECISIONS, (field, "=", subject), order=_NEWEST_FIRST, limit=wanted
            ),
            limit,
        )

    async def latest_about_link(self, code: str) -> Decision | None:
        """Return the last decision to block or unblock a link."""
        return await self._latest("code", code)

    async def latest_about_pattern(self, pattern: str) -> Decision | None:
        """Return the last decision to block or unblock a pattern."""
        return await self._latest("address", pattern)

    async def latest_about_account(self, account_id: str) -> Decision | None:
        """Return the last decision to block all links of an account."""
        return await self._latest("account", account_id)

    async def blocked_patterns(self) -> list[BlockedPattern]:
        """Return all blocked patterns, unordered."""
        return await self._backend.read(
            "links_addresses",
            # In the thread of the read: there may be thousands.
            lambda session: [_decode_pattern(record) for record in session.select(_PATTERNS)],
        )

    async def blocked_patterns_version(self) -> int:
        """Return a number that changes whenever the blocked patterns change."""
        return await self._backend.read(
            "links_addresses_version", lambda session: session.blocked_patterns_version()
        )

    async def _latest(self, field: DecisionSubject, subject: str) -> Decision | None:
        conditions: list[Condition] = [
            (field, "=", subject),
            ("kind", "<>", DecisionKind.DISMISS.value),
        ]

        # Decisions are made by hand, so a scan of all is short enough.
        def read(session: Session, wanted: int) -> Sequence[Record]:
            return session.select(_DECISIONS, *conditions, order=_NEWEST_FIRST, limit=wanted)

        return next(iter(await self._read("links_latest_decision", read, 1)), None)

    async def _read(
        self, name: str, read: Callable[[Session, int], Sequence[Record]], limit: int
    ) -> list[Decision]:
        """Return the first decisions that `read` finds, at most as many as it is asked for."""
        return await self._backend.read(
            name,
            lambda session: decode_page(
                "decision",
                lambda wanted: read(session, wanted),
                limit,
                _decode_decision,
                lambda record: record["number"],
            ),
        )


class DecisionRepository:
    """Decisions and blocked patterns in a unit of work."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, decision: Decision) -> Decision:
        """Store a decision; return it with its id."""
        record = {
            "kind": decision.kind.value,
            "code": decision.code or None,
            "address": decision.pattern or None,
            "reason": decision.reason and decision.reason.value,
            "cause": decision.comment,
            "decided_at": to_micros(decision.at),
            "reports": decision.reports,
            "account": decision.account_id or None,
            "decided_by": decision.by or OPERATOR,
            "call": decision.key or None,
        }
        return replace(decision, id=self._session.append(_DECISIONS, record))

    def find_repeated(self, decision: Decision) -> Decision | None:
        """Return the stored decision of the call that a call to make `decision` repeats.

        Raises IdempotencyMismatch if another decision has the idempotency key.
        """
        if not decision.key:
            return None
        found = self._session.select(_DECISIONS, ("call", "=", decision.key), limit=1)
        if not found:
            return None
        stored = _decode_decision(found[0])
        if not decision.repeats(stored):
            raise IdempotencyMismatch("The idempotency key belongs to another decision.")
        return stored

    def add_reports(self, decision: Decision, count: int) -> None:
        """Add to the number of reports that a stored decision settled."""
        key = self._session.parse_key(decision.id)
        self._session.update(_DECISIONS, [(key,)], "reports", decision.reports + count)

    def block(self, blocked: BlockedPattern) -> None:
        """Block a pattern, or replace its block."""
        record = {
            "address": blocked.pattern,
            "reason": blocked.reason.value,
            "blocked_at": to_micros(blocked.blocked_at),
        }
        self._session.put(_PATTERNS, record)
        self._session.change_blocked_patterns_version()

    def unblock(self, pattern: str) -> bool:
        """Remove the block of a pattern; return whether there was one."""
        if not self._session.delete(_PATTERNS, [(pattern,)]):
            return False
        self._session.change_blocked_patterns_version()
        return True

    def blocked_among(self, patterns: Collection[str]) -> set[str]:
        """Return the patterns that are blocked."""
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
        account_id=record["account"] or "",
        by="" if record["decided_by"] == OPERATOR else record["decided_by"],
        key=record["call"] or b"",
        id=str(record["number"]),
    )


def _before(session: Session, cursor: DecisionCursor | None) -> list[Condition]:
    """Return the condition for the decisions after a cursor. Raises InvalidCursor."""
    if cursor is None:
        return []
    try:
        key = session.parse_key(cursor.id)
    except ValueError:
        raise InvalidCursor("This is not a cursor of a list of decisions.") from None
    return [("number", "<", (to_micros(cursor.at), key))]


def _decode_pattern(record: Record) -> BlockedPattern:
    """Return a blocked pattern. One whose other values cannot be read stays blocked."""
    pattern = record["address"]
    try:
        reason, blocked_at = BlockReason(record["reason"]), from_micros(record["blocked_at"])
    except Exception as error:
        unreadable_records.report("blocked_pattern", pattern, error)
        return BlockedPattern(pattern, BlockReason.OTHER, EPOCH)
    return BlockedPattern(pattern, reason, blocked_at)
