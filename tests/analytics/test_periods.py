"""Spans of days in time zones, and what is told of the visits in them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.analytics.domain.periods import Dates, Recent, Span, StepLength, span_of, zone_of
from services.analytics.domain.statistics import MAX_TOLD_NAMES, MAX_TOP, Figures, Sums
from services.analytics.domain.visits import (
    Batch,
    Day,
    Dimension,
    InvalidRange,
    InvalidTimezone,
    VisitCount,
    VisitKind,
    sums_of,
)
from tests.support.processes import ROOT

PERSON, BOT = VisitKind.PERSON, VisitKind.BOT
ZONES = (
    "America/Santiago",
    "Asia/Kathmandu",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "UTC",
    "Pacific/Auckland",
)
NOW = datetime(2026, 11, 22, 15, 40, tzinfo=UTC)
CASES = json.loads((ROOT / "tests/analytics/period_cases.json").read_text(encoding="utf-8"))


def at(moment: str, zone: str = "UTC") -> int:
    """The UTC hour of a moment such as `2026-11-22T15`, in whole hours since the Unix epoch."""
    local = datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone))
    return int(local.timestamp()) // 3600


def span(wanted: Recent | Dates, zone: str = "UTC", now: datetime = NOW) -> Span:
    return span_of(wanted, ZoneInfo(zone), now, None)


def starts(one: Span) -> list[str]:
    return [step.start.isoformat() for step in one.steps()]


@pytest.mark.parametrize(
    ("wanted", "first", "step", "steps"),
    [
        (Recent.DAY, "2026-11-21", StepLength.HOUR, 24),
        (Recent.WEEK, "2026-11-16", StepLength.HOUR, 7 * 24),
        (Recent.MONTH, "2026-10-24", StepLength.DAY, 30),
        (Recent.QUARTER, "2026-08-25", StepLength.DAY, 90),
        (Recent.YEAR, "2025-11-23", StepLength.WEEK, 53),
        (Recent.ALL, "2026-11-22", StepLength.HOUR, 24),
    ],
)
def test_spans_end_now(wanted: Recent, first: str, step: StepLength, steps: int) -> None:
    found = span(wanted)
    assert (found.first.isoformat(), found.last.isoformat()) == (first, "2026-11-22")
    assert found.step is step
    assert len(found.steps()) == steps


def test_twenty_four_hours_end_with_the_hour_that_runs() -> None:
    assert starts(span(Recent.DAY))[0] == "2026-11-21T16:00:00+00:00"
    assert starts(span(Recent.DAY))[-1] == "2026-11-22T15:00:00+00:00"
    kolkata = span(Recent.DAY, "Asia/Kolkata")
    assert starts(kolkata)[-1] == "2026-11-22T21:00:00+05:30"
    # The UTC hour that begins in it, at 21:30, has not begun at 21:10.
    assert kolkata.steps()[-1].hours == range(at("2026-11-22T16"), at("2026-11-22T17"))
    assert (kolkata.first, kolkata.last) == (date(2026, 11, 21), date(2026, 11, 22))


def local_hours(now: datetime, zone: ZoneInfo) -> list[float]:
    """Starts of the last 24 hours on the wall clock, and of the next one, by trying each moment."""
    quarter = 900
    moment = int(now.timestamp()) // quarter * quarter
    near = range(moment - 120 * quarter, moment + 9 * quarter, quarter)
    tops = [one for one in near if datetime.fromtimestamp(one, zone).minute == 0]
    begun = [one for one in tops if one <= now.timestamp()]
    return [*begun[-24:], tops[len(begun)]]


@pytest.mark.parametrize("case", CASES["local_hours"], ids=str)
def test_the_last_step_of_twenty_four_hours_is_the_local_hour(case: dict[str, str]) -> None:
    local = ZoneInfo(case["zone"])
    for minute in (0, 1, 14, 15, 29, 30, 34, 44, 45, 59):
        now = datetime.fromisoformat(f"{case['now']}:{minute:02}").replace(tzinfo=local)
        found = span(Recent.DAY, case["zone"], now.astimezone(UTC))
        steps = found.steps()
        assert steps[-1].start.isoformat() == case["last"]
        assert [step.start.timestamp() for step in steps] == local_hours(now, local)[:-1]
        assert [hour for step in steps for hour in step.hours] == list(found.hours)
        current = int(now.timestamp()) // 3600
        assert current in found.hours
        told = taken(found, days_of([person("abcdefgh", current, 3)])).told(None, 1)
        assert told.totals.people == sum(step.people for step in told.series) == 3
        assert (told.first, told.last) == (steps[0].first, now.date())
        before = found.previous()
        assert (before.hours.stop, len(before.hours)) == (found.hours.start, 24)


@pytest.mark.parametrize(
    ("days", "step"),
    [
        (1, StepLength.HOUR),
        (7, StepLength.HOUR),
        (8, StepLength.DAY),
        (92, StepLength.DAY),
        (93, StepLength.WEEK),
        (731, StepLength.WEEK),
        (732, StepLength.MONTH),
        (3653, StepLength.MONTH),
    ],
)
def test_the_step_follows_from_the_number_of_days(days: int, step: StepLength) -> None:
    last = date(2026, 11, 22)
    assert span(Dates(last - timedelta(days=days - 1), last)).step is step


def test_today_is_that_of_the_zone() -> None:
    late = datetime(2026, 11, 22, 23, 30, tzinfo=UTC)
    for zone, today in (("Pacific/Auckland", 23), ("UTC", 22), ("America/Santiago", 22)):
        assert span(Recent.WEEK, zone, late).last == date(2026, 11, today)


def test_twelve_months_begin_the_day_after_the_same_date_a_year_ago() -> None:
    leap = datetime(2028, 2, 29, tzinfo=UTC)
    assert span(Recent.YEAR, now=leap).first == date(2027, 3, 1)
    after = datetime(2029, 2, 28, tzinfo=UTC)
    assert span(Recent.YEAR, now=after).first == date(2028, 2, 29)


def test_weeks_and_months_start_where_the_calendar_has_them_start() -> None:
    weeks = span(Dates(date(2026, 1, 1), date(2026, 6, 1)), "America/Santiago")
    assert starts(weeks)[:2] == ["2025-12-29T00:00:00-03:00", "2026-01-05T00:00:00-03:00"]
    assert starts(weeks)[-1] == "2026-06-01T00:00:00-04:00"
    months = span(Dates(date(2024, 1, 31), date(2026, 2, 1)), "America/Santiago")
    assert starts(months)[:2] == ["2024-01-01T00:00:00-03:00", "2024-02-01T00:00:00-03:00"]
    assert starts(months)[-1] == "2026-02-01T00:00:00-03:00"
    for one in (weeks, months):
        covered = [hour for step in one.steps() for hour in step.hours]
        assert covered == list(one.hours), "only days of the span count"


@pytest.mark.parametrize("case", CASES["clock_changes"], ids=lambda case: case["clocks"])
def test_hours_of_days_on_which_clocks_change(case: dict[str, Any]) -> None:
    day = date.fromisoformat(case["day"])
    found = starts(span(Dates(day, day), case["zone"]))
    assert case["steps"] in (None, len(found))
    for start, expected in zip(found, case["starts"], strict=False):
        assert start.startswith(f"{day}T{expected}")


def test_a_date_that_its_zone_left_out_has_no_visits() -> None:
    left_out = date(2011, 12, 30)
    one = span(Dates(left_out, left_out), "Pacific/Apia")
    assert Sums(one).told(None, 0).totals == Figures(0, 0, 0)
    around = span(Dates(date(2011, 12, 29), date(2011, 12, 31)), "Pacific/Apia")
    assert len(around.hours) == 48


@pytest.mark.parametrize(("first", "last"), CASES["no_spans"])
def test_dates_that_are_no_span_are_refused(first: str, last: str) -> None:
    with pytest.raises(InvalidRange) as refused:
        Dates.of(first, last)
    assert refused.value.reason == "INVALID_RANGE"


@pytest.mark.parametrize(
    ("first", "last"),
    [("2016-03-02", "2026-03-02"), ("1970-01-01", "1970-01-01"), ("9998-12-31", "9998-12-31")],
)
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Etc/GMT+12"])
def test_any_dates_of_ten_years_are_a_span(first: str, last: str, zone: str) -> None:
    found = span(Dates.of(first, last), zone)
    assert found.steps()
    assert len(found.previous().hours) in range(len(found.hours) - 24, len(found.hours) + 25)


@pytest.mark.parametrize("name", [*CASES["no_zones"], "a" * 5000])
def test_zones_that_are_not_in_the_database_are_refused(name: str) -> None:
    with pytest.raises(InvalidTimezone) as refused:
        zone_of(name)
    assert refused.value.reason == "INVALID_TIMEZONE"


@pytest.mark.parametrize("name", [*ZONES, "Asia/Calcutta", "Etc/GMT+12", "Europe/Kyiv"])
def test_zones_have_the_names_of_the_database(name: str) -> None:
    assert zone_of(name).key == name


def test_all_begins_with_the_first_visit_in_its_zone() -> None:
    for moment, first in (("2026-11-20T03", "2026-11-20"), ("2026-11-20T02", "2026-11-19")):
        found = span_of(Recent.ALL, ZoneInfo("America/Santiago"), NOW, at(moment))
        assert found.first.isoformat() == first
    ahead = span_of(Recent.ALL, ZoneInfo("UTC"), NOW, at("9999-12-31T23"))
    assert ahead.first == ahead.last == NOW.date()


def person(code: str, hour: int, count: int = 1, host: str = "") -> VisitCount:
    return VisitCount(code, hour, PERSON, {Dimension.REFERRER: host}, count)


def days_of(visits: Iterable[VisitCount], visitors: int = 0) -> list[tuple[str, Day]]:
    """As a store hands them out, each with so many visitors."""
    return [
        (code, Day.of(day, sums.people, sums.bots, sums.names, visitors))
        for (day, code), sums in sums_of(Batch("one", 1, tuple(visits))).items()
    ]


def taken(one: Span, days: Iterable[tuple[str, Day]]) -> Sums:
    sums = Sums(one)
    for code, day in days:
        if day.day in one.days:
            sums.take(code, day)
    return sums


def test_visitors_of_a_day_count_to_the_date_of_its_noon_and_now_to_today() -> None:
    zone, days = "Pacific/Auckland", Dates(date(2026, 11, 10), date(2026, 11, 23))
    visits = [person("abcdefgh", at(f"2026-11-{day}T05"), 9) for day in (19, 20, 22)]
    found = taken(span(days, zone), days_of(visits, 4)).told(None, 0)
    told = {step.start.isoformat()[:10]: step.visitors for step in found.series if step.visitors}
    # 22 is the day that runs, and it is the 23rd there: its noon is, too.
    assert told == {"2026-11-20": 4, "2026-11-21": 4, "2026-11-23": 4}
    late = datetime(2026, 11, 23, 1, tzinfo=UTC)
    visits = [person("abcdefgh", at(f"2026-11-{day}T00"), 9) for day in (22, 23)]
    found = taken(span(days, "America/Santiago", late), days_of(visits, 4)).told(None, 0)
    told = {step.start.isoformat()[:10]: step.visitors for step in found.series if step.visitors}
    assert told == {"2026-11-22": 8}, "the 23rd has no people there yet"


def test_visitors_of_twenty_four_hours_are_those_of_the_days_within_reason() -> None:
    one = span(Recent.DAY)
    yesterday, today = at("2026-11-21T20"), at("2026-11-22T02")
    visits = [person("abcdefgh", yesterday - 10, 100), person("abcdefgh", yesterday, 2)]
    sums = taken(one, days_of([*visits, person("abcdefgh", today), person("other---", today)], 50))
    assert sums.figures() == Figures(4, 0, 4)
    assert {step.visitors for step in sums.told(None, 0).series} == {None}


def test_the_links_with_most_people_are_told() -> None:
    hour = at("2026-11-22T05")
    visits = [person(f"code{n:04}", hour, 1 + n // 2) for n in range(300)]
    visits.append(VisitCount("onlybots", hour, BOT, {}, 999))
    told = taken(span(Recent.WEEK), days_of(visits))
    assert told.told(None, 0).top == []
    first = [("code0298", 150), ("code0299", 150), ("code0296", 149)]
    assert told.told(None, 3).top == first
    assert len(told.told(None, 10**6).top) == MAX_TOP
    assert taken(span(Recent.DAY), days_of([person("abcdefgh", hour - 24)])).told(None, 9).top == []


def test_people_of_names_past_the_first_thousand_are_told_together() -> None:
    hour = at("2026-11-22T05")
    visits = [person("abcdefgh", hour, 2, f"h{n}") for n in range(MAX_TOLD_NAMES - 1)]
    visits += [person("abcdefgh", hour, 1, f"x{n}") for n in range(500)]
    hosts = taken(span(Recent.WEEK), days_of(visits)).told(None, 0).breakdowns[Dimension.REFERRER]
    assert len(hosts) == MAX_TOLD_NAMES
    assert hosts[0] == ("*", 500)
    assert sum(people for _, people in hosts) == 2 * (MAX_TOLD_NAMES - 1) + 500


def test_what_is_no_scan_is_a_link() -> None:
    hour = at("2026-11-22T05")
    scan = VisitCount("abcdefgh", hour, PERSON, {Dimension.SOURCE: "qr"}, 2)
    told = taken(span(Recent.WEEK), days_of([scan, person("abcdefgh", hour, 5)])).told(None, 0)
    assert told.breakdowns[Dimension.SOURCE] == [("link", 5), ("qr", 2)]
    assert told.breakdowns[Dimension.COUNTRY] == [("", 7)]


@dataclass(frozen=True)
class Asked:
    """Who asks for what, and when."""

    zone: str
    now: datetime
    wanted: Recent | Dates


_WHEN = datetime(2026, 1, 1, tzinfo=UTC)
asked = st.builds(
    Asked,
    st.sampled_from(ZONES),
    st.integers(0, 2 * 365 * 24 * 60).map(lambda minutes: _WHEN + timedelta(minutes=minutes)),
    st.sampled_from([one for one in Recent if one is not Recent.ALL])
    | st.builds(
        lambda first, length: Dates(first, first + timedelta(days=length)),
        st.dates(date(2026, 1, 1), date(2027, 12, 1)),
        st.sampled_from([0, 1, 6, 7, 30, 92, 93, 200, 800]),
    ),
)


_TWICE = Asked("America/Santiago", _WHEN, Dates(date(2026, 4, 1), date(2026, 4, 7)))
"""The hour before midnight comes twice in it."""


@settings(max_examples=150, deadline=None)
@given(asked=asked | st.just(_TWICE), data=st.data())
def test_whatever_was_visited_is_told_once_where_it_belongs(
    asked: Asked, data: st.DataObject
) -> None:
    """Against the plainest model: every hour that was ever visited is asked for its date."""
    zone = ZoneInfo(asked.zone)
    one = span_of(asked.wanted, zone, asked.now, None)
    near = st.integers(one.hours.start - 60, one.hours.start + 60)
    near |= st.integers(one.hours.stop - 60, one.hours.stop + 60)
    visits = data.draw(
        st.lists(
            st.builds(
                VisitCount,
                st.sampled_from(["abcdefgh", "other---"]),
                near | st.integers(one.hours.start - 800, one.hours.stop + 60),
                st.sampled_from([PERSON, PERSON, BOT]),
                st.fixed_dictionaries({Dimension.BROWSER: st.sampled_from(["", "Firefox", "*"])}),
                st.integers(1, 5),
            ),
            max_size=40,
        )
    )
    days = days_of(visits, data.draw(st.integers(0, 9)))
    told = taken(one, days).told(None, 2)
    before = taken(one.previous(), days).figures()

    def local(hour: int) -> datetime:
        return datetime.fromtimestamp(hour * 3600, zone)

    running = int(asked.now.timestamp()) // 3600
    last_day = local_hours(asked.now, zone)
    today = asked.now.astimezone(zone).date()
    length = told.last - told.first + timedelta(days=1)

    def is_in(hour: int, back: int = 0) -> bool:
        if asked.wanted is Recent.DAY:
            if back:
                return one.hours.start - 24 <= hour < one.hours.start
            return last_day[0] <= hour * 3600 < last_day[-1]
        return told.first <= local(hour).date() + back * length <= told.last

    def people_in(kind: VisitKind, back: int = 0) -> int:
        return sum(v.count for v in visits if v.kind is kind and is_in(v.hour, back))

    assert (told.totals.people, told.totals.bots) == (people_in(PERSON), people_in(BOT))
    assert (before.people, before.bots) == (people_in(PERSON, 1), people_in(BOT, 1))

    # Each visit in the last step that started before it, and steps where the calendar has them.
    series = Counter[float]()
    # Of an hour that comes twice, both have the same time of day, and are equal as such.
    begins = [step.start.timestamp() for step in told.series]
    assert begins == sorted({*begins})
    for visit in visits:
        if visit.kind is PERSON and is_in(visit.hour):
            moment = local(visit.hour).timestamp()
            series[max(begin for begin in begins if begin <= moment)] += visit.count
    assert [step.people for step in told.series] == [series[begin] for begin in begins]
    for begin in (step.start for step in told.series):
        assert begin.minute == 0
        if told.step is StepLength.WEEK:
            assert begin.weekday() == 0
        if told.step is StepLength.MONTH:
            assert begin.day == 1

    touched = {hour // 24 for hour in range(one.hours.start, one.hours.stop)}
    people_touched = sum(v.count for v in visits if v.kind is PERSON and v.hour // 24 in touched)
    for breakdown in told.breakdowns.values():
        assert sum(people for _, people in breakdown) == people_touched
        assert breakdown == sorted(breakdown, key=lambda named: (-named[1], named[0]))
    if asked.zone == "UTC" and asked.wanted is not Recent.DAY:
        assert people_touched == told.totals.people

    if asked.wanted is Recent.DAY:
        assert told.totals.visitors <= told.totals.people
    else:
        visitors = Counter[date]()
        for _, day in days:
            noon = today if day.day == running // 24 else local(day.day * 24 + 12).date()
            visitors[noon] += min(day.visitors, day.people)
        counted = {day: n for day, n in visitors.items() if told.first <= day <= told.last}
        assert told.totals.visitors == sum(counted.values())
        if told.step is not StepLength.HOUR:
            assert sum(step.visitors or 0 for step in told.series) == told.totals.visitors
    assert dict(told.top) == {
        code: people
        for code in ("abcdefgh", "other---")
        if (
            people := sum(
                v.count for v in visits if v.code == code and v.kind is PERSON and is_in(v.hour)
            )
        )
    }
