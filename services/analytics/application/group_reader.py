"""Adds up the visits of a group of links, with a cache for past days.

Past days seldom change, and owners of many links look at them often. The cache has an entry for
each part of a group, see `link_groups`.

The store is read in steps, one at a time. Ten years of a group of 100,000 links take longer than a
caller waits. Because of the steps, such a read does not delay reads of few links, and a repeated
call continues where the previous one stopped. A read whose callers have all given up ends.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Iterable, Sequence
from itertools import groupby

from msgspec import msgpack

from services.analytics.application.aggregate_cache import AggregateCache
from services.analytics.application.link_groups import (
    LinkGroup,
    Part,
    divide_into_parts,
    divide_into_steps,
)
from services.analytics.application.ports import NameDetail, OnDay
from services.analytics.application.store import AnalyticsStore, chunks
from services.analytics.domain.aggregates import Aggregate, unpack_aggregate
from services.analytics.domain.statistics import StatisticsBuilder
from services.analytics.domain.visits import HOURS_PER_DAY, Day

MAX_CACHE_BYTES = 64 << 20
MAX_LINK_DAYS_PER_STEP = 5000
"""Approximate maximum of days of links in one read, while other reads wait: some 0.1 s."""

_pack = msgpack.Encoder().encode
_unpack = msgpack.Decoder(tuple[bytes, list[int]]).decode
"""A cached entry: an encoded aggregate, and the people of each visited link in order of codes."""


class GroupReader:
    """Reads groups of links. All methods raise Unavailable."""

    def __init__(self, store: AnalyticsStore) -> None:
        self._store = store
        self._cache = AggregateCache(MAX_CACHE_BYTES)
        self._lock = asyncio.Lock()

    async def read_group(self, codes: Sequence[str], first: int, last: int) -> LinkGroup:
        """Return a group of distinct codes with their days from `first` to `last`, inclusive."""
        group, positions = await asyncio.to_thread(_create_group, codes)

        def on_visited_days(code: str, ranges: list[range], revision: int) -> None:
            group.add_visited_days(positions[code], ranges, revision)

        for chunk in chunks(group.codes, MAX_LINK_DAYS_PER_STEP):
            async with self._lock:
                await self._store.read_visited_days(chunk, first, last, on_visited_days)
        return group

    async def first_hour(self, group: LinkGroup) -> int | None:
        """Return the hour of the first visit since the Unix epoch, or None without visits."""
        if not group.visited:
            return None
        first = min(group.visited)
        hours: set[int] = set()

        def on_day(_: str, day: Day) -> None:
            hours.update(*day.hours())

        await self._read(group, [first], range(first, first + 1), on_day, NameDetail.NONE)
        # No hours if the links' counts were removed meanwhile.
        return first * HOURS_PER_DAY + min(hours, default=0)

    async def add_up(
        self, group: LinkGroup, builder: StatisticsBuilder, before: int, *, with_names: bool
    ) -> None:
        """Add the group's visits in the period of `builder`.

        Days before the day `before` are past and cached. Without `with_names`, breakdowns and the
        ranking of links may be incomplete.
        """
        # Days that lie only partly in the period are added link by link.
        hours = builder.period.hours
        whole_days = range(-(-hours.start // HOURS_PER_DAY), hours.stop // HOURS_PER_DAY)
        days = [day for day in sorted(group.visited) if day in builder.period.days]
        past = [day for day in days if day in whole_days and day < before]
        names = NameDetail.COMBINED if with_names else NameDetail.NONE
        for day in sorted(set(days).difference(past)):
            await self._read(group, [day], range(day, day + 1), builder.add_link_day, names)
        parts = await asyncio.to_thread(divide_into_parts, group, past, whole_days, before)
        people = [0] * len(group.codes)
        for step in divide_into_steps(group, parts, MAX_LINK_DAYS_PER_STEP):
            entries = await self._load(group, step, with_names=with_names)
            await asyncio.to_thread(
                _add_entries, group, step, entries, builder, people, with_names=with_names
            )
        await asyncio.to_thread(_add_link_people, group, people, builder)

    async def _load(self, group: LinkGroup, parts: list[Part], *, with_names: bool) -> list[bytes]:
        """Return the entries of all parts, from the cache or from the store."""
        cached = [self._cache.get(part.key, with_names=with_names) for part in parts]
        entries: list[bytes] = []
        for is_cached, items in groupby(
            zip(parts, cached, strict=True), lambda item: item[1] is not None
        ):
            if is_cached:
                entries += [entry for _, entry in items if entry is not None]
            else:
                missing = [part for part, _ in items]
                entries += await self._read_parts(group, missing, with_names=with_names)
        return entries

    async def _read_parts(
        self, group: LinkGroup, parts: list[Part], *, with_names: bool
    ) -> list[bytes]:
        """Read consecutive parts, either all blocks or all days, and cache them."""
        entries = [_EntryBuilder() for _ in parts]
        entry_of_day = {
            day: entry for part, entry in zip(parts, entries, strict=True) for day in part.calendar
        }

        def on_day(code: str, day: Day) -> None:
            # A late visit may have created a day since the group was read.
            if entry := entry_of_day.get(day.day):
                entry.add(code, day)

        days = [day for part in parts for day in part.days]
        bounds = range(parts[0].calendar.start, parts[-1].calendar.stop)
        names = NameDetail.NONE
        if with_names:
            names = NameDetail.PER_BLOCK if parts[0].is_block else NameDetail.PER_DAY
        await self._read(group, days, bounds, on_day, names)
        packed = await asyncio.to_thread(
            lambda: [entry.pack(group, part) for part, entry in zip(parts, entries, strict=True)]
        )
        for part, value in zip(parts, packed, strict=True):
            self._cache.put(part.key, value, with_names=with_names)
        return packed

    async def _read(
        self, group: LinkGroup, days: list[int], bounds: range, on_day: OnDay, names: NameDetail
    ) -> None:
        """Call `on_day` with the group's days within `bounds`. `days` are those with visits."""
        positions = group.visited_on(days)
        link_days = group.count_link_days(days)
        for chunk in chunks(positions, -(-MAX_LINK_DAYS_PER_STEP * len(positions) // link_days)):
            codes = [group.codes[position] for position in chunk]
            async with self._lock:
                await self._store.read_days(codes, bounds[0], bounds[-1], on_day, names)


def _create_group(codes: Sequence[str]) -> tuple[LinkGroup, dict[str, int]]:
    """Return a group of distinct codes without days, and the position of each code in it."""
    ordered = sorted(codes)
    group = LinkGroup(ordered, array("Q", bytes(8 * len(ordered))))
    return group, {code: position for position, code in enumerate(ordered)}


class _EntryBuilder:
    """Adds up the visits of a part for the cache."""

    def __init__(self) -> None:
        self._aggregate = Aggregate()
        self._people: dict[str, int] = {}

    def add(self, code: str, day: Day) -> None:
        self._aggregate.add(day)
        self._people[code] = self._people.get(code, 0) + day.people

    def pack(self, group: LinkGroup, part: Part) -> bytes:
        """Encode the aggregate and the people of each visited link."""
        codes = (group.codes[position] for position in group.visited_on(part.days))
        people = [self._people.get(code, 0) for code in codes]
        return _pack((self._aggregate.pack(), people))


def _add_entries(
    group: LinkGroup,
    parts: Iterable[Part],
    entries: Iterable[bytes],
    builder: StatisticsBuilder,
    people: list[int],
    *,
    with_names: bool,
) -> None:
    """Add entries to the statistics and, if they have names, to the people of each link."""
    for part, entry in zip(parts, entries, strict=True):
        packed, part_people = _unpack(entry)
        for day in unpack_aggregate(packed, with_names=with_names):
            builder.add_group_day(day)
        if with_names:
            positions = group.visited_on(part.days)
            for position, count in zip(positions, part_people, strict=True):
                people[position] += count


def _add_link_people(group: LinkGroup, people: Iterable[int], builder: StatisticsBuilder) -> None:
    for code, count in zip(group.codes, people, strict=True):
        if count:
            builder.add_link_people(code, count)
