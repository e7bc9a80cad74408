"""What the gateway relies on of analytics: over the service itself, and over the fake of tests."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.clients import AnalyticsClient
from gateway.ports import (
    Analytics,
    Dates,
    Dimension,
    Figures,
    RecentSpan,
    Span,
    Statistics,
    Step,
    StepLength,
)
from gateway.views import Totals
from gateway.visits.batch import Batch
from gateway.visits.lines import Facts, Visit, text_of
from services.runtime.errors import InvalidArgument
from tests import services
from tests.fakes import FakeAnalytics

HOUR = 490_000
"""2025-11-24, 16:00 UTC."""
NOTHING = Figures(0, 0, 0)


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


async def test_a_thousand_codes_are_the_most_of_one_question(analytics: Analytics) -> None:
    assert await analytics.totals(["unknown-"] * 1000) == {}
    with pytest.raises(InvalidArgument) as refused:
        await analytics.totals(["unknown-"] * 1001)
    assert refused.value.reason == "TOO_MANY_CODES"


async def test_recent_people_are_counted_per_utc_day(analytics: Analytics) -> None:
    today = int(time.time()) // 86_400
    noon = today * 24 + 12
    visits = {
        person("abcdefgh", "a.example", noon): 3,
        person("abcdefgh", hour=noon - 1): 1,
        person("abcdefgh", hour=noon - 24): 5,
        person("abcdefgh", hour=(today - 29) * 24): 7,
        person("abcdefgh", hour=(today - 29) * 24 - 1): 11,  # A day too old.
        person("zyxwvuts", hour=noon): 2,
        Visit("zyxwvuts", noon, "bot", ""): 9,
        Visit("onlybots", noon, "bot", ""): 4,
        person("longago-", hour=(today - 40) * 24): 6,
    }
    await analytics.record(Batch("one", 1, visits, sum(visits.values())))
    wanted = ["abcdefgh", "zyxwvuts", "onlybots", "longago-", "unknown-", "malformed!"]
    assert await analytics.recent_people(wanted) == {
        "abcdefgh": [7, *[0] * 27, 5, 4],
        "zyxwvuts": [*[0] * 29, 2],
    }


async def test_recent_people_are_read_for_at_most_100_codes(analytics: Analytics) -> None:
    assert await analytics.recent_people(["unknown-"] * 100) == {}
    with pytest.raises(InvalidArgument) as refused:
        await analytics.recent_people(["unknown-"] * 101)
    assert refused.value.reason == "TOO_MANY_CODES"


# Statistics.

DAY = Dates("2025-11-24", "2025-11-24")
TWO_WEEKS = Dates("2025-11-20", "2025-12-03")


async def record_visits(analytics: Analytics) -> None:
    """Of two links on two days, and of a third one later."""
    visits = {
        person("abcdefgh", "a.example"): 3,
        person("abcdefgh", "b.example"): 1,
        person("abcdefgh"): 2,
        person("abcdefgh", "b.example", HOUR + 24): 4,
        person("zyxwvuts", "b.example", HOUR + 1): 5,
        person("anotherx", hour=HOUR + 1): 1,
        Visit("abcdefgh", HOUR, "bot", ""): 7,
    }
    await analytics.record(Batch("one", 1, visits, sum(visits.values())))


def figures(found: Statistics) -> dict[str, tuple[int, int]]:
    """People and bots of the steps in which somebody came, by their start."""
    return {
        step.start: (step.people, step.bots) for step in found.series if step.people or step.bots
    }


async def test_a_day_is_told_by_the_hour(analytics: Analytics) -> None:
    await record_visits(analytics)
    found = await analytics.statistics(["abcdefgh"], DAY, "UTC", 0)
    assert (found.first, found.last, found.step) == ("2025-11-24", "2025-11-24", StepLength.HOUR)
    assert (found.totals.people, found.totals.bots) == (6, 7)
    assert found.previous == NOTHING
    assert len(found.series) == 24
    assert found.series[0] == Step("2025-11-24T00:00:00+00:00", 0, 0, None)
    assert figures(found) == {"2025-11-24T16:00:00+00:00": (6, 7)}
    assert found.breakdowns == {dimension: [("", 6)] for dimension in Dimension} | {
        Dimension.REFERRER: [("a.example", 3), ("", 2), ("b.example", 1)],
        Dimension.SOURCE: [("link", 6)],
    }
    assert found.top == []


async def test_days_are_those_of_the_time_zone(analytics: Analytics) -> None:
    await record_visits(analytics)
    found = await analytics.statistics(["abcdefgh"], TWO_WEEKS, "Asia/Tokyo", 0)
    assert (found.first, found.last, found.step) == ("2025-11-20", "2025-12-03", StepLength.DAY)
    assert len(found.series) == 14
    assert figures(found) == {
        "2025-11-25T00:00:00+09:00": (6, 7),
        "2025-11-26T00:00:00+09:00": (4, 0),
    }
    assert all(step.visitors is not None for step in found.series)
    before = Dates("2025-12-04", "2025-12-17")
    later = await analytics.statistics(["abcdefgh"], before, "Asia/Tokyo", 0)
    assert later.previous == found.totals
    assert later.totals == NOTHING
    assert later.breakdowns == {dimension: [] for dimension in Dimension}


async def test_links_are_added_up_and_the_most_visited_told(analytics: Analytics) -> None:
    await record_visits(analytics)
    codes = ["zyxwvuts", "abcdefgh", "unknown-", "no code"]
    for top, told in ((100, [("abcdefgh", 10), ("zyxwvuts", 5)]), (1, [("abcdefgh", 10)])):
        found = await analytics.statistics(codes, TWO_WEEKS, "UTC", top)
        assert (found.totals.people, found.totals.bots) == (15, 7)
        assert found.breakdowns[Dimension.REFERRER] == [
            *(("b.example", 10), ("a.example", 3), ("", 2)),
        ]
        assert found.top == told
    nothing = await analytics.statistics([], TWO_WEEKS, "UTC", 100)
    assert (nothing.totals, nothing.previous, nothing.top) == (NOTHING, NOTHING, [])


@pytest.mark.parametrize("span", RecentSpan)
async def test_every_recent_span_ends_today(analytics: Analytics, span: RecentSpan) -> None:
    today = datetime.now(UTC).date()
    found = await analytics.statistics(["abcdefgh"], span, "UTC", 0)
    assert found.last in (today.isoformat(), datetime.now(UTC).date().isoformat())
    assert found.totals == NOTHING
    assert (found.previous is None) == (span is RecentSpan.ALL)
    assert found.series


async def test_all_begins_with_the_first_visit(analytics: Analytics) -> None:
    await record_visits(analytics)
    found = await analytics.statistics(["abcdefgh"], RecentSpan.ALL, "UTC", 0)
    assert found.first == "2025-11-24"
    assert (found.totals.people, found.totals.bots, found.previous) == (10, 7, None)


@pytest.mark.parametrize(
    ("span", "timezone", "reason"),
    [
        (Dates("2025-11-25", "2025-11-24"), "UTC", "INVALID_RANGE"),
        (Dates("2025-02-29", "2025-11-24"), "UTC", "INVALID_RANGE"),
        (Dates("2015-01-01", "2025-11-24"), "UTC", "INVALID_RANGE"),
        (Dates("", ""), "UTC", "INVALID_RANGE"),
        (DAY, "Nowhere", "INVALID_TIMEZONE"),
        (DAY, "", "INVALID_TIMEZONE"),
        (RecentSpan.ALL, "../UTC", "INVALID_TIMEZONE"),
    ],
)
async def test_what_can_never_be_right_has_a_reason(
    analytics: Analytics, span: Span, timezone: str, reason: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        await analytics.statistics(["abcdefgh"], span, timezone, 0)
    assert refused.value.reason == reason


async def test_a_hundred_thousand_links_are_the_most_of_one_question(analytics: Analytics) -> None:
    codes = ["c" * 31 + "-"] * 100_000
    assert (await analytics.statistics(codes, DAY, "UTC", 100)).totals == NOTHING
    with pytest.raises(InvalidArgument) as refused:
        await analytics.statistics([*codes, "abcdefgh"], DAY, "UTC", 100)
    assert refused.value.reason == "TOO_MANY_CODES"


async def test_the_key_of_a_day_is_the_same_whoever_asks(analytics: Analytics) -> None:
    before = int(time.time()) // 86_400
    first, again = await analytics.visitor_key(), await analytics.visitor_key()
    day, key = again
    assert before <= first[0] <= day <= int(time.time()) // 86_400
    assert len(key) == 32
    assert first == again or first[0] < day, "another day, another key"


async def test_the_largest_batch_there_can_be_is_taken(analytics: Analytics) -> None:
    known = Facts("desktop", "b" * 40, "s" * 40, "haw", "US", "link")
    visits = [
        Visit(f"{n:032d}", 9_999_999, "person", f"{n:0253d}", text_of(known)) for n in range(5_500)
    ]
    sent = Batch(
        "g" * 64,
        1,
        dict.fromkeys(visits, 50_000),
        50_000 * len(visits),
        {(416_666, visit.code): {0xFFFF_FFFF} for visit in visits},
    )
    await analytics.record(sent)
    code = visits[-1].code
    assert await analytics.totals([code]) == {code: Totals(50_000)}
