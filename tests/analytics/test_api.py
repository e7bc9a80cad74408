"""The gateway's calls of analytics over gRPC."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.backends import replicas
from gateway.backends.analytics import AnalyticsClient
from gateway.backends.ports import (
    DateRange,
    Dimension,
    Figures,
    Period,
    RecentPeriod,
    Step,
    StepLength,
)
from gateway.backends.view_counts import Totals
from gateway.visits.journal.batch import Batch
from gateway.visits.journal.lines import Facts, Visit, text_of
from services.shared.errors import InvalidArgument
from tests.support import in_process_services

HOUR = 490_000
"""2025-11-24, 16:00 UTC."""
DAY = DateRange("2025-11-24", "2025-11-24")
NOTHING = Figures(0, 0, 0)


@pytest.fixture
async def analytics(tmp_path: Path) -> AsyncIterator[AnalyticsClient]:
    async with in_process_services.analytics(tmp_path) as client:
        yield client


def batch(number: int, counts: dict[Visit, int]) -> Batch:
    return Batch("one", number, counts, sum(counts.values()))


def person(code: str, host: str = "", hour: int = HOUR) -> Visit:
    return Visit(code, hour, "person", host)


async def test_visits_are_counted_once(analytics: AnalyticsClient) -> None:
    await analytics.check()
    sent = batch(1, {person("abcdefgh"): 2, Visit("abcdefgh", HOUR, "bot", ""): 3})
    for _ in range(2):
        await analytics.record(sent)
    await analytics.record(batch(3, {Visit("onlybots", HOUR, "bot", ""): 1}))
    counted = await analytics.totals(["abcdefgh", "onlybots", "unknown-", "malformed"])
    assert counted == {"abcdefgh": Totals(people=2, bots=3), "onlybots": Totals(bots=1)}


async def test_lanes_are_counted_once_and_apart_from_whole_batches(
    analytics: AnalyticsClient,
) -> None:
    """A lane is counted under its own number, whatever number a whole batch of the gateway has."""
    codes = [f"code{n:04}" for n in range(200)]
    counts = {person(code, f"h{n % 3}.example"): n + 1 for n, code in enumerate(codes)}
    counts |= {Visit(code, HOUR, "bot", ""): 1 for code in codes}
    visitors = {(HOUR // 24, code): {n << 20} for n, code in enumerate(codes)}
    visits = sum(counts.values())
    await analytics.record(batch(7, counts))
    for _ in range(2):
        await analytics.record(Batch("one", 5, counts, visits, visitors, is_divided=True))
    counted = await analytics.totals(codes)
    assert counted == {code: Totals(2 * n + 2, 2) for n, code in enumerate(codes)}
    statistics = await analytics.statistics(codes, DAY, "UTC", 0)
    assert statistics.totals == Figures(2 * sum(range(1, 201)), 400, 200)


async def test_batches_are_divided_while_a_name_has_several_addresses(
    analytics: AnalyticsClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single replica, as of a local run, pays nothing for lanes."""
    monkeypatch.setattr(replicas, "RESOLVE_SECONDS", 0.0)
    target = analytics._address.replace("127.0.0.1", "localhost")
    found = [{"10.0.0.1:1"}, {"10.0.0.1:1", "10.0.0.2:1"}, {"10.0.0.2:1"}]
    resolved: list[str] = []

    async def find_addresses(name: str) -> set[str]:
        resolved.append(name)
        return found[len(resolved) - 1]

    monkeypatch.setattr(replicas, "find_addresses", find_addresses)
    named = AnalyticsClient(target)
    divides = []
    for number in range(1, 4):
        await named.record(batch(number, {person("abcdefgh"): 1}))
        divides.append(named.divides)
    await named.close()
    assert divides == [False, True, False]
    assert resolved == [target] * 3

    await analytics.record(batch(4, {person("abcdefgh"): 1}))
    assert not analytics.divides
    assert resolved == [target] * 3, "an address needs no resolution"


async def test_recent_people_are_counted_per_utc_day(analytics: AnalyticsClient) -> None:
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
    await analytics.record(batch(1, visits))
    codes = ["abcdefgh", "zyxwvuts", "onlybots", "longago-", "unknown-", "malformed!"]
    assert await analytics.recent_people(codes) == {
        "abcdefgh": [7, *[0] * 27, 5, 4],
        "zyxwvuts": [*[0] * 29, 2],
    }


async def test_all_parts_of_statistics_are_returned(analytics: AnalyticsClient) -> None:
    visits = {
        person("abcdefgh", "a.example"): 3,
        person("abcdefgh", "b.example"): 1,
        person("abcdefgh"): 2,
        person("abcdefgh", "b.example", HOUR + 24): 4,
        person("zyxwvuts", "b.example", HOUR + 1): 5,
        Visit("abcdefgh", HOUR, "bot", ""): 7,
    }
    await analytics.record(batch(1, visits))
    found = await analytics.statistics(["abcdefgh"], DAY, "UTC", 0)
    assert (found.first, found.last, found.step) == ("2025-11-24", "2025-11-24", StepLength.HOUR)
    assert (found.totals, found.previous, found.top) == (Figures(6, 7, 0), NOTHING, [])
    assert len(found.series) == 24
    assert found.series[0] == Step("2025-11-24T00:00:00+00:00", 0, 0, None)
    assert found.series[16] == Step("2025-11-24T16:00:00+00:00", 6, 7, None)
    assert found.breakdowns == {dimension: [("", 6)] for dimension in Dimension} | {
        Dimension.REFERRER: [("a.example", 3), ("", 2), ("b.example", 1)],
        Dimension.SOURCE: [("link", 6)],
    }

    codes = ["zyxwvuts", "abcdefgh", "unknown-", "no code"]
    weeks = DateRange("2025-11-20", "2025-12-03")
    found = await analytics.statistics(codes, weeks, "Asia/Tokyo", 100)
    assert (found.first, found.last, found.step) == ("2025-11-20", "2025-12-03", StepLength.DAY)
    assert found.series[5] == Step("2025-11-25T00:00:00+09:00", 11, 7, 0)
    assert found.top == [("abcdefgh", 10), ("zyxwvuts", 5)]
    later = DateRange("2025-12-04", "2025-12-17")
    following = await analytics.statistics(codes, later, "Asia/Tokyo", 1)
    assert (following.previous, following.totals) == (found.totals, NOTHING)
    assert following.breakdowns == {dimension: [] for dimension in Dimension}
    everything = await analytics.statistics(codes, RecentPeriod.ALL, "UTC", 1)
    assert (everything.first, everything.previous) == ("2025-11-24", None)
    assert everything.top == [("abcdefgh", 10)]
    assert (await analytics.statistics([], weeks, "UTC", 9)).totals == NOTHING


@pytest.mark.parametrize("period", RecentPeriod)
async def test_every_recent_period_ends_today(
    analytics: AnalyticsClient, period: RecentPeriod
) -> None:
    today = datetime.now(UTC).date()
    found = await analytics.statistics(["abcdefgh"], period, "UTC", 0)
    assert found.last in (today.isoformat(), datetime.now(UTC).date().isoformat())
    assert found.totals == NOTHING
    assert (found.previous is None) == (period is RecentPeriod.ALL)
    assert found.series


async def test_the_maximum_number_of_codes_is_accepted(analytics: AnalyticsClient) -> None:
    assert await analytics.totals(["unknown-"] * 1000) == {}
    assert await analytics.recent_people(["unknown-"] * 100) == {}
    codes = ["c" * 31 + "-"] * 100_000
    assert (await analytics.statistics(codes, DAY, "UTC", 100)).totals == NOTHING


Call = Callable[[AnalyticsClient], Awaitable[object]]


def statistics(period: Period, timezone: str = "UTC", codes: int = 1) -> Call:
    """Return a call for statistics of a number of links."""
    return lambda analytics: analytics.statistics(["abcdefgh"] * codes, period, timezone, 0)


@pytest.mark.parametrize(
    ("reason", "call"),
    [
        ("INVALID_BATCH", lambda analytics: analytics.record(batch(1, {person("no code"): 1}))),
        ("TOO_MANY_CODES", lambda analytics: analytics.totals(["unknown-"] * 1001)),
        ("TOO_MANY_CODES", lambda analytics: analytics.recent_people(["unknown-"] * 101)),
        ("TOO_MANY_CODES", statistics(DAY, codes=100_001)),
        ("INVALID_RANGE", statistics(DateRange("2025-11-25", "2025-11-24"))),
        ("INVALID_RANGE", statistics(DateRange("", ""))),
        ("INVALID_TIMEZONE", statistics(DAY, "Nowhere")),
        ("INVALID_TIMEZONE", statistics(RecentPeriod.ALL, "")),
    ],
)
async def test_invalid_arguments_have_a_reason(
    analytics: AnalyticsClient, reason: str, call: Call
) -> None:
    with pytest.raises(InvalidArgument) as rejected:
        await call(analytics)
    assert rejected.value.reason == reason


async def test_all_calls_on_a_day_return_the_same_key(analytics: AnalyticsClient) -> None:
    before = int(time.time()) // 86_400
    first, again = await analytics.visitor_key(), await analytics.visitor_key()
    day, key = again
    assert before <= first[0] <= day <= int(time.time()) // 86_400
    assert len(key) == 32
    assert first == again or first[0] < day, "the key changes only with the day"


async def test_the_largest_possible_batch_is_accepted(analytics: AnalyticsClient) -> None:
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
