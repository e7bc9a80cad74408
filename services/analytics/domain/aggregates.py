"""Days of links added up: names of all days together, visits still by day and hour.

Stores keep one for each block of days of a busy link, and the service caches those of many links.
Encoded as MessagePack, the hours of a day and the names are decoded only on demand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TypeVar

from msgspec import Raw, msgpack

from services.analytics.domain.visits import Breakdown, Day, Dimension

_Hours = dict[int, int]
Names = dict[int, dict[str, int]]
"""People by name, for each dimension by its value."""
_Key = TypeVar("_Key")
_pack = msgpack.Encoder().encode
_unpack = msgpack.Decoder(tuple[list[tuple[int, int, int, int, Raw]], Raw]).decode
"""Days with people, bots, visitors and hours; then the names."""
_unpack_hours = msgpack.Decoder(tuple[_Hours, _Hours]).decode
_unpack_names = msgpack.Decoder(Names).decode
_DIMENSIONS = {dimension.value: dimension for dimension in Dimension}


class Aggregate:
    """Adds up days of one link or of many."""

    def __init__(self) -> None:
        self._days: dict[int, tuple[_Hours, _Hours]] = {}
        self._visitors: dict[int, int] = {}
        self._names: Names = {}

    def add(self, day: Day) -> None:
        """Add a day of a link."""
        people, bots = self._days.setdefault(day.day, ({}, {}))
        added_people, added_bots = day.hours()
        add_counts(people, added_people)
        add_counts(bots, added_bots)
        visitors = min(day.visitors, day.people)
        self._visitors[day.day] = self._visitors.get(day.day, 0) + visitors
        for dimension, breakdown in day.breakdowns.items():
            add_counts(self._names.setdefault(dimension.value, {}), breakdown)

    def packed(self) -> bytes:
        """Encode the sums."""
        days = [
            (day, sum(hours[0].values()), sum(hours[1].values()), self._visitors[day], hours)
            for day, hours in self._days.items()
        ]
        return _pack((days, self._names))


def days_in(packed: bytes, *, named: bool) -> Iterator[Day]:
    """Yield the days of an encoded aggregate. The first has the names of all if `named`."""
    days, names = _unpack(packed)
    found = breakdowns_of(_unpack_names(names)) if named else {}
    for day, people, bots, visitors, hours in days:
        yield Day(day, people, bots, visitors, found, partial(_unpack_hours, hours))
        found = {}


def breakdowns_of(names: Names) -> dict[Dimension, Breakdown]:
    """Return names by dimension instead of by its value."""
    return {_DIMENSIONS[value]: breakdown for value, breakdown in names.items()}


def add_counts(counts: dict[_Key, int], added: Mapping[_Key, int]) -> None:
    """Add counts to others in place, by key."""
    for key, count in added.items():
        counts[key] = counts.get(key, 0) + count
