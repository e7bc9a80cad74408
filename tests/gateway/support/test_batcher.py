"""Batches of items that are submitted at about the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextvars import ContextVar

import pytest

from gateway.support.batcher import Batcher

_WHO: ContextVar[str] = ContextVar("who", default="nobody")


class Sender:
    """Records calls, and ends one when the test releases it."""

    def __init__(self) -> None:
        self.sent: list[list[int]] = []
        self.by: list[str] = []
        self.called = asyncio.Event()
        self.ends = asyncio.Event()
        self.cancelled = 0

    async def __call__(self, things: Sequence[int]) -> None:
        self.sent.append(list(things))
        self.by.append(_WHO.get())
        self.called.set()
        try:
            await self.ends.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


@pytest.fixture
async def sender() -> Sender:
    return Sender()


async def run_turns(count: int = 3) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_items_of_one_turn_share_calls_of_limited_size(sender: Sender) -> None:
    batches = Batcher(sender, 4)
    for number in range(10):
        batches.submit(number)
    assert batches.is_gathering
    await run_turns()
    assert sender.sent == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert not batches.is_gathering
    sender.ends.set()
    await batches.close()


async def test_items_during_a_call_wait_for_its_end(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.support.batcher.GATHER_SECONDS", 60.0)
    batches = Batcher(sender, 4)
    for number in range(3):
        batches.submit(number)
        await run_turns()
    assert sender.sent == [[0]]
    sender.ends.set()
    await run_turns(5)
    assert sender.sent == [[0], [1, 2]]
    await batches.close()


async def test_items_wait_only_briefly_for_a_call(sender: Sender) -> None:
    batches = Batcher(sender, 4)
    batches.submit(0)
    await run_turns()
    sender.called.clear()
    batches.submit(1)
    await asyncio.wait_for(sender.called.wait(), 20)
    assert sender.sent == [[0], [1]]
    sender.ends.set()
    await batches.close()


async def test_a_call_has_the_context_of_its_first_item(sender: Sender) -> None:
    batches = Batcher(sender, 4)
    for who in ("first", "second"):
        _WHO.set(who)
        batches.submit(0)
    await run_turns()
    assert sender.by == ["first"]
    sender.ends.set()
    await batches.close()


async def test_a_call_that_was_just_created_is_cancelled_with_cleanup(sender: Sender) -> None:
    batches = Batcher(sender, 4)
    batches.submit(0)
    await asyncio.sleep(0)  # It is created, and has not run its first step.
    assert await batches.close() == []
    assert (sender.sent, sender.cancelled) == ([[0]], 1)


async def test_closing_cancels_calls_and_returns_waiting_items(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.support.batcher.GATHER_SECONDS", 60.0)
    batches = Batcher(sender, 4)
    batches.submit(0)
    await run_turns()
    batches.submit(1)
    assert await batches.close() == [1]
    assert sender.cancelled == 1
    await run_turns()
    assert sender.sent == [[0]]
