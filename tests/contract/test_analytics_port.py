"""What the gateway relies on of analytics: over the service itself, and over the fake of tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.clients import AnalyticsClient
from gateway.ports import Analytics
from gateway.views import Totals
from gateway.visits.ledger import Batch
from gateway.visits.lines import Visit
from services.runtime.errors import InvalidArgument
from tests import services
from tests.fakes import FakeAnalytics

HOUR = 490_000


@pytest.fixture(params=["fake", "service"])
async def analytics(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Analytics]:
    if request.param == "fake":
        yield FakeAnalytics()
        return
    async with services.analytics(tmp_path) as address:
        client = AnalyticsClient(address)
        yield client
        await client.close()


def batch(number: int, *visits: Visit, count: int = 1, gateway: str = "one") -> Batch:
    return Batch(gateway, number, dict.fromkeys(visits, count), count * len(visits))


def person(code: str, host: str = "", hour: int = HOUR) -> Visit:
    return Visit(code, hour, "person", host)


async def test_it_says_that_it_is_ready(analytics: Analytics) -> None:
    await analytics.check()


async def test_people_and_bots_are_counted_apart(analytics: Analytics) -> None:
    visits = (
        person("abcdefgh"),
        person("abcdefgh", "a.example"),
        person("abcdefgh", hour=HOUR + 1),
        person("zyxwvuts"),
        Visit("abcdefgh", HOUR, "bot", ""),
        Visit("onlybots", HOUR, "bot", ""),
    )
    await analytics.record(batch(1, *visits, count=2))
    counted = await analytics.totals(["abcdefgh", "zyxwvuts", "onlybots", "unknown-", "malformed"])
    assert counted == {
        "abcdefgh": Totals(people=6, bots=2),
        "zyxwvuts": Totals(people=2),
        "onlybots": Totals(bots=2),
    }


async def test_a_batch_that_is_sent_again_counts_once(analytics: Analytics) -> None:
    first, second = batch(1, person("abcdefgh")), batch(3, person("abcdefgh"))
    for sent in (first, first, second, second, first):
        await analytics.record(sent)
    await analytics.record(batch(1, person("abcdefgh"), gateway="two"))
    assert await analytics.totals(["abcdefgh"]) == {"abcdefgh": Totals(3)}


async def test_a_batch_that_no_gateway_makes_is_refused_as_a_whole(analytics: Analytics) -> None:
    with pytest.raises(InvalidArgument) as refused:
        await analytics.record(batch(1, person("abcdefgh"), person("no code")))
    assert refused.value.reason == "INVALID_BATCH"
    assert await analytics.totals(["abcdefgh"]) == {}


async def test_a_journal_that_closed_empty_may_come_back(analytics: Analytics) -> None:
    await analytics.record(batch(1, person("abcdefgh")))
    await analytics.close_gateway("one", 1)
    await analytics.record(batch(2, person("abcdefgh")))
    assert await analytics.totals(["abcdefgh"]) == {"abcdefgh": Totals(2)}
    with pytest.raises(InvalidArgument):
        await analytics.close_gateway("no name", 1)


async def test_a_thousand_codes_are_the_most_of_one_question(analytics: Analytics) -> None:
    assert await analytics.totals(["unknown-"] * 1000) == {}
    with pytest.raises(InvalidArgument) as refused:
        await analytics.totals(["unknown-"] * 1001)
    assert refused.value.reason == "TOO_MANY_CODES"
