"""The visits of many links together, and what is remembered of them.

Days that are over change seldom, and somebody with many links looks at them often. So what links
have together on such a day, or in such a month, is remembered under a digest of the links that were
visited then, by day, and of the numbers that the store has for those days (`changes`). A visit that
comes late makes another number, a link that is new, removed or deleted another digest wherever it
was visited, and what is remembered under the old one is not found any more: nothing has to be taken
back, by no process, and every sum is that of the links' days. What was not asked for the longest
makes room.

What is not remembered is read a piece at a time, by one at a time: so an owner of 100,000 links,
whose ten years take longer than anybody waits, holds up nobody who asks for one link or a few, and
finds when asking again how far it came. A reading whose callers have all given up ends, and its
place is free for others.
"""

from __future__ import annotations

import asyncio
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import groupby
from typing import TypeVar

from msgspec import Raw, msgpack

from services.analytics.domain import HOURS_A_DAY, Breakdown, Day, Dimension
from services.analytics.runs import days_of_month, month_of
from services.analytics.statistics import Sums
from services.analytics.store import AnalyticsStore

MOST_BYTES = 64 << 20
"""What is remembered takes at most so much memory."""
LINKS_AT_ONCE = 5000
"""Most days of links that are read while others wait for their turn, about: some 0.1 s."""
_ENTRY_BYTES = 200
"""What an entry takes beside its value."""
_DIGEST_BYTES = 16

_T = TypeVar("_T")
_Hours = dict[int, int]
_Names = dict[int, dict[str, int]]
_Days = list[tuple[int, _Hours, _Hours, int]]
"""Each with people and bots by hour, and visitors."""
_pack = msgpack.Encoder().encode
_unpack = msgpack.Decoder(tuple[_Days, Raw, list[int]]).decode
"""Days, names of all, and the people of each link that was visited, in the order of codes."""
_unpack_names = msgpack.Decoder(_Names).decode
_DIMENSIONS = {dimension.value: dimension for dimension in Dimension}


@dataclass(frozen=True)
class Group:
    """Some links, and on which days of a span they were visited."""

    codes: Sequence[str]
    """In order, each once."""
    visited: dict[int, array[int]] = field(default_factory=dict)
    """By day: the places of links among the codes, in no order."""

    def places(self, days: Iterable[int]) -> list[int]:
        """The places of those that were visited on one of the days, in order."""
        found: set[int] = set()
        for day in days:
            found.update(self.visited[day])
        return sorted(found)


@dataclass(frozen=True, slots=True)
class _Part:
    """A month of a span, or a day, and what is remembered of it under which key."""

    days: list[int]
    """Those with visits, all in the span and over."""
    is_month: bool
    key: bytes


class Groups:
    """Adds up what many links have together. Raises Unavailable when the store is away."""

    def __init__(self, store: AnalyticsStore) -> None:
        self._store = store
        self._remembered = _Remembered(MOST_BYTES)
        self._turn = asyncio.Lock()

    async def of(self, codes: Sequence[str], first: int, last: int) -> Group:
        """The links as a group, with their days from `first` to `last`, both included."""
        group, places = await asyncio.to_thread(_group_of, codes)
        visited = group.visited

        def take(code: str, days: range) -> None:
            place = places[code]
            for day in days:
                on = visited.get(day)
                if on is None:
                    on = visited[day] = array("I")
                on.append(place)

        for some in _chunks(group.codes, LINKS_AT_ONCE):
            async with self._turn:
                await self._store.visited(some, first, last, take)
        return group

    async def first_hour(self, group: Group) -> int | None:
        """The hour of the first visit, since the Unix epoch; None where nobody came."""
        if not group.visited:
            return None
        first = min(group.visited)
        hours: set[int] = set()

        def take(_: str, day: Day) -> None:
            hours.update(day.people, day.bots)

        await self._read(group, [first], take, coarse=False, named=False)
        # Nothing where the links' counts were removed meanwhile.
        return first * HOURS_A_DAY + min(hours, default=0)

    async def add_up(
        self, group: Group, sums: Sums, over: int, *, coarse: bool, named: bool
    ) -> None:
        """Add to `sums` what the group has in their span; names only where `named`.

        Days before `over` are remembered. With `coarse` it is as with the stores' `days`.
        """
        # Of the others it is to be told link by link what is in the span.
        span = sums.span
        whole = range(-(-span.hours.start // HOURS_A_DAY), span.hours.stop // HOURS_A_DAY)
        touched = [day for day in sorted(group.visited) if day in span.days]
        kept = [day for day in touched if day in whole and day < over]
        for day in sorted(set(touched).difference(kept)):
            await self._read(group, [day], sums.take, coarse=False, named=named)
        numbers = await self._store.changes(kept)
        spread = _parts(kept, whole, over, coarse, sums.counted_from)
        parts = await asyncio.to_thread(
            lambda: [_part(group, days, is_month, numbers) for days, is_month in spread]
        )
        people = [0] * len(group.codes)
        for some in _pieces(group, parts):
            found = await self._found(group, some, named)
            await asyncio.to_thread(_add, group, some, found, sums, people, named)
        await asyncio.to_thread(_add_people, group, people, sums)

    async def _found(self, group: Group, parts: list[_Part], named: bool) -> list[bytes]:
        """What each of the parts has, remembered or read."""
        known = [self._remembered.get(part.key, named) for part in parts]
        found: list[bytes] = []
        for is_known, some in groupby(
            zip(parts, known, strict=True), lambda one: one[1] is not None
        ):
            if is_known:
                found += [value for _, value in some if value is not None]
            else:
                found += await self._read_parts(group, [part for part, _ in some], named)
        return found

    async def _read_parts(self, group: Group, parts: list[_Part], named: bool) -> list[bytes]:
        """Read parts that follow each other, all months or all days, and remember them."""
        sums = [_PartSums() for _ in parts]
        sums_of = {day: one for part, one in zip(parts, sums, strict=True) for day in part.days}

        def take(code: str, day: Day) -> None:
            # A late visit may just have made a day of which the group did not know.
            if found := sums_of.get(day.day):
                found.add(code, day)

        await self._read(group, list(sums_of), take, coarse=parts[0].is_month, named=named)
        packed = await asyncio.to_thread(
            lambda: [one.packed(group, part) for part, one in zip(parts, sums, strict=True)]
        )
        for part, value in zip(parts, packed, strict=True):
            self._remembered.put(part.key, named, value)
        return packed

    async def _read(
        self,
        group: Group,
        days: list[int],
        take: Callable[[str, Day], None],
        *,
        coarse: bool,
        named: bool,
    ) -> None:
        """Hand these days of the group to `take`; it knows of no other days between them."""
        places = group.places(days)
        size = -(-LINKS_AT_ONCE * len(places) // sum(len(group.visited[day]) for day in days))
        for some in _chunks(places, size):
            codes = [group.codes[place] for place in some]
            async with self._turn:
                await self._store.days(codes, days[0], days[-1], take, coarse, named, apart=True)


class _PartSums:
    """Adds up what links have in a part."""

    def __init__(self) -> None:
        self._days: dict[int, tuple[_Hours, _Hours]] = {}
        self._visitors: dict[int, int] = {}
        self._names: _Names = {}
        self._people: dict[str, int] = {}

    def add(self, code: str, day: Day) -> None:
        sums = self._days.get(day.day)
        if sums is None:
            sums = self._days[day.day] = {}, {}
        people, bots = sums
        count = 0
        for hour, visits in day.people.items():
            people[hour] = people.get(hour, 0) + visits
            count += visits
        for hour, visits in day.bots.items():
            bots[hour] = bots.get(hour, 0) + visits
        if count:
            self._people[code] = self._people.get(code, 0) + count
            visitors = min(day.visitors, count)
            self._visitors[day.day] = self._visitors.get(day.day, 0) + visitors
        for dimension, breakdown in day.breakdowns.items():
            names = self._names.setdefault(dimension.value, {})
            for name, visits in breakdown.items():
                names[name] = names.get(name, 0) + visits

    def packed(self, group: Group, part: _Part) -> bytes:
        """All of it, with the people of each link that was visited."""
        days = [
            (day, people, bots, self._visitors.get(day, 0))
            for day, (people, bots) in self._days.items()
        ]
        codes = (group.codes[place] for place in group.places(part.days))
        return _pack((days, self._names, [self._people.get(code, 0) for code in codes]))


class _Remembered:
    """What was asked for last, by key, up to so many bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._values: OrderedDict[tuple[bytes, bool], bytes] = OrderedDict()

    def get(self, key: bytes, named: bool) -> bytes | None:
        """What is remembered, with names or, where they are not asked for, without."""
        for with_names in (True,) if named else (True, False):
            value = self._values.get((key, with_names))
            if value is not None:
                self._values.move_to_end((key, with_names))
                return value
        return None

    def put(self, key: bytes, named: bool, value: bytes) -> None:
        """Remember it, in the place of what was read at the same time."""
        before = self._values.pop((key, named), None)
        if before is not None:
            self._bytes -= len(before) + _ENTRY_BYTES
        self._values[key, named] = value
        self._bytes += len(value) + _ENTRY_BYTES
        while self._bytes > self._most_bytes:
            _, oldest = self._values.popitem(last=False)
            self._bytes -= len(oldest) + _ENTRY_BYTES


def _group_of(codes: Iterable[str]) -> tuple[Group, dict[str, int]]:
    """A group of which no days are known yet, and the place of each code in it."""
    group = Group(sorted(codes))
    return group, {code: place for place, code in enumerate(group.codes)}


def _parts(
    days: Sequence[int], whole: range, over: int, coarse: bool, counted_from: int | None
) -> Iterator[tuple[list[int], bool]]:
    """Days that are over, month by month where all of the month is, else by themselves.

    Of the month in which it begins that all is counted, it is to be told which days had people.
    """
    if not coarse:
        yield from (([day], False) for day in days)
        return
    for month, some in groupby(days, month_of):
        of_month = days_of_month(month)
        is_whole = of_month[0] in whole and of_month[-1] in whole and of_month[-1] < over
        if is_whole and counted_from not in of_month:
            yield list(some), True
        else:
            yield from (([day], False) for day in some)


def _part(group: Group, days: list[int], is_month: bool, numbers: dict[int, int]) -> _Part:
    digest = blake2b(digest_size=_DIGEST_BYTES, person=b"month" if is_month else b"day")
    for day in days:
        codes = [group.codes[place] for place in sorted(group.visited[day])]
        digest.update(f"{day} {numbers.get(day, 0)} {' '.join(codes)}\n".encode())
    return _Part(days, is_month, digest.digest())


def _pieces(group: Group, parts: Iterable[_Part]) -> Iterator[list[_Part]]:
    """The parts, months apart from days, so many at a time that they are quickly read."""
    piece: list[_Part] = []
    size = 0
    for part in parts:
        links = sum(len(group.visited[day]) for day in part.days)
        if piece and (size + links > LINKS_AT_ONCE or piece[0].is_month != part.is_month):
            yield piece
            piece, size = [], 0
        piece.append(part)
        size += links
    if piece:
        yield piece


def _add(
    group: Group,
    parts: Iterable[_Part],
    found: Iterable[bytes],
    sums: Sums,
    people: list[int],
    named: bool,
) -> None:
    """Add what parts have to the sums and, where there are names, to the people of each link."""
    for part, packed in zip(parts, found, strict=True):
        days, names, people_of = _unpack(packed)
        breakdowns: dict[Dimension, Breakdown] = {}
        if named:
            for value, breakdown in _unpack_names(names).items():
                breakdowns[_DIMENSIONS[value]] = breakdown
            for place, count in zip(group.places(part.days), people_of, strict=True):
                people[place] += count
        for day, by_hour, bots, visitors in days:
            sums.take_together(Day(day, by_hour, bots, breakdowns, visitors))
            breakdowns = {}


def _add_people(group: Group, people: Iterable[int], sums: Sums) -> None:
    for code, count in zip(group.codes, people, strict=True):
        if count:
            sums.take_people(code, count)


def _chunks(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
