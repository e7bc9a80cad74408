"""The fair distribution of expensive work between owners."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

import pytest

from services.shared.concurrency_limiter import READS_REJECTED, ConcurrencyLimiter
from services.shared.errors import ResourceExhausted

PER_OWNER, TOTAL = 3, 6


class Work:
    """A limiter with pieces of work that run until the test ends them."""

    def __init__(self, max_running: int = 1) -> None:
        self.limiter = ConcurrencyLimiter(
            "test", max_running, TOTAL, PER_OWNER, lambda: ResourceExhausted("Too many.")
        )
        self.running: list[str] = []
        self.cancelled: list[str] = []
        self._may_end: dict[str, asyncio.Event] = {}

    async def begin(self, *names: str, key: Hashable = None) -> list[asyncio.Task[str]]:
        """Submit work; the first letter of its name is its owner."""
        tasks = []
        for name in names:
            running = self.limiter.run(name[0], self._work(name), key)
            tasks.append(asyncio.create_task(running))
            await settle()
        return tasks

    async def end(self, name: str) -> None:
        self._may_end.setdefault(name, asyncio.Event()).set()
        await settle()

    async def _work(self, name: str) -> str:
        self.running.append(name)
        try:
            await self._may_end.setdefault(name, asyncio.Event()).wait()
        except asyncio.CancelledError:
            self.cancelled.append(name)
            raise
        finally:
            self.running.remove(name)
        return name


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def rejected(reason: str) -> float:
    value: float = READS_REJECTED.labels("test", reason)._value.get()
    return value


async def test_owners_take_turns_whatever_each_has_waiting() -> None:
    work = Work()
    tasks = await work.begin("a1", "a2", "a3", "b1", "c1", "b2")
    order = []
    while work.running:
        order += work.running
        await work.end(work.running[0])
    assert order == ["a1", "a2", "b1", "c1", "a3", "b2"]
    assert [await task for task in tasks] == ["a1", "a2", "a3", "b1", "c1", "b2"]


async def test_an_owner_runs_half_of_what_may_run_at_once() -> None:
    work = Work(max_running=4)
    await work.begin("a1", "a2", "a3")
    assert work.running == ["a1", "a2"]
    await work.begin("b1", "c1")
    assert work.running == ["a1", "a2", "b1", "c1"]
    await work.end("b1")
    assert work.running == ["a1", "a2", "c1"], "the rest stays free for other owners"
    await work.end("a1")
    assert work.running == ["a2", "c1", "a3"]


async def test_only_the_owner_with_too_much_waiting_work_is_rejected() -> None:
    work = Work()
    before = rejected("owner_limit")
    await work.begin("a0", *(f"a{n}" for n in range(1, PER_OWNER + 1)))
    [one] = await work.begin("a9")
    with pytest.raises(ResourceExhausted):
        await one
    assert rejected("owner_limit") == before + 1
    [other] = await work.begin("b1")
    assert not other.done()


async def test_a_full_queue_rejects_work_of_the_owner_with_the_most() -> None:
    work = Work()
    a0, a1, a2, a3 = await work.begin("a0", "a1", "a2", "a3")
    others = await work.begin("b1", "c1", "d1")
    [newcomer] = await work.begin("e1")
    with pytest.raises(ResourceExhausted):
        await a3
    assert not any(one.done() for one in (a0, a1, a2, *others, newcomer))
    [newcomer] = await work.begin("f1")
    with pytest.raises(ResourceExhausted):
        await a2
    before = rejected("overloaded")
    [too_much] = await work.begin("g1")
    with pytest.raises(ResourceExhausted):
        await too_much
    assert rejected("overloaded") == before + 1, (
        "every owner has one piece: none has more than a fair share"
    )


async def test_work_is_cancelled_with_its_last_caller() -> None:
    work = Work()
    (one,) = await work.begin("a1", key="same")
    (two,) = await work.begin("b1", key="same")
    waiting, behind = await work.begin("a2", "c1")
    one.cancel()
    waiting.cancel()
    await settle()
    assert work.running == ["a1"], "it has another caller"
    two.cancel()
    await settle()
    assert work.cancelled == ["a1"]
    assert work.running == ["c1"], "abandoned work never starts"
    await work.end("c1")
    assert await behind == "c1"
    (again,) = await work.begin("a3", key="same")
    await work.end("a3")
    assert await again == "a3", "abandoned work is not reused"


async def test_callers_with_the_same_key_share_one_execution_and_its_error() -> None:
    limiter = ConcurrencyLimiter("test", 1, 4, 4, lambda: ResourceExhausted("Too many."))
    ran = 0

    async def fail() -> None:
        nonlocal ran
        ran += 1
        await asyncio.sleep(0)
        raise ValueError

    outcomes = await asyncio.gather(
        *(limiter.run(owner, fail(), "key") for owner in "abc"), return_exceptions=True
    )
    assert [type(one) for one in outcomes] == [ValueError] * 3
    assert ran == 1
