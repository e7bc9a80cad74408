"""Batches that wait together, on both stores: they share transactions, lane by lane."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from services.analytics.__main__ import STORE_FACTORIES
from services.analytics.application.store import AnalyticsStore
from services.analytics.domain.batches import Batch
from services.analytics.domain.visits import Totals
from tests.analytics.cases import (
    BOT,
    DAY,
    NOW,
    PERSON,
    Model,
    get_database,
    visit,
    with_database,
)
from tests.support.crashing_database import CrashingDatabase
from tests.support.store_fixtures import NewStore, open_new_stores

Opened = Callable[[], AbstractAsyncContextManager[AnalyticsStore]]


@pytest.fixture
def opened(new_store: NewStore) -> Opened:
    """Opens a new, empty store each time."""
    return lambda: open_new_stores(new_store, "analytics", STORE_FACTORIES)


def lane_batch(gateway: str, lane: int, number: int = 1) -> Batch:
    """Return a batch of two links of a lane, the same ones for all gateways."""
    codes = [f"lane{lane:02}-{link}" for link in "ab"]
    visits = (
        visit(codes[0], host=f"{gateway}.example"),
        *(visit(code, kind=BOT) for code in codes),
    )
    visitors = {(DAY, codes[0]): frozenset({(len(gateway) + lane) << 20})}
    return Batch(f"{gateway}-{lane}", number, visits, visitors, lane)


async def test_batches_that_wait_are_added_in_one_transaction(opened: Opened) -> None:
    batches = [lane_batch(gateway, lane) for gateway in ("one", "three") for lane in (1, 2, 3)]
    model = Model()
    for batch in batches:
        model.apply(batch)
    async with opened() as store:
        faulty = CrashingDatabase(get_database(store))
        faulty.arm(1, done=False)  # The second transaction fails.
        process = with_database(store, faulty)
        applied = await asyncio.gather(
            *(process.apply(batch, NOW) for batch in (*batches, batches[0]))
        )
        assert applied == [True] * len(batches) + [False]
        codes = sorted({one.code for batch in batches for one in batch.visits})
        await model.check(store, codes, [DAY])


async def test_lanes_take_turns(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """The batches of a lane go together, and a busy lane does not delay the others."""
    done: list[str] = []

    async def send(batch: Batch) -> None:
        await store.apply(batch, NOW)
        done.append(batch.gateway_id)
        if batch.gateway_id == "one-1" and batch.number < 3:
            await send(lane_batch("one", 1, batch.number + 1))

    async with opened() as store:
        # Room for the two batches of a lane: four links and two gateways.
        monkeypatch.setattr(type(store), "codes_per_transaction", 6)
        batches = [lane_batch(gateway, lane) for gateway in ("one", "two") for lane in (3, 1, 2)]
        await asyncio.gather(*map(send, batches))
    assert [sorted(done[n : n + 2]) for n in (0, 2, 4)] == [
        [f"one-{lane}", f"two-{lane}"] for lane in (1, 2, 3)
    ]
    assert done[6:] == ["one-1"] * 2


async def test_a_batch_of_many_links_is_added_in_parts_beside_others(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the rest of a batch that an earlier process left incomplete."""
    monkeypatch.setattr(
        "services.analytics.storage.mongo.store.MongoStore.codes_per_transaction", 4
    )
    visits = tuple(visit(f"many-{n:03}", kind=kind) for n in range(10) for kind in (PERSON, BOT))
    large = Batch("large", 1, visits)
    async with opened() as store:
        faulty = CrashingDatabase(get_database(store))
        faulty.arm(1, done=False)
        process = with_database(store, faulty)
        await asyncio.gather(process.apply(large, NOW), return_exceptions=True)
        small = [Batch(f"small{n}", 1, (visit("many-009"),)) for n in range(3)]
        await asyncio.gather(*(store.apply(batch, NOW) for batch in (large, *small)))
        codes = [f"many-{n:03}" for n in range(10)]
        expected = {code: Totals(1, 1) for code in codes}
        assert await store.totals(codes) == {**expected, "many-009": Totals(4, 1)}
        assert not await store.apply(large, NOW)
