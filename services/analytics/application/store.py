"""The analytics store over a database with transactions.

Visits are added in transactions of whole links (`batch_queue`). Each one reads the records of its
links, adds the visits, and writes them together with the progress of the gateways' batches. Every
visit therefore counts exactly once, regardless of resends and of where a process ends.

Blocks of days of a busy link are aggregated once they are over. The transaction that adds a late
visit to a block also invalidates its aggregate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import islice

from services.analytics.application import day_reader, link_maintenance
from services.analytics.application.batch_queue import BatchQueue
from services.analytics.application.ports import NameDetail, OnDay, OnVisitedDays, Session, T, Work
from services.analytics.application.records import (
    TOTALS,
    readable_totals,
    unpack_visits,
)
from services.analytics.domain.batches import Batch
from services.analytics.domain.day_ranges import block_number
from services.analytics.domain.visits import LAST_DAY, Totals
from services.shared import unreadable_records
from services.shared.feed import FeedPage

_CODES_PER_READ = 1000
"""Maximum links whose totals one read looks up."""
_LINKS_PER_STEP = 500
"""Maximum links that one step of maintenance looks at."""
_DECODING_ERRORS = (TypeError, ValueError, OverflowError)
"""Errors that damaged values cause. Any other error is a fault of the program."""


class AnalyticsStore(ABC):
    """Totals and days of links, the feed of their changes, and the daily keys of visitors.

    Every method raises Unavailable if the database cannot be reached.
    """

    codes_per_transaction: int
    """Maximum links to which one transaction adds visits."""

    def __init__(self) -> None:
        self._queue = BatchQueue(
            partial(self._write, "analytics_apply"), lambda: self.codes_per_transaction
        )

    async def apply(self, batch: Batch, now: datetime) -> bool:
        """Add a batch exactly once. Return False if it was complete before this call.

        A batch is complete if its number is not above the gateway's last one. If it is the last one
        and a failure left it incomplete, the call adds the rest.
        """
        return await self._queue.apply(batch, now)

    async def visits_on(self, days: Sequence[int]) -> list[int]:
        """Return the visits of people and bots to all links on each of some recent days.

        Sums what each gateway sent, whose record has its visits of the current and the previous
        day. Removed links are included.
        """

        def read(session: Session) -> list[int]:
            by_day = Counter[int]()
            for record in session.gateways():
                by_day.update(unpack_visits(record.visits) if record.visits else {})
            return [by_day[day] for day in days]

        return await self._read("analytics_visits", read)

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        """Return totals by code. Links without visits are absent."""
        readable = await self._read(
            "analytics_totals", lambda session: readable_totals(session.find(TOTALS, codes))
        )
        return {code: Totals(totals.people, totals.bots) for code, totals in readable.items()}

    async def read_days(
        self, codes: Sequence[str], first: int, last: int, on_day: OnDay, names: NameDetail
    ) -> None:
        """Call `on_day` with the links' days from `first` to `last`, both included, in any order.

        `on_day` must not block. It is called in another thread, once at a time.
        """
        with_names = names is not NameDetail.NONE
        for chunk in chunks(dict.fromkeys(codes), _CODES_PER_READ):
            pieces = await self._read(
                "analytics_days_of",
                partial(day_reader.find_pieces, codes=chunk, first=first, last=last, names=names),
            )
            for step in day_reader.divide_into_steps(pieces):
                await self._read(
                    "analytics_days",
                    partial(
                        day_reader.read_pieces, pieces=step, on_day=on_day, with_names=with_names
                    ),
                )

    async def read_visited_days(
        self, codes: Sequence[str], first: int, last: int, on_visited_days: OnVisitedDays
    ) -> None:
        """Call `on_visited_days` with each link's days with visits from `first` to `last`.

        The revision changes with each batch that adds visits to a day before yesterday. Cached data
        of such days is valid as long as the days with visits and the revision are the same. Calls
        are as in `read_days`.
        """
        for chunk in chunks(dict.fromkeys(codes), _CODES_PER_READ):
            await self._read(
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
        """Return the first day on which any of these links has visits."""
        first_days: list[int] = []

        def on_visited_days(code: str, ranges: list[range], revision: int) -> None:
            first_days.append(ranges[0].start)

        await self.read_visited_days(codes, 0, LAST_DAY, on_visited_days)
        return min(first_days, default=None)

    async def maintain(
        self, after: str, before: int, retained_from: int | None
    ) -> tuple[str | None, int]:
        """Maintain the next links after the code `after`, with a bounded amount of work.

        Aggregates blocks that ended before the day `before`, and deletes days before
        `retained_from`. Totals do not change. Return the code of the last link, or None after the
        last of all links, and the number of deleted days.
        """
        end = block_number(before)
        links = await self._read(
            "analytics_links", lambda session: session.totals_after(after, _LINKS_PER_STEP)
        )
        readable = readable_totals(links.items())
        deleted = 0
        work = 0
        for code in links:
            after = code
            totals = readable.get(code)
            needs_work: object = totals is None or link_maintenance.next_task(
                totals, end, retained_from
            )
            while needs_work:
                try:
                    days, needs_work = await self._write(
                        "analytics_maintain",
                        partial(
                            link_maintenance.run_next_task,
                            code=code,
                            end=end,
                            retained_from=retained_from,
                        ),
                    )
                except _DECODING_ERRORS as error:  # Would recur, so go on to the next link.
                    unreadable_records.report("totals", code, error)
                    break
                deleted += days
                work += link_maintenance.DAYS_PER_STEP // 4
            if work >= link_maintenance.DAYS_PER_STEP:
                break
        return (after if links else None), deleted

    async def remove(self, codes: Sequence[str]) -> None:
        """Delete all counts of links, link by link. Later visits count from zero."""
        remaining = list(dict.fromkeys(codes))
        while remaining:
            remaining = await self._write(
                "analytics_remove", partial(link_maintenance.remove_links, codes=remaining)
            )

    @abstractmethod
    async def changed_since(self, cursor: str | None) -> FeedPage:
        """Return codes with visits after a cursor. Without a cursor, return the current one.

        A page has at most `MAX_CHANGES` codes. A visit is in the feed as soon as it is counted:
        totals that are read after a page are at least as recent as the page. The feed may contain
        codes whose totals did not change.
        """

    @abstractmethod
    async def visitor_key(self, day: int, new_key: bytes) -> bytes:
        """Return the key of a day. The first call stores `new_key` for all callers."""

    @abstractmethod
    async def delete_visitor_keys(self, today: int) -> int:
        """Delete the keys of all days but `today` and tomorrow, from every file of the store.

        Tomorrow's key may belong to a replica whose clock is ahead; keys of later days come from a
        wrong clock. Return the number of deleted keys. Raises Unavailable if any may remain.
        """

    @abstractmethod
    async def _read(self, name: str, work: Work[T]) -> T:
        """Run reads in a thread. `name` labels them in the metrics."""

    @abstractmethod
    async def _write(self, name: str, work: Work[T]) -> T:
        """Run a transaction in a thread. Repeat it after conflicts."""


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in order, at most `size` at a time."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
