"""What administrators do about links: the use cases of `Moderation`, and what only they need.

Nothing here deletes permanently. `by` is the e-mail address of the administrator. `key` is the
idempotency key of a call, as in `Moderation`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from itertools import groupby
from typing import NamedTuple

from services.links.application.moderation import Explanation, Moderation
from services.links.application.ports import MAX_BATCH, LinkStore, UnitOfWork
from services.links.application.rescan import JOB as RESCAN_JOB
from services.links.domain.block import BlockReason, InvalidReason
from services.links.domain.blocklist import to_pattern
from services.links.domain.creations import check_idempotency_key
from services.links.domain.decision import (
    DECISIONS_PAGE_SIZE,
    MAX_ADMINISTRATOR_COMMENT_LENGTH,
    SEARCH_PAGE_SIZE,
    Decision,
    DecisionCursor,
    DecisionKind,
    check_comment,
    decision_search,
)
from services.links.domain.edit import block
from services.links.domain.link import FormerUrl, Link, check_count, no_link
from services.links.domain.owner import Account
from services.links.domain.pattern import InvalidPattern
from services.links.domain.query import AgeCursor, InvalidCursor, LinkFilter
from services.links.domain.report import Report
from services.links.metrics import count_decision
from services.shared.errors import InvalidArgument
from services.shared.link_codes import is_code
from services.shared.subjects import Code, Pattern, parse_subject
from services.shared.timestamps import from_micros, to_micros

MAX_COUNTED_ACCOUNTS = 100
LINKS_PER_STEP = MAX_BATCH
"""Maximum links that one step blocks."""


class InvalidAction(InvalidArgument):
    default_reason = "INVALID_ACTION"


class ReportedLink(NamedTuple):
    """A link with its pending reports, the most frequent reason first."""

    link: Link
    reports: Sequence[Report]


@dataclass(frozen=True, slots=True)
class LinkFile:
    """What is known about a link."""

    link: Link
    reports: Sequence[Report]
    """The pending ones, the most frequent reason first."""
    decisions: Sequence[Decision]
    """The last ones about the link, and about all links of its account, newest first."""
    history: Sequence[FormerUrl]
    """Its previous URLs, the most recent first."""


class BlockCause(Enum):
    """What a link or pattern is blocked or removed by."""

    DECISION = "decision"
    LIST = "list"
    OWNER = "owner"
    """Its owner removed it. It is not blocked."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a link or pattern is blocked, and by what."""

    blocked: bool
    cause: BlockCause | None = None
    reason: BlockReason | None = None
    detail: str = ""
    """Of a decision its pattern and comment; of a list its name, line and entry."""


@dataclass(frozen=True, slots=True)
class BlockedLinks:
    """What one step of a block of an account's links did."""

    blocked: int
    cursor: str
    """Where the next step starts; empty at the end."""


@dataclass(frozen=True, slots=True)
class Usage:
    """How much the instance is used."""

    links: int
    """Of all owners, in every state. A large number may be an estimate."""
    reconciler_works: bool
    """Whether a reconciler holds the lease of a job."""


class Administration:
    """Use cases of administrators over a store. `origins` are the product's own."""

    def __init__(
        self,
        store: LinkStore,
        moderation: Moderation,
        origins: Sequence[str],
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._moderation = moderation
        self._origins = origins
        self._now = now

    async def reported_links(self, cursor: str) -> tuple[list[ReportedLink], str]:
        """Return a page of links with pending reports, the most often reported links first.

        `cursor` is empty for the first page. The second value is the cursor of the next page, empty
        at the end. Raises InvalidCursor, Unavailable.
        """
        found, following, _ = await self._moderation.reports(cursor)
        now = self._now()
        by_link = groupby(found, key=lambda item: item[0])
        links = [ReportedLink(link, [report for _, report in items]) for link, items in by_link]
        return [reported for reported in links if not reported.link.is_gone_at(now)], following

    async def link_file(self, code: str) -> LinkFile:
        """Return what is known about a link, named by its code or scan code.

        Raises NoLink, Unavailable.
        """
        link = await self._store.links.find(code) if is_code(code) else None
        if link is None or link.is_gone_at(self._now()):
            raise no_link()
        reports, decisions, history = await asyncio.gather(
            self._store.reports.pending_of(link.code),
            self._decisions_about(link),
            self._store.links.history(link.code),
        )
        return LinkFile(link, reports, decisions, history)

    async def decide(
        self,
        given: str,
        action: DecisionKind,
        reason: BlockReason | None,
        comment: str,
        by: str,
        key: bytes,
    ) -> Decision:
        """Block or unblock a link or pattern, or dismiss the reports of a link.

        Raises InvalidPattern, InvalidAction, InvalidReason, InvalidComment, InvalidIdempotencyKey,
        IdempotencyMismatch, TooManyPatterns, NoLink, NoBlock, NoReport, Unavailable.
        """
        check_idempotency_key(key)
        check_comment(comment, MAX_ADMINISTRATOR_COMMENT_LENGTH)
        moderation = self._moderation
        match action, self._parse(given):
            case DecisionKind.BLOCK, Code(code):
                return await moderation.block_link(code, _require(reason), comment, by, key)
            case DecisionKind.BLOCK, Pattern(pattern):
                return await moderation.block_pattern(pattern, _require(reason), comment, by, key)
            case DecisionKind.UNBLOCK, Code(code):
                return await moderation.unblock_link(code, comment, by, key)
            case DecisionKind.UNBLOCK, Pattern(pattern):
                return await moderation.unblock_pattern(pattern, comment, by, key)
            case DecisionKind.DISMISS, Code(code):
                return await moderation.dismiss(code, comment, by, key)
            case _:
                raise InvalidAction("Links and hosts are blocked and unblocked, reports dismissed.")

    async def explain(self, given: str) -> Verdict:
        """Explain whether a link, a host or a URL is blocked.

        Raises InvalidPattern, NoLink, Unavailable.
        """
        match self._parse(given):
            case Code(code):
                return _judge_link(await self._moderation.explain_link(code))
            case Pattern(url):
                return _judge_url(await self._moderation.explain_url(url))

    async def search_decisions(self, text: str, cursor: str) -> tuple[Sequence[Decision], str]:
        """Return a page of decisions, newest first, and the cursor of the next page.

        `text` is as in `Moderation.decisions`. The cursor is empty for the first page, and at the
        end. Raises InvalidQuery, InvalidCursor, Unavailable.
        """
        search = decision_search(text)
        before = DecisionCursor.parse(cursor) if cursor else None
        found = await self._store.decisions.page(0, SEARCH_PAGE_SIZE + 1, search, before)
        page = found[:SEARCH_PAGE_SIZE]
        following = DecisionCursor(page[-1].at, page[-1].id).text if len(found) > len(page) else ""
        return page, following

    async def block_account_links(
        self,
        account: Account,
        reason: BlockReason,
        comment: str,
        by: str,
        cursor: str,
        key: bytes,
    ) -> BlockedLinks:
        """Block the next links of an account, oldest first, in every state.

        Leaves links alone that a decision blocked before. All steps with the same key share the
        decision that commits with the first blocked links.

        Raises InvalidComment, InvalidCursor, InvalidIdempotencyKey, IdempotencyMismatch,
        Unavailable.
        """
        check_idempotency_key(key)
        check_comment(comment, MAX_ADMINISTRATOR_COMMENT_LENGTH)
        now = self._now()
        entries = await self._store.links.page_of_all(
            account, _parse_age(cursor) if cursor else None, LINKS_PER_STEP
        )
        codes = [entry.code for entry in entries]
        wanted = Decision(
            DecisionKind.BLOCK,
            now,
            account_id=account.id,
            reason=reason,
            comment=comment,
            by=by,
            key=key,
        )

        def work(unit: UnitOfWork) -> tuple[int, Decision | None]:
            links = unit.links.get(codes)
            due = [
                code
                for code, link in links.items()
                if link.owner == account
                and not link.is_gone_at(now)
                and (link.blocked is None or link.blocklist)
            ]
            known = unit.decisions.find_repeated(wanted)
            if not due:
                return 0, None
            unit.edit(links, due, block(reason), now)
            settled = unit.reports.decide(due, now)
            if known is None:
                return len(due), unit.decisions.add(replace(wanted, reports=settled))
            unit.decisions.add_reports(known, settled)
            return len(due), None

        blocked, added = await self._store.transactions.run("links_block_of_account", work)
        if added:
            count_decision(added)
        following = _format_age(entries[-1]) if len(entries) == LINKS_PER_STEP else ""
        return BlockedLinks(blocked, following)

    async def count_links(self, account_ids: Sequence[str]) -> dict[str, int]:
        """Return the number of links of each account, without removed ones.

        Raises TooManyCodes, InvalidOwner, Unavailable.
        """
        check_count(account_ids, MAX_COUNTED_ACCOUNTS)
        now, lists = self._now(), self._store.lists
        counts = await asyncio.gather(
            *(lists.count(Account(account), LinkFilter(), now) for account in account_ids)
        )
        return dict(zip(account_ids, counts, strict=True))

    async def usage(self) -> Usage:
        """Return how much the instance is used. Raises Unavailable."""
        return Usage(
            await self._store.links.count_stored(),
            await self._store.leases.is_any_held(self._now(), except_job=RESCAN_JOB),
        )

    def _parse(self, given: str) -> Code | Pattern:
        subject = parse_subject(given, self._origins)
        if subject is None:
            raise InvalidPattern("This is neither a link nor a host or path.")
        return subject

    async def _decisions_about(self, link: Link) -> list[Decision]:
        decisions = self._store.decisions
        found = await decisions.about("code", link.code, DECISIONS_PAGE_SIZE)
        if isinstance(link.owner, Account):
            found += await decisions.about("account", link.owner.id, DECISIONS_PAGE_SIZE)
        found.sort(key=lambda decision: decision.at, reverse=True)
        return found[:DECISIONS_PAGE_SIZE]


def _require(reason: BlockReason | None) -> BlockReason:
    if reason is None:
        raise InvalidReason("A block needs a reason.")
    return reason


def _judge_link(explanation: Explanation) -> Verdict:
    link = explanation.link
    assert link is not None
    if link.blocked is None:
        return Verdict(False, BlockCause.OWNER if link.removed_at else None)
    if not link.blocklist:
        comment = explanation.decision.comment if explanation.decision else ""
        return Verdict(True, BlockCause.DECISION, link.blocked, comment)
    matches = [found for found in explanation.matches if found.match.list == link.blocklist]
    return (
        _judge_url(replace(explanation, matches=matches))
        if matches
        else Verdict(
            True,
            BlockCause.DECISION if to_pattern(link.blocklist) else BlockCause.LIST,
            link.blocked,
            to_pattern(link.blocklist) or link.blocklist,
        )
    )


def _judge_url(explanation: Explanation) -> Verdict:
    if not explanation.matches:
        return Verdict(False)
    decisive = explanation.matches[0]
    match, pattern = decisive.match, to_pattern(decisive.match.list)
    if pattern:
        comment = decisive.decision.comment if decisive.decision else ""
        detail = f"{pattern}: {comment}" if comment else pattern
        return Verdict(True, BlockCause.DECISION, match.reason, detail)
    detail = f"{match.list}, line {match.line}: {match.key}"
    return Verdict(True, BlockCause.LIST, match.reason, detail)


def _parse_age(cursor: str) -> AgeCursor:
    """Return the cursor of `_format_age`. Raises InvalidCursor."""
    moment, _, code = cursor.partition(".")
    if not (moment.isdecimal() and moment.isascii() and len(moment) <= 17 and is_code(code)):
        raise InvalidCursor("This is not a cursor of an account's links.")
    return AgeCursor(from_micros(int(moment)), code)


def _format_age(entry: AgeCursor) -> str:
    return f"{to_micros(entry.created_at)}.{entry.code}"
