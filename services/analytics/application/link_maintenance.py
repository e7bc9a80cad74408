"""Transactions that aggregate, delete and remove days of links, each with bounded work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from secrets import randbits
from typing import NamedTuple

from services.analytics.application.day_reader import (
    Piece,
    divide_into_pieces,
    era_days,
    era_key,
    era_number,
    has_era_aggregate,
    read_pieces,
)
from services.analytics.application.ports import NameDetail, Session
from services.analytics.application.records import (
    AGGREGATES,
    DAYS,
    TOTALS,
    AggregateRecord,
    Key,
    TotalsRecord,
    readable_totals,
)
from services.analytics.domain.aggregates import Aggregate
from services.analytics.domain.day_ranges import (
    DAYS_PER_BLOCK,
    MIN_BLOCK_DAYS,
    block_number,
    clip,
    group_by_block,
    pack_days,
    unpack_days,
)
from services.analytics.domain.visits import LAST_DAY, Day

DAYS_PER_STEP = 400
"""Approximate number of days that one transaction aggregates or deletes, in 20 to 50 ms."""


class Task(NamedTuple):
    """Maintenance of a link. One of the two is not empty."""

    expired: list[int]
    """Days to delete."""
    blocks: list[tuple[int, list[int]]]
    """Blocks to aggregate, with their days."""


def next_task(totals: TotalsRecord, end: int, retained_from: int | None) -> Task | None:
    """Return the next task for a link, of bounded size.

    Blocks before block `end` can be aggregated. Days before `retained_from` have expired.
    """
    ranges = unpack_days(totals.days)
    if retained_from is not None:
        expired = chain.from_iterable(clip(ranges, 0, retained_from - 1))
        if days := list(islice(expired, DAYS_PER_STEP)):
            return Task(days, [])
    pending = clip(ranges, totals.aggregated * DAYS_PER_BLOCK, end * DAYS_PER_BLOCK - 1)
    blocks = (item for item in group_by_block(pending) if len(item[1]) >= MIN_BLOCK_DAYS)
    next_blocks = list(islice(blocks, DAYS_PER_STEP // DAYS_PER_BLOCK))
    return Task([], next_blocks) if next_blocks else None


def run_next_task(
    session: Session, code: str, end: int, retained_from: int | None
) -> tuple[int, Task | None]:
    """Run the next task for a link. Return the number of deleted days, and the task after it."""
    totals = repair_totals(session, [code]).get(code, TotalsRecord())
    task = next_task(totals, end, retained_from)
    if task is None:
        return 0, None
    if task.expired:
        totals = _delete_days(session, code, totals, task.expired)
    else:
        totals = _aggregate_blocks(session, code, totals, task.blocks)
    session.put(TOTALS, {code: totals})
    return len(task.expired), next_task(totals, end, retained_from)


def remove_links(session: Session, codes: Sequence[str]) -> list[str]:
    """Remove links with about `DAYS_PER_STEP` days. Return the codes of those that are left."""
    found = dict(session.find(TOTALS, codes))
    readable = readable_totals(found.items())
    days: list[Key] = []
    aggregates: list[Key] = []
    removed = []
    for code in found:
        if len(days) >= DAYS_PER_STEP:
            break
        if code in readable:
            link_days = list(chain.from_iterable(unpack_days(readable[code].days)))
        else:
            link_days = session.find_days(code)
        days += ((code, day) for day in link_days)
        aggregates += _aggregate_keys(code, link_days)
        removed.append(code)
    session.delete(AGGREGATES, aggregates)
    session.delete(DAYS, days)
    session.delete(TOTALS, removed)
    return [code for code in found if code not in removed]


def repair_totals(session: Session, codes: Sequence[str]) -> dict[str, TotalsRecord]:
    """Return the totals of links. Set those aside that cannot be read, and restore them from days.

    Deleted days are missing in a restored total whose number cannot be read.
    """
    found = dict(session.find(TOTALS, codes))
    totals = readable_totals(found.items())
    for code in found.keys() - totals.keys():
        people = bots = 0
        days = session.find_days(code)

        def on_day(_: str, day: Day) -> None:
            nonlocal people, bots
            people += day.people
            bots += day.bots

        piece = Piece(None, [(code, day) for day in days])
        session.set_aside(DAYS, read_pieces(session, [piece], on_day, with_names=False))
        totals[code] = TotalsRecord(
            _max_number(found[code].people, people),
            _max_number(found[code].bots, bots),
            pack_days(days),
            revision=randbits(32),
        )
        session.set_aside(TOTALS, [code])
        session.put(TOTALS, {code: totals[code]})
    return totals


def _max_number(stored: object, counted: int) -> int:
    return max(stored, counted) if isinstance(stored, int) else counted


def _delete_days(
    session: Session, code: str, totals: TotalsRecord, days: Sequence[int]
) -> TotalsRecord:
    """Delete the first days of a link and the aggregates that contain them."""
    session.delete(DAYS, [(code, day) for day in days])
    session.delete(AGGREGATES, _aggregate_keys(code, days))
    remaining = clip(unpack_days(totals.days), days[-1] + 1, LAST_DAY)
    return totals._replace(days=pack_days(chain.from_iterable(remaining)))


def _aggregate_blocks(
    session: Session, code: str, totals: TotalsRecord, blocks: Sequence[tuple[int, list[int]]]
) -> TotalsRecord:
    """Aggregate blocks, and the eras that are complete after that."""
    for block, days in blocks:
        aggregate_pieces(session, (code, block), [Piece(None, [(code, day) for day in days])])
    before, after = totals.aggregated, blocks[-1][0] + 1
    totals = totals._replace(aggregated=after)
    for era in range(era_number(before), era_number(after)):
        pieces = list(divide_into_pieces(code, totals, era_days(era), NameDetail.PER_BLOCK))
        if has_era_aggregate(pieces):
            aggregate_pieces(session, era_key(code, era), pieces)
    return totals


def aggregate_pieces(session: Session, key: Key, pieces: Sequence[Piece]) -> None:
    """Store the aggregate of pieces."""
    aggregate = Aggregate()
    unreadable = read_pieces(session, pieces, lambda _, day: aggregate.add(day), with_names=True)
    session.set_aside(DAYS, unreadable)
    session.put(AGGREGATES, {key: AggregateRecord(aggregate.pack())})


def _aggregate_keys(code: str, days: Iterable[int]) -> list[Key]:
    """Return the keys of all aggregates that may contain these days."""
    blocks = set(map(block_number, days))
    eras = set(map(era_number, blocks))
    return [*((code, block) for block in blocks), *(era_key(code, era) for era in eras)]
