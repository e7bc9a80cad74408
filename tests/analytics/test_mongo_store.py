"""What replicas of analytics that share a MongoDB database promise beside what every store does."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

import pytest

from services.analytics.application.ports import AnalyticsStore
from services.analytics.domain.visits import Batch, Dimension
from services.analytics.storage import store as stores
from services.analytics.storage.mongo import store as mongo_store
from services.shared import mongo
from tests.analytics.cases import (
    BOT,
    CODE,
    DAY,
    NOW,
    PERSON,
    REFERRER,
    Model,
    added_up,
    maintained,
    visit,
)
from tests.support.faulty import Crash, Faulty
from tests.support.mongo import server

CODES = ("abcdefgh", "ABCDEFGH", "--------")


@asynccontextmanager
async def replicas(server_url: str, count: int) -> AsyncIterator[list[mongo.Database]]:
    """Open one new database as several processes do."""
    async with AsyncExitStack() as stack:
        url = stack.enter_context(server.database(server_url))
        opened = []
        for _ in range(count):
            database = mongo.opened(url, "", mongo_store.SCHEMA)
            opened.append(await stack.enter_async_context(database))
            await opened[-1].prepared()
        yield opened


def random_batch(chance: random.Random, gateway: str, number: int) -> Batch:
    visits = []
    visitors: dict[tuple[int, str], frozenset[int]] = {}
    for _ in range(chance.randint(1, 12)):
        code, day = chance.choice(CODES), DAY + chance.randint(30, 33)
        one = visit(
            code,
            day * 24 + chance.randint(0, 23),
            chance.choice((PERSON, PERSON, BOT)),
            chance.choice(("", "a.example", "b.example")),
            chance.randint(1, 5),
            {Dimension.BROWSER: chance.choice(("", "Firefox", "Chrome"))},
        )
        visits.append(one)
        if one.kind is PERSON:
            # Each in a register of its own, so that a sketch tells exactly how many.
            numbers = {chance.randrange(8) << 20 for _ in range(chance.choice((1, 2)))}
            visitors[day, code] = visitors.get((day, code), frozenset()) | numbers
    return Batch(gateway, number, tuple(visits), visitors)


@pytest.mark.parametrize("seed", range(6))
async def test_replicas_that_end_anywhere_count_every_visit_once(
    mongo_server: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(mongo_store._Backend, "codes_per_transaction", chance.choice((1, 2, 500)))
    model = Model()

    async def gateway(name: str, databases: list[mongo.Database]) -> None:
        """Send batch after batch, each until it is acknowledged, to replicas that end at writes."""
        for number in range(1, 9):
            batch = random_batch(chance, name, number)
            model.apply(batch)
            for turn in range(10):
                faulty = Faulty(chance.choice(databases))
                store = mongo_store.store(cast("mongo.Database", faulty))
                if turn < 9 and chance.random() < 0.7:
                    faulty.arm(chance.randint(0, 4), done=chance.random() < 0.5)
                try:
                    await store.apply(batch, NOW)
                except Crash:
                    continue
                break

    async with replicas(mongo_server, 2) as databases:
        await asyncio.gather(*(gateway(name, databases) for name in ("one", "two", "three")))
        await model.check(mongo_store.store(databases[0]), CODES, range(DAY + 30, DAY + 34))


@pytest.mark.parametrize("writes", range(3))
@pytest.mark.parametrize("done", [False, True])
async def test_maintenance_that_ended_goes_on(
    mongo_server: str, writes: int, done: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "_DAYS_PER_STEP", 32)
    visits = tuple(visit(hour=24 * (DAY + n), host=f"h{n % 3}") for n in range(96))
    async with replicas(mongo_server, 1) as (database,):
        store = mongo_store.store(database)
        await store.apply(Batch("one", 1, visits), NOW)
        kept = await added_up(store, [CODE], DAY + 40, DAY + 200)
        faulty = Faulty(database)
        faulty.arm(writes, done=done)
        ended = mongo_store.store(cast("mongo.Database", faulty))
        with pytest.raises(Crash):
            await maintained(ended, DAY + 96, DAY + 40)
        await maintained(store, DAY + 96, DAY + 40)
        assert await store.first_day([CODE]) == DAY + 40
        assert await added_up(store, [CODE], 0, DAY + 200) == kept
        left = await database.read("", lambda db: db.days.count_documents({}))
        assert left == 96 - 40


async def test_what_another_replica_counts_during_maintenance_is_in_every_sum(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits = tuple(visit(hour=24 * (DAY + n), host=f"h{n % 3}") for n in range(96))
    late = Batch("two", 1, (visit(hour=24 * (DAY + 40), host="late"),))
    async with replicas(mongo_server, 2) as databases:
        store, other = map(mongo_store.store, databases)
        await store.apply(Batch("one", 1, visits), NOW)
        counted = await meanwhile(monkeypatch, other, late, lambda: maintained(store, DAY + 96))
        assert counted == 1
        for _ in range(2):
            found = await added_up(store, [CODE], DAY, DAY + 95)
            assert found.names[REFERRER, "late"] == 1
            assert sum(found.people.values()) == 97
            await maintained(store, DAY + 97)


async def meanwhile(
    monkeypatch: pytest.MonkeyPatch, store: AnalyticsStore, batch: Batch, run: Callable[[], Any]
) -> int:
    """Run maintenance, and count a batch before its first transaction ends. Return how often."""
    loop = asyncio.get_running_loop()
    aggregate = stores._aggregate
    counted = 0

    def interrupted(*args: Any) -> None:
        nonlocal counted
        aggregate(*args)
        if not counted:
            counted += 1
            asyncio.run_coroutine_threadsafe(store.apply(batch, NOW), loop).result(10)

    monkeypatch.setattr(stores, "_aggregate", interrupted)
    await run()
    return counted
