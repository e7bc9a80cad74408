"""Replicas of analytics that share a MongoDB database."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any, cast

import pytest
from pymongo import MongoClient

from services.analytics.application import link_maintenance
from services.analytics.application.records import DAYS, DayRecord
from services.analytics.application.store import AnalyticsStore
from services.analytics.domain.batches import Batch
from services.analytics.domain.visits import Dimension
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
    add_up,
    maintain_all,
    open_replicas,
    visit,
)
from tests.support.crashing_database import Crash, CrashingDatabase
from tests.support.mongo import server

CODES = ("abcdefgh", "ABCDEFGH", "--------")


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
            # Each visitor has its own register, so that estimates are exact.
            numbers = {chance.randrange(8) << 20 for _ in range(chance.choice((1, 2)))}
            visitors[day, code] = visitors.get((day, code), frozenset()) | numbers
    return Batch(gateway, number, tuple(visits), visitors)


@pytest.mark.parametrize("seed", range(6))
async def test_replicas_that_crash_at_any_write_count_every_visit_once(
    mongo_server: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(mongo_store.MongoStore, "codes_per_transaction", chance.choice((1, 2, 500)))
    model = Model()

    async def gateway(name: str, databases: list[mongo.Database]) -> None:
        """Send batches, each until it is acknowledged, to replicas that crash at writes."""
        for number in range(1, 9):
            batch = random_batch(chance, name, number)
            model.apply(batch)
            for attempt in range(10):
                faulty = CrashingDatabase(chance.choice(databases))
                store = mongo_store.MongoStore(cast("mongo.Database", faulty))
                if attempt < 9 and chance.random() < 0.7:
                    faulty.arm(chance.randint(0, 4), done=chance.random() < 0.5)
                try:
                    await store.apply(batch, NOW)
                except Crash:
                    continue
                break

    async with open_replicas(mongo_server, 2) as databases:
        await asyncio.gather(*(gateway(name, databases) for name in ("one", "two", "three")))
        await model.check(mongo_store.MongoStore(databases[0]), CODES, range(DAY + 30, DAY + 34))


def test_days_of_the_maximum_size_are_stored_together(mongo_server: str) -> None:
    """All those of a transaction take more bytes than a command."""
    days = {(f"code{n:04}", DAY): DayRecord(bytes(56_000), bytes(4096)) for n in range(1000)}
    with server.database(mongo_server) as url, MongoClient[Any](url) as client:
        session = cast("Any", mongo_store)._Session(client.get_default_database(), None)
        session.put(DAYS, days, days.keys())
        session.put(DAYS, days)
        assert client.get_default_database().days.count_documents({}) == len(days)


@pytest.mark.parametrize("writes", range(3))
@pytest.mark.parametrize("done", [False, True])
async def test_maintenance_continues_after_a_crash(
    mongo_server: str, writes: int, done: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_maintenance, "DAYS_PER_STEP", 32)
    visits = tuple(visit(hour=24 * (DAY + n), host=f"h{n % 3}") for n in range(96))
    async with open_replicas(mongo_server, 1) as (database,):
        store = mongo_store.MongoStore(database)
        await store.apply(Batch("one", 1, visits), NOW)
        remaining = await add_up(store, [CODE], DAY + 40, DAY + 200)
        faulty = CrashingDatabase(database)
        faulty.arm(writes, done=done)
        crashing = mongo_store.MongoStore(cast("mongo.Database", faulty))
        with pytest.raises(Crash):
            await maintain_all(crashing, DAY + 96, DAY + 40)
        await maintain_all(store, DAY + 96, DAY + 40)
        assert await store.first_day([CODE]) == DAY + 40
        assert await add_up(store, [CODE], 0, DAY + 200) == remaining
        stored = await database.read("", lambda db: db.days.count_documents({}))
        assert stored == 96 - 40


async def test_visits_counted_during_maintenance_are_in_all_sums(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits = tuple(visit(hour=24 * (DAY + n), host=f"h{n % 3}") for n in range(96))
    late = Batch("two", 1, (visit(hour=24 * (DAY + 40), host="late"),))
    async with open_replicas(mongo_server, 2) as databases:
        store, other = map(mongo_store.MongoStore, databases)
        await store.apply(Batch("one", 1, visits), NOW)
        await run_with_late_batch(monkeypatch, other, late, lambda: maintain_all(store, DAY + 96))
        for _ in range(2):
            found = await add_up(store, [CODE], DAY, DAY + 95)
            assert found.names[REFERRER, "late"] == 1
            assert sum(found.people.values()) == 97
            await maintain_all(store, DAY + 97)


async def run_with_late_batch(
    monkeypatch: pytest.MonkeyPatch, store: AnalyticsStore, batch: Batch, run: Callable[[], Any]
) -> None:
    """Run maintenance, and apply a batch once before its first transaction ends."""
    loop = asyncio.get_running_loop()
    aggregate_pieces = link_maintenance.aggregate_pieces
    is_applied = False

    def interrupted(*args: Any) -> None:
        nonlocal is_applied
        aggregate_pieces(*args)
        if not is_applied:
            is_applied = True
            asyncio.run_coroutine_threadsafe(store.apply(batch, NOW), loop).result(10)

    monkeypatch.setattr(link_maintenance, "aggregate_pieces", interrupted)
    await run()
    assert is_applied
