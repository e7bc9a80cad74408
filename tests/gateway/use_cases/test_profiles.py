"""Profiles: streaming all pages as one document, concurrency, and outages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from gateway.backends.analytics import AnalyticsClient
from gateway.backends.links import LinksClient
from gateway.backends.owners import Account, Owner
from gateway.backends.ports import Link, LinkQuery, LinkQueryResult
from gateway.backends.view_counts import RETRY_SECONDS, Totals, ViewCounts
from gateway.redirects.resolution import LinkState
from gateway.support.rate_limits import PROFILES, ClientConcurrencyLimiter
from gateway.use_cases.profiles import MAX_READS, Profiles
from services.shared.errors import ResourceExhausted, Unavailable

ACCOUNT = Account("walker")
CLIENT = (b"client",)
CREATED = datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)
LINK = Link(
    code="",
    url="",
    title="",
    created_at=CREATED,
    changed_at=None,
    state=LinkState.ACTIVE,
    reason=None,
    tags=(),
    expires_at=None,
    ended_url="",
    public_statistics=False,
    scan_code="",
)


class Services:
    """Fakes of the services: an account with `pages` pages, where each even link has one view."""

    def __init__(self, *pages: int) -> None:
        self.pages = pages
        self.away: int | None = None
        """The page that links fails to return."""
        self.analytics_away = False
        self.counted = 0
        """Number of calls of analytics."""
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.reading = 0
        self.max_reading = 0

    async def query(self, owner: Owner, query: LinkQuery) -> LinkQueryResult:
        assert (owner, query.state) == (ACCOUNT, LinkState.ACTIVE)
        number = int(query.cursor or 0)
        self.reading += 1
        self.max_reading = max(self.max_reading, self.reading)
        await self.may_answer.wait()
        self.reading -= 1
        if number == self.away:
            raise Unavailable("away")
        first = sum(self.pages[:number])
        links = [
            replace(LINK, code=f"{n:08}", url=f"https://example.com/{n}")
            for n in range(first, first + self.pages[number])
        ]
        return LinkQueryResult(links, 0, str(number + 1) if number + 1 < len(self.pages) else "")

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        self.counted += 1
        if self.analytics_away:
            raise Unavailable("away")
        return {code: Totals(1) for code in codes if int(code) % 2 == 0}


def profiles_of(services: Services, limit: ClientConcurrencyLimiter | None = None) -> Profiles:
    return Profiles(
        cast(LinksClient, services),
        ViewCounts(cast(AnalyticsClient, services)),
        limit or ClientConcurrencyLimiter("profile", PROFILES),
    )


async def text_of(profiles: Profiles) -> str:
    pieces = profiles.stream(ACCOUNT, CLIENT)
    return b"".join([piece async for piece in pieces]).decode()


async def views_of(profiles: Profiles) -> list[int | None]:
    data: list[dict[str, Any]] = json.loads(await text_of(profiles))["data"]
    return [link["views"] for link in data]


@pytest.mark.parametrize("pages", [(0,), (3,), (3, 3, 1), (3, 0, 2), (3, 0)])
async def test_a_profile_of_several_pages_is_one_document(pages: tuple[int, ...]) -> None:
    expected = {
        "success": True,
        "data": [
            {
                "short_link": f"{n:08}",
                "long_link": f"https://example.com/{n}",
                "views": 1 - n % 2,
                "created_at": "2026-01-02T03:04:05.678Z",
            }
            for n in range(sum(pages))
        ],
    }
    text = await text_of(profiles_of(Services(*pages)))
    assert text == json.dumps(expected, separators=(",", ":"))


async def test_concurrent_pages_are_limited_and_an_unread_profile_delays_no_other() -> None:
    services = Services(1, 1, 1)
    profiles = profiles_of(services)
    unread = profiles.stream(ACCOUNT, CLIENT)
    async with aclosing(unread), asyncio.timeout(10):
        await anext(unread)
        services.may_answer.clear()
        others = [asyncio.create_task(text_of(profiles)) for _ in range(3 * MAX_READS)]
        for _ in range(10):
            await asyncio.sleep(0)
        assert services.reading == MAX_READS
        services.may_answer.set()
        await asyncio.gather(*others)
    assert services.max_reading == MAX_READS


async def test_a_request_counts_as_running_until_its_profile_is_sent() -> None:
    profiles = profiles_of(Services(1, 1))
    async with AsyncExitStack() as unsent:
        for _ in range(PROFILES.by_network[0]):
            pieces = profiles.stream(ACCOUNT, CLIENT)
            await anext(await unsent.enter_async_context(aclosing(pieces)))
        with pytest.raises(ResourceExhausted):
            await text_of(profiles)
    assert await text_of(profiles)


async def test_an_outage_of_analytics_leaves_views_null_without_a_call_per_page() -> None:
    services, now = Services(2, 2, 2), 1000.0
    views = ViewCounts(cast(AnalyticsClient, services), lambda: now)
    profiles = replace(profiles_of(services), views=views)
    services.analytics_away = True
    for _ in range(2):
        assert await views_of(profiles) == [None] * 6
        assert services.counted == 1
    services.analytics_away = False
    now += RETRY_SECONDS
    assert await views_of(profiles) == [1, 0] * 3


@pytest.mark.parametrize("page", [0, 1])
async def test_an_outage_of_links_is_an_error_at_any_page(page: int) -> None:
    services = Services(1, 1)
    profiles = profiles_of(services)
    services.away = page
    for _ in range(PROFILES.by_network[0] + 1):
        with pytest.raises(Unavailable):
            await text_of(profiles)
