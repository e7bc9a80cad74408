"""What the operator does against abuse: blocks links and addresses, frees them, keeps why.

A link is named by its code or its scan code: whoever complains has one of them.
A decision is kept with what it does. One that was repeated because its answer was lost is kept
twice: it was carried out twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from datetime import datetime

from services.links.addresses import address_of, host_of_address
from services.links.blocks import BlockReason, InvalidAddress, NoBlock, TooManyAddresses
from services.links.decisions import (
    DECISIONS_A_PAGE,
    MAX_ADDRESSES,
    BlockedAddress,
    Decision,
    DecisionKind,
    check_cause,
)
from services.links.domain import Link, NoLink
from services.links.edits import block
from services.links.gate import LIST, Gate
from services.links.heeding import Heeder
from services.links.metrics import DECISIONS
from services.links.reports import NoReport
from services.links.store import LinkStore
from services.links.urls import UrlPolicy

HEED_SECONDS = 10.0
"""How long a block of an address looks for links before it is acknowledged: tens of thousands. What
is left then is the sweep's, which looks through all links."""


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
        self._heeder = Heeder(store, gate, now)

    async def block_link(self, code: str, reason: BlockReason, cause: str) -> None:
        """Block whoever's link, or change why it is blocked. Its reports are decided on by that.

        Raises InvalidCause, NoLink, Unavailable.
        """
        await self._decide_on_link(DecisionKind.BLOCK, code, reason, cause)

    async def unblock_link(self, code: str, cause: str) -> None:
        """Take the block of a link away: no list blocks it any more, nor a block of its address.

        One that is made later does. Raises InvalidCause, NoLink, Unavailable.
        """
        await self._decide_on_link(DecisionKind.UNBLOCK, code, None, cause)

    async def dismiss(self, code: str, cause: str) -> int:
        """The reports of a link are no reason to block it; returns how many these were.

        Raises InvalidCause, NoReport, Unavailable.
        """
        check_cause(cause)
        dismissed = 0
        if link := await self._store.find(code):
            decision = Decision(DecisionKind.DISMISS, self._now(), code=link.code, cause=cause)
            dismissed = await self._store.dismiss(decision)
        if not dismissed:
            raise NoReport("No report of this link waits.")
        DECISIONS.labels(DecisionKind.DISMISS.value).inc()
        return dismissed

    async def block_address(self, given: str, reason: BlockReason, cause: str) -> None:
        """Block an address, or change why it is blocked.

        From the answer on this process makes no link to it, and what leads there is blocked.

        Raises InvalidAddress, InvalidCause, TooManyAddresses, Unavailable.
        """
        check_cause(cause)
        address = address_of(given)
        if self._urls.is_within(host_of_address(address)):
            raise InvalidAddress("This is Atajo's own address. A link is named by its code.")
        blocked = {one.address for one in await self._store.blocked_addresses()}
        if len(blocked - {address}) >= MAX_ADDRESSES:
            raise TooManyAddresses(f"{MAX_ADDRESSES} addresses are blocked: make a list of them.")
        now = self._now()
        decision = Decision(DecisionKind.BLOCK, now, address=address, reason=reason, cause=cause)
        await self._store.block_address(BlockedAddress(address, reason, now), decision)
        await self._heed(address, lambda link: link.listed == f"{LIST}{address}")
        DECISIONS.labels(DecisionKind.BLOCK.value).inc()

    async def unblock_address(self, given: str, cause: str) -> None:
        """Take the block of an address away, and free what it alone had blocked.

        Raises InvalidAddress, InvalidCause, Unavailable, and NoBlock where it was gone already:
        what it had blocked is free then, too.
        """
        check_cause(cause)
        address = address_of(given)
        decision = Decision(DecisionKind.UNBLOCK, self._now(), address=address, cause=cause)
        was_blocked = await self._store.unblock_address(address, decision)
        # Where it was not, a try may have broken off that left links to be freed, or announced.
        await self._heed(address, lambda _: not was_blocked)
        if not was_blocked:
            raise NoBlock("This address is not blocked.")
        DECISIONS.labels(DecisionKind.UNBLOCK.value).inc()

    async def decisions(self, skip: int) -> Sequence[Decision]:
        """Some decisions, newest first, behind so many of them. Raises Unavailable."""
        return await self._store.decisions(max(0, skip), DECISIONS_A_PAGE)

    async def _decide_on_link(
        self, kind: DecisionKind, code: str, reason: BlockReason | None, cause: str
    ) -> None:
        check_cause(cause)
        link = await self._store.find(code)
        if link is None:
            raise NoLink("There is no such link.")
        now = self._now()
        decision = Decision(kind, now, code=link.code, reason=reason, cause=cause)
        if not await self._store.decide(decision, block(reason, now)):
            raise NoLink("There is no such link.")
        DECISIONS.labels(kind.value).inc()

    async def _heed(self, address: str, is_doubted: Callable[[Link], bool]) -> None:
        """Have links to an address as they are to be, as far as that goes at once.

        `is_doubted` is as in `Heeder.at_or_below`.
        """
        await self._gate.look()
        deadline = self._clock() + HEED_SECONDS
        host = host_of_address(address)
        async with aclosing(self._heeder.at_or_below(host, is_doubted)) as steps:
            async for _ in steps:
                if self._clock() >= deadline:
                    return
