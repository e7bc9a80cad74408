"""Single flight: one execution for all callers of a key, cached for a moment."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from gateway.support.single_flight import SingleFlight
from services.shared.errors import Unavailable


class Source:
    """Loads values once it may answer, and counts the loads of each key."""

    def __init__(self) -> None:
        self.loads: Counter[str] = Counter()
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.away = False

    async def load(self, key: str) -> str:
        self.loads[key] += 1
        value = f"{key} {self.loads[key]}"
        await self.may_answer.wait()
        if self.away:
            raise Unavailable("away")
        return value


@pytest.fixture
async def source() -> Source:
    return Source()


async def test_a_value_is_cached_for_a_moment(source: Source) -> None:
    flight = SingleFlight(source.load, 0.1, 3)
    assert [await flight.get("a") for _ in range(3)] == ["a 1"] * 3
    assert await flight.get("b") == "b 1"
    await asyncio.sleep(0.2)
    assert await flight.get("a") == "a 2"


async def test_callers_of_one_key_share_a_load_whoever_of_them_is_cancelled(
    source: Source,
) -> None:
    flight = SingleFlight(source.load, 60, 3)
    source.may_answer.clear()
    waiting = [asyncio.create_task(flight.get("a")) for _ in range(100)]
    await asyncio.sleep(0)
    for one in (waiting[0], waiting[50]):
        one.cancel()
    await asyncio.sleep(0)
    source.may_answer.set()
    values = await asyncio.gather(*waiting, return_exceptions=True)
    assert values.count("a 1") == 98
    assert source.loads == {"a": 1}


async def test_a_load_completes_though_its_only_caller_is_cancelled(source: Source) -> None:
    flight = SingleFlight(source.load, 60, 3)
    source.may_answer.clear()
    caller = asyncio.create_task(flight.get("a"))
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.sleep(0)
    source.may_answer.set()
    assert await flight.get("a") == "a 1"


async def test_an_error_is_raised_to_all_callers_and_not_cached(source: Source) -> None:
    flight = SingleFlight(source.load, 60, 3)
    source.away = True
    both = await asyncio.gather(flight.get("a"), flight.get("a"), return_exceptions=True)
    assert [type(error) for error in both] == [Unavailable] * 2
    assert source.loads == {"a": 1}
    source.away = False
    assert await flight.get("a") == "a 2"


async def test_the_oldest_of_many_values_is_evicted(source: Source) -> None:
    flight = SingleFlight(source.load, 60, 3)
    for key in "abcd":
        await flight.get(key)
    assert await flight.get("d") == "d 1"
    assert await flight.get("a") == "a 2"
