"""Rescans all links when the blocklists change: blocks those named, unblocks those not any more.

One process at a time does it, under a lease, in steps of about a second. The progress is stored, so
another process continues after a kill; checking links twice changes nothing. Links are found
through the host index, and links to hosts that no list names are not read.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import compress

from services.links import metrics
from services.links.application import enforcement
from services.links.application.enforcement import BlocklistEnforcer
from services.links.application.ports import LinkStore
from services.links.application.records.rescan_progress import RescanPhase, RescanProgress
from services.links.application.time_slices import TimeSlices
from services.links.domain.blocklist import VersionedBlocklist
from services.shared import background
from services.shared.observability import logs

JOB = "blocklists"
LEASE = timedelta(seconds=10)
STEP_SECONDS = 1.0
"""The duration of a step, and the most work that is repeated after a kill."""
IDLE_SECONDS = 2.0
"""The pause before checking again whether there is work."""
_HOSTS_PER_READ = 1000


class Rescanner:
    """Keeps existing links consistent with the blocklists. `clock` is `time.monotonic`."""

    def __init__(
        self,
        store: LinkStore,
        blocklist: VersionedBlocklist,
        now: Callable[[], datetime],
        clock: Callable[[], float] = time.monotonic,
        slices: TimeSlices | None = None,
    ) -> None:
        self._store = store
        self._blocklist = blocklist
        self._slices = slices or TimeSlices()
        self._enforcer = BlocklistEnforcer(store, blocklist, now, self._slices)
        self._now = now
        self._clock = clock
        self._holder = secrets.token_hex(16)
        self._log = logs.Throttled(__name__)
        self._behind_since: float | None = None

    def running(self) -> AbstractAsyncContextManager[None]:
        """Rescan in the background until the body ends."""
        return background.running(self._run(), "sweep")

    async def _run(self) -> None:
        while True:
            more = False
            with background.log_errors(self._log, "sweep"):
                more = await self.step()
            await asyncio.sleep(0 if more else IDLE_SECONDS)

    async def step(self) -> bool:
        """Work for about a second; return whether there is more to do at once. Raises AppError."""
        fingerprint = self._blocklist.fingerprint
        if fingerprint is None:
            return False
        stored = await self._store.rescan_progress.get()
        is_current = stored is not None and stored.fingerprint == fingerprint
        progress = stored if stored and is_current else RescanProgress(fingerprint)
        self._measure(progress)
        if self._is_waiting(progress):
            return False
        if not await self._renew_lease():
            return False
        deadline = self._clock() + STEP_SECONDS
        while self._clock() < deadline and not self._is_waiting(progress):
            is_blocking = progress.phase is RescanPhase.BLOCKING
            progress = await (self._block if is_blocking else self._unblock)(progress)
        await self._store.rescan_progress.put(progress)
        self._measure(progress)
        return not self._is_waiting(progress)

    def _is_waiting(self, progress: RescanProgress) -> bool:
        """Return whether the rescan is done, or its second round may not start yet."""
        return progress.is_done or (
            progress.round > 0 and self._clock() < self._blocklist.settled_at
        )

    async def _renew_lease(self) -> bool:
        return await self._store.leases.take(JOB, self._holder, LEASE, self._now())

    async def _block(self, progress: RescanProgress) -> RescanProgress:
        """Block the links to the next hosts that the lists name."""
        hosts = await self._store.hosts.hosts_after(progress.after, _HOSTS_PER_READ)
        if not hosts:
            return replace(progress, phase=RescanPhase.FREEING, after="")
        may_match = await self._slices.map(self._blocklist.may_match_host, hosts)
        async for _ in self._enforcer.at(compress(hosts, may_match)):
            await self._renew_lease()
        return replace(progress, after=hosts[-1])

    async def _unblock(self, progress: RescanProgress) -> RescanProgress:
        """Of the next links that lists have blocked, unblock those that no list names any more."""
        links = await self._store.hosts.listed_after(progress.after, enforcement.BATCH_SIZE)
        if not links:
            return RescanProgress(progress.fingerprint, progress.round + 1)
        await self._enforcer.check(links)
        await self._renew_lease()
        return replace(progress, after=links[-1].code)

    def _measure(self, progress: RescanProgress) -> None:
        """Export for how long links have been out of date with the lists."""
        if self._is_waiting(progress):
            self._behind_since = None
        elif self._behind_since is None:
            self._behind_since = self._clock()
        behind = 0 if self._behind_since is None else self._clock() - self._behind_since
        metrics.RESCAN_BEHIND.set(behind)
