"""Batches that wait together, on both stores: they share transactions, lane by lane."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

import pytest

from services.analytics.application.records import GatewayRecord
from services.analytics.domain.batches import Batch
from services.analytics.domain.visits import Totals
from services.shared.errors import Unavailable
from tests.analytics.cases import (
    BOT,
    DAY,
    NOW,
    PERSON,
    Model,
    Opened,
    get_database,
    visit,
    with_database,
)
from tests.support.crashing_database import CrashingDatabase


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
        codes = sorted({row.code for batch in batches for row in batch.visits})
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


class GatedDatabase(CrashingDatabase):
    """A database whose transactions are counted, and wait until the gate is open."""

    def __init__(self, database: Any) -> None:
        super().__init__(database)
        self.transactions = 0
        self.began = asyncio.Event()
        self.gate = asyncio.Event()

    async def _write(self, write: Any, name: str, operation: Any) -> Any:
        self.transactions += 1
        self.began.set()
        await self.gate.wait()
        return await super()._write(write, name, operation)


async def test_a_resend_takes_the_place_of_a_batch_whose_caller_gave_up(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, a store that is late has more to do with each resend."""
    first, late = lane_batch("one", 1), lane_batch("one", 2)
    async with opened() as store:
        monkeypatch.setattr(type(store), "codes_per_transaction", 6)
        gated = GatedDatabase(get_database(store))
        process = with_database(store, gated)
        applying = [asyncio.create_task(process.apply(first, NOW))]
        await gated.began.wait()
        for _ in range(3):
            given_up = asyncio.create_task(process.apply(late, NOW))
            await asyncio.sleep(0)
            given_up.cancel()
            await asyncio.wait([given_up])
        applying.append(asyncio.create_task(process.apply(late, NOW)))
        await asyncio.sleep(0)
        gated.gate.set()
        assert await asyncio.gather(*applying) == [True, True]
        assert gated.transactions == 2


async def test_a_batch_that_the_store_cannot_take_does_not_hold_up_others(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened() as store:
        session_class = cast("Any", sys.modules[type(store).__module__])._Session
        put_gateways = session_class.put_gateways

        def put(session: Any, records: Mapping[str, GatewayRecord]) -> None:
            if "one-3" in records:
                raise Unavailable("The store is away.", "STORE_UNAVAILABLE")
            put_gateways(session, records)

        monkeypatch.setattr(session_class, "put_gateways", put)

        async def send(batch: Batch) -> bool | None:
            """Send a batch as a gateway does, but not for ever."""
            for _ in range(30):
                with suppress(Unavailable):
                    return await store.apply(batch, NOW)
            return None

        sent = await asyncio.gather(*(send(lane_batch("one", lane)) for lane in range(1, 8)))
        assert sent == [True, True, None, True, True, True, True]


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
