"""Periods of statistics in the viewer's time zone, and the steps into which charts divide them.

Visits are counted by UTC hour. An hour belongs to the local date and the step in which it begins,
so zones with offsets of fractions of an hour are accurate to the hour. Hours and days are whole
ones in UTC since the Unix epoch. Dates are local.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import Enum
from itertools import pairwise
from zoneinfo import ZoneInfo

from services.analytics.domain.errors import InvalidRange
from services.analytics.domain.local_time import (
    ONE_DAY,
    SECONDS_PER_HOUR,
    date_at,
    first_hour_from,
    hours_between,
    last_24_local_hours,
    local_hours_on,
    midnight,
    same_date_last_year,
)
from services.analytics.domain.visits import HOURS_PER_DAY

MAX_DAYS = 3653
"""Maximum length of a date range: ten years."""
# Between these dates, all calculations stay within the calendar.
_EARLIEST, _LATEST = date(1970, 1, 1), date(9998, 12, 31)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class RecentPeriod(Enum):
    """A period that ends now: `DAY` with the current local hour, the others with today."""

    DAY = "24 hours"
    WEEK = "7 days"
    MONTH = "30 days"
    QUARTER = "90 days"
    YEAR = "12 months"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class DateRange:
    """A period between two dates, both included."""

    first: date
    last: date

    @classmethod
    def parse(cls, first: str, last: str) -> DateRange:
        """Parse dates such as `2026-11-22`. Raises InvalidRange."""
        if not (_DATE.fullmatch(first) and _DATE.fullmatch(last)):
            raise InvalidRange("A date must have the form 2026-11-22.")
        try:
            dates = cls(date.fromisoformat(first), date.fromisoformat(last))
        except ValueError:
            raise InvalidRange("The date does not exist.") from None
        if not _EARLIEST <= dates.first <= dates.last <= _LATEST:
            raise InvalidRange(f"The dates must be in order, from {_EARLIEST} to {_LATEST}.")
        if (dates.last - dates.first).days >= MAX_DAYS:
            raise InvalidRange(f"A range has at most {MAX_DAYS} days.")
        return dates


class StepLength(Enum):
    """The length of the steps of a period."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


# The maximum days of a period with steps of this length. Longer periods have steps of a month.
_STEP_LENGTHS = ((7, StepLength.HOUR), (92, StepLength.DAY), (731, StepLength.WEEK))
_RECENT_DAYS = {RecentPeriod.WEEK: 7, RecentPeriod.MONTH: 30, RecentPeriod.QUARTER: 90}


@dataclass(frozen=True, slots=True)
class Step:
    """A part of a period.

    A step of an hour is a local hour. The UTC hour 15:00 begins in the local hour 20:00 in India.
    """

    start: datetime
    """May be before the period, for the first week or month."""
    first: date
    """The first date that is in the step and in the period."""
    hours: range
    """The UTC hours that begin in the step."""


@dataclass(frozen=True, slots=True)
class Period:
    """Consecutive local dates, or the last 24 local hours."""

    zone: ZoneInfo
    first: date
    last: date
    hours: range
    """The UTC hours that begin in the period."""
    is_rolling: bool
    """Whether these are the last 24 hours instead of dates."""
    step: StepLength
    today: date
    """The current local date."""
    current_day: int
    """The current UTC day."""

    @property
    def days(self) -> range:
        """The UTC days that overlap the period."""
        if not self.hours:
            return range(0)
        return range(self.hours[0] // HOURS_PER_DAY, self.hours[-1] // HOURS_PER_DAY + 1)

    def previous(self) -> Period:
        """Return the period of the same length before this one."""
        if self.is_rolling:
            hours = range(self.hours.start - HOURS_PER_DAY, self.hours.start)
            start = date_at(hours[0] * SECONDS_PER_HOUR, self.zone)
            return replace(self, first=start, last=self.first, hours=hours)
        first, last = self.first - (self.last - self.first) - ONE_DAY, self.first - ONE_DAY
        return replace(self, first=first, last=last, hours=hours_between(first, last, self.zone))

    def steps(self) -> list[Step]:
        """Return all steps, oldest first."""
        starts = list(self._starts())
        if self.is_rolling:  # It covers only parts of its two dates.
            starts = [start for start in starts if first_hour_from(start[0]) in self.hours]
        if not starts:  # A date that the zone skipped has no hours.
            return []
        # The first step may start before the period.
        bounds = [self.hours.start, *(first_hour_from(moment) for moment, _ in starts[1:])]
        return [
            Step(datetime.fromtimestamp(moment, self.zone), first, range(begin, end))
            for (moment, first), (begin, end) in zip(
                starts, pairwise([*bounds, self.hours.stop]), strict=True
            )
        ]

    def visitor_date(self, day: int) -> date:
        """Return the local date to which the visitors of a UTC day count.

        Visitors are known per UTC day only. They count to the date at its noon, and those of the
        current UTC day to today.
        """
        if day == self.current_day:
            return self.today
        return date_at((day * HOURS_PER_DAY + 12) * SECONDS_PER_HOUR, self.zone)

    def _starts(self) -> Iterator[tuple[float, date]]:
        """Yield the moment at which each step begins, and its first date in the period."""
        day = self.first
        if self.step is StepLength.WEEK:
            day -= timedelta(days=day.weekday())
        elif self.step is StepLength.MONTH:
            day = day.replace(day=1)
        while day <= self.last:
            if self.step is StepLength.HOUR:
                yield from ((moment, day) for moment in local_hours_on(day, self.zone))
            else:
                yield midnight(day, self.zone), max(day, self.first)
            if self.step is StepLength.WEEK:
                day += 7 * ONE_DAY
            elif self.step is StepLength.MONTH:
                day = (day + timedelta(days=31)).replace(day=1)
            else:
                day += ONE_DAY


def resolve_period(
    requested: RecentPeriod | DateRange, zone: ZoneInfo, now: datetime, first_hour: int | None
) -> Period:
    """Return the requested period. `first_hour` is the UTC hour of the first visit, for `ALL`."""
    current_hour = int(now.timestamp()) // SECONDS_PER_HOUR
    today = now.astimezone(zone).date()
    if requested is RecentPeriod.DAY:
        begin, end = last_24_local_hours(now, zone)
        first, last = date_at(begin, zone), today
        hours = range(first_hour_from(begin), first_hour_from(end))
    else:
        if isinstance(requested, DateRange):
            first, last = requested.first, requested.last
        elif requested is RecentPeriod.ALL:
            # A gateway's clock may be ahead.
            begun = current_hour if first_hour is None else min(first_hour, current_hour)
            first, last = date_at(begun * SECONDS_PER_HOUR, zone), today
        elif requested is RecentPeriod.YEAR:
            first, last = same_date_last_year(today) + ONE_DAY, today
        else:
            first, last = today - timedelta(days=_RECENT_DAYS[requested] - 1), today
        hours = hours_between(first, last, zone)
    length = (last - first).days + 1
    step = next((step for days, step in _STEP_LENGTHS if length <= days), StepLength.MONTH)
    return Period(
        zone,
        first,
        last,
        hours,
        requested is RecentPeriod.DAY,
        step,
        today,
        current_hour // HOURS_PER_DAY,
    )
