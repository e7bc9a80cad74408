"""Statistics of a period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.analytics.domain.batches import Batch, day_increments
from services.analytics.domain.periods import (
    DateRange,
    Period,
    RecentPeriod,
    StepLength,
    resolve_period,
)
from services.analytics.domain.statistics import (
    MAX_RETURNED_NAMES,
    MAX_TOP,
    Figures,
    StatisticsBuilder,
)
from services.analytics.domain.visits import Day, Dimension, VisitCount, VisitKind
from tests.analytics.period_samples import CASES, ZONES, find_local_hours, hour_at, period_at

PERSON, BOT = VisitKind.PERSON, VisitKind.BOT


def person(code: str, hour: int, count: int = 1, host: str = "") -> VisitCount:
    return VisitCount(code, hour, PERSON, {Dimension.REFERRER: host}, count)


def days_of(visits: Iterable[VisitCount], visitors: int = 0) -> list[tuple[str, Day]]:
    """Return the days of visits as a store does, each with this number of visitors."""
    return [
        (code, Day.from_hours(day, each.people, each.bots, each.names, visitors))
        for (day, code), each in day_increments(Batch("one", 1, tuple(visits))).items()
    ]


def add_up(period: Period, days: Iterable[tuple[str, Day]]) -> StatisticsBuilder:
    builder = StatisticsBuilder(period)
    for code, day in days:
        if day.day in period.days:
            builder.add_link_day(code, day)
    return builder


@pytest.mark.parametrize("case", CASES["local_hours"], ids=str)
def test_24_hours_include_the_current_local_hour(case: dict[str, str]) -> None:
    zone = ZoneInfo(case["zone"])
    for minute in (0, 1, 14, 15, 29, 30, 34, 44, 45, 59):
        now = datetime.fromisoformat(f"{case['now']}:{minute:02}").replace(tzinfo=zone)
        period = period_at(RecentPeriod.DAY, case["zone"], now.astimezone(UTC))
        visit = person("abcdefgh", int(now.timestamp()) // 3600, 3)
        found = add_up(period, days_of([visit])).build(None, 1)
        assert found.totals.people == sum(step.people for step in found.series) == 3
        assert (found.first, found.last) == (period.steps()[0].first, now.date())


def test_a_skipped_date_has_no_visits() -> None:
    skipped = date(2011, 12, 30)
    period = period_at(DateRange(skipped, skipped), "Pacific/Apia")
    assert StatisticsBuilder(period).build(None, 0).totals == Figures(0, 0, 0)


def test_visitors_count_to_the_date_at_noon_and_current_ones_to_today() -> None:
    zone, dates = "Pacific/Auckland", DateRange(date(2026, 11, 10), date(2026, 11, 23))
    visits = [person("abcdefgh", hour_at(f"2026-11-{day}T05"), 9) for day in (19, 20, 22)]
    found = add_up(period_at(dates, zone), days_of(visits, 4)).build(None, 0)
    by_date = {step.start.isoformat()[:10]: step.visitors for step in found.series if step.visitors}
    # The 22nd is the current UTC day. In Auckland, it is the 23rd now, and at noon UTC.
    assert by_date == {"2026-11-20": 4, "2026-11-21": 4, "2026-11-23": 4}
    late = datetime(2026, 11, 23, 1, tzinfo=UTC)
    visits = [person("abcdefgh", hour_at(f"2026-11-{day}T00"), 9) for day in (22, 23)]
    found = add_up(period_at(dates, "America/Santiago", late), days_of(visits, 4)).build(None, 0)
    by_date = {step.start.isoformat()[:10]: step.visitors for step in found.series if step.visitors}
    assert by_date == {"2026-11-22": 8}, "the 23rd has not begun in Santiago"


def test_visitors_of_24_hours_do_not_exceed_people() -> None:
    yesterday, today = hour_at("2026-11-21T20"), hour_at("2026-11-22T02")
    visits = [
        person("abcdefgh", yesterday - 10, 100),
        person("abcdefgh", yesterday, 2),
        person("abcdefgh", today),
        person("other---", today),
    ]
    builder = add_up(period_at(RecentPeriod.DAY), days_of(visits, 50))
    assert builder.figures() == Figures(4, 0, 4)
    assert {step.visitors for step in builder.build(None, 0).series} == {None}


def test_links_are_ranked_by_people() -> None:
    hour = hour_at("2026-11-22T05")
    visits = [person(f"code{n:04}", hour, 1 + n // 2) for n in range(300)]
    visits.append(VisitCount("onlybots", hour, BOT, {}, 999))
    builder = add_up(period_at(RecentPeriod.WEEK), days_of(visits))
    assert builder.build(None, 0).top == []
    first = [("code0298", 150), ("code0299", 150), ("code0296", 149)]
    assert builder.build(None, 3).top == first
    assert len(builder.build(None, 10**6).top) == MAX_TOP
    outside = add_up(period_at(RecentPeriod.DAY), days_of([person("abcdefgh", hour - 24)]))
    assert outside.build(None, 9).top == []


def test_names_beyond_the_limit_count_as_other_names() -> None:
    hour = hour_at("2026-11-22T05")
    visits = [person("abcdefgh", hour, 2, f"h{n}") for n in range(MAX_RETURNED_NAMES - 1)]
    visits += [person("abcdefgh", hour, 1, f"x{n}") for n in range(500)]
    found = add_up(period_at(RecentPeriod.WEEK), days_of(visits)).build(None, 0)
    hosts = found.breakdowns[Dimension.REFERRER]
    assert len(hosts) == MAX_RETURNED_NAMES
    assert hosts[0] == ("*", 500)
    assert sum(people for _, people in hosts) == 2 * (MAX_RETURNED_NAMES - 1) + 500


def test_visits_without_a_source_come_from_links() -> None:
    hour = hour_at("2026-11-22T05")
    scan = VisitCount("abcdefgh", hour, PERSON, {Dimension.SOURCE: "qr"}, 2)
    days = days_of([scan, person("abcdefgh", hour, 5)])
    found = add_up(period_at(RecentPeriod.WEEK), days).build(None, 0)
    assert found.breakdowns[Dimension.SOURCE] == [("link", 5), ("qr", 2)]
    assert found.breakdowns[Dimension.COUNTRY] == [("", 7)]


@dataclass(frozen=True)
class Request:
    """A request for statistics by a viewer."""

    zone: str
    now: datetime
    period: RecentPeriod | DateRange


_EARLIEST = datetime(2026, 1, 1, tzinfo=UTC)
requests = st.builds(
    Request,
    st.sampled_from(ZONES),
    st.integers(0, 2 * 365 * 24 * 60).map(lambda minutes: _EARLIEST + timedelta(minutes=minutes)),
    st.sampled_from([each for each in RecentPeriod if each is not RecentPeriod.ALL])
    | st.builds(
        lambda first, length: DateRange(first, first + timedelta(days=length)),
        st.dates(date(2026, 1, 1), date(2027, 12, 1)),
        st.sampled_from([0, 1, 6, 7, 30, 92, 93, 200, 800]),
    ),
)


_REPEATED_HOUR = Request(
    "America/Santiago", _EARLIEST, DateRange(date(2026, 4, 1), date(2026, 4, 7))
)
"""In this period, the hour before midnight occurs twice."""


@settings(max_examples=150, deadline=None)
@given(request=requests | st.just(_REPEATED_HOUR), data=st.data())
def test_every_visit_counts_once_in_its_step(request: Request, data: st.DataObject) -> None:
    """Compares with a simple model that looks up the local date of each visited hour."""
    zone = ZoneInfo(request.zone)
    period = resolve_period(request.period, zone, request.now, None)
    near = st.integers(period.hours.start - 60, period.hours.start + 60)
    near |= st.integers(period.hours.stop - 60, period.hours.stop + 60)
    visits = data.draw(
        st.lists(
            st.builds(
                VisitCount,
                st.sampled_from(["abcdefgh", "other---"]),
                near | st.integers(period.hours.start - 800, period.hours.stop + 60),
                st.sampled_from([PERSON, PERSON, BOT]),
                st.fixed_dictionaries({Dimension.BROWSER: st.sampled_from(["", "Firefox", "*"])}),
                st.integers(1, 5),
            ),
            max_size=40,
        )
    )
    days = days_of(visits, data.draw(st.integers(0, 9)))
    found = add_up(period, days).build(None, 2)
    previous = add_up(period.previous(), days).figures()

    def local(hour: int) -> datetime:
        return datetime.fromtimestamp(hour * 3600, zone)

    current_hour = int(request.now.timestamp()) // 3600
    last_24_hours = find_local_hours(request.now, zone)
    today = request.now.astimezone(zone).date()
    length = found.last - found.first + timedelta(days=1)

    def is_inside(hour: int, periods_ago: int = 0) -> bool:
        if request.period is RecentPeriod.DAY:
            if periods_ago:
                return period.hours.start - 24 <= hour < period.hours.start
            return last_24_hours[0] <= hour * 3600 < last_24_hours[-1]
        return found.first <= local(hour).date() + periods_ago * length <= found.last

    def count(kind: VisitKind, periods_ago: int = 0) -> int:
        return sum(v.count for v in visits if v.kind is kind and is_inside(v.hour, periods_ago))

    assert (found.totals.people, found.totals.bots) == (count(PERSON), count(BOT))
    assert (previous.people, previous.bots) == (count(PERSON, 1), count(BOT, 1))

    # Each visit counts in the last step that started before it. Steps start as in the calendar.
    series = Counter[float]()
    # Compared as timestamps: both starts of a repeated hour are equal as local times.
    starts = [step.start.timestamp() for step in found.series]
    assert starts == sorted({*starts})
    for visit in visits:
        if visit.kind is PERSON and is_inside(visit.hour):
            moment = local(visit.hour).timestamp()
            series[max(start for start in starts if start <= moment)] += visit.count
    assert [step.people for step in found.series] == [series[start] for start in starts]
    for start in (step.start for step in found.series):
        assert start.minute == 0
        if found.step is StepLength.WEEK:
            assert start.weekday() == 0
        if found.step is StepLength.MONTH:
            assert start.day == 1

    utc_days = {hour // 24 for hour in range(period.hours.start, period.hours.stop)}
    people_in_days = sum(v.count for v in visits if v.kind is PERSON and v.hour // 24 in utc_days)
    for breakdown in found.breakdowns.values():
        assert sum(people for _, people in breakdown) == people_in_days
        assert breakdown == sorted(breakdown, key=lambda item: (-item[1], item[0]))
    if request.zone == "UTC" and request.period is not RecentPeriod.DAY:
        assert people_in_days == found.totals.people

    if request.period is RecentPeriod.DAY:
        assert found.totals.visitors <= found.totals.people
    else:
        visitors = Counter[date]()
        for _, day in days:
            noon = today if day.day == current_hour // 24 else local(day.day * 24 + 12).date()
            visitors[noon] += min(day.visitors, day.people)
        inside = {day: n for day, n in visitors.items() if found.first <= day <= found.last}
        assert found.totals.visitors == sum(inside.values())
        if found.step is not StepLength.HOUR:
            assert sum(step.visitors or 0 for step in found.series) == found.totals.visitors
    assert dict(found.top) == {
        code: people
        for code in ("abcdefgh", "other---")
        if (
            people := sum(
                v.count for v in visits if v.code == code and v.kind is PERSON and is_inside(v.hour)
            )
        )
    }
