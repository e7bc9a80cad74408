"""Spans of days in the time zone of whoever looks, and the steps that a chart draws them in.

What is counted is counted by UTC hour. An hour belongs to the local day, and to the step, in which
it begins: so zones whose offset is no whole hour are exact to the hour. Moments are seconds since
the Unix epoch, hours and days whole ones since then, in UTC, and dates are those of the zone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

from services.analytics.domain.visits import HOURS_A_DAY, InvalidRange, InvalidTimezone

MAX_DAYS = 3653
"""Longest span between two dates: ten years."""
# Whatever can be asked of the calendar between these dates is on it.
_EARLIEST, _LATEST = date(1970, 1, 1), date(9998, 12, 31)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_HOUR = 3600
_DAY = timedelta(days=1)


class Recent(Enum):
    """A span that ends now: `DAY` with the current hour of the zone, the others with today."""

    DAY = "24 hours"
    WEEK = "7 days"
    MONTH = "30 days"
    QUARTER = "90 days"
    YEAR = "12 months"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Dates:
    """A span between two dates, both included."""

    first: date
    last: date

    @classmethod
    def of(cls, first: str, last: str) -> Dates:
        """From texts such as `2026-11-22`. Raises InvalidRange."""
        if not (_DATE.fullmatch(first) and _DATE.fullmatch(last)):
            raise InvalidRange("A date has the form 2026-11-22.")
        try:
            dates = cls(date.fromisoformat(first), date.fromisoformat(last))
        except ValueError:
            raise InvalidRange("There is no such date.") from None
        if not _EARLIEST <= dates.first <= dates.last <= _LATEST:
            raise InvalidRange(f"The dates are in order, from {_EARLIEST} to {_LATEST}.")
        if (dates.last - dates.first).days >= MAX_DAYS:
            raise InvalidRange(f"At most {MAX_DAYS} days can be asked for at once.")
        return dates


class StepLength(Enum):
    """How long the steps of a span are."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


# By the most days of a span that has them.
_STEPS = ((7, StepLength.HOUR), (92, StepLength.DAY), (731, StepLength.WEEK))
_RECENT_DAYS = {Recent.WEEK: 7, Recent.MONTH: 30, Recent.QUARTER: 90}


@dataclass(frozen=True, slots=True)
class Step:
    """A part of a span. `start` may be before the span, `first` is the first date of both.

    An hour is told by the hour of the zone that it begins in: 15:00 in UTC is 20:00 in India.
    """

    start: datetime
    first: date
    hours: range
    """Those that begin in it."""


@dataclass(frozen=True, slots=True)
class Span:
    """Days of a zone, or 24 hours, one after the other.

    `today` is the zone's date of now, and `running` the UTC day of now.
    """

    zone: ZoneInfo
    first: date
    last: date
    hours: range
    """Those that begin in it."""
    rolling: bool
    """Whether these are the last 24 hours, and not days."""
    step: StepLength
    today: date
    running: int

    @property
    def days(self) -> range:
        """The UTC days that it touches."""
        if not self.hours:
            return range(0)
        return range(self.hours[0] // HOURS_A_DAY, self.hours[-1] // HOURS_A_DAY + 1)

    def previous(self) -> Span:
        """The span of the same length before this one."""
        if self.rolling:
            hours = range(self.hours.start - HOURS_A_DAY, self.hours.start)
            return self._with(_date_at(hours[0] * _HOUR, self.zone), self.first, hours)
        first, last = self.first - (self.last - self.first) - _DAY, self.first - _DAY
        return self._with(first, last, _hours_of(first, last, self.zone))

    def _with(self, first: date, last: date, hours: range) -> Span:
        return Span(
            self.zone, first, last, hours, self.rolling, self.step, self.today, self.running
        )

    def steps(self) -> list[Step]:
        """All of it, in steps, oldest first."""
        starts = list(self._starts())
        if self.rolling:  # Neither of its two dates is covered from midnight to midnight.
            starts = [start for start in starts if _hour_from(start[0]) in self.hours]
        if not starts:  # A date that the zone left out has no hours.
            return []
        # The first may start before the span.
        bounds = [self.hours.start, *(_hour_from(moment) for moment, _ in starts[1:])]
        return [
            Step(datetime.fromtimestamp(moment, self.zone), first, range(begin, end))
            for (moment, first), (begin, end) in zip(
                starts, pairwise([*bounds, self.hours.stop]), strict=True
            )
        ]

    def date_of(self, day: int) -> date:
        """To which date the visitors of a UTC day count: they cannot be parted by hours.

        It is the one that has the UTC day's noon, and today for the UTC day that runs.
        """
        if day == self.running:
            return self.today
        return _date_at((day * HOURS_A_DAY + 12) * _HOUR, self.zone)

    def _starts(self) -> Iterator[tuple[float, date]]:
        """The moment at which each step begins, and its first date in the span."""
        day = self.first
        if self.step is StepLength.WEEK:
            day -= timedelta(days=day.weekday())
        elif self.step is StepLength.MONTH:
            day = day.replace(day=1)
        while day <= self.last:
            if self.step is StepLength.HOUR:
                yield from ((moment, day) for moment in _hours_on(day, self.zone))
            else:
                yield _midnight(day, self.zone), max(day, self.first)
            if self.step is StepLength.WEEK:
                day += 7 * _DAY
            elif self.step is StepLength.MONTH:
                day = (day + timedelta(days=31)).replace(day=1)
            else:
                day += _DAY


def zone_of(name: str) -> ZoneInfo:
    """The time zone of this name in the IANA database. Raises InvalidTimezone."""
    if name not in _names():
        raise InvalidTimezone("There is no such time zone.")
    return ZoneInfo(name)


def span_of(wanted: Recent | Dates, zone: ZoneInfo, now: datetime, first_hour: int | None) -> Span:
    """The span that is asked for. `first_hour` is that of the first visit, which begins `ALL`."""
    running = int(now.timestamp()) // _HOUR
    today = now.astimezone(zone).date()
    if wanted is Recent.DAY:
        begin, end = _last_local_hours(now, zone)
        first, last = _date_at(begin, zone), today
        hours = range(_hour_from(begin), _hour_from(end))
    else:
        if isinstance(wanted, Dates):
            first, last = wanted.first, wanted.last
        elif wanted is Recent.ALL:
            # A gateway's clock may be ahead.
            begun = running if first_hour is None else min(first_hour, running)
            first, last = _date_at(begun * _HOUR, zone), today
        elif wanted is Recent.YEAR:
            first, last = _year_before(today) + _DAY, today
        else:
            first, last = today - timedelta(days=_RECENT_DAYS[wanted] - 1), today
        hours = _hours_of(first, last, zone)
    length = (last - first).days + 1
    step = next((step for most, step in _STEPS if length <= most), StepLength.MONTH)
    return Span(zone, first, last, hours, wanted is Recent.DAY, step, today, running // HOURS_A_DAY)


@cache
def _names() -> frozenset[str]:
    # Some systems name their own zone so, and another machine's is another.
    return frozenset(available_timezones()) - {"localtime"}


def _year_before(day: date) -> date:
    try:
        return day.replace(year=day.year - 1)
    except ValueError:  # February 29.
        return day.replace(year=day.year - 1, day=28)


def _midnight(day: date, zone: ZoneInfo) -> float:
    """The moment at which a date begins; where the clock passes over midnight, that moment."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).timestamp()


def _date_at(moment: float, zone: ZoneInfo) -> date:
    return datetime.fromtimestamp(moment, zone).date()


def _hours_of(first: date, last: date, zone: ZoneInfo) -> range:
    """The hours that begin between two dates, both included."""
    return range(_hour_from(_midnight(first, zone)), _hour_from(_midnight(last + _DAY, zone)))


def _hour_from(moment: float) -> int:
    """The first hour that begins at a moment or after it."""
    return int(-(-moment // _HOUR))


def _last_local_hours(now: datetime, zone: ZoneInfo) -> tuple[float, float]:
    """Return when the last 24 hours of the zone begin and when the current one ends.

    The end is in the future, so the last UTC hour may not have begun yet: at 17:34 in Nepal
    (UTC+05:45), the hour 17:00 has one that begins at 17:45.
    """
    today = now.astimezone(zone).date()
    # A zone can leave out a whole date, so 24 hours can reach back two dates.
    dates = (today + timedelta(days=days) for days in range(-2, 2))
    starts = [moment for day in dates for moment in _hours_on(day, zone)]
    current = bisect_right(starts, now.timestamp()) - 1
    return starts[current + 1 - HOURS_A_DAY], starts[current + 1]


def _hours_on(day: date, zone: ZoneInfo) -> Iterator[float]:
    """The moments of a date at which the minute hand is at the top.

    So an hour in which clocks are put back or forward by half of one is as long as it takes.
    """
    moment, end = _midnight(day, zone), _midnight(day + _DAY, zone)
    while moment < end:
        yield moment
        moment += _HOUR
        local = datetime.fromtimestamp(moment, zone)
        if past := 60 * local.minute + local.second:
            moment += _HOUR - past
