"""The change feed of MongoDB across failovers and lost history."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pymongo
import pytest

from services.links.__main__ import STORE_FACTORIES
from services.links.application.ports import LinkStore
from services.links.domain.link import Link
from services.links.domain.owner import ANONYMOUS
from services.shared.errors import Unavailable
from services.shared.feed import FeedPage
from services.shared.mongo import feed
from tests.support.mongo import server
from tests.support.mongo.replica_set import ReplicaSet, replica_set
from tests.support.store_fixtures import NewStore, add_all, open_stores_at

NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
CODES = [f"code{n:04}" for n in range(40)]
FAILOVER_SECONDS = 30.0
Client = pymongo.MongoClient[dict[str, Any]]


@asynccontextmanager
async def replicas(url: str, count: int) -> AsyncIterator[list[LinkStore]]:
    """Open several stores over one database with some links."""
    async with AsyncExitStack() as stack:
        stores = [
            await stack.enter_async_context(open_stores_at(url, "links", STORE_FACTORIES))
            for _ in range(count)
        ]
        await add_all(stores[0], [Link(code, "http://a.example", ANONYMOUS, NOW) for code in CODES])
        yield stores


async def cursor_of(store: LinkStore) -> str:
    return (await store.change_feed.read_since(None)).cursor


async def change(store: LinkStore, code: str) -> None:
    """Change the URL of a link, and retry until that succeeds."""

    def work(unit: Any) -> None:
        link = unit.links.get([code])[code]
        unit.links.save([(link, replace(link, url="http://b.example"))], NOW)

    await until_available(lambda: store.transactions.run("test", work))


async def read(store: LinkStore, cursor: str) -> FeedPage:
    page: FeedPage = await until_available(lambda: store.change_feed.read_since(cursor))
    return page


async def until_available(call: Any) -> Any:
    deadline = time.monotonic() + FAILOVER_SECONDS
    while True:
        try:
            return await call()
        except Unavailable:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.1)


@pytest.fixture
def three_nodes() -> Iterator[ReplicaSet]:
    try:
        with replica_set(3) as nodes:
            nodes.await_healthy()
            yield nodes
    except server.NoServer as missing:
        pytest.fail(str(missing), pytrace=False)


@pytest.mark.timeout(180)
async def test_a_cursor_is_valid_on_every_replica_and_primary(three_nodes: ReplicaSet) -> None:
    async with replicas(three_nodes.url, 2) as (one, other):
        cursor = await cursor_of(one)
        first_term = term(three_nodes.url)
        failovers = (lambda: None, three_nodes.step_down, three_nodes.kill_primary)
        for part, fail_over in enumerate(failovers):
            await asyncio.to_thread(fail_over)
            codes = CODES[part * 10 :][:10]
            for code in codes:
                await change(one, code)
            page = await read(other, cursor)
            assert not page.truncated
            # A change whose answer was lost is repeated without effect.
            assert sorted(page.keys) == codes
            cursor = page.cursor
        assert term(three_nodes.url) >= first_term + 2, "two primaries were elected meanwhile"
        three_nodes.cut()
        with pytest.raises(Unavailable):
            await one.change_feed.read_since(cursor)
        three_nodes.mend()


def term(url: str) -> int:
    """Return the term of the last election."""
    with Client(url) as client:
        return int(client.admin.command("replSetGetStatus")["term"])


@pytest.mark.timeout(120)
async def test_a_cursor_older_than_the_oplog_is_truncated() -> None:
    with server.single("--oplogSize", "1", "--syncdelay", "1") as url, Client(url) as client:
        async with replicas(url, 1) as (store,):
            cursor = await cursor_of(store)
            await change(store, CODES[0])
            first = client.local["oplog.rs"].find_one(sort=[("$natural", 1)])
            assert first
            while client.local["oplog.rs"].find_one({"ts": first["ts"]}):
                client.other.things.insert_many([{"a": "x" * 100_000} for _ in range(20)])
                client.admin.command("fsync")  # MongoDB keeps the oplog that crash recovery needs.
            page = await store.change_feed.read_since(cursor)
            assert page == FeedPage(page.cursor, truncated=True)
            await change(store, CODES[1])
            assert (await store.change_feed.read_since(page.cursor)).keys == (CODES[1],)


async def test_the_feed_of_a_dropped_collection_is_truncated(mongo_url: str) -> None:
    """`mongorestore --drop` does this."""
    async with replicas(mongo_url, 1) as (store,):
        cursor = await cursor_of(store)
        await change(store, CODES[0])
        with Client(mongo_url) as client:
            client.get_default_database().links.drop()
        await add_all(store, [Link(CODES[1], "http://a.example", ANONYMOUS, NOW)])
        page = await store.change_feed.read_since(cursor)
        assert page == FeedPage(page.cursor, truncated=True)
        await change(store, CODES[1])
        assert (await store.change_feed.read_since(page.cursor)).keys == (CODES[1],)


async def test_a_slow_read_is_retried_for_a_recent_cursor_and_truncated_for_an_old_one(
    new_mongodb: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This happens if the oplog has millions of other entries since the cursor."""
    with new_mongodb() as url:
        async with replicas(url, 1) as (store,):
            cursor = await cursor_of(store)
            await change(store, CODES[0])
            monkeypatch.setattr(feed, "_TIMEOUT_SECONDS", 1e-6)
            with pytest.raises(Unavailable):
                await store.change_feed.read_since(cursor)
            with monkeypatch.context() as context:
                context.setattr(feed, "_RECENT_SECONDS", 0)
                page = await store.change_feed.read_since(cursor)
            assert page == FeedPage(page.cursor, truncated=True)
            monkeypatch.undo()
            assert (await store.change_feed.read_since(page.cursor)).keys == ()
            assert (await store.change_feed.read_since(cursor)).keys == (CODES[0],)
