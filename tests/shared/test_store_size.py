"""The size of a store and its metrics."""

from __future__ import annotations

import asyncio
import math
import os
from datetime import UTC, datetime

import pymongo
import pytest
from prometheus_client import REGISTRY

from services.analytics.__main__ import STORE_FACTORIES
from services.analytics.domain.batches import Batch
from services.analytics.domain.visits import VisitCount, VisitKind
from services.shared import background, stores
from services.shared.errors import Unavailable
from services.shared.observability import store_size
from services.shared.observability.store_size import StoreSize
from tests.support.store_fixtures import NewStore

_NOW = datetime(2026, 3, 1, tzinfo=UTC)


def many_visits(number: int) -> Batch:
    visits = tuple(
        VisitCount(f"c{number}-{n:05}", 492_312, VisitKind.PERSON, {}, 1) for n in range(3000)
    )
    return Batch("one", number, visits)


async def test_the_size_grows_with_the_data(new_store: NewStore) -> None:
    with new_store() as setting:
        async with stores.open_stores(setting, "analytics", STORE_FACTORIES) as (store, database):
            await database.wait_for_schema()
            before = await database.size()
            for number in (1, 2, 3):
                await store.apply(many_visits(number), _NOW)
            if setting.startswith("mongodb"):
                with pymongo.MongoClient[dict[str, object]](setting) as client:
                    client.admin.command(
                        "fsync"
                    )  # The server reports the size at the last checkpoint.
            after = await database.size()
    assert after.bytes > before.bytes + 50_000


async def test_the_size_of_a_file_includes_its_log(new_sqlite: NewStore) -> None:
    with new_sqlite() as setting:
        async with stores.open_stores(setting, "analytics", STORE_FACTORIES) as (store, database):
            await store.apply(many_visits(1), _NOW)
            file = setting.removeprefix("sqlite:///")
            os.truncate(f"{file}-wal", 10 << 20)
            size = await database.size()
            assert size.bytes == os.stat(file).st_size + (10 << 20)
            disk = os.statvfs(file)
            assert size.free is not None
            assert 0 <= size.free < disk.f_blocks * disk.f_frsize
            os.unlink(file)
            with pytest.raises(Unavailable) as refused:
                await database.size()
            assert refused.value.reason == "STORE_FILE_GONE"


class Store:
    """Returns the given sizes one by one, then the last one repeatedly."""

    def __init__(self, *sizes: StoreSize | Unavailable) -> None:
        self._sizes = list(sizes)
        self.read = asyncio.Event()

    async def size(self) -> StoreSize:
        size = self._sizes.pop(0) if len(self._sizes) > 1 else self._sizes[0]
        if len(self._sizes) == 1:
            self.read.set()
        if isinstance(size, Unavailable):
            raise size
        return size


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [
        ([StoreSize(10, 90)], (10, 100)),
        ([StoreSize(10, 90), StoreSize(30, 60)], (30, 90)),
        ([StoreSize(10, None)], (10, math.inf)),
        # After an error, the last value stays and measuring continues.
        ([StoreSize(10, 90), Unavailable("It is away.", "STORE_UNAVAILABLE")], (10, 100)),
        ([Unavailable("It is away.", "STORE_UNAVAILABLE"), StoreSize(20, 80)], (20, 100)),
    ],
)
async def test_metrics_show_the_last_measured_size(
    sizes: list[StoreSize | Unavailable],
    shown: tuple[float, float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert store_size.INTERVAL_SECONDS == 60
    monkeypatch.setattr(store_size, "INTERVAL_SECONDS", 0)
    store = Store(*sizes)
    watching = background.start_task(store_size.watch(store.size), "store_size")
    await store.read.wait()
    await asyncio.sleep(0)
    assert not watching.done()
    watching.cancel()
    await asyncio.wait([watching])
    exported = (
        REGISTRY.get_sample_value("atajo_store_bytes"),
        REGISTRY.get_sample_value("atajo_store_limit_bytes"),
    )
    assert exported == shown
