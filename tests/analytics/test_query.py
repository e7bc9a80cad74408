"""Limits of concurrent reads, and statistics with a retention period."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from services.analytics.__main__ import STORE_FACTORIES
from services.analytics.application.ports import NameDetail, OnDay, OnVisitedDays
from services.analytics.application.query import (
    GROUP_LINKS,
    MAX_GROUP_READS,
    MAX_LARGE_READS,
    MAX_WAITING_PER_OWNER,
    Queries,
)
from services.analytics.application.store import AnalyticsStore
from services.analytics.domain.batches import Batch
from services.analytics.domain.errors import TooManyReads
from services.analytics.domain.periods import RecentPeriod
from services.analytics.domain.statistics import Statistics
from services.analytics.domain.visits import VisitCount, VisitKind
from tests.support.store_fixtures import open_stores_at

TODAY = 20_513
MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)
"""The start of `TODAY`."""


@pytest.mark.parametrize("codes", [["abcdefgh"], ["abcdefgh", "ABCDEFGH"]])
async def test_periods_before_the_retention_period_are_marked(
    tmp_path: Path, codes: list[str]
) -> None:
    retained_from = (MIDNIGHT - timedelta(days=30)).date()
    visits = tuple(VisitCount(code, TODAY * 24, VisitKind.PERSON, {}, 1) for code in codes)
    async with open_stores_at(f"sqlite:///{tmp_path}/store", "analytics", STORE_FACTORIES) as store:
        await store.apply(Batch("one", 1, visits), MIDNIGHT)
        queries = Queries(store, lambda: MIDNIGHT, 30)

        async def read(recent: RecentPeriod) -> tuple[bool, date | None]:
            found = await queries.statistics(codes, recent, "UTC", 0)
            assert found.totals.people == len(codes)
            return found.previous is not None, found.retained_from

        assert await read(RecentPeriod.WEEK) == (True, None)
        assert await read(RecentPeriod.MONTH) == (False, None)
        assert await read(RecentPeriod.YEAR) == (False, retained_from)
        assert await read(RecentPeriod.ALL) == (False, None)


class BlockedStore:
    """A store whose reads wait until `proceed` is set."""

    def __init__(self) -> None:
        self.proceed = asyncio.Event()
        self.reads: list[int] = []
        """The number of links of each read that started."""

    async def first_day(self, codes: Sequence[str]) -> int:
        return 0

    async def read_days(
        self, codes: Sequence[str], first: int, last: int, on_day: OnDay, names: NameDetail
    ) -> None:
        self.reads.append(len(codes))
        await self.proceed.wait()

    async def read_visited_days(
        self, codes: Sequence[str], first: int, last: int, on_visited_days: OnVisitedDays
    ) -> None:
        self.reads.append(len(codes))
        await self.proceed.wait()


LARGE = GROUP_LINKS + 1


class Reader:
    """Reads statistics from a blocked store."""

    def __init__(self) -> None:
        self.store = BlockedStore()
        self._queries = Queries(cast("AnalyticsStore", self.store), lambda: MIDNIGHT)

    def read(self, links: int, top: int = 0, owner: str = "") -> asyncio.Task[Statistics]:
        codes = [f"code{n:04}" for n in range(links)]
        return asyncio.create_task(
            self._queries.statistics(codes, RecentPeriod.ALL, "UTC", top, owner)
        )

    async def start(
        self, *arguments: tuple[int, int], owner: str = ""
    ) -> list[asyncio.Task[Statistics]]:
        """Start reads with a number of links and a length of the ranking, and let them queue."""
        tasks = [self.read(*each, owner=owner) for each in arguments]
        for _ in range(5):
            await asyncio.sleep(0)
        return tasks


async def test_an_owner_with_too_many_reads_is_rejected() -> None:
    reader = Reader()
    tasks = []
    for links, max_running in ((1, 1), (LARGE, MAX_LARGE_READS), (GROUP_LINKS, MAX_GROUP_READS)):
        allowed = max(1, max_running // 2) + MAX_WAITING_PER_OWNER
        tasks += await reader.start(*((links, top) for top in range(allowed)), owner="one")
        with pytest.raises(TooManyReads) as rejected:
            await reader.read(links, allowed, owner="one")
        assert rejected.value.reason == "TOO_MANY_READS"
        assert rejected.value.retry_after
        tasks += await reader.start((links, allowed), owner="two")
        assert not tasks[-1].done(), "another owner has its own share"
    assert sorted(reader.store.reads) == [1, LARGE], "reads of groups run one step at a time"
    reader.store.proceed.set()
    await asyncio.gather(*tasks)
    assert (await reader.read(0)).totals.people == 0


async def test_without_an_owner_the_first_code_takes_its_place() -> None:
    reader = Reader()
    allowed = MAX_LARGE_READS // 2 + MAX_WAITING_PER_OWNER
    tasks = await reader.start(*((LARGE, top) for top in range(allowed)))
    with pytest.raises(TooManyReads):
        await reader.read(LARGE, allowed)
    reader.store.proceed.set()
    await asyncio.gather(*tasks)


async def test_equal_calls_share_a_read_until_the_last_is_cancelled() -> None:
    reader = Reader()
    for _ in range(3 * MAX_WAITING_PER_OWNER):
        [cancelled] = await reader.start((LARGE, 0))
        cancelled.cancel()
        await asyncio.wait([cancelled])  # Its read ended, so none of the next is rejected.
    one, two = await reader.start((LARGE, 0), (LARGE, 0))
    reader.store.reads.clear()
    one.cancel()
    await asyncio.wait([one])
    reader.store.proceed.set()
    await two
    assert len(reader.store.reads) <= 1, "one read continues for the other caller"
