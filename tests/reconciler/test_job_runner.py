"""The leases that decide which process runs a job."""

from __future__ import annotations

import asyncio

import pytest

from services.reconciler import job_runner
from services.reconciler.job_runner import JobRunner
from services.shared.errors import Unavailable
from tests.reconciler.fakes import World


class Work:
    """A job that counts its runs."""

    name = "views"
    interval_seconds = 0.0

    def __init__(self) -> None:
        self.runs = 0
        self.resets = 0
        self.ran = asyncio.Event()

    def reset(self) -> None:
        self.resets += 1

    async def run(self) -> bool:
        self.runs += 1
        self.ran.set()
        await asyncio.sleep(0)
        return False


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses of runners."""
    monkeypatch.setattr(job_runner, "RENEW_SECONDS", 0.01)
    monkeypatch.setattr(job_runner, "MAX_PAUSE_SECONDS", 0.01)


async def ran(work: Work) -> None:
    """Wait until another run begins."""
    work.ran.clear()
    async with asyncio.timeout(20):
        await work.ran.wait()


@pytest.mark.usefixtures("quick")
async def test_one_process_runs_a_job_and_another_takes_over() -> None:
    world = World()
    first, second = Work(), Work()
    one, two = JobRunner(first, world, "one"), JobRunner(second, world, "two")
    one.start()
    await ran(first)
    two.start()
    for _ in range(5):
        await ran(first)
    assert second.runs == 0

    await one.stop(1)
    await ran(second)
    runs = first.runs
    await ran(second)
    assert first.runs == runs
    await two.stop(1)
    assert world.leases == {}


@pytest.mark.usefixtures("quick")
async def test_losing_the_lease_cancels_the_run_and_a_new_lease_resets_the_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(job_runner, "LEASE_SECONDS", 3600)
    world, work = World(), Work()
    broken_off = asyncio.Event()

    async def hang() -> bool:
        work.ran.set()
        try:
            await asyncio.Event().wait()
        finally:
            broken_off.set()
        return False

    work.run = hang  # type: ignore[method-assign]
    one = JobRunner(work, world, "one")
    one.start()
    await ran(work)
    world.leases["views"] = "another"
    async with asyncio.timeout(20):
        await broken_off.wait()
    del world.leases["views"]
    await ran(work)
    assert work.resets == 2
    await one.stop(0)


@pytest.mark.usefixtures("quick")
async def test_a_lease_that_cannot_be_renewed_is_used_until_it_expires(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, work = World(), Work()
    one = JobRunner(work, world, "one")
    one.start()
    await ran(work)

    asked = 0

    def away(name: str) -> None:
        nonlocal asked
        asked += 1
        raise Unavailable("links is away.")

    world.before = away
    while asked < 3:
        await ran(work)
    assert work.resets == 1
    monkeypatch.setattr(job_runner, "LEASE_SECONDS", 0)
    runs = -1
    while runs != work.runs:
        runs = work.runs
        await asyncio.sleep(0.05)
    world.before = lambda name: None
    monkeypatch.setattr(job_runner, "LEASE_SECONDS", 6)
    await ran(work)
    assert work.resets == 2
    await one.stop(1)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("error", [Unavailable("Away."), ZeroDivisionError()])
async def test_a_failed_run_is_repeated_and_keeps_the_lease(error: Exception) -> None:
    world, work = World(), Work()
    run = work.run

    async def fail() -> bool:
        await run()
        if work.runs < 4:
            raise error
        return False

    work.run = fail  # type: ignore[method-assign]
    one = JobRunner(work, world, "one")
    one.start()
    async with asyncio.timeout(20):
        while work.runs < 5:
            await ran(work)
    assert work.resets == 1
    await one.stop(1)


@pytest.mark.usefixtures("quick")
async def test_stopping_waits_for_the_current_run_or_cancels_it() -> None:
    world, work = World(), Work()
    goes_on = asyncio.Event()
    finished = 0

    async def slow() -> bool:
        nonlocal finished
        work.ran.set()
        await goes_on.wait()
        finished += 1
        return False

    work.run = slow  # type: ignore[method-assign]
    for seconds, in_time in ((20, 1), (0, 0)):
        goes_on.clear()
        finished = 0
        one = JobRunner(work, world, "one")
        one.start()
        await ran(work)
        stopping = asyncio.create_task(one.stop(seconds))
        await asyncio.sleep(0)
        if in_time:
            goes_on.set()
        await stopping
        assert finished == in_time
        assert world.leases == {}
