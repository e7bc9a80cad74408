"""Adds up the visits of many links, and caches what they had together on past days.

Past days change seldom, and owners of many links look at them often. The cache has one entry for a
day, or a block of days, and a set of links. Its key is a digest of the links that were visited then
and of their revisions. A late visit changes a revision; a link that is new, removed or whose days
were deleted changes the set. The old entry is then found no more, so nothing is ever invalidated.
The least recently used entries make room.

Entries that are missing are read in steps, one at a time: a group of 100,000 links, whose ten years
take longer than a caller waits, delays no reads of few links, and a repeated call continues where
the one before got to. A read whose callers have all given up ends.
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

from msgspec import msgpack

from services.analytics.application.ports import DayRepository, Names
from services.analytics.domain.aggregates import Aggregate, days_in
from services.analytics.domain.day_ranges import block_of, days_of_block
from services.analytics.domain.statistics import Sums
from services.analytics.domain.visits import HOURS_A_DAY, Day

MAX_BYTES = 64 << 20
"""Maximum memory of the cache."""
LINKS_PER_STEP = 5000
"""Link days, about, that one read takes while others wait for their turn: some 0.1 s."""
_ENTRY_BYTES = 200
"""Memory of an entry beside its value."""
_DIGEST_BYTES = 16

_pack = msgpack.Encoder().encode
_unpack = msgpack.Decoder(tuple[bytes, list[int]]).decode
"""An aggregate, and the people of each link that was visited, in the order of codes."""
_T = TypeVar("_T")


@dataclass(frozen=True)
class Group:
    """Links, and on which days of a span they were visited."""

    codes: Sequence[str]
    """Distinct, in order."""
    revisions: array[int]
    """Of each link's past."""
    visited: dict[int, array[int]] = field(default_factory=dict)
    """By day: the positions in `codes` of the links visited then, in any order."""

    def positions(self, days: Iterable[int]) -> list[int]:
        """Return the positions of the links that were visited on one of the days, in order."""
        found: set[int] = set()
        for day in days:
            found.update(self.visited[day])
        return sorted(found)


@dataclass(frozen=True, slots=True)
class _Part:
    """A block of past days that lies in the span, or a past day, with its key in the cache."""

    days: list[int]
    """Days with visits."""
    calendar: range
    """All days."""
    is_block: bool
    key: bytes


class AggregateCache:
    """Adds up the visits of groups of links. Raises Unavailable if the store is away."""

    def __init__(self, store: DayRepository) -> None:
        self._store = store
        self._entries = _Entries(MAX_BYTES)
        self._turn = asyncio.Lock()

    async def of(self, codes: Sequence[str], first: int, last: int) -> Group:
        """Make a group of links, with their days from `first` to `last`, both included."""
        group, positions = await asyncio.to_thread(_group_of, codes)

        def take(code: str, runs: list[range], revision: int) -> None:
            position = positions[code]
            group.revisions[position] = revision
            for run in runs:
                for day in run:
                    group.visited.setdefault(day, array("I")).append(position)

        for some in _chunks(group.codes, LINKS_PER_STEP):
            async with self._turn:
                await self._store.visited(some, first, last, take)
        return group

    async def first_hour(self, group: Group) -> int | None:
        """Return the hour of the first visit, since the Unix epoch; None without visits."""
        if not group.visited:
            return None
        first = min(group.visited)
        hours: set[int] = set()

        def take(_: str, day: Day) -> None:
            hours.update(*day.hours())

        await self._read(group, [first], range(first, first + 1), take, Names.NONE)
        # No hours if the links' counts were removed meanwhile.
        return first * HOURS_A_DAY + min(hours, default=0)

    async def add_up(self, group: Group, sums: Sums, over: int, names: Names) -> None:
        """Add to `sums` what the group has in their span. Days before `over` are cached.

        `names` says whether names are wanted.
        """
        # Days that lie in the span in part are added link by link.
        hours = sums.span.hours
        whole = range(-(-hours.start // HOURS_A_DAY), hours.stop // HOURS_A_DAY)
        touched = [day for day in sorted(group.visited) if day in sums.span.days]
        past = [day for day in touched if day in whole and day < over]
        for day in sorted(set(touched).difference(past)):
            await self._read(group, [day], range(day, day + 1), sums.take, names)
        parts = await asyncio.to_thread(_parts, group, past, whole, over)
        people = [0] * len(group.codes)
        for some in _steps(group, parts):
            found = await self._found(group, some, names)
            await asyncio.to_thread(_add, group, some, found, sums, people, names)
        await asyncio.to_thread(_add_people, group, people, sums)

    async def _found(self, group: Group, parts: list[_Part], names: Names) -> list[bytes]:
        """Return the entries of all parts, cached or read."""
        known = [self._entries.get(part.key, names) for part in parts]
        found: list[bytes] = []
        for is_known, some in groupby(
            zip(parts, known, strict=True), lambda one: one[1] is not None
        ):
            if is_known:
                found += [value for _, value in some if value is not None]
            else:
                found += await self._read_parts(group, [part for part, _ in some], names)
        return found

    async def _read_parts(self, group: Group, parts: list[_Part], names: Names) -> list[bytes]:
        """Read consecutive parts, all blocks or all days, and cache them."""
        sums = [_PartSums() for _ in parts]
        sums_of = {day: one for part, one in zip(parts, sums, strict=True) for day in part.calendar}

        def take(code: str, day: Day) -> None:
            # A late visit may just have made a day that the group does not know.
            if found := sums_of.get(day.day):
                found.add(code, day)

        days = [day for part in parts for day in part.days]
        bounds = range(parts[0].calendar.start, parts[-1].calendar.stop)
        by = Names.BY_BLOCK if parts[0].is_block else Names.BY_DAY
        await self._read(group, days, bounds, take, names if names is Names.NONE else by)
        packed = await asyncio.to_thread(
            lambda: [one.packed(group, part) for part, one in zip(parts, sums, strict=True)]
        )
        for part, value in zip(parts, packed, strict=True):
            self._entries.put(part.key, names, value)
        return packed

    async def _read(
        self,
        group: Group,
        days: list[int],
        bounds: range,
        take: Callable[[str, Day], None],
        names: Names,
    ) -> None:
        """Call `take` with the days within `bounds`, of which the group knows `days`."""
        positions = group.positions(days)
        link_days = sum(len(group.visited[day]) for day in days)
        for some in _chunks(positions, -(-LINKS_PER_STEP * len(positions) // link_days)):
            codes = [group.codes[position] for position in some]
            async with self._turn:
                await self._store.days(codes, bounds[0], bounds[-1], take, names)


class _PartSums:
    """Adds up what links have in a part."""

    def __init__(self) -> None:
        self._aggregate = Aggregate()
        self._people: dict[str, int] = {}

    def add(self, code: str, day: Day) -> None:
        self._aggregate.add(day)
        self._people[code] = self._people.get(code, 0) + day.people

    def packed(self, group: Group, part: _Part) -> bytes:
        """Encode the sums with the people of each link that was visited."""
        codes = (group.codes[position] for position in group.positions(part.days))
        people = [self._people.get(code, 0) for code in codes]
        return _pack((self._aggregate.packed(), people))


class _Entries:
    """The most recently used entries, by key, up to some bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._values: OrderedDict[tuple[bytes, bool], bytes] = OrderedDict()

    def get(self, key: bytes, names: Names) -> bytes | None:
        """Return an entry that has names, or, if none are wanted, one without."""
        for with_names in (True,) if names is not Names.NONE else (True, False):
            value = self._values.get((key, with_names))
            if value is not None:
                self._values.move_to_end((key, with_names))
                return value
        return None

    def put(self, key: bytes, names: Names, value: bytes) -> None:
        """Store an entry, or replace one that was read at the same time."""
        place = key, names is not Names.NONE
        before = self._values.pop(place, None)
        if before is not None:
            self._bytes -= len(before) + _ENTRY_BYTES
        self._values[place] = value
        self._bytes += len(value) + _ENTRY_BYTES
        while self._bytes > self._max_bytes:
            _, oldest = self._values.popitem(last=False)
            self._bytes -= len(oldest) + _ENTRY_BYTES


def _group_of(codes: Sequence[str]) -> tuple[Group, dict[str, int]]:
    """Return a group without days, and the position of each code in it."""
    group = Group(sorted(codes), array("Q", bytes(8 * len(codes))))
    return group, {code: position for position, code in enumerate(group.codes)}


def _parts(group: Group, days: Sequence[int], whole: range, over: int) -> list[_Part]:
    """Divide past days into blocks that lie in the span, and single days."""
    parts = []
    for block, some in groupby(days, block_of):
        calendar = days_of_block(block)
        if calendar[0] in whole and calendar[-1] in whole and calendar[-1] < over:
            parts.append(_part(group, list(some), calendar, is_block=True))
        else:
            parts += [_part(group, [day], range(day, day + 1), is_block=False) for day in some]
    return parts


def _part(group: Group, days: list[int], calendar: range, *, is_block: bool) -> _Part:
    digest = blake2b(digest_size=_DIGEST_BYTES, person=b"block" if is_block else b"day")
    for day in days:
        links = " ".join(
            f"{group.codes[position]}:{group.revisions[position]}"
            for position in sorted(group.visited[day])
        )
        digest.update(f"{day} {links}\n".encode())
    return _Part(days, calendar, is_block, digest.digest())


def _steps(group: Group, parts: Iterable[_Part]) -> Iterator[list[_Part]]:
    """Divide parts into steps that are quickly read, blocks apart from days."""
    step: list[_Part] = []
    size = 0
    for part in parts:
        links = sum(len(group.visited[day]) for day in part.days)
        if step and (size + links > LINKS_PER_STEP or step[0].is_block != part.is_block):
            yield step
            step, size = [], 0
        step.append(part)
        size += links
    if step:
        yield step


def _add(
    group: Group,
    parts: Iterable[_Part],
    found: Iterable[bytes],
    sums: Sums,
    people: list[int],
    names: Names,
) -> None:
    """Add entries to the sums and, if they have names, to the people of each link."""
    named = names is not Names.NONE
    for part, entry in zip(parts, found, strict=True):
        packed, people_of = _unpack(entry)
        for day in days_in(packed, named=named):
            sums.take_together(day)
        if named:
            for position, count in zip(group.positions(part.days), people_of, strict=True):
                people[position] += count


def _add_people(group: Group, people: Iterable[int], sums: Sums) -> None:
    for code, count in zip(group.codes, people, strict=True):
        if count:
            sums.take_people(code, count)


def _chunks(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
