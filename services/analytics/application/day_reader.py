"""Reads the days of links, with aggregates in place of days where they are valid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from services.analytics.application.ports import NameDetail, OnDay, OnVisitedDays, Session
from services.analytics.application.records import (
    AGGREGATES,
    DAYS,
    TOTALS,
    AggregateRecord,
    Key,
    TotalsRecord,
    readable_totals,
    unpack_day,
)
from services.analytics.domain.aggregates import unpack_aggregate
from services.analytics.domain.day_ranges import (
    BLOCKS_PER_ERA,
    DAYS_PER_BLOCK,
    MIN_BLOCK_DAYS,
    MIN_ERA_DAYS,
    block_days,
    clip,
    group_by_block,
    unpack_days,
)
from services.analytics.domain.visits import Day
from services.shared import unreadable_records
from services.shared.unreadable_records import decode_each

DAYS_PER_STEP = 400
"""Approximate number of days that one read decodes, in 20 to 50 ms."""


class Piece(NamedTuple):
    """Days of a link in one block or era."""

    aggregate: Key | None
    """The key of the valid aggregate. It may not exist if some of its days were deleted."""
    days: list[Key]
    blocks: Sequence[Piece] = ()
    """The blocks of an era, instead of its days."""


def find_pieces(
    session: Session, codes: Sequence[str], first: int, last: int, names: NameDetail
) -> list[Piece]:
    """Return the days of links from `first` to `last`, both included, in pieces."""
    return [
        piece
        for code, totals in readable_totals(session.find(TOTALS, codes)).items()
        for piece in divide_into_pieces(code, totals, range(first, last + 1), names)
    ]


def divide_into_pieces(
    code: str, totals: TotalsRecord, period: range, names: NameDetail
) -> Iterator[Piece]:
    """Yield the days of a link in a period, in pieces as large as aggregates and `names` allow."""
    blocks = group_by_block(clip(unpack_days(totals.days), period[0], period[-1]))
    for era, era_blocks in groupby(blocks, lambda item: era_number(item[0])):
        pieces = []
        for block, days in era_blocks:
            is_valid = names is not NameDetail.PER_DAY and block < totals.aggregated
            is_worthwhile = len(days) >= MIN_BLOCK_DAYS and _contains(period, block_days(block))
            aggregate = (code, block) if is_valid and is_worthwhile else None
            pieces.append(Piece(aggregate, [(code, day) for day in days]))
        is_valid = names in (NameDetail.NONE, NameDetail.COMBINED) and (
            (era + 1) * BLOCKS_PER_ERA <= totals.aggregated
        )
        if is_valid and has_era_aggregate(pieces) and _contains(period, era_days(era)):
            yield Piece(era_key(code, era), [], pieces)
        else:
            yield from pieces


def divide_into_steps(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Yield pieces in steps of about `DAYS_PER_STEP` days."""
    step: list[Piece] = []
    size = 0
    for piece in pieces:
        step.append(piece)
        # An aggregate takes as long as a few days.
        size += MIN_BLOCK_DAYS if piece.aggregate else len(piece.days)
        if size >= DAYS_PER_STEP:
            yield step
            step, size = [], 0
    if step:
        yield step


def read_pieces(
    session: Session, pieces: Sequence[Piece], on_day: OnDay, *, with_names: bool
) -> list[Key]:
    """Call `on_day` with the days of pieces. Return the keys of days that cannot be read.

    The days of an aggregate that cannot be read are read themselves.
    """

    def unpack(item: tuple[Key, AggregateRecord]) -> tuple[Key, list[Day]]:
        key, record = item
        return key, list(unpack_aggregate(record.packed, with_names=with_names))

    stored = session.find(AGGREGATES, [piece.aggregate for piece in pieces if piece.aggregate])
    aggregates = dict(decode_each("aggregate", stored, unpack, lambda item: item[0]))
    for (code, _), days in aggregates.items():
        for day in days:
            on_day(code, day)
    rest = [piece for piece in pieces if piece.aggregate not in aggregates]
    unreadable = []
    for key, record in session.find(DAYS, [key for piece in rest for key in piece.days]):
        code, number = key
        try:
            day = unpack_day(number, record, with_names=with_names)
        except Exception as error:
            unreadable_records.report("day", f"{code}:{number}", error)
            unreadable.append(key)
        else:
            on_day(code, day)
    if blocks := [block for piece in rest for block in piece.blocks]:
        unreadable += read_pieces(session, blocks, on_day, with_names=with_names)
    return unreadable


def read_visited_days(
    session: Session,
    codes: Sequence[str],
    first: int,
    last: int,
    on_visited_days: OnVisitedDays,
) -> None:
    """Call `on_visited_days` with the days with visits of each link, if it has any."""
    for code, totals in readable_totals(session.find(TOTALS, codes)).items():
        if ranges := list(clip(unpack_days(totals.days), first, last)):
            on_visited_days(code, ranges, totals.revision)


def era_number(block: int) -> int:
    """Return the number of the era that contains a block."""
    return block // BLOCKS_PER_ERA


def era_days(era: int) -> range:
    """Return all days of an era."""
    start = block_days(era * BLOCKS_PER_ERA).start
    return range(start, start + BLOCKS_PER_ERA * DAYS_PER_BLOCK)


def era_key(code: str, era: int) -> Key:
    """Return the key of an era's aggregate. Its number is negative, unlike those of blocks."""
    return code, -1 - era


def has_era_aggregate(blocks: Iterable[Piece]) -> bool:
    """Return whether a link has enough days in an era for an aggregate."""
    return sum(len(block.days) for block in blocks) >= MIN_ERA_DAYS


def _contains(period: range, days: range) -> bool:
    return days[0] in period and days[-1] in period
