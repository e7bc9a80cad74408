"""The records of links and gateways in both databases, and their encoding.

A day of a link is one value: visits by hour and people by name in MessagePack, and the sketch of
its visitors. Separate rows for hours and names took twice the space and time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

from msgspec import Raw, msgpack

from services.analytics.domain import hyperloglog
from services.analytics.domain.aggregates import PackedNames, unpack_breakdowns
from services.analytics.domain.day_ranges import unpack_days
from services.analytics.domain.visits import LAST_DAY, Day
from services.shared.unreadable_records import decode_each

_Hours = dict[int, int]
DayCounts = tuple[_Hours, _Hours, PackedNames]
"""People by hour, bots by hour, and people by name."""

pack_counts = msgpack.Encoder().encode
"""Encode `DayCounts`."""
unpack_counts = msgpack.Decoder(DayCounts).decode
_unpack_hours = msgpack.Decoder(tuple[_Hours, _Hours, Raw]).decode
_unpack_names = msgpack.Decoder(PackedNames).decode

pack_visits = msgpack.Encoder().encode
"""Encode visits of people and bots by day."""
unpack_visits = msgpack.Decoder(dict[int, int]).decode

_CACHED_CHECKS = 1000
"""Sets of days whose checks are cached, at most 7 MB. Most links of a batch have equal sets."""
Key = tuple[str, int]
"""A code, and the number of a day, block or era."""
K = TypeVar("K", str, Key)


class TotalsRecord(NamedTuple):
    """The totals of a link, and which days and aggregates it has."""

    people: int = 0
    bots: int = 0
    days: bytes = b""
    """The days with visits, as `day_ranges` encodes them."""
    aggregated: int = 0
    """Aggregates of blocks with lower numbers are valid. Blocks with few days have none."""
    revision: int = 0
    """Random, from the last batch that added visits to past days; 0 without one."""


class DayRecord(NamedTuple):
    """A day of a link."""

    counts: bytes
    """As `pack_counts` encodes them."""
    sketch: bytes
    """As `hyperloglog` encodes it."""


class GatewayRecord(NamedTuple):
    """The last batch of a gateway, or of a lane of one."""

    batch: int
    counted: int | None
    """The number of the batch's codes, in order, that are counted; None for all."""
    visits: bytes = b""
    """Its visits on recent days, as `pack_visits` encodes them."""


class AggregateRecord(NamedTuple):
    """Days of a link added up, of a block or an era."""

    packed: bytes
    """As `domain.aggregates` encodes them."""


R = TypeVar("R", TotalsRecord, DayRecord, AggregateRecord)


@dataclass(frozen=True)
class Table(Generic[K, R]):
    """A kind of records of links."""

    name: str
    """The table in SQLite, and the collection in MongoDB."""
    record: type[R]
    unreadable: str | None = None
    """Where records are moved that cannot be read. Aggregates are built again instead."""

    @property
    def fields(self) -> tuple[str, ...]:
        return self.record._fields


TOTALS = Table[str, TotalsRecord]("totals", TotalsRecord, "unreadable_totals")
DAYS = Table[Key, DayRecord]("days", DayRecord, "unreadable_days")
AGGREGATES = Table[Key, AggregateRecord]("aggregates", AggregateRecord)


def readable_totals(found: Iterable[tuple[str, TotalsRecord]]) -> dict[str, TotalsRecord]:
    """Return the totals of links without those that cannot be read."""
    return dict(decode_each("totals", found, _check_totals, lambda item: item[0]))


def _check_totals(item: tuple[str, TotalsRecord]) -> tuple[str, TotalsRecord]:
    _, (people, bots, days, aggregated, revision) = item
    if not (
        isinstance(people, int)
        and isinstance(bots, int)
        and isinstance(aggregated, int)
        and isinstance(revision, int)
    ):
        raise TypeError("A value is no number.")
    _check_days(days)
    return item


@lru_cache(_CACHED_CHECKS)
def _check_days(packed: bytes) -> None:
    for days in unpack_days(packed):
        if not (0 <= days.start < days.stop <= LAST_DAY + 1):
            raise ValueError("A day does not exist.")


def unpack_day(day: int, record: DayRecord, *, with_names: bool) -> Day:
    """Decode a day."""
    people, bots, names = _unpack_hours(record.counts)
    breakdowns = unpack_breakdowns(_unpack_names(names)) if with_names else {}
    return Day.from_hours(day, people, bots, breakdowns, hyperloglog.estimate(record.sketch))
