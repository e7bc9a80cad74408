"""Aggregates: several days added up, with names for all days together and visits by day and hour.

Stores have one for each block of days of a busy link, and the service caches those of groups of
links. They are encoded in MessagePack; names and the hours of a day are decoded on demand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TypeVar

from msgspec import Raw, msgpack

from services.analytics.domain.visits import Breakdown, Day, Dimension

_Hours = dict[int, int]
PackedNames = dict[int, dict[str, int]]
"""People by name, by the value of the dimension."""
_Key = TypeVar("_Key")
_pack = msgpack.Encoder().encode
_unpack = msgpack.Decoder(tuple[list[tuple[int, int, int, int, Raw]], Raw]).decode
"""Days as (day, people, bots, visitors, hours), then the names."""
_unpack_hours = msgpack.Decoder(tuple[_Hours, _Hours]).decode
_unpack_names = msgpack.Decoder(PackedNames).decode
_DIMENSIONS = {dimension.value: dimension for dimension in Dimension}


class Aggregate:
    """Adds up days of one link or of several."""

    def __init__(self) -> None:
        self._days: dict[int, tuple[_Hours, _Hours]] = {}
        self._visitors: dict[int, int] = {}
        self._names: PackedNames = {}

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

    def pack(self) -> bytes:
        """Encode the aggregate."""
        days = [
            (day, sum(people.values()), sum(bots.values()), self._visitors[day], (people, bots))
            for day, (people, bots) in self._days.items()
        ]
        return _pack((days, self._names))


def unpack_aggregate(packed: bytes, *, with_names: bool) -> Iterator[Day]:
    """Yield the days of an encoded aggregate. The first one has the names of all days."""
    days, names = _unpack(packed)
    breakdowns = unpack_breakdowns(_unpack_names(names)) if with_names else {}
    for day, people, bots, visitors, hours in days:
        yield Day(day, people, bots, visitors, breakdowns, partial(_unpack_hours, hours))
        breakdowns = {}


def unpack_breakdowns(names: PackedNames) -> dict[Dimension, Breakdown]:
    """Return names by dimension instead of by its value."""
    # A later version may have stored more dimensions.
    return {
        _DIMENSIONS[value]: breakdown for value, breakdown in names.items() if value in _DIMENSIONS
    }


def add_counts(counts: dict[_Key, int], added: Mapping[_Key, int]) -> None:
    """Add counts to others in place, by key."""
    for key, count in added.items():
        counts[key] = counts.get(key, 0) + count
