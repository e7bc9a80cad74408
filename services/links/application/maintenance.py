"""What the reconciler and the process itself do with links: purge, rank, withdraw, tidy up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from services.links.application.ports import MAX_BATCH, LinkStore, UnitOfWork
from services.links.domain.lease import check_lease
from services.links.domain.link import MAX_CODES, PURGED_AFTER, Account, check_count
from services.links.domain.report import KEPT_AFTER_DECISION
from services.links.metrics import REPORTS_WAITING
from services.shared import background
from services.shared.codes import is_code
from services.shared.observability import logs

_FORGOTTEN = 100
"""Reports deleted in one step."""
_MARKED = 1000
"""Links marked as expired in one step."""
_INTERVAL_SECONDS = 5.0
"""How old the number of waiting reports may be."""
_PAUSE_SECONDS = 0.05
"""Between two steps of work, for others who wait for the store."""

log = logs.Throttled(__name__)


class Maintenance:
    """Recurring and deferred work on links."""

    def __init__(self, store: LinkStore, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    async def purge(self, codes: Sequence[str]) -> list[str]:
        """Purge links, each by its code or scan code; return the codes that are purged now.

        Raises TooManyCodes, Unavailable.
        """
        check_count(codes, MAX_CODES)
        well_formed = [code for code in codes if is_code(code)]
        if not well_formed:
            return []
        found = await self._store.links.resolve(well_formed)
        link_codes = {one.code: one.link_code for one in found if one.link_code}
        named = list(dict.fromkeys(link_codes.get(code, code) for code in well_formed))
        now = self._now()
        purged: list[str] = []
        for start in range(0, len(named), MAX_BATCH):

            def work(unit: UnitOfWork, start: int = start) -> list[str]:
                return unit.links.purge(named[start : start + MAX_BATCH], now)

            purged += await self._store.transactions.run("links_purge", work)
        return purged

    async def remove_account_links(self, account: Account) -> tuple[int, bool]:
        """Withdraw up to `MAX_BATCH` of an account's links.

        Returns how many were withdrawn, and whether to ask again.

        Withdraws links that their owner removed, too. Raises Unavailable.
        """
        now = self._now()
        withdrawn = await self._store.transactions.run(
            "links_withdraw", lambda unit: unit.links.withdraw(account, MAX_BATCH, now)
        )
        return withdrawn, withdrawn == MAX_BATCH

    async def account_codes(self, account: Account) -> list[str]:
        """Return codes of an account's newest links, in every state, at most `MAX_CODES`.

        Raises Unavailable.
        """
        return [link.code for link in await self._store.links.newest(account, MAX_CODES)]

    async def purgeable(self) -> list[str]:
        """Return codes of some links whose removal can no longer be undone. Raises Unavailable."""
        return await self._store.links.removed_before(self._now() - PURGED_AFTER, MAX_CODES)

    async def codes_after(self, code: str) -> list[str]:
        """Return the next codes that hold an owner's link; none at the end. Raises Unavailable."""
        return await self._store.links.codes_after(code, MAX_CODES)

    async def rank(self, people: Mapping[str, int], cursor: str | None) -> None:
        """Store visits of people by code, then the cursor, if one is given.

        Raises TooManyCodes, Unavailable.
        """
        check_count(people, MAX_CODES)
        await self._store.views.note(people, cursor)

    async def rank_cursor(self) -> str | None:
        """Return the cursor that was stored last. Raises Unavailable."""
        return await self._store.views.cursor()

    async def take_lease(self, job: str, holder: str, duration: timedelta) -> bool:
        """Take or renew a lease; return whether the holder has it. No duration gives it back.

        Raises InvalidLease, Unavailable.
        """
        check_lease(job, holder, duration)
        return await self._store.leases.take(job, holder, duration, self._now())

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Count reports, forget old ones and mark expired links until the body ends.

        Every replica does it: nothing is deleted twice.
        """
        task = background.run(self._run(), "maintenance")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _run(self) -> None:
        while True:
            more = False
            with background.each_turn(log, "maintenance"):
                REPORTS_WAITING.set(await self._store.reports.count_waiting())
                now = self._now()
                more = await self._store.lists.mark_expired(now, _MARKED)
                more |= await self._store.reports.forget(now - KEPT_AFTER_DECISION, _FORGOTTEN)
            await asyncio.sleep(_PAUSE_SECONDS if more else _INTERVAL_SECONDS)
