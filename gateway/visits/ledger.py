"""The batches that analytics has not acknowledged: which numbers, and where their visits stand."""

from __future__ import annotations

import asyncio
import os
from collections import Counter, deque
from collections.abc import Collection, Mapping, Sized
from dataclasses import dataclass, field
from pathlib import Path

from gateway.visits import lines
from gateway.visits.lines import Counts, Visit
from services.runtime import logs

log = logs.get(__name__)

MOST_RESTORED = 2_000
"""Batches of earlier runs in memory; those behind them are read once these were sent."""
_KEPT_IN_MEMORY = 8
"""Batches of this run whose visits stay in memory; those behind them are read back from file."""
_MOST_ROWS = 20_001
"""Different visits that a batch is read back with: analytics refuses one of so many, and what it
refuses need not fill the memory."""
_STEP_ROWS = 200
"""Rows that are looked at between two turns of the event loop: about a millisecond."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Visits under one number, always the same ones."""

    gateway_id: str
    number: int
    counts: Counts
    """Visits that are alike, whose facts say nothing of the visitor."""
    visits: int
    visitors: Mapping[tuple[int, str], Collection[int]] = field(default_factory=dict)
    """Of each UTC day, in whole days since the Unix epoch, and code: the numbers of the visitors,
    in 32 bits, each once."""


@dataclass(slots=True)
class Entry:
    """A batch that is not acknowledged yet; its lines are the segment's from `start` to `end`."""

    number: int
    visits: int
    segment: Path
    start: int
    end: int
    counts: Counts | None = None


class Ledger:
    """Batches in the order in which they are sent: by number, so those of earlier runs first.

    While these are still being read back (`restoring`), none of this run is given out: analytics
    takes no number below the last one it has.
    """

    def __init__(self, acknowledged: int, restoring: bool) -> None:
        self.acknowledged = acknowledged
        """No batch up to this number is needed any more."""
        self.restoring = restoring
        self._restored: deque[Entry] = deque()
        self._added: deque[Entry] = deque()
        self._has_room = asyncio.Event()
        self.lost = 0
        """Visits of batches that could not be read back."""
        # Two numbers that only grow, so that any thread may read their difference.
        self._visits = 0
        self._gone = 0

    @property
    def visits(self) -> int:
        """Visits of all batches in it. For any thread to ask."""
        gone = self._gone
        return self._visits - gone

    @property
    def restored(self) -> Sized:
        """Batches of earlier runs."""
        return self._restored

    @property
    def added(self) -> Sized:
        """Batches of this run."""
        return self._added

    @property
    def first(self) -> Entry | None:
        """The batch to send next, None where there is none or it was not read back yet."""
        if self._restored:
            return self._restored[0]
        return self._added[0] if self._added and not self.restoring else None

    @property
    def oldest(self) -> Entry | None:
        """The batch with the lowest number of those in it."""
        return (self._restored or self._added or (None,))[0]

    def add(self, entry: Entry) -> None:
        """Take in a batch of this run. Its counts stay in memory while few are there."""
        if len(self._added) >= _KEPT_IN_MEMORY:
            entry.counts = None
        self._visits += entry.visits
        self._added.append(entry)

    async def restore(self, entry: Entry) -> None:
        """Take in a batch of an earlier run, once there is room for it."""
        while len(self._restored) >= MOST_RESTORED:
            self._has_room.clear()
            await self._has_room.wait()
        if entry.number > self.acknowledged:
            self._visits += entry.visits
            self._restored.append(entry)

    async def read(self, entry: Entry) -> Counts:
        """A batch's visits, read back from file in steps if memory has them no more.

        Those that are not there any more, or that are written as none is here, are lost: they are
        counted, and the batch has so many less. Raises OSError.
        """
        if entry.counts is None:
            try:
                entry.counts, lost = await _read(entry)
            except FileNotFoundError:
                entry.counts, lost = {}, entry.visits
            if lost:
                self.lost += lost
                entry.visits -= lost
                self._gone += lost
                log.warning("journal_visits_unreadable", segment=entry.segment.name, visits=lost)
        return entry.counts

    def acknowledge(self, number: int) -> None:
        """Let go of the batches up to `number`, which analytics has."""
        self.acknowledged = max(self.acknowledged, number)
        for entries in (self._restored, self._added):
            while entries and entries[0].number <= number:
                self._gone += entries.popleft().visits
        self._has_room.set()


class _KnownApart(dict[str, tuple[str, int | None]]):
    """Facts of visits without their visitor, and its number: once for each text of a batch."""

    def __missing__(self, facts: str) -> tuple[str, int | None]:
        known = self[facts] = lines.without_visitor(facts)
        return known


async def batch_of(gateway_id: str, entry: Entry, counts: Counts) -> Batch:
    """A batch as it is sent: the visits of different visitors that are else alike are one row.

    In steps, since visitors may all be different.
    """
    rows: Counts = {}
    visitors: dict[tuple[int, str], set[int]] = {}
    known = _KnownApart()
    for place, (visit, count) in enumerate(counts.items(), 1):
        code, hour, kind, host, facts = visit
        alike, number = known[facts]
        if number is not None:
            day_of_link = hour // 24, code
            if day_of_link in visitors:
                visitors[day_of_link].add(number)
            else:
                visitors[day_of_link] = {number}
            visit = Visit(code, hour, kind, host, alike)
        rows[visit] = rows.get(visit, 0) + count
        if place % _STEP_ROWS == 0:
            await asyncio.sleep(0)
    return Batch(gateway_id, entry.number, rows, entry.visits, visitors)


async def _read(entry: Entry) -> tuple[Counts, int]:
    """The visits that can be read, and how many lines cannot."""
    counts: Counts = {}
    lost = 0
    fd = os.open(entry.segment, os.O_RDONLY | os.O_CLOEXEC)
    try:
        async for text in lines.slices(fd, entry.start, entry.end):
            # Counted as texts first: most visits are alike, and taking a line apart costs most.
            for line, count in Counter(text[:-1].split(b"\n")).items():
                if lines.is_visit(line):
                    if visit := lines.visit_of(line):
                        counts[visit] = counts.get(visit, 0) + count
                    else:
                        lost += count
                elif not lines.is_good(line):
                    lost += count
            if len(counts) >= _MOST_ROWS:
                break
    finally:
        os.close(fd)
    return counts, lost
