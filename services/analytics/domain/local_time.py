"""Dates and hours of a time zone on the UTC time line.

A moment is in seconds since the Unix epoch, an hour in whole UTC hours since then. A UTC hour
belongs to the local date in which it begins.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from services.analytics.domain.errors import InvalidTimezone
from services.analytics.domain.visits import HOURS_PER_DAY

SECONDS_PER_HOUR = 3600
ONE_DAY = timedelta(days=1)


def find_zone(name: str) -> ZoneInfo:
    """Return the time zone with this name in the IANA database. Raises InvalidTimezone."""
    if name not in _zone_names():
        raise InvalidTimezone("The time zone does not exist.")
    return ZoneInfo(name)


def midnight(day: date, zone: ZoneInfo) -> float:
    """Return the moment at which a date begins, even if the clock skips midnight."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).timestamp()


def date_at(moment: float, zone: ZoneInfo) -> date:
    """Return the date at a moment."""
    return datetime.fromtimestamp(moment, zone).date()


def first_hour_from(moment: float) -> int:
    """Return the first UTC hour that begins at or after a moment."""
    return int(-(-moment // SECONDS_PER_HOUR))


def hours_between(first: date, last: date, zone: ZoneInfo) -> range:
    """Return the UTC hours that begin between two dates, both included."""
    start, end = midnight(first, zone), midnight(last + ONE_DAY, zone)
    return range(first_hour_from(start), first_hour_from(end))


def local_hours_on(day: date, zone: ZoneInfo) -> Iterator[float]:
    """Yield the moments of a date at which a full local hour begins.

    If clocks change by half an hour, the hour around the change has its actual length.
    """
    moment, end = midnight(day, zone), midnight(day + ONE_DAY, zone)
    while moment < end:
        yield moment
        moment += SECONDS_PER_HOUR
        local = datetime.fromtimestamp(moment, zone)
        if past := 60 * local.minute + local.second:
            moment += SECONDS_PER_HOUR - past


def last_24_local_hours(now: datetime, zone: ZoneInfo) -> tuple[float, float]:
    """Return the moments at which the last 24 local hours begin and the current one ends.

    The current hour ends in the future, so its UTC hour may not have begun yet. At 17:34 in Nepal
    (UTC+05:45), the UTC hour of the local hour 17:00 begins at 17:45.
    """
    today = now.astimezone(zone).date()
    # A zone can skip a whole date, so 24 hours can begin two dates ago.
    dates = (today + timedelta(days=days) for days in range(-2, 2))
    starts = [moment for day in dates for moment in local_hours_on(day, zone)]
    current = bisect_right(starts, now.timestamp()) - 1
    return starts[current + 1 - HOURS_PER_DAY], starts[current + 1]


def same_date_last_year(day: date) -> date:
    """Return the date a year before; February 28 for February 29."""
    try:
        return day.replace(year=day.year - 1)
    except ValueError:  # February 29.
        return day.replace(year=day.year - 1, day=28)


@cache
def _zone_names() -> frozenset[str]:
    # Some systems have a zone "localtime", which differs between machines.
    return frozenset(available_timezones()) - {"localtime"}
