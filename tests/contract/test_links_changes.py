"""What every links store promises to those who remember what short addresses answer."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from motor.motor_asyncio import AsyncIOMotorCollection
from prometheus_client import REGISTRY
from pymongo.errors import AutoReconnect, DuplicateKeyError

from services.links import schema_mongo, schema_sqlite, store_mongo, store_sqlite
from services.links.domain import FEED, NOBODY, Link, Resolution
from services.links.service import LinksService
from services.links.store import LinkStore
from services.links.urls import UrlPolicy
from services.runtime import feed_mongo, mongo, sqlite
from services.runtime.errors import Unavailable
from services.runtime.feed import Told
from services.runtime.moments import micros_of
from tests.contract.conftest import add_all
from tests.mongo import server
from tests.waiting import await_that

NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)


@dataclass
class Replicas:
    """Stores over one database, as several processes have them, and a way around them."""

    stores: list[LinkStore]
    write: Callable[[int, Sequence[str], datetime], Any]
    """Put an announcement of a number, of codes and of a moment in."""

    @property
    def store(self) -> LinkStore:
        return self.stores[0]


Opened = Callable[..., AbstractAsyncContextManager[Replicas]]


@asynccontextmanager
async def sqlite_replicas(path: Path, count: int = 1) -> AsyncIterator[Replicas]:
    """SQLite has one process alone: the stores share it."""
    async with sqlite.opened(f"sqlite:///{path}", schema_sqlite.MIGRATIONS) as database:

        async def write(first: int, codes: Sequence[str], at: datetime) -> None:
            rows = [(first + n, code, micros_of(at)) for n, code in enumerate(codes)]

            def operation(connection: sqlite3.Connection) -> None:
                connection.executemany("INSERT INTO announcements VALUES (?, ?, ?)", rows)

            await database.write("", operation)

        yield Replicas([store_sqlite.SqliteLinkStore(database) for _ in range(count)], write)


@asynccontextmanager
async def mongo_replicas(server_url: str, count: int = 1) -> AsyncIterator[Replicas]:
    async with AsyncExitStack() as stack:
        url = stack.enter_context(server.database(server_url))
        databases = []
        for _ in range(count):
            opened = mongo.opened(url, "", schema_mongo.SCHEMA)
            databases.append(await stack.enter_async_context(opened))
            await databases[-1].prepared()

        async def write(first: int, codes: Sequence[str], at: datetime) -> None:
            documents = [
                {"_id": first + n, "codes": [code], "announced_at": micros_of(at)}
                for n, code in enumerate(codes)
            ]
            await databases[0].write("", lambda db: db.announcements.insert_many(documents))

        yield Replicas([store_mongo.MongoLinkStore(one) for one in databases], write)


@pytest.fixture(params=["sqlite", "mongodb"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Opens a new database."""
    if request.param == "sqlite":
        return lambda count=1: sqlite_replicas(tmp_path / "links.sqlite3", count)
    url = request.getfixturevalue("mongo_server")
    return lambda count=1: mongo_replicas(url, count)


@pytest.fixture
def opened_mongo(mongo_server: str) -> Opened:
    """Opens a new database of MongoDB."""
    return lambda count=1: mongo_replicas(mongo_server, count)


async def make(store: LinkStore, count: int, prefix: str = "code") -> list[str]:
    """Links to remove."""
    codes = [f"{prefix}{n:04}" for n in range(count)]
    await add_all(store, [Link(code, "http://a.example", NOBODY, NOW) for code in codes])
    return codes


async def told_since(store: LinkStore, mark: int) -> tuple[list[str], int]:
    """All that is told from a mark on, and the mark after it."""
    told: list[str] = []
    while True:
        some = await store.announcements(mark)
        assert not some.lost
        assert len(some.keys) <= FEED.most_keys
        assert some.mark > mark or not some.keys
        told += some.keys
        mark = some.mark
        if not some.more:
            return told, mark


async def test_a_removal_is_told_once_from_each_mark_on(opened: Opened) -> None:
    async with opened() as replicas:
        store = replicas.store
        assert await store.announcements(None) == Told(0)
        assert await store.announcements(0) == Told(0)
        one, two, three = await make(store, 3)

        await store.purge([one], NOW)
        after_one = await store.announcements(0)
        assert after_one == Told(1, (one,))
        assert await store.announcements(None) == Told(1)
        await store.purge([two, three], NOW)

        assert await store.announcements(after_one.mark) == Told(2, (two, three))
        assert await store.announcements(2) == Told(2)
        assert await told_since(store, 0) == ([one, two, three], 2)


async def test_a_repetition_is_announced_and_what_never_was_is_not(opened: Opened) -> None:
    async with opened() as replicas:
        store = replicas.store
        (code,) = await make(store, 1)
        for number in (1, 2):
            assert await store.purge([code, "unknown-"], NOW) == [code]
            assert await store.announcements(number - 1) == Told(number, (code,))
        assert await store.purge(["unknown-"], NOW) == []
        assert await store.announcements(2) == Told(2)


async def test_a_thousand_removals_at_once_are_told_in_bounded_answers(opened: Opened) -> None:
    async with opened() as replicas:
        codes = await make(replicas.store, 1000)
        await replicas.store.purge(codes, NOW)

        assert (await replicas.store.announcements(0)).more
        told, _ = await told_since(replicas.store, 0)
        assert sorted(told) == codes


async def test_who_was_away_for_many_changes_is_told_them_all(opened: Opened) -> None:
    codes = [f"code{n:04}" for n in range(FEED.most_keys * 3)]
    async with opened() as replicas:
        await replicas.write(1, codes, NOW)

        for read in (0, 1, 99, 100, 101, len(codes)):
            assert await told_since(replicas.store, read) == (codes[read:], len(codes))


async def test_a_code_that_changed_often_is_told_once_an_answer(opened: Opened) -> None:
    async with opened() as replicas:
        await replicas.write(1, ["abcdefgh", "other---", "abcdefgh"], NOW)

        assert await replicas.store.announcements(0) == Told(3, ("abcdefgh", "other---"))


async def test_readers_miss_nothing_that_several_replicas_write_at_once(opened: Opened) -> None:
    async with opened(3) as replicas:
        stores = replicas.stores
        todo = [await make(store, 20, f"of{n}-") for n, store in enumerate(stores * 3)]
        done = asyncio.Event()
        numbers: set[int] = set()

        async def write(store: LinkStore, codes: Sequence[str]) -> None:
            for code in codes:
                assert await store.purge([code], NOW) == [code]

        async def read(first: LinkStore, then: LinkStore) -> list[str]:
            told, mark, last = [], 0, False
            while not last:
                last = done.is_set()
                for store in (first, then):
                    some, mark = await told_since(store, mark)
                    assert await store.resolve(some) == [] if some else True, "it holds by then"
                    told += some
                    numbers.add(mark)
                await asyncio.sleep(0)
            return told

        readers = [asyncio.create_task(read(stores[n], stores[n - 1])) for n in range(3)]
        await asyncio.gather(*(write(stores[n % 3], codes) for n, codes in enumerate(todo)))
        done.set()

        removed = sorted(code for codes in todo for code in codes)
        for told in await asyncio.gather(*readers):
            assert sorted(told) == removed, "each was announced once and told once"
        assert len(numbers) > 1, "they read while it was written"


async def test_a_reader_that_knows_too_little_is_told_so(opened: Opened) -> None:
    async with opened() as replicas:
        store = replicas.store
        codes = [f"code{n:04}" for n in range(1500)]
        await replicas.write(1, codes, NOW - timedelta(days=1))
        (code,) = await make(store, 1, "new-")
        assert (await told_since(store, 0))[1] == 1500

        await store.purge([code], NOW)

        assert await store.announcements(0) == Told(1501, lost=True)
        assert await store.announcements(1500) == Told(1501, (code,))
        kept = 1501 - FEED.kept_least
        assert await told_since(store, kept) == ([*codes[kept:], code], 1501)


@pytest.mark.parametrize("ahead", [timedelta(minutes=2), timedelta(days=3650)])
async def test_what_a_clock_dated_that_ran_ahead_does_not_hold_up_the_clearing(
    opened: Opened, ahead: timedelta
) -> None:
    async with opened() as replicas:
        codes = [f"code{n:04}" for n in range(1500)]
        await replicas.write(1, codes[:20], NOW + ahead)
        await replicas.write(21, codes[20:], NOW - timedelta(days=2))
        made = await make(replicas.store, 3, "new-")

        for code in made:
            await replicas.store.purge([code], NOW)

        assert (await replicas.store.announcements(0)).lost
        kept = 1501 - FEED.kept_least
        assert await told_since(replicas.store, kept + 2) == ([*codes[kept + 2 :], *made], 1503)


async def test_nothing_of_a_day_is_cleared_away(opened: Opened) -> None:
    async with opened() as replicas:
        codes = [f"code{n:04}" for n in range(1500)]
        await replicas.write(1, codes, NOW - timedelta(days=1) + timedelta(seconds=1))
        (code,) = await make(replicas.store, 1, "new-")

        await replicas.store.purge([code], NOW)

        assert await told_since(replicas.store, 0) == ([*codes, code], 1501)


async def test_a_change_holds_though_old_announcements_cannot_be_cleared_away(
    opened_mongo: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = AsyncIOMotorCollection.delete_many

    async def delete_many(collection: Any, query: Any) -> Any:
        if collection.name == "announcements":
            raise AutoReconnect("killed")
        return await real(collection, query)

    monkeypatch.setattr(AsyncIOMotorCollection, "delete_many", delete_many)
    async with opened_mongo() as replicas:
        old = [f"code{n:04}" for n in range(FEED.kept_least + 1)]
        await replicas.write(1, old, NOW - timedelta(days=2))
        codes = await make(replicas.store, 2, "new-")

        for code in codes:
            assert await replicas.store.purge([code], NOW) == [code]

        mark = FEED.kept_least + 1
        assert await told_since(replicas.store, mark) == (codes, mark + 2)


@pytest.mark.parametrize("clock", [timedelta(days=-400), timedelta(days=400)])
async def test_replicas_whose_clocks_are_apart_lose_nothing_of_each_other(
    opened: Opened, clock: timedelta
) -> None:
    async with opened(2) as replicas:
        one, other = replicas.stores
        codes = await make(one, 120)
        for n, code in enumerate(codes):
            await (other.purge([code], NOW + clock) if n % 2 else one.purge([code], NOW))

        assert await told_since(one, 0) == (codes, len(codes))


@pytest.mark.parametrize("mark", [-(2**63), -1, 2, 2**63 - 1])
async def test_a_mark_that_this_store_never_gave_is_lost(opened: Opened, mark: int) -> None:
    """For example after the store was put back to an earlier state."""
    async with opened() as replicas:
        assert await replicas.store.announcements(mark) == Told(0, lost=True)
        await replicas.write(1, ["abcdefgh"], NOW)
        assert await replicas.store.announcements(mark) == Told(1, lost=True)


async def test_what_is_missing_in_between_is_not_passed_over(opened: Opened) -> None:
    async with opened() as replicas:
        await replicas.write(1, ["code0001", "code0002"], NOW)
        await replicas.write(4, ["code0004"], NOW)

        assert await replicas.store.announcements(0) == Told(2, ("code0001", "code0002"), more=True)
        assert await replicas.store.announcements(2) == Told(4, lost=True)


async def test_the_service_says_what_changed_addresses_answer_now(opened: Opened) -> None:
    async with opened() as replicas:
        service = LinksService(replicas.store, UrlPolicy("https://atajo.example"), lambda: NOW)
        stays, goes = await make(replicas.store, 2)
        await replicas.write(1, [stays], NOW)
        await service.purge([goes])

        changes = await service.changes(0)

        assert changes.resolutions == [Resolution.active(stays, "http://a.example")]
        assert (changes.gone, changes.mark, changes.more, changes.lost) == ([goes], 2, False, False)
        nothing = await service.changes(None)
        assert (nothing.resolutions, nothing.gone, nothing.mark) == ([], [], 2)


async def test_on_sqlite_a_change_and_its_announcement_are_one(tmp_path: Path) -> None:
    path = tmp_path / "links.sqlite3"
    async with sqlite_replicas(path) as replicas:
        (code,) = await make(replicas.store, 1)
        with sqlite3.connect(path) as connection:
            connection.execute(
                "CREATE TRIGGER full BEFORE INSERT ON announcements "
                "BEGIN SELECT RAISE(ABORT, 'no room'); END"
            )
        with pytest.raises(sqlite3.IntegrityError):
            await replicas.store.purge([code], NOW)
        assert await replicas.store.find(code), "what cannot be announced did not happen"


async def test_what_broke_off_ahead_of_its_announcement_is_announced_when_repeated(
    opened_mongo: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert_one = AsyncIOMotorCollection.insert_one

    async def insert(collection: Any, document: Any) -> Any:
        if collection.name == "announcements":
            raise AutoReconnect("killed")
        return await insert_one(collection, document)

    async with opened_mongo() as replicas:
        store = replicas.store
        (code,) = await make(store, 1)
        with monkeypatch.context() as patched:
            patched.setattr(AsyncIOMotorCollection, "insert_one", insert)
            with pytest.raises(Unavailable):
                await store.purge([code], NOW)
        assert await store.resolve([code]) == []
        assert await store.announcements(0) == Told(0)

        assert await store.purge([code], NOW) == [code]
        assert await store.announcements(0) == Told(1, (code,))


async def test_changes_that_wait_are_announced_together(opened_mongo: Opened) -> None:
    async with opened_mongo() as replicas:
        store = replicas.store
        codes = await make(store, 200)
        await asyncio.gather(*(store.purge([code], NOW) for code in codes))

        told, mark = await told_since(store, 0)
        assert sorted(told) == codes
        assert mark < 100


def looks() -> float:
    """How often a removal has looked what it removed."""
    labels = {"operation": "links_purged", "result": "ok"}
    return REGISTRY.get_sample_value("atajo_store_seconds_count", labels) or 0


async def await_looks(count: float) -> None:
    await asyncio.to_thread(await_that, lambda: looks() == count)


class Slow:
    """Holds announcements back until the test lets one after the other through."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.arrived = asyncio.Semaphore(0)
        self.through = asyncio.Semaphore(0)
        insert_one = AsyncIOMotorCollection.insert_one

        async def insert(collection: Any, document: Any) -> Any:
            if collection.name == "announcements":
                self.arrived.release()
                await self.through.acquire()
            return await insert_one(collection, document)

        monkeypatch.setattr(AsyncIOMotorCollection, "insert_one", insert)


async def test_a_caller_that_leaves_takes_no_announcement_along(
    opened_mongo: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened_mongo() as replicas:
        store = replicas.store
        codes = await make(store, 4)
        slow = Slow(monkeypatch)
        first = asyncio.create_task(store.purge(codes[:1], NOW))
        await slow.arrived.acquire()
        others = []
        for code in codes[1:]:
            looked = looks()
            others.append(asyncio.create_task(store.purge([code], NOW)))
            # What comes after the look is the announcement.
            await await_looks(looked + 1)
        slow.through.release()
        await first
        await slow.arrived.acquire()
        writing, *waiting = others
        writing.cancel()
        slow.through.release()
        await slow.arrived.acquire()
        slow.through.release()

        for left in await asyncio.gather(*waiting):
            assert len(left) == 1
        assert writing.cancelled()
        assert await told_since(store, 0) == (codes, 2)


async def test_an_announcement_that_others_are_always_faster_than_is_given_up(
    opened_mongo: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0

    async def taken(collection: Any, document: Any) -> Any:
        nonlocal tries
        tries += 1
        raise DuplicateKeyError("taken", 11000)

    async with opened_mongo() as replicas:
        (code,) = await make(replicas.store, 1)
        monkeypatch.setattr(feed_mongo, "_LONGEST_PAUSE", 0.0)
        monkeypatch.setattr(AsyncIOMotorCollection, "insert_one", taken)
        with pytest.raises(Unavailable) as refused:
            await replicas.store.purge([code], NOW)
        assert refused.value.reason == "STORE_OVERLOADED"
        assert 10 < tries < 1000


async def test_a_new_primary_that_knows_no_majority_yet_makes_nobody_forget(
    opened_mongo: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = AsyncIOMotorCollection.find

    def behind(collection: Any, query: Any, *rest: Any, **options: Any) -> Any:
        if collection.read_concern.level == "majority":
            query = {"$and": [query, {"_id": {"$lt": 2}}]}
        return find(collection, query, *rest, **options)

    async with opened_mongo() as replicas:
        await replicas.write(1, ["code0001", "code0002"], NOW)
        monkeypatch.setattr(AsyncIOMotorCollection, "find", behind)

        assert await replicas.store.announcements(2) == Told(2)
        assert await replicas.store.announcements(1) == Told(1)
