"""What the analytics store of MongoDB keeps to beside what every store does.

Replicas share a database; each is broken off at any of its writes, and gateways send again.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from services.analytics import days_mongo, store_mongo
from services.analytics.domain import Batch, Day, Dimension, Totals, VisitCount, VisitKind
from services.analytics.sketch import add, estimate
from services.analytics.store_mongo import MongoAnalyticsStore
from services.runtime import mongo
from tests.contract.faulty import Crash, Faulty
from tests.mongo import server

NOW = datetime(2026, 3, 1, tzinfo=UTC)
BLOCK = 641
DAY = 32 * BLOCK
"""The first of a block."""
CODES = ("abcdefgh", "ABCDEFGH", "--------")
PERSON, BOT = VisitKind.PERSON, VisitKind.BOT
HOSTS = tuple(f"h{n}.example" for n in range(120))
"""More than a day tells apart."""


@asynccontextmanager
async def replicas(server_url: str, count: int = 1) -> AsyncIterator[list[mongo.Database]]:
    """One new database, as several processes have it."""
    with server.database(server_url) as url:
        databases = [mongo.opened(url, "", store_mongo.SCHEMA) for _ in range(count)]
        opened = []
        try:
            for one in databases:
                opened.append(await one.__aenter__())
                await opened[-1].prepared()
            yield opened
        finally:
            for one in databases[: len(opened)]:
                await one.__aexit__(None, None, None)


def visit(
    code: str = CODES[0],
    day: int = DAY,
    *,
    hour: int = 0,
    kind: VisitKind = PERSON,
    host: str = "",
    browser: str = "",
    count: int = 1,
) -> VisitCount:
    names = {Dimension.REFERRER: host, Dimension.BROWSER: browser}
    return VisitCount(code, day * 24 + hour, kind, names, count)


async def days_of(
    store: MongoAnalyticsStore,
    codes: Sequence[str] = CODES,
    first: int = DAY,
    last: int = DAY + 1000,
) -> dict[tuple[str, int], Day]:
    found: dict[tuple[str, int], Day] = {}

    def take(code: str, day: Day) -> None:
        assert (code, day.day) not in found, "a day comes once"
        found[code, day.day] = day

    await store.days(codes, first, last, take)
    return found


def names_of(days: Iterable[Day]) -> dict[Dimension, dict[str, int]]:
    """Names added up over some days."""
    sums: dict[Dimension, Counter[str]] = {}
    for day in days:
        for dimension, breakdown in day.breakdowns.items():
            sums.setdefault(dimension, Counter()).update(breakdown)
    return {dimension: dict(names) for dimension, names in sums.items()}


def hosts_of(days: dict[tuple[str, int], Day]) -> dict[str, int]:
    return names_of(days.values()).get(Dimension.REFERRER, {})


def counts_of(days: dict[tuple[str, int], Day]) -> dict[tuple[str, int], tuple[Any, ...]]:
    """All of each day but its names."""
    return {key: (day.people, day.bots, day.visitors) for key, day in days.items()}


def random_batch(chance: random.Random, gateway: str, number: int) -> Batch:
    visits = []
    visitors: dict[tuple[int, str], frozenset[int]] = {}
    for _ in range(chance.randint(1, 12)):
        code, day = chance.choice(CODES), DAY + chance.randint(30, 33)
        kind = chance.choice((PERSON, PERSON, BOT))
        one = visit(
            code,
            day,
            hour=chance.randint(0, 23),
            kind=kind,
            host=chance.choice(("", *HOSTS[:3])),
            browser=chance.choice(("", "Firefox", "Chrome")),
            count=chance.randint(1, 5),
        )
        visits.append(one)
        if kind is PERSON:
            # Few enough to meet the same again, and enough for a sketch that outgrows its list.
            numbers = {
                chance.randrange(1 << 12) << 20 | 1 for _ in range(chance.choice((1, 2, 60)))
            }
            visitors[day, code] = visitors.get((day, code), frozenset()) | numbers
    return Batch(gateway, number, tuple(visits), visitors)


@pytest.mark.parametrize("seed", range(12))
async def test_replicas_that_break_off_anywhere_count_every_visit_and_visitor_once(
    mongo_server: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(store_mongo, "CHUNK", chance.choice((1, 2, 500)))
    sent: list[Batch] = []

    async def gateway(name: str, databases: list[mongo.Database]) -> None:
        """Send batch after batch, each until it is acknowledged, to replicas that end at writes."""
        for number in range(1, 9):
            batch = random_batch(chance, name, number)
            sent.append(batch)
            for turn in range(10):
                faulty = Faulty(chance.choice(databases))
                store = MongoAnalyticsStore(cast("mongo.Database", faulty))
                if turn < 9 and chance.random() < 0.7:
                    faulty.arm(chance.randint(0, 9), done=chance.random() < 0.5)
                try:
                    await store.apply(batch, NOW)
                except Crash:
                    continue
                break

    async with replicas(mongo_server, 2) as databases:
        await asyncio.gather(*(gateway(name, databases) for name in ("one", "two", "three")))
        store = MongoAnalyticsStore(databases[0])
        found = await days_of(store)
        assert found.keys() == {
            (one.code, one.hour // 24) for batch in sent for one in batch.visits
        }
        for (code, day), told in found.items():
            visits = [
                one
                for batch in sent
                for one in batch.visits
                if (one.code, one.hour // 24) == (code, day)
            ]
            numbers = frozenset[int]().union(
                *(batch.visitors.get((day, code), frozenset()) for batch in sent)
            )
            hours: dict[VisitKind, Counter[int]] = {PERSON: Counter(), BOT: Counter()}
            names: dict[Dimension, Counter[str]] = {}
            for one in visits:
                hours[one.kind][one.hour % 24] += one.count
                for dimension, name in one.names.items():
                    if one.kind is PERSON and name:
                        names.setdefault(dimension, Counter())[name] += one.count
            assert told == Day(day, hours[PERSON], hours[BOT], names, estimate(add(b"", numbers)))
        for code, totals in (await store.totals(CODES)).items():
            days = [day for (of, _), day in found.items() if of == code]
            assert totals == Totals(
                sum(sum(day.people.values()) for day in days),
                sum(sum(day.bots.values()) for day in days),
            )


async def test_many_links_are_read_in_parts(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(days_mongo, "_LINKS", 7)
    monkeypatch.setattr(days_mongo, "_DAYS", 5)
    codes = [f"code{n:04}" for n in range(50)]
    visits = tuple(visit(code, DAY + n * 3 % 100) for n, code in enumerate(codes) for _ in range(2))
    async with replicas(mongo_server) as (database,):
        store = MongoAnalyticsStore(database)
        await store.apply(Batch("one", 1, visits), NOW)
        found = await days_of(store, ["nobody--", *codes, *codes], DAY + 20, DAY + 60)
        expected = {(one.code, one.hour // 24) for one in visits}
        assert found.keys() == {key for key in expected if DAY + 20 <= key[1] <= DAY + 60}
        assert await store.first_day(codes) == DAY
        assert await store.first_day(codes[1:3]) == DAY + 3
        assert await store.first_day(["nobody--"]) is None


async def filled(store: MongoAnalyticsStore, gateway: str = "one") -> None:
    """Three blocks of which one link has every day and another few."""
    chance = random.Random(7)
    for number in range(1, 4):
        visits = []
        for day in range(DAY + 32 * (number - 1), DAY + 32 * number):
            for _ in range(3):
                visits.append(visit(CODES[0], day, hour=5, host=chance.choice(HOSTS[:40])))
            visits.append(visit(CODES[0], day, kind=BOT, hour=6))
        visits.append(visit(CODES[1], DAY + 32 * number - 5, browser="Chrome"))
        await store.apply(Batch(gateway, number, tuple(visits)), NOW)


async def sum_all(store: MongoAnalyticsStore, before: int) -> None:
    while await store.sum_up(before):
        pass


async def blocks(database: mongo.Database) -> list[dict[str, Any]]:
    return await database.read("", lambda db: db.blocks.find(sort=[("_id", 1)]).to_list(None))


async def test_names_that_were_summed_up_are_the_same_over_a_span(mongo_server: str) -> None:
    async with replicas(mongo_server) as (database,):
        store = MongoAnalyticsStore(database)
        await filled(store)
        spans = [(DAY, DAY + 95), (DAY + 1, DAY + 95), (DAY + 32, DAY + 63), (DAY + 5, DAY + 40)]
        before = [await days_of(store, CODES, *span) for span in spans]

        await sum_all(store, DAY + 80)
        kept = await blocks(database)
        assert [one["_id"] for one in kept] == [f"{CODES[0]}:{BLOCK + n:07}" for n in range(2)]
        for span, days in zip(spans, before, strict=True):
            after = await days_of(store, CODES, *span)
            assert counts_of(after) == counts_of(days)
            assert names_of(after.values()) == names_of(days.values())
        # It is the block that is read: what nobody can have counted does not show.
        marked = {"$set": {"referrers.marked": 1}}
        await database.write("", lambda db: db.days.update_many({}, marked))
        assert "marked" not in hosts_of(await days_of(store, CODES[:1], DAY, DAY + 63))
        assert "marked" in hosts_of(await days_of(store, CODES[:1], DAY + 1, DAY + 63))


async def test_a_late_visit_is_told_though_its_block_was_summed_up(mongo_server: str) -> None:
    async with replicas(mongo_server, 2) as databases:
        store, other = (MongoAnalyticsStore(one) for one in databases)
        await filled(store)
        await sum_all(store, DAY + 96)
        late = (visit(CODES[0], DAY + 40, host="late.example"), visit(CODES[0], DAY + 41))
        await other.apply(Batch("two", 1, late), NOW)

        found = await days_of(store)
        assert hosts_of(found)["late.example"] == 1
        assert sum(found[CODES[0], DAY + 40].people.values()) == 4

        of = [one["of"] for one in await blocks(databases[0])]
        await sum_all(store, DAY + 97)
        # The block before is what it was.
        assert [
            one["of"] - before for one, before in zip(await blocks(databases[0]), of, strict=True)
        ] == [0, 2, 2]
        assert names_of((await days_of(store)).values()) == names_of(found.values())


async def test_what_the_version_before_adds_to_a_day_of_a_block_is_told(mongo_server: str) -> None:
    async with replicas(mongo_server) as (database,):
        store = MongoAnalyticsStore(database)
        await filled(store)
        await sum_all(store, DAY + 96)
        added = {"$inc": {"people": 1, "hours.7": 1, "referrers.old%2Eexample": 1, "hosts": 1}}
        key = f"{CODES[0]}:{DAY + 3:07}"
        await database.write("", lambda db: db.days.update_one({"_id": key}, added))
        counted = {"$inc": {"people": 1}}
        await database.write("", lambda db: db.totals.update_one({"_id": CODES[0]}, counted))

        for _ in range(2):
            found = await days_of(store)
            assert hosts_of(found)["old.example"] == 1
            people = sum(sum(day.people.values()) for day in found.values())
            assert people == 3 * 96 + 3 + 1
            await sum_all(store, DAY + 97)


class Interrupted(Faulty):
    """A database ahead of one of whose steps, reads and writes, something else happens."""

    def __init__(
        self, database: mongo.Database, step: int, happens: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__(database)
        self._steps_left = step
        self._happens = happens

    async def read(self, name: str, operation: Any) -> Any:
        await self._step()
        return await self._database.read(name, operation)

    async def write(self, name: str, operation: Any) -> Any:
        await self._step()
        return await self._database.write(name, operation)

    async def _step(self) -> None:
        self._steps_left -= 1
        if self._steps_left == -1:
            await self._happens()


LATE = Batch("two", 1, (visit(CODES[0], DAY + 40, host="late.example"),))


async def see_late_visit(store: MongoAnalyticsStore) -> None:
    for before in (DAY + 97, DAY + 98):
        found = await days_of(store)
        assert hosts_of(found)["late.example"] == 1
        assert sum(found[CODES[0], DAY + 40].people.values()) == 4
        await sum_all(store, before)


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("step", range(4))
async def test_whoever_counts_while_a_block_is_made_is_told(
    mongo_server: str, step: int, half: bool
) -> None:
    """Also where half of a batch comes in then, and the rest with its resend."""
    async with replicas(mongo_server) as (database,):
        store = MongoAnalyticsStore(database)
        await filled(store)

        async def count() -> None:
            other = Faulty(database)
            if half:
                other.arm(2, done=True)  # The day has it, and totals have not.
            with suppress(Crash):
                await MongoAnalyticsStore(cast("mongo.Database", other)).apply(LATE, NOW)

        interrupted = Interrupted(database, step, count)
        await sum_all(MongoAnalyticsStore(cast("mongo.Database", interrupted)), DAY + 96)
        await store.apply(LATE, NOW)
        await see_late_visit(store)


@pytest.mark.parametrize("step", range(14))
@pytest.mark.parametrize("begun", [0, 2])
async def test_a_visit_is_told_though_its_block_was_made_amid_its_batch(
    mongo_server: str, begun: int, step: int
) -> None:
    """Of days that were read ahead of the batch or not, and believed ahead of any of its steps."""
    async with replicas(mongo_server) as (database,):
        store = MongoAnalyticsStore(database)
        await filled(store)
        reached, go = asyncio.Event(), asyncio.Event()

        async def wait() -> None:
            reached.set()
            await go.wait()

        async def finish() -> None:
            go.set()
            await summing

        summer = Interrupted(database, begun, wait)
        summing = asyncio.create_task(
            sum_all(MongoAnalyticsStore(cast("mongo.Database", summer)), DAY + 96)
        )
        await reached.wait()
        writer = Interrupted(database, step, finish)
        await MongoAnalyticsStore(cast("mongo.Database", writer)).apply(LATE, NOW)
        await finish()
        await see_late_visit(store)


async def test_to_sum_up_lets_others_read_after_each_page_of_links(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where there is nothing to sum up, as of most of a million links."""
    monkeypatch.setattr(days_mongo, "_PAGE", 1)
    async with replicas(mongo_server) as (database,):
        store = MongoAnalyticsStore(database)
        await filled(store)
        assert [await store.sum_up(DAY + 96) for _ in range(4)] == [True, True, False, False]
        assert len(await blocks(database)) == 3


async def test_forgotten_days_are_gone_with_their_blocks_and_totals_stay(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(days_mongo, "_DAYS", 10)
    async with replicas(mongo_server) as (database,):
        store = MongoAnalyticsStore(database)
        await filled(store)
        await sum_all(store, DAY + 96)
        days, totals = await days_of(store), await store.totals(CODES)

        forgotten = 0
        while some := await store.forget_days(DAY + 40):
            forgotten += some
        assert forgotten == 40 + 1
        kept = {key: day for key, day in days.items() if key[1] >= DAY + 40}
        found = await days_of(store)
        assert counts_of(found) == counts_of(kept)
        assert await store.totals(CODES) == totals
        assert await store.first_day(CODES) == DAY + 40
        assert [one["_id"] for one in await blocks(database)] == [f"{CODES[0]}:{BLOCK + 2:07}"]
        left = await database.read("", lambda db: db.days.count_documents({}))
        assert left == len(kept)


@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("writes", range(4))
async def test_forgetting_that_broke_off_goes_on(
    mongo_server: str, writes: int, done: bool
) -> None:
    async with replicas(mongo_server) as (database,):
        await filled(MongoAnalyticsStore(database))
        faulty = Faulty(database)
        faulty.arm(writes, done=done)
        store = MongoAnalyticsStore(cast("mongo.Database", faulty))
        with suppress(Crash):
            await store.forget_days(DAY + 40)
        store = MongoAnalyticsStore(database)
        while await store.forget_days(DAY + 40):
            pass
        assert {day for _, day in await days_of(store)} == set(range(DAY + 40, DAY + 96))
        assert await store.first_day(CODES) == DAY + 40


async def test_a_removed_link_leaves_no_block(mongo_server: str) -> None:
    async with replicas(mongo_server) as (database,):
        store = MongoAnalyticsStore(database)
        await filled(store)
        await sum_all(store, DAY + 96)
        await store.remove([CODES[0]])
        assert await blocks(database) == []
        assert [code for code, _ in await days_of(store)] == [CODES[1]] * 3


async def test_replicas_that_ask_at_once_have_one_key_a_day(mongo_server: str) -> None:
    async with replicas(mongo_server, 2) as databases:
        stores = [MongoAnalyticsStore(one) for one in databases] * 10
        keys = [bytes([n]) * 32 for n in range(len(stores))]
        given = await asyncio.gather(
            *(store.visitor_key(DAY, key) for store, key in zip(stores, keys, strict=True))
        )
        assert len(set(given)) == 1
        assert given[0] in keys
        assert await stores[0].visitor_key(DAY + 1, b"next") == b"next"

        assert await stores[0].forget_keys(DAY + 1) == 1
        assert await stores[1].forget_keys(DAY + 1) == 0
        kept = await databases[0].read("", lambda db: db.visitor_keys.find().to_list(None))
        assert kept == [{"_id": DAY + 1, "key": b"next"}]
