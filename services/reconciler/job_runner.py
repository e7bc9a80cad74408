"""Runs a job repeatedly, in one process at a time.

A lease at links decides which process runs it. The holder renews the lease; if it dies, another
process takes the lease a few seconds later. Leases depend on clocks, which differ, so for moments
two processes may run the same job. Every job tolerates that.
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
"""How long a lease is valid, and so how soon another process can take over."""
RENEW_SECONDS = 2.0
"""How often the holder renews the lease and others try to take it."""
RUN_TIMEOUT_SECONDS = 60.0
"""Timeout of a run. A run has few steps, each with a deadline of its own."""
MAX_PAUSE_SECONDS = 5.0
"""Maximum pause after a failed run."""
_MIN_PAUSE_SECONDS = 0.5


class Job(Protocol):
    """A job that never ends. Each run makes a few steps.

    A step may be repeated, and executed by two processes at the same time.
    """

    name: str
    interval_seconds: float
    """Pause between two runs."""

    def reset(self) -> None:
        """Forget all state: another process may have run the job meanwhile."""

    async def run(self) -> bool:
        """Do some of the work; return whether there is more to do at once. Raises AppError."""


class JobRunner:
    """Runs one job while it holds the lease. `holder` identifies this process."""

    def __init__(self, job: Job, leases: Leases, holder: str) -> None:
        self._job = job
        self._leases = leases
        self._holder = holder
        self._held = LEASE_HELD.labels(job.name)
        self._log = logs.Throttled(__name__)
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start in the background."""
        self._task = background.start_task(self._work(), f"job_{self._job.name}")

    async def stop(self, seconds: float) -> None:
        """Wait for the current run for at most `seconds`, cancel it after that; return the lease.

        The next holder repeats what was cancelled.
        """
        self._stopping.set()
        if self._task is None:
            return
        _, running = await asyncio.wait([self._task], timeout=seconds)
        for task in running:
            task.cancel()
        await asyncio.wait([self._task])
        try:
            await self._leases.take_lease(self._job.name, self._holder, 0)
        except AppError as error:  # It will expire.
            self._log.info("lease_not_returned", job=self._job.name, reason=error.reason)

    async def _work(self) -> None:
        while not self._stopping.is_set():
            asked_at = time.monotonic()
            if await self._renew():
                await self._run_with_lease(asked_at)
            await self._pause(random.uniform(0.5, 1) * RENEW_SECONDS)  # noqa: S311

    async def _run_with_lease(self, renewed_at: float) -> None:
        """Run the job as long as the lease, last renewed at `renewed_at`, can be renewed."""
        self._held.set(1)
        self._job.reset()
        running = asyncio.create_task(self._run_repeatedly())
        try:
            while (left := renewed_at + LEASE_SECONDS - time.monotonic()) > 0:
                done, _ = await asyncio.wait([running], timeout=min(RENEW_SECONDS, left))
                if done:
                    return running.result()
                asked_at = time.monotonic()
                is_held = await self._renew()
                if is_held:
                    renewed_at = asked_at
                elif is_held is False:
                    break
            self._log.warning("lease_lost", job=self._job.name)
        finally:
            running.cancel()
            await asyncio.wait([running])
            self._held.set(0)

    async def _renew(self) -> bool | None:
        """Take or renew the lease; return whether it is held, None if links does not answer."""
        try:
            return await self._leases.take_lease(self._job.name, self._holder, LEASE_SECONDS)
        except AppError as error:
            self._log.warning(
                "lease_unknown", job=self._job.name, reason=error.reason, call=error.call
            )
            return None

    async def _run_repeatedly(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            more = await self._run()
            if more is None:
                failures += 1
                pause = min(MAX_PAUSE_SECONDS, _MIN_PAUSE_SECONDS * 2.0 ** min(failures, 10))
                await self._pause(random.uniform(0.5, 1) * pause)  # noqa: S311
            else:
                failures = 0
                await self._pause(0 if more else self._job.interval_seconds)

    async def _run(self) -> bool | None:
        """Run the job once; return whether there is more to do at once, None after a failure."""
        name = self._job.name
        request_id.bind(None)  # Identifies this run in the services' logs.
        try:
            with tracing.span(f"job_{name}"):
                async with asyncio.timeout(RUN_TIMEOUT_SECONDS):
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
            # Ending the process would interrupt the other jobs, and would not help this one.
            RUNS.labels(name, "error").inc()
            self._log.error("job_error", job=name, exc_info=error)
            return None
        RUNS.labels(name, "done").inc()
        SUCCESS.labels(name).set_to_current_time()
        return more

    async def _pause(self, seconds: float) -> None:
        """Wait for some seconds or until the runner stops."""
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            pass
