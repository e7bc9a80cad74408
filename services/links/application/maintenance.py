"""Maintenance of links by the reconciler and the process itself: purge, views, withdraw, expire."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime, timedelta

from services.links.application.ports import MAX_BATCH, LinkStore, UnitOfWork
from services.links.domain.creations import CREATION_RETENTION
from services.links.domain.imports import IMPORT_RETENTION, to_day
from services.links.domain.link import MAX_CODES, PURGED_AFTER, WITHDRAWN_BEFORE, check_count
from services.links.domain.owner import Account
from services.links.domain.report import REPORT_RETENTION
from services.links.domain.resolution import UnreadableLinks
from services.links.metrics import REPORTS_WAITING, REPORTS_WAITING_SECONDS
from services.shared import background
from services.shared.link_codes import is_code
from services.shared.observability import logs

_REPORTS_PER_STEP = 100
"""Maximum reports deleted in one step."""
_IMPORT_ROWS_PER_STEP = 1000
"""Maximum rows of imports deleted in one step."""
_CREATIONS_PER_STEP = 100
"""Maximum records of creations deleted in one step. Each has up to 1 MB."""
_LINKS_PER_STEP = 1000
"""Maximum links marked as expired in one step."""
_INTERVAL_SECONDS = 5.0
"""The maximum age of the metric of pending reports."""
_OLDEST_INTERVAL_SECONDS = 30.0
"""Time between two reads of the oldest pending report, which read all of them."""
_PAUSE_SECONDS = 0.05
"""The pause between two steps, in which other callers get the store."""

log = logs.Throttled(__name__)


class Maintenance:
    """Recurring and deferred work on links."""

    def __init__(self, store: LinkStore, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._next_oldest = 0.0
        """When to read the oldest pending report again, by `time.monotonic`."""

    async def purge(self, codes: Sequence[str]) -> list[str]:
        """Purge links, named by code or scan code; return the codes that are purged now.

        Raises TooManyCodes, Unavailable.
        """
        check_count(codes, MAX_CODES)
        well_formed = [code for code in codes if is_code(code)]
        if not well_formed:
            return []
        try:
            found = await self._store.links.resolve(well_formed)
        except UnreadableLinks as error:
            found = error.found
        code_of = {
            resolution.code: resolution.link_code for resolution in found if resolution.link_code
        }
        link_codes = list(dict.fromkeys(code_of.get(code, code) for code in well_formed))
        now = self._now()
        purged: list[str] = []
        for start in range(0, len(link_codes), MAX_BATCH):

            def work(unit: UnitOfWork, start: int = start) -> list[str]:
                return unit.links.purge(link_codes[start : start + MAX_BATCH], now)

            purged += await self._store.transactions.run("links_purge", work)
        return purged

    async def withdraw(self, code: str) -> str:
        """Withdraw a link, named by code or scan code; return its link code.

        Returns the code as given if it was purged before, and empty text if it never had a link.
        Raises Unavailable.
        """
        if not is_code(code):
            return ""
        link_code = await self._store.links.link_code(code) or code
        now = self._now()

        def work(unit: UnitOfWork) -> str:
            link = unit.links.get([link_code]).get(link_code)
            if link is None:
                return link_code if unit.links.holders([link_code]).taken else ""
            if not link.is_gone_at(now):
                withdrawn = replace(link, removed_at=now - WITHDRAWN_BEFORE)
                unit.links.save([(link, withdrawn)], now)
            return link_code

        return await self._store.transactions.run("links_withdraw_link", work)

    async def remove_account_links(self, account: Account) -> tuple[int, bool]:
        """Withdraw up to `MAX_BATCH` of an account's links, removed ones included.

        Once none are left, deletes some of the account's imports and records of creations. Returns
        how many links were withdrawn, and whether there may be more of all that. Raises
        Unavailable.
        """
        now = self._now()
        withdrawn = await self._store.transactions.run(
            "links_withdraw", lambda unit: unit.links.withdraw(account, MAX_BATCH, now)
        )
        if withdrawn == MAX_BATCH:
            return withdrawn, True
        more = await self._store.imports.delete_all(account, _IMPORT_ROWS_PER_STEP)
        more |= await self._store.creations.delete_all(account, _CREATIONS_PER_STEP)
        return withdrawn, more

    async def account_codes(self, account: Account) -> list[str]:
        """Return codes of an account's newest links, in every state, at most `MAX_CODES`.

        Raises Unavailable.
        """
        return await self._store.links.all_codes(account, MAX_CODES)

    async def purgeable(self) -> list[str]:
        """Return codes of some links whose removal can no longer be undone. Raises Unavailable."""
        return await self._store.links.removed_before(self._now() - PURGED_AFTER, MAX_CODES)

    async def codes_after(self, code: str) -> list[str]:
        """Return the next codes that hold an owner's link; none at the end. Raises Unavailable."""
        return await self._store.links.codes_after(code, MAX_CODES)

    async def record_views(self, people: Mapping[str, int], cursor: str | None) -> None:
        """Store the numbers of visits by people, by code, then the cursor, if one is given.

        Raises TooManyCodes, Unavailable.
        """
        check_count(people, MAX_CODES)
        await self._store.lists.record_views(people, cursor)

    async def view_cursor(self) -> str | None:
        """Return the cursor that was stored last. Raises Unavailable."""
        return await self._store.lists.view_cursor()

    async def take_lease(self, job: str, holder: str, duration: timedelta) -> bool:
        """Take or renew a lease; return whether the holder has it. Zero duration releases it.

        Raises InvalidLease, Unavailable.
        """
        return await self._store.leases.take(job, holder, duration, self._now())

    def running(self) -> AbstractAsyncContextManager[None]:
        """Count reports, mark expired links, and delete old reports, imports and records.

        Every replica does this; concurrent runs are harmless.
        """
        return background.running(self._run(), "maintenance")

    async def _measure_reports(self) -> None:
        REPORTS_WAITING.set(await self._store.reports.count_pending())
        if time.monotonic() < self._next_oldest:
            return
        self._next_oldest = time.monotonic() + _OLDEST_INTERVAL_SECONDS
        oldest = await self._store.reports.oldest_pending()
        waited = (self._now() - oldest).total_seconds() if oldest else 0.0
        REPORTS_WAITING_SECONDS.set(max(0.0, waited))

    async def _run(self) -> None:
        while True:
            more = False
            # Measured apart: a failed measurement must not delay expiry or retention.
            with background.log_errors(log, "reports_measurement"):
                await self._measure_reports()
            with background.log_errors(log, "maintenance"):
                now = self._now()
                more = await self._store.lists.mark_expired(now, _LINKS_PER_STEP)
                more |= await self._store.reports.delete_decided(
                    now - REPORT_RETENTION, _REPORTS_PER_STEP
                )
                more |= await self._store.imports.delete_older(
                    now - IMPORT_RETENTION, to_day(now), _IMPORT_ROWS_PER_STEP
                )
                more |= await self._store.creations.delete_older(
                    now - CREATION_RETENTION, _CREATIONS_PER_STEP
                )
            await asyncio.sleep(_PAUSE_SECONDS if more else _INTERVAL_SECONDS)
