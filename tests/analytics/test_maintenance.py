"""Background work: expired visitor keys and days."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from services.analytics.__main__ import STORE_FACTORIES
from services.analytics.application.maintenance import Maintenance, run
from services.analytics.application.ports import NameDetail
from services.analytics.application.store import AnalyticsStore
from services.analytics.application.visitor_keys import VisitorKeys
from services.analytics.domain.batches import Batch
from services.analytics.domain.visits import Totals, VisitCount, VisitKind
from services.analytics.metrics import DAYS_DELETED, KEYS_DELETED, KEYS_MADE
from services.shared.errors import Unavailable
from tests.support.store_fixtures import open_stores_at

TODAY = 20_513
MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)
"""The start of `TODAY`."""


class Clock:
    """A running clock that starts at a moment."""

    def __init__(self, moment: datetime) -> None:
        self._moment, self._start = moment, time.monotonic()

    def __call__(self) -> datetime:
        return self._moment + timedelta(seconds=time.monotonic() - self._start)


def files_with(folder: Path, key: bytes) -> list[str]:
    """Return the files that contain any eight consecutive bytes of a key."""
    parts = [key[start : start + 8] for start in range(len(key) - 7)]
    return [
        path.name
        for path in folder.iterdir()
        if any(part in data for data in (path.read_bytes(),) for part in parts)
    ]


async def run_maintenance(
    store: AnalyticsStore, now: Callable[[], datetime], retention_days: int | None = None
) -> None:
    await run(VisitorKeys(store, now), Maintenance(store, now, retention_days), now)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 (The condition is a file or a counter.)
            await asyncio.sleep(0.01)


async def test_an_expired_key_is_in_no_file(tmp_path: Path) -> None:
    now = Clock(MIDNIGHT - timedelta(seconds=0.5))
    made, deleted = KEYS_MADE._value.get(), KEYS_DELETED._value.get()
    async with open_stores_at(f"sqlite:///{tmp_path}/store", "analytics", STORE_FACTORIES) as store:
        keys = VisitorKeys(store, now)
        day, key = await keys.current()
        assert (day, len(key)) == (TODAY - 1, 32)
        assert await keys.current() == (day, key)
        assert files_with(tmp_path, key), "the search works"

        task = asyncio.create_task(run_maintenance(store, now))
        await until(lambda: KEYS_DELETED._value.get() > deleted)
        assert now() >= MIDNIGHT
        assert files_with(tmp_path, key) == []
        task.cancel()

        next_day, other = await keys.current()
        assert next_day == TODAY
        assert other != key
    assert files_with(tmp_path, key) == []
    assert KEYS_MADE._value.get() - made == 2


async def test_an_expired_key_is_deleted_before_the_next_is_returned(tmp_path: Path) -> None:
    moments = [MIDNIGHT - timedelta(seconds=1)]
    async with open_stores_at(f"sqlite:///{tmp_path}/store", "analytics", STORE_FACTORIES) as store:
        keys = VisitorKeys(store, lambda: moments[-1])
        _, key = await keys.current()
        moments.append(MIDNIGHT)
        with closing(sqlite3.connect(tmp_path / "store")) as backup:
            backup.execute("BEGIN")
            backup.execute("SELECT * FROM visitor_keys").fetchall()
            with pytest.raises(Unavailable) as unavailable:
                await keys.current()
            assert unavailable.value.reason == "STORE_BUSY"
            # Writers do not wait for it.
            visits = (VisitCount("abcdefgh", TODAY * 24, VisitKind.PERSON, {}, 1),)
            assert await store.apply(Batch("one", 1, visits), moments[-1])
        assert await keys.current() != (TODAY - 1, key)
        assert files_with(tmp_path, key) == []
        assert await store.totals(["abcdefgh"]) == {"abcdefgh": Totals(1, 0)}


async def test_an_interrupted_deletion_of_a_key_is_completed(tmp_path: Path) -> None:
    """The process ended after overwriting the row and before emptying the log."""
    async with open_stores_at(f"sqlite:///{tmp_path}/store", "analytics", STORE_FACTORIES) as store:
        keys = VisitorKeys(store, lambda: MIDNIGHT)
        _, key = await keys.current()
        with closing(sqlite3.connect(tmp_path / "store", isolation_level=None)) as other:
            other.execute("UPDATE visitor_keys SET key = x''")
        assert files_with(tmp_path, key)
        await VisitorKeys(store, lambda: MIDNIGHT + timedelta(days=1)).delete_expired()
        assert files_with(tmp_path, key) == []


async def test_days_are_deleted_after_the_retention_period(tmp_path: Path) -> None:
    visits = tuple(
        VisitCount("abcdefgh", (TODAY - ago) * 24, VisitKind.PERSON, {}, 1) for ago in range(20)
    )
    found: set[int] = set()
    deleted = DAYS_DELETED._value.get()
    async with open_stores_at(f"sqlite:///{tmp_path}/store", "analytics", STORE_FACTORIES) as store:
        await store.apply(Batch("one", 1, visits), MIDNIGHT)
        for retention_days in (None, 7):
            task = asyncio.create_task(run_maintenance(store, lambda: MIDNIGHT, retention_days))
            if retention_days:
                await until(lambda: DAYS_DELETED._value.get() == deleted + 12)
            task.cancel()
        await store.read_days(
            ["abcdefgh"], 0, TODAY, lambda _, day: found.add(day.day), NameDetail.NONE
        )
        assert await store.totals(["abcdefgh"]) == {"abcdefgh": Totals(20, 0)}
    assert found == set(range(TODAY - 7, TODAY + 1))


async def test_maintenance_continues_when_the_store_is_available_again() -> None:
    class UnavailableAtFirst:
        checks = 0

        async def delete_visitor_keys(self, today: int) -> int:
            self.checks += 1
            if self.checks == 1:
                raise Unavailable("away", "STORE_UNAVAILABLE")
            return 0

        async def maintain(self, *args: object) -> tuple[str | None, int]:
            return ("abcdefgh" if self.checks == 2 else None), 0

    store = UnavailableAtFirst()
    task = asyncio.create_task(run_maintenance(cast("AnalyticsStore", store), lambda: MIDNIGHT))
    await until(lambda: store.checks >= 3)
    task.cancel()
