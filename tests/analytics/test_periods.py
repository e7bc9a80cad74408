"""Periods in time zones and their steps."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from services.analytics.domain.errors import InvalidRange, InvalidTimezone
from services.analytics.domain.local_time import find_zone
from services.analytics.domain.periods import (
    DateRange,
    Period,
    RecentPeriod,
    StepLength,
    resolve_period,
)
from tests.analytics.period_samples import (
    CASES,
    NOW,
    ZONES,
    find_local_hours,
    hour_at,
    period_at,
)


def step_starts(period: Period) -> list[str]:
    return [step.start.isoformat() for step in period.steps()]


@pytest.mark.parametrize(
    ("recent", "first", "step", "steps"),
    [
        (RecentPeriod.DAY, "2026-11-21", StepLength.HOUR, 24),
        (RecentPeriod.WEEK, "2026-11-16", StepLength.HOUR, 7 * 24),
        (RecentPeriod.MONTH, "2026-10-24", StepLength.DAY, 30),
        (RecentPeriod.QUARTER, "2026-08-25", StepLength.DAY, 90),
        (RecentPeriod.YEAR, "2025-11-23", StepLength.WEEK, 53),
        (RecentPeriod.ALL, "2026-11-22", StepLength.HOUR, 24),
    ],
)
def test_recent_periods_end_now(
    recent: RecentPeriod, first: str, step: StepLength, steps: int
) -> None:
    period = period_at(recent)
    assert (period.first.isoformat(), period.last.isoformat()) == (first, "2026-11-22")
    assert period.step is step
    assert len(period.steps()) == steps


def test_24_hours_end_with_the_current_hour() -> None:
    assert step_starts(period_at(RecentPeriod.DAY))[0] == "2026-11-21T16:00:00+00:00"
    assert step_starts(period_at(RecentPeriod.DAY))[-1] == "2026-11-22T15:00:00+00:00"
    kolkata = period_at(RecentPeriod.DAY, "Asia/Kolkata")
    assert step_starts(kolkata)[-1] == "2026-11-22T21:00:00+05:30"
    # The UTC hour of this step begins at 21:30 local time, and now it is 21:10.
    assert kolkata.steps()[-1].hours == range(hour_at("2026-11-22T16"), hour_at("2026-11-22T17"))
    assert (kolkata.first, kolkata.last) == (date(2026, 11, 21), date(2026, 11, 22))


@pytest.mark.parametrize("case", CASES["local_hours"], ids=str)
def test_24_hours_are_local_hours(case: dict[str, str]) -> None:
    zone = ZoneInfo(case["zone"])
    for minute in (0, 1, 14, 15, 29, 30, 34, 44, 45, 59):
        now = datetime.fromisoformat(f"{case['now']}:{minute:02}").replace(tzinfo=zone)
        period = period_at(RecentPeriod.DAY, case["zone"], now.astimezone(UTC))
        steps = period.steps()
        assert steps[-1].start.isoformat() == case["last"]
        assert [step.start.timestamp() for step in steps] == find_local_hours(now, zone)[:-1]
        assert [hour for step in steps for hour in step.hours] == list(period.hours)
        assert int(now.timestamp()) // 3600 in period.hours
        assert (period.first, period.last) == (steps[0].first, now.date())
        previous = period.previous()
        assert (previous.hours.stop, len(previous.hours)) == (period.hours.start, 24)


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
def test_the_step_length_depends_on_the_number_of_days(days: int, step: StepLength) -> None:
    last = date(2026, 11, 22)
    assert period_at(DateRange(last - timedelta(days=days - 1), last)).step is step


def test_today_is_the_local_date() -> None:
    late = datetime(2026, 11, 22, 23, 30, tzinfo=UTC)
    for zone, today in (("Pacific/Auckland", 23), ("UTC", 22), ("America/Santiago", 22)):
        assert period_at(RecentPeriod.WEEK, zone, late).last == date(2026, 11, today)


def test_12_months_begin_the_day_after_the_same_date_a_year_ago() -> None:
    leap_day = datetime(2028, 2, 29, tzinfo=UTC)
    assert period_at(RecentPeriod.YEAR, now=leap_day).first == date(2027, 3, 1)
    after = datetime(2029, 2, 28, tzinfo=UTC)
    assert period_at(RecentPeriod.YEAR, now=after).first == date(2028, 2, 29)


def test_weeks_and_months_are_those_of_the_calendar() -> None:
    weeks = period_at(DateRange(date(2026, 1, 1), date(2026, 6, 1)), "America/Santiago")
    assert step_starts(weeks)[:2] == ["2025-12-29T00:00:00-03:00", "2026-01-05T00:00:00-03:00"]
    assert step_starts(weeks)[-1] == "2026-06-01T00:00:00-04:00"
    months = period_at(DateRange(date(2024, 1, 31), date(2026, 2, 1)), "America/Santiago")
    assert step_starts(months)[:2] == ["2024-01-01T00:00:00-03:00", "2024-02-01T00:00:00-03:00"]
    assert step_starts(months)[-1] == "2026-02-01T00:00:00-03:00"
    for period in (weeks, months):
        covered = [hour for step in period.steps() for hour in step.hours]
        assert covered == list(period.hours), "only hours of the period count"


@pytest.mark.parametrize("case", CASES["clock_changes"], ids=lambda case: case["clocks"])
def test_hours_on_dates_with_clock_changes(case: dict[str, Any]) -> None:
    day = date.fromisoformat(case["day"])
    found = step_starts(period_at(DateRange(day, day), case["zone"]))
    assert case["steps"] in (None, len(found))
    for start, expected in zip(found, case["starts"], strict=False):
        assert start.startswith(f"{day}T{expected}")


def test_a_skipped_date_has_no_hours() -> None:
    skipped = date(2011, 12, 30)
    period = period_at(DateRange(skipped, skipped), "Pacific/Apia")
    assert not period.hours
    assert not period.steps()
    around = period_at(DateRange(date(2011, 12, 29), date(2011, 12, 31)), "Pacific/Apia")
    assert len(around.hours) == 48


@pytest.mark.parametrize(("first", "last"), CASES["invalid_ranges"])
def test_invalid_date_ranges_are_rejected(first: str, last: str) -> None:
    with pytest.raises(InvalidRange) as rejected:
        DateRange.parse(first, last)
    assert rejected.value.reason == "INVALID_RANGE"


@pytest.mark.parametrize(
    ("first", "last"),
    [("2016-03-02", "2026-03-02"), ("1970-01-01", "1970-01-01"), ("9998-12-31", "9998-12-31")],
)
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Etc/GMT+12"])
def test_ranges_of_up_to_ten_years_are_accepted(first: str, last: str, zone: str) -> None:
    period = period_at(DateRange.parse(first, last), zone)
    hours = len(period.hours)
    assert period.steps()
    assert len(period.previous().hours) in range(hours - 24, hours + 25)


@pytest.mark.parametrize("name", [*CASES["invalid_zones"], "a" * 5000])
def test_unknown_zones_are_rejected(name: str) -> None:
    with pytest.raises(InvalidTimezone) as rejected:
        find_zone(name)
    assert rejected.value.reason == "INVALID_TIMEZONE"


@pytest.mark.parametrize("name", [*ZONES, "Asia/Calcutta", "Etc/GMT+12", "Europe/Kyiv"])
def test_zones_of_the_iana_database_are_known(name: str) -> None:
    assert find_zone(name).key == name


def test_all_begins_with_the_local_date_of_the_first_visit() -> None:
    for moment, first in (("2026-11-20T03", "2026-11-20"), ("2026-11-20T02", "2026-11-19")):
        zone = ZoneInfo("America/Santiago")
        period = resolve_period(RecentPeriod.ALL, zone, NOW, hour_at(moment))
        assert period.first.isoformat() == first
    ahead = resolve_period(RecentPeriod.ALL, ZoneInfo("UTC"), NOW, hour_at("9999-12-31T23"))
    assert ahead.first == ahead.last == NOW.date()
