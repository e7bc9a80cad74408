"""Groups of links with the days on which they were visited, and their division into cached parts.

A part is a past day, or a block of past days, of a group. Its key is a digest of the links that
were visited then and of their revisions. A late visit changes a revision. A new link, a removed
link and deleted days change the set of links. The changed part has a new key, so cached parts never
need invalidation.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import groupby

from services.analytics.domain.day_ranges import block_days, block_number

_DIGEST_BYTES = 16


@dataclass(frozen=True)
class LinkGroup:
    """Links, and the days of a period on which they were visited."""

    codes: Sequence[str]
    """Distinct and sorted."""
    revisions: array[int]
    """The revision of each link's past days."""
    visited: dict[int, array[int]] = field(default_factory=dict)
    """By day: the positions of the links that were visited, in any order."""

    def add_visited_days(self, position: int, ranges: Iterable[range], revision: int) -> None:
        """Add days on which the link at a position was visited, and its revision."""
        self.revisions[position] = revision
        for days in ranges:
            for day in days:
                self.visited.setdefault(day, array("I")).append(position)

    def visited_on(self, days: Iterable[int]) -> list[int]:
        """Return the positions of the links that were visited on any of the days, in order."""
        found: set[int] = set()
        for day in days:
            found.update(self.visited[day])
        return sorted(found)

    def count_link_days(self, days: Iterable[int]) -> int:
        """Return the number of links visited on each of the days, added up."""
        return sum(len(self.visited[day]) for day in days)


@dataclass(frozen=True, slots=True)
class Part:
    """A past day, or a block of past days, of a group."""

    days: list[int]
    """The days with visits."""
    calendar: range
    """All days."""
    is_block: bool
    key: bytes
    """Identifies the content in a cache."""


def divide_into_parts(
    group: LinkGroup, days: Sequence[int], whole_days: range, before: int
) -> list[Part]:
    """Divide past days into the blocks that lie within `whole_days`, and single days.

    Blocks must end before the day `before`.
    """
    parts = []
    for block, days_in_block in groupby(days, block_number):
        calendar = block_days(block)
        if calendar[0] in whole_days and calendar[-1] in whole_days and calendar[-1] < before:
            parts.append(_create_part(group, list(days_in_block), calendar, is_block=True))
        else:
            parts += [
                _create_part(group, [day], range(day, day + 1), is_block=False)
                for day in days_in_block
            ]
    return parts


def divide_into_steps(
    group: LinkGroup, parts: Iterable[Part], max_link_days: int
) -> Iterator[list[Part]]:
    """Yield consecutive parts in steps of about `max_link_days`, either all blocks or all days."""
    step: list[Part] = []
    size = 0
    for part in parts:
        link_days = group.count_link_days(part.days)
        if step and (size + link_days > max_link_days or step[0].is_block != part.is_block):
            yield step
            step, size = [], 0
        step.append(part)
        size += link_days
    if step:
        yield step


def _create_part(group: LinkGroup, days: list[int], calendar: range, *, is_block: bool) -> Part:
    digest = blake2b(digest_size=_DIGEST_BYTES, person=b"block" if is_block else b"day")
    for day in days:
        links = " ".join(
            f"{group.codes[position]}:{group.revisions[position]}"
            for position in sorted(group.visited[day])
        )
        digest.update(f"{day} {links}\n".encode())
    return Part(days, calendar, is_block, digest.digest())
