"""What the operator does against abuse: blocks links and addresses, frees them, keeps why.

A link is named by its code or its scan code: whoever complains has one of them.
A decision is kept with what it does. One that was repeated because its answer was lost is kept
twice: it was carried out twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime

from services.links.application.enforcement import BlocklistEnforcer
from services.links.application.gate import Gate
from services.links.application.links import edit_links
from services.links.application.ports import LinkStore, UnitOfWork
from services.links.domain.block import BlockReason, InvalidAddress, NoBlock, TooManyAddresses
from services.links.domain.decision import (
    DECISIONS_A_PAGE,
    MAX_ADDRESSES,
    BlockedAddress,
    Decision,
    DecisionKind,
    check_cause,
)
from services.links.domain.edit import block
from services.links.domain.link import Link, no_link
from services.links.domain.pattern import address_of, host_of_address
from services.links.domain.report import MAX_REPORTS, NoReport, Report, ReportPlace
from services.links.domain.url import UrlPolicy
from services.links.metrics import DECISIONS

ENFORCEMENT_SECONDS = 10.0
"""How long a block of an address looks for links before it is acknowledged: enough for tens of
thousands. The rescan of all links does the rest."""


class Moderation:
    """The operator's use cases over a store. `clock` counts seconds as `time.monotonic` does."""

    def __init__(
        self,
        store: LinkStore,
        gate: Gate,
        urls: UrlPolicy,
        now: Callable[[], datetime],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._gate = gate
        self._urls = urls
        self._now = now
        self._clock = clock
        self._enforcer = BlocklistEnforcer(store, gate, now)

    async def block_link(self, code: str, reason: BlockReason, cause: str) -> None:
        """Block any link, or change why it is blocked. Its reports are decided on by that.

        Raises InvalidCause, NoLink, Unavailable.
        """
        await self._decide_on_link(DecisionKind.BLOCK, code, reason, cause)

    async def unblock_link(self, code: str, cause: str) -> None:
        """Unblock a link: no list blocks it any more, nor does an existing block of its address.

        A later block of the address does. Raises InvalidCause, NoLink, Unavailable.
        """
        await self._decide_on_link(DecisionKind.UNBLOCK, code, None, cause)

    async def dismiss(self, code: str, cause: str) -> int:
        """Decide that a link's reports are no reason to block it; return how many these were.

        Raises InvalidCause, NoReport, Unavailable.
        """
        check_cause(cause)
        link = await self._store.links.find(code)
        if link is None:
            raise _no_report()
        decision = Decision(DecisionKind.DISMISS, self._now(), code=link.code, cause=cause)

        def work(unit: UnitOfWork) -> int:
            dismissed = unit.reports.decide(decision.code, decision.at)
            if not dismissed:
                raise _no_report()
            unit.decisions.add(replace(decision, reports=dismissed))
            return dismissed

        dismissed = await self._store.transactions.run("links_reports_dismiss", work)
        DECISIONS.labels(DecisionKind.DISMISS.value).inc()
        return dismissed

    async def block_address(self, given: str, reason: BlockReason, cause: str) -> None:
        """Block an address, or change why it is blocked.

        From the answer on this process makes no link to it, and existing links there are blocked.

        Raises InvalidAddress, InvalidCause, TooManyAddresses, Unavailable.
        """
        check_cause(cause)
        address = address_of(given)
        if self._urls.is_within(host_of_address(address)):
            raise InvalidAddress("This is Atajo's own address. A link is named by its code.")
        known = {one.address for one in await self._store.decisions.blocked_addresses()}
        if len(known - {address}) >= MAX_ADDRESSES:
            raise TooManyAddresses(f"{MAX_ADDRESSES} addresses are blocked: make a list of them.")
        now = self._now()
        blocked = BlockedAddress(address, reason, now)
        decision = Decision(DecisionKind.BLOCK, now, address=address, reason=reason, cause=cause)

        def work(unit: UnitOfWork) -> None:
            unit.decisions.block(blocked)
            unit.decisions.add(decision)

        await self._store.transactions.run("links_block_address", work)
        await self._enforce(address)
        DECISIONS.labels(DecisionKind.BLOCK.value).inc()

    async def unblock_address(self, given: str, cause: str) -> None:
        """Remove the block of an address, and free what it alone had blocked.

        Raises InvalidAddress, InvalidCause, Unavailable, and NoBlock where it was gone already:
        what it had blocked is free then, too.
        """
        check_cause(cause)
        address = address_of(given)
        decision = Decision(DecisionKind.UNBLOCK, self._now(), address=address, cause=cause)

        def work(unit: UnitOfWork) -> bool:
            was_blocked = unit.decisions.unblock(address)
            if was_blocked:
                unit.decisions.add(decision)
            return was_blocked

        was_blocked = await self._store.transactions.run("links_unblock_address", work)
        await self._enforce(address)
        if not was_blocked:
            raise NoBlock("This address is not blocked.")
        DECISIONS.labels(DecisionKind.UNBLOCK.value).inc()

    async def reports(self, after: str) -> tuple[list[tuple[Link, Report]], str, int]:
        """Return some waiting reports with their links, the most often reported links first.

        `after` is empty for the first page, or the second value of the page before. Also returns
        how to request the next page (empty at the end) and how many reports wait altogether.
        Raises InvalidCursor, Unavailable.
        """
        place = ReportPlace.of(after) if after else None
        found, following = await self._store.reports.waiting(place, MAX_REPORTS)
        total = await self._store.reports.count_waiting()
        return found, following.text if following else "", total

    async def decisions(self, skip: int) -> Sequence[Decision]:
        """Return some decisions, newest first, after skipping some. Raises Unavailable."""
        return await self._store.decisions.page(max(0, skip), DECISIONS_A_PAGE)

    async def _decide_on_link(
        self, kind: DecisionKind, code: str, reason: BlockReason | None, cause: str
    ) -> None:
        check_cause(cause)
        link = await self._store.links.find(code)
        if link is None:
            raise no_link()
        now = self._now()
        decision = Decision(kind, now, code=link.code, reason=reason, cause=cause)
        edit = block(reason, now)

        def work(unit: UnitOfWork) -> None:
            links = unit.links.get([decision.code])
            if decision.code not in links or links[decision.code].is_gone_at(now):
                raise no_link()
            edit_links(unit, links, [decision.code], edit, now)
            decided = unit.reports.decide(decision.code, now) if reason else 0
            unit.decisions.add(replace(decision, reports=decided))

        await self._store.transactions.run("links_decide", work)
        DECISIONS.labels(kind.value).inc()

    async def _enforce(self, address: str) -> None:
        """Block or free existing links to an address, as many as the time limit allows."""
        await self._gate.look()
        deadline = self._clock() + ENFORCEMENT_SECONDS
        async with aclosing(self._enforcer.at_or_below(host_of_address(address))) as steps:
            async for _ in steps:
                if self._clock() >= deadline:
                    return


def _no_report() -> NoReport:
    return NoReport("No report of this link waits.")
