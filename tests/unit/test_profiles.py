"""Profiles: how much is read at once, and what is told while analytics is away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.limits import Networks
from gateway.owners import Owner
from gateway.profiles import (
    LINKS_A_STEP,
    MOST_READS,
    MOST_REQUESTS,
    MOST_REQUESTS_BY_NETWORK,
    MOST_REQUESTS_OF_ACCOUNT,
    PAGES_AHEAD,
    Profiles,
    StoredLink,
)
from gateway.views import RETRY_SECONDS, Totals, Views
from services.runtime.errors import ResourceExhausted, Unavailable

MADE = datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)
PAGE = 500


class Links:
    """Accounts of `pages` pages each; notes who is being read."""

    def __init__(self, pages: int = 1) -> None:
        self.pages = pages
        self.reading: list[str] = []
        self.most = 0
        self.go = asyncio.Event()
        self.go.set()

    async def of_account(self, account: str) -> AsyncIterator[list[StoredLink]]:
        self.reading.append(account)
        self.most = max(self.most, len(self.reading))
        try:
            await self.go.wait()
            for page in range(self.pages):
                numbers = range(page * PAGE, (page + 1) * PAGE)
                yield [StoredLink(f"{n:08}", f"https://example.com/{n}", MADE) for n in numbers]
        finally:
            self.reading.remove(account)


class Analytics:
    """One view of each link with an even number."""

    def __init__(self) -> None:
        self.away = False
        self.turns = 20
        """Of the loop, that an answer takes."""
        self.asked = 0
        self.asking = 0
        self.most = 0

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        self.asked += 1
        self.asking += 1
        self.most = max(self.most, self.asking)
        try:
            for _ in range(self.turns):
                await asyncio.sleep(0)
            if self.away:
                raise Unavailable("away")
            return {code: Totals(1) for code in codes if int(code) % 2 == 0}
        finally:
            self.asking -= 1

    async def recent_people(
        self, codes: Sequence[str], owner: Owner | None = None
    ) -> dict[str, list[int]]:
        raise AssertionError("A profile has no recent people.")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


async def text_of(
    profiles: Profiles, account: str = "walker", networks: Networks | None = None
) -> str:
    """The profile, asked for from an address of the account's own."""
    async with profiles.of(account, networks or (account.encode(),)) as pieces:
        return b"".join([piece async for piece in pieces]).decode()


async def views_of(profiles: Profiles) -> list[int | None]:
    data: list[dict[str, Any]] = json.loads(await text_of(profiles))["data"]
    return [link["views"] for link in data]


async def test_a_profile_is_one_document_however_many_pages() -> None:
    for pages in (0, 1, 3):
        text = await text_of(Profiles(Links(pages), Views(Analytics())))
        expected = {
            "success": True,
            "data": [
                {
                    "short_link": f"{n:08}",
                    "long_link": f"https://example.com/{n}",
                    "views": 1 - n % 2,
                    "created_at": "2026-01-02T03:04:05.678Z",
                }
                for n in range(pages * PAGE)
            ],
        }
        assert text == json.dumps(expected, separators=(",", ":"))


async def test_the_loop_turns_while_links_are_encoded() -> None:
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    turning = asyncio.create_task(turn())
    analytics = Analytics()
    analytics.turns = 0
    await text_of(Profiles(Links(20), Views(analytics)))
    turning.cancel()
    assert turns >= 20 * PAGE / LINKS_A_STEP


async def test_the_views_of_few_pages_are_asked_for_at_once() -> None:
    analytics = Analytics()
    await text_of(Profiles(Links(20), Views(analytics)))
    assert analytics.most == PAGES_AHEAD


async def test_few_accounts_are_read_at_once_and_each_once() -> None:
    links = Links()
    links.go.clear()
    profiles = Profiles(links, Views(Analytics()))
    greedy = [asyncio.create_task(text_of(profiles)) for _ in range(MOST_REQUESTS_OF_ACCOUNT)]
    await asyncio.sleep(0)
    with pytest.raises(ResourceExhausted):
        await text_of(profiles)
    others = [asyncio.create_task(text_of(profiles, f"{n}")) for n in range(2 * MOST_READS)]
    for _ in range(5):
        await asyncio.sleep(0)
    assert links.reading == ["walker", *(f"{n}" for n in range(MOST_READS - 1))]
    links.go.set()
    await asyncio.gather(*greedy, *others)
    assert links.most == MOST_READS
    assert await text_of(profiles), "whoever was refused may ask again"


async def test_those_who_wait_are_bounded() -> None:
    links = Links()
    links.go.clear()
    profiles = Profiles(links, Views(Analytics()))
    waiting = [asyncio.create_task(text_of(profiles, f"{n}")) for n in range(MOST_REQUESTS)]
    await asyncio.sleep(0)
    with pytest.raises(Unavailable):
        await text_of(profiles, "one more")
    links.go.set()
    await asyncio.gather(*waiting)
    assert await text_of(profiles, "one more")


async def test_who_was_read_has_a_place_until_the_answer_is_sent_and_is_not_waited_for() -> None:
    profiles = Profiles(Links(), Views(Analytics()))
    async with AsyncExitStack() as unsent:
        for _ in range(MOST_REQUESTS_OF_ACCOUNT):
            held = profiles.of("walker", (b"walker",))
            async for _ in await unsent.enter_async_context(held):
                pass
        with pytest.raises(ResourceExhausted):
            await text_of(profiles)
        async with asyncio.timeout(10):
            assert await text_of(profiles, "somebody else")
    assert await text_of(profiles)


async def test_an_address_has_few_of_the_places() -> None:
    profiles = Profiles(Links(), Views(Analytics()))
    household, network = MOST_REQUESTS_BY_NETWORK
    async with AsyncExitStack() as unsent:
        for n in range(network):
            asker = (bytes([n // household]), b"network")
            await unsent.enter_async_context(profiles.of(f"{n}", asker))
            if n == household - 1:
                with pytest.raises(ResourceExhausted):
                    await text_of(profiles, "one more", asker)
        with pytest.raises(ResourceExhausted):
            await text_of(profiles, "one more", (b"a new one", b"network"))
        assert await text_of(profiles, "one more", (b"from elsewhere",))
    assert await text_of(profiles, "one more", (bytes([0]), b"network"))


async def test_analytics_away_leaves_views_open_and_is_not_asked_for_each_page() -> None:
    analytics, clock = Analytics(), Clock()
    profiles = Profiles(Links(20), Views(analytics, clock))
    analytics.away = True
    assert await views_of(profiles) == [None] * 20 * PAGE
    assert analytics.asked <= PAGES_AHEAD
    asked = analytics.asked
    assert await views_of(profiles) == [None] * 20 * PAGE
    assert analytics.asked == asked, "nor for each profile"
    analytics.away = False
    clock.now += RETRY_SECONDS
    assert await views_of(profiles) == [1, 0] * (10 * PAGE)


async def test_links_away_is_an_error() -> None:
    class Away(Links):
        async def of_account(self, account: str) -> AsyncIterator[list[StoredLink]]:
            async for page in super().of_account(account):
                yield page
                raise Unavailable("away")

    profiles = Profiles(Away(), Views(Analytics()))
    for _ in range(MOST_REQUESTS_OF_ACCOUNT + 1):
        with pytest.raises(Unavailable):
            await text_of(profiles)
