"""The analytics store over any database that offers transactions.

A batch is counted in transactions of whole links: each reads what the links have, adds the batch,
and writes it with how far the gateway's batch is counted. So every visit counts exactly once,
whatever is sent again and wherever a process ends. A block of days of a busy link is aggregated
once it has ended, and the transaction that counts a late visit in it marks the aggregate invalid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import chain, groupby, islice
from typing import NamedTuple, Protocol, TypeVar

from services.analytics.application.ports import Names
from services.analytics.domain.aggregates import Aggregate, days_in
from services.analytics.domain.day_ranges import (
    BLOCK_DAYS,
    BLOCKS_PER_ERA,
    MIN_BLOCK_DAYS,
    MIN_ERA_DAYS,
    block_of,
    by_block,
    clip,
    days_of,
    days_of_block,
    pack,
)
from services.analytics.domain.visits import LAST_DAY, Batch, Day, Totals
from services.analytics.metrics import note_gathered
from services.analytics.storage.records import (
    Addition,
    GatewayRecord,
    Gathered,
    Key,
    Session,
    TotalsRecord,
    day_of,
)
from services.shared.feed import FeedPage

T = TypeVar("T")
Work = Callable[[Session], T]

_CODES_PER_READ = 1000
"""Maximum links whose totals one read looks up."""
_DAYS_PER_STEP = 400
"""Days, about, that a read decodes and a transaction aggregates or deletes in 20 to 50 ms."""
_LINKS_PER_STEP = 500
"""Links that one step of maintenance looks at."""


class Backend(Protocol):
    """A database."""

    codes_per_transaction: int
    """Maximum links to which one transaction adds a batch."""

    async def read(self, name: str, work: Work[T]) -> T:
        """Run reads in a thread. Raises Unavailable."""
        ...

    async def write(self, name: str, work: Work[T], size: int = 0) -> T:
        """Run a transaction in a thread, again after conflicts. Raises Unavailable.

        `size` is the number of links that it changes, at most `codes_per_transaction`.
        """
        ...

    async def changed_since(self, cursor: str | None) -> FeedPage: ...

    async def visitor_key(self, day: int, fresh: bytes) -> bytes: ...

    async def forget_keys(self, today: int) -> int: ...


class Store:
    """The `AnalyticsStore` over a database."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def apply(self, batch: Batch, now: datetime) -> bool:
        addition = Addition(batch, now)
        gathered: list[Gathered] = []
        codes = addition.codes

        def count(session: Session) -> bool | None:
            """Count a part of the batch. Return None until it is complete, False if it was."""
            gathered.clear()
            last = session.gateway(batch.gateway_id) or GatewayRecord(0, None)
            if batch.number < last.batch or last == (batch.number, None):
                return False
            start = last.counted or 0 if last.batch == batch.number else 0
            end = start + self._backend.codes_per_transaction
            gathered.extend(addition.add(session, codes[start:end]))
            session.publish(codes[start:end], now)
            is_complete = end >= len(codes)
            counted = None if is_complete else end
            session.put_gateway(batch.gateway_id, GatewayRecord(batch.number, counted))
            return True if is_complete else None

        applied: bool | None = None
        size = min(len(codes), self._backend.codes_per_transaction)
        while applied is None:
            applied = await self._backend.write("analytics_apply", count, size)
            for dimension, added, counted in gathered:
                note_gathered(dimension, added, counted)
        return applied

    async def changed_since(self, cursor: str | None) -> FeedPage:
        return await self._backend.changed_since(cursor)

    async def visitor_key(self, day: int, fresh: bytes) -> bytes:
        return await self._backend.visitor_key(day, fresh)

    async def forget_keys(self, today: int) -> int:
        return await self._backend.forget_keys(today)

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        found = await self._backend.read("analytics_totals", lambda session: session.totals(codes))
        return {code: Totals(one.people, one.bots) for code, one in found.items()}

    async def days(
        self,
        codes: Sequence[str],
        first: int,
        last: int,
        take: Callable[[str, Day], None],
        names: Names,
    ) -> None:
        for some in chunks(dict.fromkeys(codes), _CODES_PER_READ):
            pieces = await self._backend.read(
                "analytics_days_of",
                partial(_pieces, codes=some, first=first, last=last, names=names),
            )
            for piece in _steps(pieces):
                await self._backend.read(
                    "analytics_days",
                    partial(_read_days, pieces=piece, take=take, named=names is not Names.NONE),
                )

    async def visited(
        self,
        codes: Sequence[str],
        first: int,
        last: int,
        take: Callable[[str, list[range], int], None],
    ) -> None:
        for some in chunks(dict.fromkeys(codes), _CODES_PER_READ):
            await self._backend.read(
                "analytics_visited",
                partial(_read_visited, codes=some, first=first, last=last, take=take),
            )

    async def first_day(self, codes: Sequence[str]) -> int | None:
        firsts: list[int] = []

        def take(code: str, runs: list[range], revision: int) -> None:
            firsts.append(runs[0].start)

        await self.visited(codes, 0, LAST_DAY, take)
        return min(firsts, default=None)

    async def maintain(
        self, after: str, before: int, kept_from: int | None
    ) -> tuple[str | None, int]:
        end = block_of(before)
        links = await self._backend.read(
            "analytics_links", lambda session: session.totals_after(after, _LINKS_PER_STEP)
        )
        deleted = 0
        work = 0
        for code, totals in links.items():
            after = code
            task = _task(totals, end, kept_from)
            while task:
                days, task = await self._backend.write(
                    "analytics_maintain",
                    partial(_maintain, code=code, end=end, kept_from=kept_from),
                )
                deleted += days
                work += _DAYS_PER_STEP // 4
            if work >= _DAYS_PER_STEP:
                break
        return (after if links else None), deleted

    async def remove(self, codes: Sequence[str]) -> None:
        left = list(dict.fromkeys(codes))
        while left:
            left = await self._backend.write("analytics_remove", partial(_remove, codes=left))


class _Piece(NamedTuple):
    """Days of a link in one block or era."""

    aggregate: Key | None
    """The valid aggregate, unless some of its days were deleted since."""
    days: list[Key]
    blocks: Sequence[_Piece] = ()
    """Of an era, in place of its days."""


class _Task(NamedTuple):
    """What maintenance has to do for a link: at least one of the two."""

    outdated: list[int]
    """Days to delete."""
    blocks: list[tuple[int, list[int]]]
    """Blocks to aggregate, with their days."""


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in their order, at most `size` at a time."""
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk


def _pieces(
    session: Session, codes: Sequence[str], first: int, last: int, names: Names
) -> list[_Piece]:
    """Find the days of links from `first` to `last`, both included."""
    found = session.totals(codes).items()
    return [
        piece
        for code, totals in found
        for piece in _pieces_of(code, totals, range(first, last + 1), names)
    ]


def _pieces_of(code: str, totals: TotalsRecord, span: range, names: Names) -> Iterator[_Piece]:
    blocks = by_block(clip(days_of(totals.days), span[0], span[-1]))
    for era, in_era in groupby(blocks, lambda one: one[0] // BLOCKS_PER_ERA):
        pieces = []
        for block, days in in_era:
            is_valid = names is not Names.BY_DAY and block < totals.aggregated
            is_worth = len(days) >= MIN_BLOCK_DAYS and _covers(span, days_of_block(block))
            aggregate = (code, block) if is_valid and is_worth else None
            pieces.append(_Piece(aggregate, [(code, day) for day in days]))
        is_valid = names in (Names.NONE, Names.TOGETHER) and (
            (era + 1) * BLOCKS_PER_ERA <= totals.aggregated
        )
        if is_valid and _is_era(pieces) and _covers(span, _days_of_era(era)):
            yield _Piece(_era_key(code, era), [], pieces)
        else:
            yield from pieces


def _covers(span: range, days: range) -> bool:
    return days[0] in span and days[-1] in span


def _days_of_era(era: int) -> range:
    blocks = days_of_block(era * BLOCKS_PER_ERA)
    return range(blocks.start, blocks.start + BLOCKS_PER_ERA * BLOCK_DAYS)


def _is_era(blocks: Iterable[_Piece]) -> bool:
    """Return whether a link has enough days in an era for an aggregate."""
    return sum(len(block.days) for block in blocks) >= MIN_ERA_DAYS


def _era_key(code: str, era: int) -> Key:
    """Return the key of an era's aggregate. It has a negative number, unlike those of blocks."""
    return code, -1 - era


def _steps(pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """Divide pieces into steps of about `_DAYS_PER_STEP` days."""
    step: list[_Piece] = []
    size = 0
    for piece in pieces:
        step.append(piece)
        # An aggregate takes as long as a few days.
        size += MIN_BLOCK_DAYS if piece.aggregate else len(piece.days)
        if size >= _DAYS_PER_STEP:
            yield step
            step, size = [], 0
    if step:
        yield step


def _read_days(
    session: Session, pieces: Sequence[_Piece], take: Callable[[str, Day], None], named: bool
) -> None:
    aggregates = session.aggregates([piece.aggregate for piece in pieces if piece.aggregate])
    for (code, _), packed in aggregates.items():
        for day in days_in(packed, named=named):
            take(code, day)
    rest = [piece for piece in pieces if piece.aggregate not in aggregates]
    for (code, number), record in session.days([key for piece in rest for key in piece.days]):
        take(code, day_of(number, record, named=named))
    if blocks := [block for piece in rest for block in piece.blocks]:
        _read_days(session, blocks, take, named)


def _read_visited(
    session: Session,
    codes: Sequence[str],
    first: int,
    last: int,
    take: Callable[[str, list[range], int], None],
) -> None:
    for code, totals in session.totals(codes).items():
        if runs := list(clip(days_of(totals.days), first, last)):
            take(code, runs, totals.revision)


def _task(totals: TotalsRecord, end: int, kept_from: int | None) -> _Task | None:
    """Return the next task for a link, of bounded size."""
    runs = days_of(totals.days)
    if kept_from is not None:
        outdated = list(islice(chain.from_iterable(clip(runs, 0, kept_from - 1)), _DAYS_PER_STEP))
        if outdated:
            return _Task(outdated, [])
    lacking = by_block(clip(runs, totals.aggregated * BLOCK_DAYS, end * BLOCK_DAYS - 1))
    blocks = (one for one in lacking if len(one[1]) >= MIN_BLOCK_DAYS)
    some = list(islice(blocks, _DAYS_PER_STEP // BLOCK_DAYS))
    return _Task([], some) if some else None


def _maintain(
    session: Session, code: str, end: int, kept_from: int | None
) -> tuple[int, _Task | None]:
    """Do the next task for a link. Return how many days it deleted, and the task after it."""
    totals = session.totals([code]).get(code, TotalsRecord())
    task = _task(totals, end, kept_from)
    if task is None:
        return 0, None
    if task.outdated:
        session.delete_days([(code, day) for day in task.outdated])
        session.delete_aggregates(_aggregate_keys(code, task.outdated))
        left = clip(days_of(totals.days), task.outdated[-1] + 1, LAST_DAY)
        totals = totals._replace(days=pack(chain.from_iterable(left)))
    else:
        for block, days in task.blocks:
            piece = _Piece(None, [(code, day) for day in days])
            _aggregate(session, (code, block), [piece])
        before, after = totals.aggregated, task.blocks[-1][0] + 1
        totals = totals._replace(aggregated=after)
        for era in range(before // BLOCKS_PER_ERA, after // BLOCKS_PER_ERA):
            pieces = list(_pieces_of(code, totals, _days_of_era(era), Names.BY_BLOCK))
            if _is_era(pieces):
                _aggregate(session, _era_key(code, era), pieces)
    session.put_totals({code: totals})
    return len(task.outdated), _task(totals, end, kept_from)


def _aggregate(session: Session, key: Key, pieces: Sequence[_Piece]) -> None:
    """Store the aggregate of some pieces."""
    aggregate = Aggregate()
    _read_days(session, pieces, lambda _, day: aggregate.add(day), named=True)
    session.put_aggregates({key: aggregate.packed()})


def _aggregate_keys(code: str, days: Iterable[int]) -> list[Key]:
    """Return the keys of all aggregates that may have these days."""
    blocks = set(map(block_of, days))
    eras = {block // BLOCKS_PER_ERA for block in blocks}
    return [*((code, block) for block in blocks), *(_era_key(code, era) for era in eras)]


def _remove(session: Session, codes: Sequence[str]) -> list[str]:
    """Remove some links, `_DAYS_PER_STEP` days of them about; return the codes of the others."""
    found = session.totals(codes)
    days: list[Key] = []
    aggregates: list[Key] = []
    removed = []
    for code, totals in found.items():
        if len(days) >= _DAYS_PER_STEP:
            break
        own = list(chain.from_iterable(days_of(totals.days)))
        days += ((code, day) for day in own)
        aggregates += _aggregate_keys(code, own)
        removed.append(code)
    session.delete_aggregates(aggregates)
    session.delete_days(days)
    session.delete_totals(removed)
    return [code for code in found if code not in removed]
