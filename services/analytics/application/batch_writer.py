"""Adds the visits of a batch, or of several merged ones, to the records of their links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from random import Random

from services.analytics.application.link_maintenance import repair_totals
from services.analytics.application.ports import Session
from services.analytics.application.records import (
    DAYS,
    TOTALS,
    DayCounts,
    DayRecord,
    Key,
    TotalsRecord,
    pack_counts,
    pack_visits,
    unpack_counts,
    unpack_visits,
)
from services.analytics.domain import hyperloglog
from services.analytics.domain.aggregates import add_counts
from services.analytics.domain.batches import (
    Batch,
    DayIncrement,
    batch_random,
    day_increments,
    total_increments,
)
from services.analytics.domain.day_ranges import add_day, block_number
from services.analytics.domain.name_admission import OTHER_NAMES, admit_names
from services.analytics.domain.visits import HOURS_PER_DAY, Dimension, VisitCount, utc_day
from services.shared import unreadable_records
from services.shared.timestamps import CLOCK_LEEWAY


class BatchWriter:
    """Reads and writes each day and the totals of each link of a batch once."""

    def __init__(self, batch: Batch, now: datetime) -> None:
        # Readers cache days before yesterday as past. Their clocks may be ahead.
        self._first_uncached_day = utc_day(now + CLOCK_LEEWAY) - 1
        self._days: dict[str, dict[int, DayIncrement]] = {}
        for (day, code), increment in day_increments(batch).items():
            self._days.setdefault(code, {})[day] = increment
        self._totals = total_increments(batch)
        self._batch = batch
        self._revision = batch_random(batch).getrandbits(32)
        self.codes = sorted(self._days)

    def write(self, session: Session) -> Counter[Dimension]:
        """Add the batch to its links.

        Return the people counted under `OTHER_NAMES` because their link's day had enough names.
        """
        codes = self.codes
        # A retry of the transaction makes the same random choices.
        random = batch_random(self._batch)
        totals = repair_totals(session, codes)
        # Most links have one visit in a batch, and their increments are often the same object.
        encoded: dict[int, bytes] = {}
        gathered = Counter[Dimension]()
        keys = [(code, day) for code in codes if code in totals for day in self._days[code]]
        stored = dict(session.find(DAYS, keys))
        days: dict[Key, DayRecord] = {}
        new: set[Key] = set()
        unreadable: list[Key] = []
        for code in codes:
            for day, increment in self._days[code].items():
                key = code, day
                if record := stored.get(key):
                    try:
                        unpacked = unpack_counts(record.counts)
                        sketch = hyperloglog.add(record.sketch, increment.visitors)
                    except Exception as error:
                        unreadable_records.report("day", f"{code}:{day}", error)
                        unreadable.append(key)
                        record = None
                if record is None:
                    new.add(key)
                    counts = encoded.get(id(increment.people))
                    if counts is None:
                        counts = _add_increment(({}, {}, {}), increment, random, gathered)
                        encoded[id(increment.people)] = counts
                    days[key] = DayRecord(counts, hyperloglog.add(b"", increment.visitors))
                else:
                    days[key] = DayRecord(
                        _add_increment(unpacked, increment, random, gathered), sketch
                    )
            totals[code] = self._add_totals(code, totals.get(code, TotalsRecord()), new)
        session.set_aside(DAYS, unreadable)
        session.put(DAYS, days, new)
        session.put(TOTALS, {code: totals[code] for code in codes})
        return gathered

    def _add_totals(self, code: str, totals: TotalsRecord, new: set[Key]) -> TotalsRecord:
        increment = self._totals[code]
        days, aggregated, revision = totals.days, totals.aggregated, totals.revision
        for day in self._days[code]:
            if (code, day) in new:
                days = add_day(days, day)
            aggregated = min(aggregated, block_number(day))
            if day < self._first_uncached_day:
                revision = self._revision
        return TotalsRecord(
            totals.people + increment.people,
            totals.bots + increment.bots,
            days,
            aggregated,
            revision,
        )


def add_recent_visits(packed: bytes, visits: Iterable[VisitCount], now: datetime) -> bytes:
    """Return a gateway's visits on recent days, as its record has them, with further ones."""
    today = utc_day(now)
    recent = range(today - 1, today + 2)  # A gateway's clock may be ahead.
    known = unpack_visits(packed) if packed else {}
    by_day = {day: count for day, count in known.items() if day in recent}
    for visit in visits:
        day = visit.hour // HOURS_PER_DAY
        if day in recent:
            by_day[day] = by_day.get(day, 0) + visit.count
    return pack_visits(by_day)


def _add_increment(
    counts: DayCounts, increment: DayIncrement, random: Random, gathered: Counter[Dimension]
) -> bytes:
    """Return the encoded counts of a day with an increment added."""
    people, bots, breakdowns = counts
    add_counts(people, increment.people)
    add_counts(bots, increment.bots)
    for dimension, added in increment.names.items():
        stored = breakdowns.setdefault(dimension.value, {})
        counted, evicted = admit_names(added, stored, random)
        if counted is not added:
            gathered[dimension] += counted.get(OTHER_NAMES, 0) - added.get(OTHER_NAMES, 0)
        for name in evicted:
            del stored[name]
        add_counts(stored, counted)
    return pack_counts(counts)
