"""Rescans all links when a blocklist changes: blocks those it names, frees those none names.

One process at a time does it, under a lease, in steps of about a second. The progress is stored, so
another process continues after a kill; checking links twice changes nothing. Links are found by
their hosts: of a host that no list names nothing else is read.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta

from services.links import metrics
from services.links.application import enforcement
from services.links.application.enforcement import BlocklistEnforcer, slices
from services.links.application.ports import LinkStore
from services.links.domain.block import Lists
from services.links.domain.sweep import Stage, Sweep
from services.shared import background
from services.shared.observability import logs

JOB = "blocklists"
LEASE = timedelta(seconds=10)
STEP_SECONDS = 1.0
"""How long a step goes on, and the most that is done twice after a kill."""
IDLE_SECONDS = 2.0
"""How often is looked whether there is something to do."""
_HOSTS = 1000
"""Links of whose hosts are read at a time."""


class Rescanner:
    """Keeps existing links consistent with the blocklists. `clock` is `time.monotonic`."""

    def __init__(
        self,
        store: LinkStore,
        lists: Lists,
        now: Callable[[], datetime],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._lists = lists
        self._enforcer = BlocklistEnforcer(store, lists, now)
        self._now = now
        self._clock = clock
        self._holder = secrets.token_hex(16)
        self._log = logs.Throttled(__name__)
        self._behind_since: float | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Rescan in the background until the body ends."""
        running = background.run(self._run(), "sweep")
        try:
            yield
        finally:
            running.cancel()
            await asyncio.wait([running])

    async def _run(self) -> None:
        while True:
            more = False
            with background.each_turn(self._log, "sweep"):
                more = await self.step()
            await asyncio.sleep(0 if more else IDLE_SECONDS)

    async def step(self) -> bool:
        """Do some of what there is to do; whether there is more to do at once. Raises AppError."""
        contents = self._lists.contents
        if contents is None:
            return False
        noted = await self._store.sweep.get()
        sweep = noted if noted and noted.contents == contents else Sweep(contents)
        self._tell(sweep)
        if self._waits(sweep):
            return False
        if not await self._store.leases.take(JOB, self._holder, LEASE, self._now()):
            return False
        deadline = self._clock() + STEP_SECONDS
        while self._clock() < deadline and not self._waits(sweep):
            sweep = await self._go_on(sweep)
        await self._store.sweep.put(sweep)
        self._tell(sweep)
        return not self._waits(sweep)

    def _waits(self, sweep: Sweep) -> bool:
        """Whether there is nothing to do, or nothing yet."""
        return sweep.is_done or (sweep.round > 0 and self._clock() < self._lists.settled_at)

    async def _go_on(self, sweep: Sweep) -> Sweep:
        match sweep.stage:
            case Stage.BLOCKING:
                return await self._block(sweep)
            case Stage.FREEING:
                return await self._free(sweep)

    async def _block(self, sweep: Sweep) -> Sweep:
        """Block what the lists name at the next hosts."""
        hosts = await self._store.hosts.hosts_after(sweep.after, _HOSTS)
        if not hosts:
            return replace(sweep, stage=Stage.FREEING, after="")
        concerned: list[str] = []
        for some in slices(hosts):
            concerned += filter(self._lists.concerns, some)
            await asyncio.sleep(0)
        async for _ in self._enforcer.at(concerned):
            await self._store.leases.take(JOB, self._holder, LEASE, self._now())
        return replace(sweep, after=hosts[-1])

    async def _free(self, sweep: Sweep) -> Sweep:
        """Free what no list names any more, of the next links that lists have blocked."""
        links = await self._store.hosts.listed_after(sweep.after, enforcement.LINKS)
        if not links:
            return Sweep(sweep.contents, sweep.round + 1)
        await self._enforcer.check(links)
        await self._store.leases.take(JOB, self._holder, LEASE, self._now())
        return replace(sweep, after=links[-1].code)

    def _tell(self, sweep: Sweep) -> None:
        """Let the metrics say since when links are not as the lists want them."""
        if self._waits(sweep):
            self._behind_since = None
        elif self._behind_since is None:
            self._behind_since = self._clock()
        behind = 0 if self._behind_since is None else self._clock() - self._behind_since
        metrics.SWEEP_BEHIND.set(behind)
