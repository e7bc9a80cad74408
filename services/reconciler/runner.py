"""Does a job over and over, in one process at a time.

Which process that is, a lease at links says. Its holder renews it all the while; where it dies,
another takes the lease a few seconds later. A lease ends by clocks, which differ: for moments two
processes may do the same job, and each job bears that.
"""

from __future__ import annotations

import asyncio
import random
import time
from typing import Protocol

from services.reconciler.metrics import LEASE_HELD, RUNS, SUCCESS
from services.reconciler.ports import Leases
from services.shared import background
from services.shared.errors import AppError
from services.shared.observability import logs, request_id, tracing

LEASE_SECONDS = 6
"""For how long a lease holds. One that is not renewed is another's that soon after."""
RENEW_SECONDS = 2.0
"""How often a lease is renewed, and asked for by those who do not have it."""
RUN_SECONDS = 60.0
"""Most that a run may take: its steps are few, and each has a deadline of its own."""
LONGEST_PAUSE = 5.0
"""Most seconds from a run that failed to the next."""
_SHORTEST_PAUSE = 0.5


class Job(Protocol):
    """Something that is never finished. It is done in runs of a few steps, each of which may be
    repeated, and may be taken by another process at the same time."""

    name: str
    every: float
    """Seconds between two runs."""

    def begin(self) -> None:
        """Forget what was known: another process may have done the job meanwhile."""
        ...

    async def run(self) -> bool:
        """Do some of it; returns whether there is more to do at once. Raises AppError."""
        ...


class Runner:
    """Does one job whenever its lease is held. `holder` names this process among all."""

    def __init__(self, job: Job, leases: Leases, holder: str) -> None:
        self._job = job
        self._leases = leases
        self._holder = holder
        self._held = LEASE_HELD.labels(job.name)
        self._log = logs.Throttled(__name__)
        self._stopping = asyncio.Event()
        self._working: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin in the background."""
        self._working = background.start_task(self._work(), f"job_{self._job.name}")

    async def stop(self, seconds: float) -> None:
        """Finish the run under way within so many seconds, else break it off; give the lease back.

        What was broken off is done anew by whoever does the job next.
        """
        self._stopping.set()
        if self._working is None:
            return
        _, working = await asyncio.wait([self._working], timeout=seconds)
        for task in working:
            task.cancel()
        await asyncio.wait([self._working])
        try:
            await self._leases.take_lease(self._job.name, self._holder, 0)
        except AppError as error:  # It ends by itself.
            self._log.info("lease_kept", job=self._job.name, reason=error.reason)

    async def _work(self) -> None:
        while not self._stopping.is_set():
            asked = time.monotonic()
            if await self._renew():
                await self._hold(asked)
            await self._pause(random.uniform(0.5, 1) * RENEW_SECONDS)  # noqa: S311

    async def _hold(self, renewed: float) -> None:
        """Do the job for as long as the lease can be renewed. It was at the time `renewed`."""
        self._held.set(1)
        self._job.begin()
        running = asyncio.create_task(self._run_over_and_over())
        try:
            while (left := renewed + LEASE_SECONDS - time.monotonic()) > 0:
                done, _ = await asyncio.wait([running], timeout=min(RENEW_SECONDS, left))
                if done:
                    return running.result()
                asked = time.monotonic()
                held = await self._renew()
                if held:
                    renewed = asked
                elif held is False:
                    break
            self._log.warning("lease_lost", job=self._job.name)
        finally:
            running.cancel()
            await asyncio.wait([running])
            self._held.set(0)

    async def _renew(self) -> bool | None:
        """Ask for the lease; returns whether it is ours, None where links does not say."""
        try:
            return await self._leases.take_lease(self._job.name, self._holder, LEASE_SECONDS)
        except AppError as error:
            self._log.warning(
                "lease_unknown", job=self._job.name, reason=error.reason, call=error.call
            )
            return None

    async def _run_over_and_over(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            more = await self._run()
            if more is None:
                failures += 1
                pause = min(LONGEST_PAUSE, _SHORTEST_PAUSE * 2.0 ** min(failures, 10))
                await self._pause(random.uniform(0.5, 1) * pause)  # noqa: S311
            else:
                failures = 0
                await self._pause(0 if more else self._job.every)

    async def _run(self) -> bool | None:
        """Do some of the job; returns whether there is more, None where that failed."""
        name = self._job.name
        request_id.bind(None)  # The services' logs tell what belongs to this run.
        try:
            with tracing.span(f"job_{name}"):
                async with asyncio.timeout(RUN_SECONDS):
                    more = await self._job.run()
        except AppError as error:
            RUNS.labels(name, "failed").inc()
            self._log.warning("job_failed", job=name, reason=error.reason, call=error.call)
            return None
        except TimeoutError:
            RUNS.labels(name, "failed").inc()
            self._log.warning("job_failed", job=name, reason="TOO_LONG")
            return None
        except Exception as error:
            # To end the process would end the other jobs, too, and it would meet this again.
            RUNS.labels(name, "broke").inc()
            self._log.error("job_broke", job=name, exc_info=error)
            return None
        RUNS.labels(name, "done").inc()
        SUCCESS.labels(name).set_to_current_time()
        return more

    async def _pause(self, seconds: float) -> None:
        """Wait, unless it is time to stop."""
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            pass
