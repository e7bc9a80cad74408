"""What analytics stores keep of a link, and how a batch changes it. Both stores share it.

A day of a link is one value: people and bots by hour and people by name, as MessagePack, beside the
sketch of its visitors. Rows of their own for hours and names took twice the room and time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple, Protocol

from msgspec import Raw, msgpack

from services.analytics.domain import hyperloglog
from services.analytics.domain.aggregates import Names, add_counts, breakdowns_of
from services.analytics.domain.day_ranges import block_of, with_day
from services.analytics.domain.visits import (
    Batch,
    Breakdown,
    Day,
    DaySums,
    Dimension,
    count_names,
    random_of,
    sums_of,
    totals_of,
)
from services.shared.timestamps import CLOCK_LEEWAY, EPOCH

_Hours = dict[int, int]
_Counts = tuple[_Hours, _Hours, Names]
Gathered = tuple[Dimension, Breakdown, Breakdown]
"""A dimension, the names that a batch adds to it, and those under which their people count."""
pack_counts = msgpack.Encoder().encode
_unpack_counts = msgpack.Decoder(_Counts).decode
_unpack_hours = msgpack.Decoder(tuple[_Hours, _Hours, Raw]).decode
_unpack_names = msgpack.Decoder(Names).decode


Key = tuple[str, int]
"""A code, and the number of a day or block."""


class TotalsRecord(NamedTuple):
    """The totals of a link."""

    people: int = 0
    bots: int = 0
    days: bytes = b""
    """The days with visits, as `day_ranges` encodes them."""
    aggregated: int = 0
    """Aggregates of blocks with lower numbers are valid. Blocks with few days have none."""
    revision: int = 0
    """Random, from the last batch with visits of a past day; 0 without one."""


class DayRecord(NamedTuple):
    """A day of a link."""

    counts: bytes
    sketch: bytes
    """As `hyperloglog` encodes it."""


class GatewayRecord(NamedTuple):
    """The last batch of a gateway."""

    batch: int
    counted: int | None
    """Codes of the batch that are counted, in order; None for all."""


class Session(Protocol):
    """A transaction of a store, or a connection that reads. Used by one thread."""

    def gateway(self, gateway_id: str) -> GatewayRecord | None:
        """Return the last batch of a gateway; None before its first."""
        ...

    def put_gateway(self, gateway_id: str, record: GatewayRecord) -> None: ...

    def lock(self, codes: Sequence[str]) -> None:
        """Let other transactions with these links conflict from now on, before they do any work."""
        ...

    def totals(self, codes: Sequence[str]) -> dict[str, TotalsRecord]: ...

    def totals_after(self, code: str, limit: int) -> dict[str, TotalsRecord]:
        """Return the totals of the next links in order of their codes."""
        ...

    def put_totals(self, totals: Mapping[str, TotalsRecord]) -> None: ...

    def delete_totals(self, codes: Sequence[str]) -> None: ...

    def days(self, keys: Sequence[Key]) -> Iterable[tuple[Key, DayRecord]]: ...

    def put_days(self, days: Mapping[Key, DayRecord], new: set[Key]) -> None:
        """Store days. Those of `new` are not stored yet."""
        ...

    def delete_days(self, keys: Sequence[Key]) -> None: ...

    def aggregates(self, keys: Sequence[Key]) -> dict[Key, bytes]: ...

    def put_aggregates(self, aggregates: Mapping[Key, bytes]) -> None: ...

    def delete_aggregates(self, keys: Sequence[Key]) -> None: ...

    def publish(self, codes: Sequence[str], now: datetime) -> None:
        """Append codes to the change feed with the transaction, if a store needs that."""
        ...


class Addition:
    """A batch, added to the links of some of its codes."""

    def __init__(self, batch: Batch, now: datetime) -> None:
        self._batch = batch
        # Replicas that read take days before yesterday for past. Their clocks may be ahead.
        self._past = (now + CLOCK_LEEWAY - EPOCH) // timedelta(days=1) - 1
        self._sums: dict[str, dict[int, DaySums]] = {}
        for (day, code), sums in sums_of(batch).items():
            self._sums.setdefault(code, {})[day] = sums
        self._totals = totals_of(batch)
        self._revision = random_of(batch).getrandbits(32)
        self.codes = sorted(self._sums)

    def add(self, session: Session, codes: Sequence[str]) -> list[Gathered]:
        """Add the batch to some links. Return the names that found no room."""
        # Retries of a transaction make the same random choices.
        random = random_of(self._batch)
        session.lock(codes)
        totals = session.totals(codes)
        # Most links have one visit of a batch, and what they count is often the same.
        encoded: dict[int, bytes] = {}
        gathered: list[Gathered] = []
        keys = [(code, day) for code in codes if code in totals for day in self._sums[code]]
        held = dict(session.days(keys))
        days: dict[Key, DayRecord] = {}
        new: set[Key] = set()
        for code in codes:
            for day, sums in self._sums[code].items():
                key = code, day
                known = held.get(key)
                if known is None:
                    new.add(key)
                    counts = encoded.get(id(sums.people))
                    if counts is None:
                        counts = encoded[id(sums.people)] = _added(
                            ({}, {}, {}), sums, random, gathered
                        )
                    days[key] = DayRecord(counts, hyperloglog.add(b"", sums.visitors))
                else:
                    before = _unpack_counts(known.counts)
                    days[key] = DayRecord(
                        _added(before, sums, random, gathered),
                        hyperloglog.add(known.sketch, sums.visitors),
                    )
            totals[code] = self._totals_with(code, totals.get(code, TotalsRecord()), new)
        session.put_days(days, new)
        session.put_totals({code: totals[code] for code in codes})
        return gathered

    def _totals_with(self, code: str, totals: TotalsRecord, new: set[Key]) -> TotalsRecord:
        added = self._totals[code]
        days = totals.days
        aggregated, revision = totals.aggregated, totals.revision
        for day in self._sums[code]:
            if (code, day) in new:
                days = with_day(days, day)
            aggregated = min(aggregated, block_of(day))
            if day < self._past:
                revision = self._revision
        return TotalsRecord(
            totals.people + added.people, totals.bots + added.bots, days, aggregated, revision
        )


def day_of(day: int, record: DayRecord, *, named: bool) -> Day:
    """Decode a day."""
    people, bots, names = _unpack_hours(record.counts)
    breakdowns = breakdowns_of(_unpack_names(names)) if named else {}
    return Day.of(day, people, bots, breakdowns, hyperloglog.estimate(record.sketch))


def _added(counts: _Counts, sums: DaySums, random: Random, gathered: list[Gathered]) -> bytes:
    """Encode the counts of a day with what a batch adds to them."""
    people, bots, breakdowns = counts
    add_counts(people, sums.people)
    add_counts(bots, sums.bots)
    for dimension, added in sums.names.items():
        known = breakdowns.setdefault(dimension.value, {})
        counted, evicted = count_names(added, known, random)
        if counted is not added:
            gathered.append((dimension, added, counted))
        for name in evicted:
            del known[name]
        add_counts(known, counted)
    return pack_counts(counts)
