"""The days on which a link was visited, in a few bytes, and the months and years that they
lie in.

Days are whole UTC days since the Unix epoch. As bytes they are runs of days, one after the other,
in MessagePack: how many days lie between a run and the one before it, and how long it is. The first
run has its own day in place of the distance. A day by itself takes two bytes where less than 128
days lie before it, a link that is visited every day nine in all. None are no bytes.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable
from datetime import date, timedelta
from functools import lru_cache
from itertools import chain

from msgspec import msgpack

_pack = msgpack.Encoder().encode
_unpack = msgpack.Decoder(list[int]).decode
_EPOCH = date(1970, 1, 1).toordinal()
_MONTHS = 12
_CALENDAR_DAYS = 10_000
"""Days whose month is remembered, in 1 MB: those of ten years are asked for over and over."""
_ADDED_DAYS = 1000
"""Days that came to others and are remembered, in 7 MB at most: most links that have a new one had
none before."""
_DAY = timedelta(days=1)
_EDGES = (1, 7)
_EPOCH_WEEKDAY = 3
"""Of January 1, 1970, a Thursday: days since Monday."""


def days_of(packed: bytes) -> list[range]:
    """The runs, in order."""
    runs = []
    end = 0
    numbers = iter(_unpack(packed) if packed else ())
    for gap, length in zip(numbers, numbers, strict=True):
        start = end + gap
        end = start + length
        runs.append(range(start, end))
    return runs


@lru_cache(_ADDED_DAYS)
def with_day(packed: bytes, day: int) -> bytes:
    """The same days and one more."""
    numbers = _unpack(packed) if packed else []
    end = sum(numbers)
    if numbers and day < end:  # Visits that come late.
        return pack({day, *chain.from_iterable(days_of(packed))})
    if numbers and day == end:
        numbers[-1] += 1
    else:
        numbers += (day - end, 1)
    return _pack(numbers)


def without_days(packed: bytes, days: Iterable[int]) -> bytes:
    """The same days but those."""
    return pack(set(chain.from_iterable(days_of(packed))).difference(days))


def pack(days: Iterable[int]) -> bytes:
    """Days in no order, each once."""
    numbers: list[int] = []
    end = 0
    for day in sorted(days):
        if numbers and day == end:
            numbers[-1] += 1
        else:
            numbers += (day - end, 1)
        end = day + 1
    return _pack(numbers) if numbers else b""


@lru_cache(_CALENDAR_DAYS)
def month_of(day: int) -> int:
    """The month of a day, in whole months since the year 0."""
    on = date.fromordinal(_EPOCH + day)
    return on.year * _MONTHS + on.month - 1


def year_of(day: int) -> int:
    """The year of a day."""
    return month_of(day) // _MONTHS


def middle_of(day: int) -> int | None:
    """The week that has a day in its midst, in whole weeks since that of the Unix epoch.

    None for an edge: weeks and months of some time zone begin or end in Sundays and Mondays, in the
    first day of a month and in the last.
    """
    on = date.fromordinal(_EPOCH + day)
    if on.isoweekday() in _EDGES or 1 in (on.day, (on + _DAY).day):
        return None
    return (day + _EPOCH_WEEKDAY) // 7


def days_of_month(month: int) -> range:
    """All days of a month."""
    year, past = divmod(month, _MONTHS)
    first = date(year, past + 1, 1).toordinal() - _EPOCH
    return range(first, first + monthrange(year, past + 1)[1])


def days_of_year(year: int) -> range:
    """All days of a year."""
    first = date(year, 1, 1).toordinal() - _EPOCH
    return range(first, days_of_month(year * _MONTHS + _MONTHS - 1).stop)
