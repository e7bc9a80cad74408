"""Decisions of the operator and of administrators: block, unblock, dismiss reports.

Explains why a link or URL is blocked, from the store and the lists that this process has loaded.

A link is named by its code or its scan code, since complaints mention either. A decision is stored
in the same transaction as its effect. `by` is the e-mail address of the administrator who decides,
empty for the operator. `key` is the idempotency key of an administrator's call: its repetition
returns the stored decision, or raises IdempotencyMismatch if that is another one. The operator's
calls have none: a decision that is repeated because its answer was lost is stored twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime

from services.links.application.composite_blocklist import CompositeBlocklist
from services.links.application.enforcement import BlocklistEnforcer
from services.links.application.ports import LinkStore, UnitOfWork
from services.links.application.time_slices import TimeSlices
from services.links.domain.block import BlockReason
from services.links.domain.blocklist import BlocklistMatch, to_pattern
from services.links.domain.blocklist_key import parse_web_url
from services.links.domain.decision import (
    DECISIONS_PAGE_SIZE,
    MAX_BLOCKED_PATTERNS,
    BlockedPattern,
    Decision,
    DecisionKind,
    NoBlock,
    TooManyPatterns,
    check_comment,
    decision_search,
)
from services.links.domain.edit import block
from services.links.domain.link import Link, no_link
from services.links.domain.owner import Account
from services.links.domain.pattern import (
    MAX_LENGTH,
    InvalidPattern,
    get_pattern_host,
    normalize_pattern,
)
from services.links.domain.report import MAX_REPORTS_PER_PAGE, NoReport, Report, ReportCursor
from services.links.domain.url import UrlPolicy
from services.links.metrics import count_decision
from services.shared.link_codes import is_code

ENFORCEMENT_SECONDS = 10.0
"""How long the block of a pattern searches for links before it is acknowledged: enough for tens of
thousands. The rescan of all links does the rest."""


@dataclass(frozen=True, slots=True)
class ExplainedMatch:
    """A blocklist entry that matches a URL now."""

    url: str
    match: BlocklistMatch
    decision: Decision | None
    """The operator's decision to block the pattern; None for an entry of a file."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What decides whether a link or URL is blocked."""

    link: Link | None
    """None for a URL."""
    matches: Sequence[ExplainedMatch]
    """By destination of the link; of one destination, the entry that decides comes first."""
    decision: Decision | None
    """The latest decision to block or unblock the link or all links of its account, or this very
    pattern."""


class Moderation:
    """Use cases of the operator over a store, which administrators share.

    `clock` counts seconds as `time.monotonic` does.
    """

    def __init__(
        self,
        store: LinkStore,
        blocklist: CompositeBlocklist,
        urls: UrlPolicy,
        now: Callable[[], datetime],
        clock: Callable[[], float] = time.monotonic,
        slices: TimeSlices | None = None,
    ) -> None:
        self._store = store
        self._blocklist = blocklist
        self._urls = urls
        self._now = now
        self._clock = clock
        self._enforcer = BlocklistEnforcer(store, blocklist, now, slices or TimeSlices())

    async def block_link(
        self, code: str, reason: BlockReason, comment: str, by: str = "", key: bytes = b""
    ) -> Decision:
        """Block any link, or change the reason of its block. Settles its pending reports.

        Raises InvalidComment, NoLink, Unavailable.
        """
        return await self._decide_on_link(DecisionKind.BLOCK, code, reason, comment, by, key)

    async def unblock_link(
        self, code: str, comment: str, by: str = "", key: bytes = b""
    ) -> Decision:
        """Unblock a link and exempt it from list files and from existing patterns.

        A pattern that is blocked later blocks it again. Raises InvalidComment, NoLink, Unavailable.
        """
        return await self._decide_on_link(DecisionKind.UNBLOCK, code, None, comment, by, key)

    async def dismiss(self, code: str, comment: str, by: str = "", key: bytes = b"") -> Decision:
        """Dismiss the pending reports of a link. The decision has their number.

        Raises InvalidComment, NoReport, Unavailable.
        """
        check_comment(comment)
        link = await self._store.links.find(code)
        if link is None:
            raise _no_report()
        decision = Decision(
            DecisionKind.DISMISS, self._now(), code=link.code, comment=comment, by=by, key=key
        )

        def work(unit: UnitOfWork) -> Decision:
            dismissed = unit.reports.decide([decision.code], decision.at)
            if not dismissed:
                raise _no_report()
            return unit.decisions.add(replace(decision, reports=dismissed))

        return await self._decide("links_reports_dismiss", decision, work)

    async def record_reset_link(self, account_id: str) -> None:
        """Record that the operator created a reset link for an account.

        Raises InvalidComment, Unavailable.
        """
        comment = f"account {account_id}"
        check_comment(comment)
        decision = Decision(DecisionKind.RESET_LINK, self._now(), comment=comment)

        await self._decide(
            "links_record_reset_link", decision, lambda unit: unit.decisions.add(decision)
        )

    async def block_pattern(
        self, given: str, reason: BlockReason, comment: str, by: str = "", key: bytes = b""
    ) -> Decision:
        """Block a pattern, or change the reason of its block.

        After this returns, this process accepts no link to it, and existing links are blocked.

        Raises InvalidPattern, InvalidComment, TooManyPatterns, Unavailable.
        """
        check_comment(comment)
        pattern = normalize_pattern(given)
        if self._urls.is_within(get_pattern_host(pattern)):
            raise InvalidPattern("This is Atajo's own host. Block a link by its code.")
        known = {blocked.pattern for blocked in await self._store.decisions.blocked_patterns()}
        if len(known - {pattern}) >= MAX_BLOCKED_PATTERNS:
            raise TooManyPatterns(f"{MAX_BLOCKED_PATTERNS} patterns are blocked. Use a list file.")
        now = self._now()
        blocked = BlockedPattern(pattern, reason, now)
        decision = Decision(
            DecisionKind.BLOCK, now, pattern=pattern, reason=reason, comment=comment, by=by, key=key
        )

        def work(unit: UnitOfWork) -> Decision:
            unit.decisions.block(blocked)
            return unit.decisions.add(decision)

        stored = await self._decide("links_block_address", decision, work)
        await self._enforce(pattern)
        return stored

    async def unblock_pattern(
        self, given: str, comment: str, by: str = "", key: bytes = b""
    ) -> Decision:
        """Unblock a pattern, and unblock the links that it alone had blocked.

        Raises InvalidPattern, InvalidComment, Unavailable, and NoBlock if it was not blocked, after
        unblocking the links.
        """
        check_comment(comment)
        pattern = normalize_pattern(given)
        decision = Decision(
            DecisionKind.UNBLOCK, self._now(), pattern=pattern, comment=comment, by=by, key=key
        )

        def work(unit: UnitOfWork) -> Decision:
            if not unit.decisions.unblock(pattern):
                raise NoBlock("This pattern is not blocked.")
            return unit.decisions.add(decision)

        try:
            stored = await self._decide("links_unblock_address", decision, work)
        except NoBlock:
            await self._enforce(pattern)
            raise
        await self._enforce(pattern)
        return stored

    async def reports(self, after: str) -> tuple[list[tuple[Link, Report]], str, int]:
        """Return a page of pending reports with their links, the most often reported links first.

        `after` is empty for the first page. The second value is the `after` of the next page, empty
        at the end; the third is the number of pending reports on all pages. Raises InvalidCursor,
        Unavailable.
        """
        cursor = ReportCursor.parse(after) if after else None
        found, following = await self._store.reports.pending(cursor, MAX_REPORTS_PER_PAGE)
        total = await self._store.reports.count_pending()
        return found, following.text if following else "", total

    async def decisions(self, skip: int, text: str = "") -> Sequence[Decision]:
        """Return a page of decisions, newest first, after skipping some.

        `text` selects those that contain it in subject, class, comment or administrator, ignoring
        case; only the newest `MAX_SEARCHED_DECISIONS` are searched. Raises InvalidQuery,
        Unavailable.
        """
        search = decision_search(text)
        return await self._store.decisions.page(max(0, skip), DECISIONS_PAGE_SIZE, search)

    async def explain_link(self, code: str) -> Explanation:
        """Explain the state of a link, named by its code or scan code.

        Includes links whose removal can no longer be undone. Raises NoLink, Unavailable.
        """
        link = await self._store.links.find(code) if is_code(code) else None
        if link is None:
            raise no_link()
        return Explanation(
            link,
            await self._matches(link.destinations()),
            await self._latest_decision(link),
        )

    async def explain_url(self, given: str) -> Explanation:
        """Explain whether links to a host or URL are blocked. The scheme may be missing.

        Raises InvalidPattern, Unavailable.
        """
        try:
            if len(given) > MAX_LENGTH:
                raise ValueError
            url = parse_web_url(given).href
        except ValueError:
            raise InvalidPattern("This is neither a host nor a URL.") from None
        return Explanation(None, await self._matches([url]), await self._decision_about(given))

    async def _latest_decision(self, link: Link) -> Decision | None:
        decision = await self._store.decisions.latest_about_link(link.code)
        if not isinstance(link.owner, Account):
            return decision
        of_account = await self._store.decisions.latest_about_account(link.owner.id)
        decisions = [found for found in (of_account, decision) if found]
        return max(decisions, key=lambda found: found.at, default=None)

    async def _decide(
        self, name: str, decision: Decision, work: Callable[[UnitOfWork], Decision]
    ) -> Decision:
        """Run `work`, which makes a decision, unless its call made it before; return the decision.

        Raises IdempotencyMismatch, Unavailable, and what `work` raises.
        """

        def once(unit: UnitOfWork) -> tuple[Decision, bool]:
            known = unit.decisions.find_repeated(decision)
            return (known, False) if known else (work(unit), True)

        stored, is_new = await self._store.transactions.run(name, once)
        if is_new:
            count_decision(stored)
        return stored

    async def _decide_on_link(
        self,
        kind: DecisionKind,
        code: str,
        reason: BlockReason | None,
        comment: str,
        by: str,
        key: bytes,
    ) -> Decision:
        check_comment(comment)
        link = await self._store.links.find(code)
        if link is None:
            raise no_link()
        now = self._now()
        decision = Decision(
            kind, now, code=link.code, reason=reason, comment=comment, by=by, key=key
        )
        edit = block(reason, now)

        def work(unit: UnitOfWork) -> Decision:
            links = unit.links.get([decision.code])
            if decision.code not in links or links[decision.code].is_gone_at(now):
                raise no_link()
            unit.edit(links, [decision.code], edit, now)
            settled = unit.reports.decide([decision.code], now) if reason else 0
            return unit.decisions.add(replace(decision, reports=settled))

        return await self._decide("links_decide", decision, work)

    async def _decision_about(self, given: str) -> Decision | None:
        try:
            pattern = normalize_pattern(given)
        except InvalidPattern:  # A public suffix or a URL with a query cannot be blocked.
            return None
        return await self._store.decisions.latest_about_pattern(pattern)

    async def _matches(self, urls: Sequence[str]) -> list[ExplainedMatch]:
        await self._blocklist.refresh()
        return [
            ExplainedMatch(url, match, await self._find_decision(match))
            for url in urls
            for match in self._blocklist.matches(url)
        ]

    async def _find_decision(self, match: BlocklistMatch) -> Decision | None:
        pattern = to_pattern(match.list)
        return await self._store.decisions.latest_about_pattern(pattern) if pattern else None

    async def _enforce(self, pattern: str) -> None:
        """Block or unblock links to a pattern's host until the time limit."""
        await self._blocklist.refresh()
        deadline = self._clock() + ENFORCEMENT_SECONDS
        hosts = [get_pattern_host(pattern)]
        async with aclosing(self._enforcer.at(hosts, with_subdomains=True)) as steps:
            async for _ in steps:
                if self._clock() >= deadline:
                    return


def _no_report() -> NoReport:
    return NoReport("This link has no pending reports.")
