"""The days on which a link was visited, in a few bytes, and the months that they lie in.

Days are whole UTC days since the Unix epoch. As bytes they are runs of days, one after the other,
in MessagePack: how many days lie between a run and the one before it, and how long it is. The first
run has its own day in place of the distance. A day by itself takes two bytes where less than 128
days lie before it, a link that is visited every day nine in all. None are no bytes.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable
from datetime import date
from itertools import chain

from msgspec import msgpack

_pack = msgpack.Encoder().encode
_unpack = msgpack.Decoder(list[int]).decode
_EPOCH = date(1970, 1, 1).toordinal()
_MONTHS = 12


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


def month_of(day: int) -> int:
    """The month of a day, in whole months since the year 0."""
    on = date.fromordinal(_EPOCH + day)
    return on.year * _MONTHS + on.month - 1


def days_of_month(month: int) -> range:
    """All days of a month."""
    year, past = divmod(month, _MONTHS)
    first = date(year, past + 1, 1).toordinal() - _EPOCH
    return range(first, first + monthrange(year, past + 1)[1])
