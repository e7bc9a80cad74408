"""The contract of the change feed of both analytics stores."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from services.analytics.__main__ import STORE_FACTORIES
from services.analytics.application.ports import MAX_CHANGES
from services.analytics.application.store import AnalyticsStore
from services.analytics.domain.batches import Batch
from services.analytics.domain.visits import Totals
from services.analytics.storage.mongo import store as mongo_store
from services.shared.feed import FeedPage
from services.shared.mongo import feed
from services.shared.timestamps import to_micros
from tests.analytics.cases import BOT, CODE, NOW, changed_codes, current_cursor, visit
from tests.support.store_fixtures import NewStore, open_stores_at

Opened = Callable[[int], AbstractAsyncContextManager[list[AnalyticsStore]]]


def opener(new_store: NewStore) -> Opened:
    """Opens a new store as several processes have it. SQLite has a single process."""

    @asynccontextmanager
    async def replicas(count: int) -> AsyncIterator[list[AnalyticsStore]]:
        async with AsyncExitStack() as stack:
            setting = stack.enter_context(new_store())
            stores = [
                await stack.enter_async_context(
                    open_stores_at(setting, "analytics", STORE_FACTORIES)
                )
                for _ in range(1 if setting.startswith("sqlite") else count)
            ]
            yield [stores[n % len(stores)] for n in range(count)]

    return replicas


@pytest.fixture
def opened(new_store: NewStore) -> Opened:
    return opener(new_store)


@pytest.fixture
def opened_mongodb(new_mongodb: NewStore) -> Opened:
    return opener(new_mongodb)


async def test_visited_links_are_in_the_feed_after_a_cursor(opened: Opened) -> None:
    async with opened(2) as (one, other):
        start = await current_cursor(one)
        assert await changed_codes(other, start) == []
        await one.apply(Batch("one", 1, (visit("b-------"), visit(), visit(kind=BOT))), NOW)
        first = await other.changed_since(start)
        assert sorted(first.keys) == [CODE, "b-------"]
        assert not first.more
        # One of the links is visited again.
        await other.apply(Batch("two", 1, (visit("b-------"), visit("c-------", kind=BOT))), NOW)

        assert sorted(await changed_codes(one, first.cursor)) == ["b-------", "c-------"]
        assert set(await changed_codes(other, start)) == {CODE, "b-------", "c-------"}
        assert await changed_codes(other, await current_cursor(one)) == []


async def test_a_large_batch_is_read_in_pages(opened: Opened) -> None:
    codes = [f"{n:032}" for n in range(2 * MAX_CHANGES + 1)]
    async with opened(1) as (store,):
        start = await current_cursor(store)
        await store.apply(Batch("one", 1, tuple(visit(code) for code in codes)), NOW)

        assert (await store.changed_since(start)).more
        assert sorted(await changed_codes(store, start)) == codes


async def test_readers_see_all_changes_of_concurrent_replicas(opened: Opened) -> None:
    async with opened(3) as stores:
        start = await current_cursor(stores[0])
        done = asyncio.Event()

        async def count(gateway: int) -> None:
            for number in range(1, 11):
                visits = (visit(), visit(f"g{gateway:03}n{number:03}"))
                await stores[gateway % 3].apply(Batch(f"g{gateway}", number, visits), NOW)

        async def copy(n: int) -> dict[str, Totals]:
            """Maintain a copy of the totals, reading each page from another replica."""
            totals: dict[str, Totals] = {}
            cursor, is_last = start, False
            while not is_last:
                is_last = done.is_set()
                page = FeedPage(cursor, more=True)
                while page.more:
                    n += 1
                    page = await stores[n % 3].changed_since(page.cursor)
                    assert not page.truncated
                    totals |= await stores[n % 3].totals(page.keys)
                cursor = page.cursor
            return totals

        readers = [asyncio.create_task(copy(n)) for n in range(2)]
        await asyncio.gather(*map(count, range(6)))
        done.set()
        for copied in await asyncio.gather(*readers):
            assert len(copied) == 61
            assert copied == await stores[0].totals(list(copied))
            assert copied[CODE] == Totals(60, 0)


@pytest.mark.parametrize("cursor", ["", "-1", "99999999999999999999", "no cursor", "9" * 5000])
async def test_an_unknown_cursor_is_truncated(opened: Opened, cursor: str) -> None:
    """For example, after a restore to an earlier state."""
    async with opened(1) as (store,):
        await store.apply(Batch("one", 1, (visit(),)), NOW)
        page = await store.changed_since(cursor)
        assert page == FeedPage(page.cursor, truncated=True)
        assert await changed_codes(store, page.cursor) == []


async def test_mongodb_has_one_event_per_link_of_a_batch(
    opened_mongodb: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock of a link is an update, which is not part of a page."""
    monkeypatch.setattr(mongo_store, "MAX_CHANGES", 3)
    visits = tuple(visit(code) for code in ("a-------", "b-------", "c-------"))
    async with opened_mongodb(1) as (store,):
        await store.apply(Batch("one", 1, visits), NOW)
        start = await current_cursor(store)
        await store.apply(Batch("one", 2, visits), NOW)
        page = await store.changed_since(start)
        assert sorted(page.keys) == ["a-------", "b-------", "c-------"]
        assert await changed_codes(store, page.cursor) == []


async def test_a_slow_page_of_mongodb_ends_early(
    opened_mongodb: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = [f"code{n:04}" for n in range(5)]
    async with opened_mongodb(1) as (store,):
        start = await current_cursor(store)
        await store.apply(Batch("one", 1, tuple(map(visit, codes))), NOW)
        monkeypatch.setattr(feed, "_PAGE_SECONDS", 0)
        page = await store.changed_since(start)
        assert len(page.keys) == 1
        assert page.more
        assert sorted(await changed_codes(store, start)) == codes


async def test_sqlite_retains_minutes_of_changes_and_at_least_a_thousand(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.sqlite3"
    retention = timedelta(minutes=5)
    async with open_stores_at(f"sqlite:///{path}", "analytics", STORE_FACTORIES) as store:
        with sqlite3.connect(path) as connection:
            connection.executemany(
                "INSERT INTO changes (codes, changed_at) VALUES (?, ?)",
                [(f"code{n:04}", to_micros(NOW - retention)) for n in range(1005)],
            )
        connection.close()
        assert len(await changed_codes(store, "0")) == 1005
        await store.apply(Batch("one", 1, (visit(),)), NOW - timedelta(seconds=1))
        assert len(await changed_codes(store, "0")) == 1006
        await store.apply(Batch("one", 2, (visit(),)), NOW)
        assert (await store.changed_since("0")).truncated
        # A page has each code once.
        assert len(await changed_codes(store, "7")) == 1005 - 7 + 1


async def test_sqlite_commits_a_batch_with_its_changes(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    async with open_stores_at(f"sqlite:///{path}", "analytics", STORE_FACTORIES) as store:
        with sqlite3.connect(path) as connection:
            connection.execute(
                "CREATE TRIGGER full BEFORE INSERT ON changes "
                "BEGIN SELECT RAISE(ABORT, 'no room'); END"
            )
        connection.close()
        with pytest.raises(sqlite3.IntegrityError):
            await store.apply(Batch("one", 1, (visit(),)), NOW)
        assert await store.totals([CODE]) == {}, "the batch was rolled back"
