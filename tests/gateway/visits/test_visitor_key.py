"""The day's visitor key: when it is requested, used and dropped."""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest

from gateway.visits.enrichment.visitor_key import CHECK_SECONDS, DAY_SECONDS, VisitorKeys
from gateway.visits.enrichment.visitors import Visitors
from services.shared.errors import Unavailable
from services.shared.ip_addresses import parse
from tests.support.gateway_client import BROWSER

DAY = 20_779
NOON = (DAY + 0.5) * DAY_SECONDS


class Clock:
    """A clock that advances only while a task sleeps."""

    def __init__(self) -> None:
        self.now = NOON
        self.until = NOON
        """Sleeping tasks that end later wait for `pass_until`."""
        self._moved = asyncio.Condition()
        self._asleep = asyncio.Event()

    def time(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        assert 0 <= seconds <= DAY_SECONDS
        ends = self.now + seconds
        while ends > self.until:
            self._asleep.set()
            async with self._moved:
                await self._moved.wait()
        self.now = max(self.now, ends)
        await asyncio.sleep(0)

    async def pass_until(self, moment: float) -> None:
        """Advance the clock, and return after all tasks until then have run."""
        async with self._moved:
            self.until = moment
            self._asleep.clear()
            self._moved.notify_all()
        await self._asleep.wait()
        self.now = moment


class Source:
    """Analytics, whose clock may be slow."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.behind = 0.0
        self.away = False
        self.key: bytes | None = None
        """The key that it returns on any day."""
        self.made: dict[int, bytes] = {}
        self.asked: list[float] = []

    async def visitor_key(self) -> tuple[int, bytes]:
        self.asked.append(self.clock.now)
        if self.away:
            raise Unavailable("Away.")
        day = int(self.clock.now - self.behind) // DAY_SECONDS
        return day, self.key or self.made.setdefault(day, secrets.token_bytes(32))


def visitors() -> Visitors:
    return Visitors(lambda host, _: parse(host), lambda _: "")


class Gateway:
    """The visitors of one gateway, and their key."""

    def __init__(self, source: Source) -> None:
        self.visitors = visitors()
        self.keys = VisitorKeys(source, self.visitors, source.clock.time, source.clock.sleep)

    def number(self, host: str = "192.0.2.1", user_agent: str = BROWSER) -> str:
        """Return the number of a visitor, empty without a key."""
        _, _, number, _ = self.visitors[host, b"", user_agent.encode(), b""]
        return number


@asynccontextmanager
async def started_gateway(source: Source) -> AsyncIterator[Gateway]:
    gateway = Gateway(source)
    await gateway.keys.start()
    yield gateway
    await gateway.keys.stop()


async def test_a_visitor_has_one_number_per_day_at_every_gateway() -> None:
    clock = Clock()
    source = Source(clock)
    async with started_gateway(source) as gateway:
        first = gateway.number()
        await clock.pass_until((DAY + 1) * DAY_SECONDS - 2)
        assert gateway.number() == first != ""
        assert gateway.number("192.0.2.2") != first
        assert gateway.number(user_agent=BROWSER + " Edg/1") != first
        async with started_gateway(source) as another:
            assert another.number() == first
            await clock.pass_until((DAY + 1) * DAY_SECONDS + 2)
            assert gateway.number() == another.number() not in ("", first)


async def test_a_key_is_requested_at_the_start_and_when_the_day_changes() -> None:
    clock = Clock()
    source = Source(clock)
    async with started_gateway(source) as gateway:
        assert gateway.keys.has_key
        await clock.pass_until((DAY + 2) * DAY_SECONDS + 10)
        midnights = [(DAY + 1) * DAY_SECONDS, (DAY + 2) * DAY_SECONDS]
        assert source.asked == [NOON, *map(pytest.approx, midnights)]
        assert gateway.keys.requests == {"changed": 3, "refused": 0, "failed": 0}


async def test_the_key_is_dropped_at_midnight_during_an_outage_of_analytics() -> None:
    clock = Clock()
    source = Source(clock)
    async with started_gateway(source) as gateway:
        first = gateway.number()
        source.away = True
        await clock.pass_until((DAY + 1) * DAY_SECONDS - 1)
        assert gateway.number() == first, "the key was not requested again"
        await clock.pass_until((DAY + 1) * DAY_SECONDS)
        assert not gateway.keys.has_key
        assert gateway.number() == ""
        await clock.pass_until((DAY + 1) * DAY_SECONDS + 3600)
        assert not gateway.keys.has_key
        pauses = [after - before for before, after in pairwise(source.asked[1:])]
        assert sorted(pauses) == pauses
        assert pauses[0] >= CHECK_SECONDS
        assert pauses[-1] <= 10
        source.away = False
        await clock.pass_until((DAY + 1) * DAY_SECONDS + 3610)
        assert gateway.number() not in ("", first)


@pytest.mark.parametrize("behind", [-90.0, 90.0])
async def test_the_key_of_another_day_is_not_used(behind: float) -> None:
    clock = Clock()
    source = Source(clock)
    source.behind = behind
    async with started_gateway(source) as gateway:
        first = gateway.number()
        midnight = (DAY + 1) * DAY_SECONDS
        await clock.pass_until(midnight - 1)
        assert gateway.number() == first
        await clock.pass_until(midnight + 60)
        assert gateway.keys.has_key == (behind < 0)
        assert gateway.number() != first
        asked = len(source.asked)
        await clock.pass_until(midnight + 92)
        assert gateway.keys.has_key
        assert gateway.number() not in ("", first)
        assert len(source.asked) - asked == (0 if behind < 0 else pytest.approx(31, abs=1))
        used = gateway.visitors
        again = visitors()
        again.begin(DAY + 1)
        again.use(source.made[DAY + 1])
        client = ("192.0.2.1", b"", BROWSER.encode(), b"")
        assert used[client] == again[client]


@pytest.mark.parametrize("key", [b"x", b"x" * 31, b"x" * 65])
async def test_an_invalid_key_is_not_used(key: bytes) -> None:
    clock = Clock()
    source = Source(clock)
    source.key = key
    async with started_gateway(source) as gateway:
        await clock.pass_until(NOON + 10)
        assert not gateway.keys.has_key
        assert gateway.keys.requests["refused"] > 1


async def test_only_the_hash_has_the_key_and_is_dropped_with_the_day() -> None:
    clock = Clock()
    source = Source(clock)
    source.key = secrets.token_bytes(32)
    before = sys.getrefcount(source.key)
    async with started_gateway(source) as gateway:
        assert gateway.number()
        held = sys.getrefcount(source.key)
        assert held == before
        source.away = True
        await clock.pass_until((DAY + 1) * DAY_SECONDS)
        assert gateway.visitors._keyed is None
        assert not gateway.visitors, "addresses are dropped, too"


async def test_a_start_does_not_wait_for_an_unresponsive_analytics(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Silent(Source):
        async def visitor_key(self) -> tuple[int, bytes]:
            await asyncio.Event().wait()
            raise AssertionError

    monkeypatch.setattr("gateway.visits.enrichment.visitor_key.START_SECONDS", 0.01)
    async with started_gateway(Silent(Clock())) as gateway:
        assert not gateway.keys.has_key
        assert gateway.number() == ""
