"""What the service does by itself when a day is over, and how many may read at once."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from services.analytics.__main__ import ADAPTERS
from services.analytics.application.maintenance import Maintenance, VisitorKeys, run
from services.analytics.application.ports import AnalyticsStore, Names
from services.analytics.application.query import (
    GROUP_LINKS,
    MAX_GROUP_READS,
    MAX_LARGE_READS,
    MAX_WAITING_PER_OWNER,
    Queries,
)
from services.analytics.domain.periods import Recent
from services.analytics.domain.statistics import Statistics
from services.analytics.domain.visits import Batch, Day, TooManyReads, Totals, VisitCount, VisitKind
from services.analytics.metrics import DAYS_DELETED, KEYS_DELETED, KEYS_MADE
from services.shared.errors import Unavailable
from tests.support.stores import opened_at

TODAY = 20_513
MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)
"""At which `TODAY` begins."""


class Clock:
    """Goes on from a moment."""

    def __init__(self, moment: datetime) -> None:
        self._moment, self._began = moment, time.monotonic()

    def __call__(self) -> datetime:
        return self._moment + timedelta(seconds=time.monotonic() - self._began)


def files_with(folder: Path, key: bytes) -> list[str]:
    """The files of a folder that have any eight bytes of a key."""
    parts = [key[start : start + 8] for start in range(len(key) - 7)]
    return [
        path.name
        for path in folder.iterdir()
        if any(part in data for data in (path.read_bytes(),) for part in parts)
    ]


async def run_upkeep(
    store: AnalyticsStore, now: Callable[[], datetime], kept_days: int | None = None
) -> None:
    await run(VisitorKeys(store, now), Maintenance(store, now, kept_days), now)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 (It shows in a file, or in a counter.)
            await asyncio.sleep(0.01)


async def test_no_file_has_the_key_of_a_day_once_it_is_over(tmp_path: Path) -> None:
    now = Clock(MIDNIGHT - timedelta(seconds=0.5))
    made, deleted = KEYS_MADE._value.get(), KEYS_DELETED._value.get()
    async with opened_at(f"sqlite:///{tmp_path}/store", "analytics", ADAPTERS) as store:
        keys = VisitorKeys(store, now)
        day, key = await keys.current()
        assert (day, len(key)) == (TODAY - 1, 32)
        assert await keys.current() == (day, key)
        assert files_with(tmp_path, key), "the search finds what is there"

        upkeep = asyncio.create_task(run_upkeep(store, now))
        await until(lambda: KEYS_DELETED._value.get() > deleted)
        assert now() >= MIDNIGHT
        assert files_with(tmp_path, key) == []
        upkeep.cancel()

        next_day, other = await keys.current()
        assert next_day == TODAY
        assert other != key
    assert files_with(tmp_path, key) == []
    assert KEYS_MADE._value.get() - made == 2


async def test_a_key_is_deleted_before_the_next_is_told(tmp_path: Path) -> None:
    moments = [MIDNIGHT - timedelta(seconds=1)]
    async with opened_at(f"sqlite:///{tmp_path}/store", "analytics", ADAPTERS) as store:
        keys = VisitorKeys(store, lambda: moments[-1])
        _, key = await keys.current()
        moments.append(MIDNIGHT)
        with closing(sqlite3.connect(tmp_path / "store")) as backup:
            backup.execute("BEGIN")
            backup.execute("SELECT * FROM visitor_keys").fetchall()
            with pytest.raises(Unavailable) as away:
                await keys.current()
            assert away.value.reason == "STORE_BUSY"
            # Whoever writes is not held up by it.
            visits = (VisitCount("abcdefgh", TODAY * 24, VisitKind.PERSON, {}, 1),)
            assert await store.apply(Batch("one", 1, visits), moments[-1])
        assert await keys.current() != (TODAY - 1, key)
        assert files_with(tmp_path, key) == []
        assert await store.totals(["abcdefgh"]) == {"abcdefgh": Totals(1, 0)}


async def test_what_a_kill_left_of_a_key_goes_with_the_next_look(tmp_path: Path) -> None:
    """The process ended after the row was overwritten, before the log was emptied."""
    async with opened_at(f"sqlite:///{tmp_path}/store", "analytics", ADAPTERS) as store:
        keys = VisitorKeys(store, lambda: MIDNIGHT)
        _, key = await keys.current()
        with closing(sqlite3.connect(tmp_path / "store", isolation_level=None)) as other:
            other.execute("UPDATE visitor_keys SET key = x''")
        assert files_with(tmp_path, key)
        await VisitorKeys(store, lambda: MIDNIGHT + timedelta(days=1)).forget()
        assert files_with(tmp_path, key) == []


async def test_days_go_when_they_were_kept_for_long_enough(tmp_path: Path) -> None:
    visits = tuple(
        VisitCount("abcdefgh", (TODAY - ago) * 24, VisitKind.PERSON, {}, 1) for ago in range(20)
    )
    found: set[int] = set()
    deleted = DAYS_DELETED._value.get()
    async with opened_at(f"sqlite:///{tmp_path}/store", "analytics", ADAPTERS) as store:
        await store.apply(Batch("one", 1, visits), MIDNIGHT)
        for kept in (None, 7):
            upkeep = asyncio.create_task(run_upkeep(store, lambda: MIDNIGHT, kept))
            if kept:
                await until(lambda: DAYS_DELETED._value.get() == deleted + 12)
            upkeep.cancel()
        await store.days(["abcdefgh"], 0, TODAY, lambda _, day: found.add(day.day), Names.NONE)
        assert await store.totals(["abcdefgh"]) == {"abcdefgh": Totals(20, 0)}
    assert found == set(range(TODAY - 7, TODAY + 1))


@pytest.mark.parametrize("codes", [["abcdefgh"], ["abcdefgh", "ABCDEFGH"]])
async def test_days_that_are_not_kept_are_never_told_as_days_without_visits(
    tmp_path: Path, codes: list[str]
) -> None:
    kept_from = (MIDNIGHT - timedelta(days=30)).date()
    visits = tuple(VisitCount(code, TODAY * 24, VisitKind.PERSON, {}, 1) for code in codes)
    async with opened_at(f"sqlite:///{tmp_path}/store", "analytics", ADAPTERS) as store:
        await store.apply(Batch("one", 1, visits), MIDNIGHT)
        service = Queries(store, lambda: MIDNIGHT, 30)

        async def told(wanted: Recent) -> tuple[bool, date | None]:
            found = await service.statistics(codes, wanted, "UTC", 0)
            assert found.totals.people == len(codes)
            return found.previous is not None, found.kept_from

        assert await told(Recent.WEEK) == (True, None)
        assert await told(Recent.MONTH) == (False, None)
        assert await told(Recent.YEAR) == (False, kept_from)
        assert await told(Recent.ALL) == (False, None)


async def test_upkeep_goes_on_when_the_store_is_back() -> None:
    class Away:
        looks = 0

        async def forget_keys(self, today: int) -> int:
            self.looks += 1
            if self.looks == 1:
                raise Unavailable("away", "STORE_UNAVAILABLE")
            return 0

        async def maintain(self, *args: object) -> tuple[str | None, int]:
            return ("abcdefgh" if self.looks == 2 else None), 0

    store = Away()
    upkeep = asyncio.create_task(run_upkeep(cast("AnalyticsStore", store), lambda: MIDNIGHT))
    await until(lambda: store.looks >= 3)
    upkeep.cancel()


class Slow:
    """A store that hands out no day until it may."""

    def __init__(self) -> None:
        self.may = asyncio.Event()
        self.running: list[int] = []

    async def first_day(self, codes: Sequence[str]) -> int:
        return 0

    async def days(
        self,
        codes: Sequence[str],
        first: int,
        last: int,
        take: Callable[[str, Day], None],
        names: Names,
    ) -> None:
        self.running.append(len(codes))
        await self.may.wait()

    async def visited(
        self,
        codes: Sequence[str],
        first: int,
        last: int,
        take: Callable[[str, list[range], int], None],
    ) -> None:
        self.running.append(len(codes))
        await self.may.wait()


LARGE = GROUP_LINKS + 1


class Reading:
    """Asks a service over a slow store for statistics."""

    def __init__(self) -> None:
        self.store = Slow()
        self._service = Queries(cast("AnalyticsStore", self.store), lambda: MIDNIGHT)

    def read(self, links: int, top: int = 0, owner: str = "") -> asyncio.Task[Statistics]:
        codes = [f"code{n:04}" for n in range(links)]
        reading = self._service.statistics(codes, Recent.ALL, "UTC", top, owner)
        return asyncio.create_task(reading)

    async def begin(
        self, *readings: tuple[int, int], owner: str = ""
    ) -> list[asyncio.Task[Statistics]]:
        """Begin readings of so many links and of so many of the first; each takes its place."""
        tasks = [self.read(*reading, owner=owner) for reading in readings]
        for _ in range(5):
            await asyncio.sleep(0)
        return tasks


async def test_an_owner_who_asks_for_too_much_is_rejected_and_no_other() -> None:
    reading = Reading()
    tasks = []
    for links, max_running in ((1, 1), (LARGE, MAX_LARGE_READS), (GROUP_LINKS, MAX_GROUP_READS)):
        taken = max(1, max_running // 2) + MAX_WAITING_PER_OWNER
        tasks += await reading.begin(*((links, top) for top in range(taken)), owner="one")
        with pytest.raises(TooManyReads) as refused:
            await reading.read(links, taken, owner="one")
        assert refused.value.reason == "TOO_MANY_READS"
        assert refused.value.retry_after
        tasks += await reading.begin((links, taken), owner="two")
        assert not tasks[-1].done(), "another owner has a share of its own"
    assert sorted(reading.store.running) == [1, LARGE], "those of more than one take turns"
    reading.store.may.set()
    await asyncio.gather(*tasks)
    assert (await reading.read(0)).totals.people == 0


async def test_without_an_owner_the_first_link_stands_for_it() -> None:
    reading = Reading()
    taken = MAX_LARGE_READS // 2 + MAX_WAITING_PER_OWNER
    tasks = await reading.begin(*((LARGE, top) for top in range(taken)))
    with pytest.raises(TooManyReads):
        await reading.read(LARGE, taken)
    reading.store.may.set()
    await asyncio.gather(*tasks)


async def test_callers_with_the_same_question_share_a_reading_until_the_last_gives_up() -> None:
    reading = Reading()
    for _ in range(3 * MAX_WAITING_PER_OWNER):
        [given_up] = await reading.begin((LARGE, 0))
        given_up.cancel()
        await asyncio.wait([given_up])  # It ended: none is rejected after it.
    one, two = await reading.begin((LARGE, 0), (LARGE, 0))
    reading.store.running.clear()
    one.cancel()
    await asyncio.wait([one])
    reading.store.may.set()
    await two
    assert len(reading.store.running) <= 1, "it is read once, and goes on for the other"
