"""The analytics store over a database with transactions.

A batch is added in transactions of whole links. Each one reads the records of its links, adds the
batch, and writes them together with the progress of the gateway's batch. Every visit therefore
counts exactly once, regardless of resends and of where a process ends. Blocks of days of a busy
link are aggregated once they are over. The transaction that adds a late visit to a block also
invalidates its aggregate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import TypeVar

from services.analytics.application.ports import NameDetail, OnDay, OnVisitedDays
from services.analytics.domain.batches import Batch
from services.analytics.domain.day_ranges import block_number
from services.analytics.domain.visits import LAST_DAY, Totals
from services.analytics.metrics import count_unstored_names
from services.analytics.storage import day_reader, maintenance
from services.analytics.storage.batch_writer import Admission, BatchWriter
from services.analytics.storage.records import GatewayRecord, readable_totals
from services.analytics.storage.session import Backend, Session
from services.shared import unreadable_records
from services.shared.feed import FeedPage

T = TypeVar("T")

_CODES_PER_READ = 1000
"""Maximum links whose totals one read looks up."""
_LINKS_PER_STEP = 500
"""Maximum links that one step of maintenance looks at."""
_DECODING_ERRORS = (TypeError, ValueError, OverflowError)
"""Errors that damaged values cause. Any other error is a fault of the program."""


class Store:
    """An `AnalyticsStore` over a backend."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def apply(self, batch: Batch, now: datetime) -> bool:
        writer = BatchWriter(batch, now)
        admissions: list[Admission] = []
        codes = writer.codes

        def write_next(session: Session) -> bool | None:
            """Add a part of the batch. Return True if that was the last part, and None if not.

            Return False if the batch was complete before.
            """
            admissions.clear()
            last = session.gateway(batch.gateway_id) or GatewayRecord(0, None)
            if batch.number < last.batch or last == (batch.number, None):
                return False
            start = last.counted or 0 if last.batch == batch.number else 0
            end = start + self._backend.codes_per_transaction
            admissions.extend(writer.write(session, codes[start:end]))
            session.publish(codes[start:end], now)
            is_complete = end >= len(codes)
            counted = None if is_complete else end
            session.put_gateway(batch.gateway_id, GatewayRecord(batch.number, counted))
            return True if is_complete else None

        applied: bool | None = None
        size = min(len(codes), self._backend.codes_per_transaction)
        while applied is None:
            applied = await self._backend.write("analytics_apply", write_next, size)
            for admission in admissions:
                count_unstored_names(*admission)
        return applied

    async def changed_since(self, cursor: str | None) -> FeedPage:
        return await self._backend.changed_since(cursor)

    async def visitor_key(self, day: int, new_key: bytes) -> bytes:
        return await self._backend.visitor_key(day, new_key)

    async def delete_visitor_keys(self, today: int) -> int:
        return await self._backend.delete_visitor_keys(today)

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        found = await self._backend.read("analytics_totals", lambda session: session.totals(codes))
        readable = readable_totals(found)
        return {code: Totals(totals.people, totals.bots) for code, totals in readable.items()}

    async def read_days(
        self, codes: Sequence[str], first: int, last: int, on_day: OnDay, names: NameDetail
    ) -> None:
        with_names = names is not NameDetail.NONE
        for chunk in _chunks(dict.fromkeys(codes), _CODES_PER_READ):
            pieces = await self._backend.read(
                "analytics_days_of",
                partial(day_reader.find_pieces, codes=chunk, first=first, last=last, names=names),
            )
            for step in day_reader.divide_into_steps(pieces):
                await self._backend.read(
                    "analytics_days",
                    partial(
                        day_reader.read_pieces, pieces=step, on_day=on_day, with_names=with_names
                    ),
                )

    async def read_visited_days(
        self, codes: Sequence[str], first: int, last: int, on_visited_days: OnVisitedDays
    ) -> None:
        for chunk in _chunks(dict.fromkeys(codes), _CODES_PER_READ):
            await self._backend.read(
                "analytics_visited",
                partial(
                    day_reader.read_visited_days,
                    codes=chunk,
                    first=first,
                    last=last,
                    on_visited_days=on_visited_days,
                ),
            )

    async def first_day(self, codes: Sequence[str]) -> int | None:
        first_days: list[int] = []

        def on_visited_days(code: str, ranges: list[range], revision: int) -> None:
            first_days.append(ranges[0].start)

        await self.read_visited_days(codes, 0, LAST_DAY, on_visited_days)
        return min(first_days, default=None)

    async def maintain(
        self, after: str, before: int, retained_from: int | None
    ) -> tuple[str | None, int]:
        end = block_number(before)
        links = await self._backend.read(
            "analytics_links", lambda session: session.totals_after(after, _LINKS_PER_STEP)
        )
        readable = readable_totals(links)
        deleted = 0
        work = 0
        for code in links:
            after = code
            totals = readable.get(code)
            needs_work: object = totals is None or maintenance.next_task(totals, end, retained_from)
            while needs_work:
                try:
                    days, needs_work = await self._backend.write(
                        "analytics_maintain",
                        partial(
                            maintenance.run_next_task,
                            code=code,
                            end=end,
                            retained_from=retained_from,
                        ),
                    )
                except _DECODING_ERRORS as error:  # Would recur, so go on to the next link.
                    unreadable_records.report("totals", code, error)
                    break
                deleted += days
                work += maintenance.DAYS_PER_STEP // 4
            if work >= maintenance.DAYS_PER_STEP:
                break
        return (after if links else None), deleted

    async def remove(self, codes: Sequence[str]) -> None:
        remaining = list(dict.fromkeys(codes))
        while remaining:
            remaining = await self._backend.write(
                "analytics_remove", partial(maintenance.remove_links, codes=remaining)
            )


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in order, at most `size` at a time."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
