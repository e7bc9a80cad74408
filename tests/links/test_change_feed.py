"""The change feed of every links store."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from services.links.__main__ import STORE_FACTORIES
from services.links.application.ports import MAX_CHANGES, LinkStore
from services.links.domain.block import BlockReason
from services.links.domain.edit import block
from services.links.domain.link import Link
from services.links.domain.owner import ANONYMOUS, Account, Guest
from services.links.domain.report import Statement
from services.links.domain.resolution import LinkState, Resolution
from services.links.domain.url import UrlPolicy
from services.shared.feed import FeedPage
from services.shared.timestamps import to_micros
from tests.support import link_operations
from tests.support.link_operations import Service
from tests.support.store_fixtures import NewStore, add_all, open_stores_at

NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
Opened = Callable[[int], AbstractAsyncContextManager[list[LinkStore]]]


@pytest.fixture
def opened(new_store: NewStore) -> Opened:
    """Return a function that opens a new store several times, as processes do; once for SQLite."""

    @asynccontextmanager
    async def replicas(count: int) -> AsyncIterator[list[LinkStore]]:
        async with AsyncExitStack() as stack:
            setting = stack.enter_context(new_store())
            some = [
                await stack.enter_async_context(open_stores_at(setting, "links", STORE_FACTORIES))
                for _ in range(1 if setting.startswith("sqlite") else count)
            ]
            yield [some[n % len(some)] for n in range(count)]

    return replicas


async def make(store: LinkStore, count: int, prefix: str = "code") -> list[str]:
    """Create links to change."""
    codes = [f"{prefix}{n:04}" for n in range(count)]
    await add_all(store, [Link(code, "http://a.example", ANONYMOUS, NOW) for code in codes])
    return codes


async def save(store: LinkStore, old: Link, new: Link) -> None:
    await store.transactions.run("test", lambda unit: unit.links.save([(old, new)], NOW))


async def now_of(store: LinkStore) -> str:
    page = await store.change_feed.read_since(None)
    assert page == FeedPage(page.cursor)
    return page.cursor


async def read_all(store: LinkStore, cursor: str) -> tuple[list[str], str]:
    """Return all changes after a cursor, and the next cursor."""
    codes: list[str] = []
    while True:
        page = await store.change_feed.read_since(cursor)
        assert not page.truncated
        assert len(page.keys) <= 2 * MAX_CHANGES
        codes += page.keys
        cursor = page.cursor
        if not page.more:
            return codes, cursor


async def test_a_change_is_read_once_after_each_cursor(store: LinkStore) -> None:
    one, two, three = await make(store, 3)
    start = await now_of(store)
    assert (await read_all(store, start))[0] == []

    await link_operations.purge(store, [one], NOW)
    codes, after_one = await read_all(store, start)
    assert codes == [one]
    await link_operations.purge(store, [two, three], NOW)

    codes, end = await read_all(store, after_one)
    assert sorted(codes) == [two, three]
    assert (await read_all(store, end))[0] == []
    assert sorted((await read_all(store, start))[0]) == [one, two, three]


async def test_an_edit_without_effect_is_not_in_the_feed(store: LinkStore) -> None:
    (code,) = await make(store, 1)
    await link_operations.purge(store, [code], NOW)
    cursor = await now_of(store)
    assert await link_operations.purge(store, [code, "unknown-"], NOW) == [code]
    assert (await read_all(store, cursor))[0] == []


async def test_an_edit_is_in_the_feed_with_the_scan_code(store: LinkStore) -> None:
    (code,) = await make(store, 1)
    cursor = await now_of(store)
    await link_operations.give_scan_code(store, code, "SCAN0001", NOW)
    codes, cursor = await read_all(store, cursor)
    assert sorted(codes) == sorted({code, "SCAN0001"})
    await link_operations.edit(store, [code], block(None, NOW), NOW)
    assert (await read_all(store, cursor))[0] == [], "it answers the same"


async def test_changes_of_a_resolution_and_their_reversal_are_in_the_feed(store: LinkStore) -> None:
    (code,) = await make(store, 1)
    cursor = await now_of(store)
    made = await store.links.find(code)
    assert made
    fields: dict[str, Any] = {
        "url": "http://b.example",
        "expires_at": NOW,
        "ended_url": "http://b.example",
        "removed_at": NOW,
        "blocked": BlockReason.SPAM,
    }
    for name, value in fields.items():
        other = replace(made, **{name: value})
        for old, new in ((made, other), (other, made)):
            await save(store, old, new)
            codes, cursor = await read_all(store, cursor)
            assert codes == [code], name


async def test_changes_that_keep_the_resolution_are_not_in_the_feed(
    store: LinkStore,
) -> None:
    guest, account = Guest(bytes(32)), Account("one")
    made = Link("code0001", "http://a.example", guest, NOW)
    await store.links.add(made)
    cursor = await now_of(store)
    await store.links.add(replace(made, code="code0002"))
    other = replace(made, title="a", tags=("b",), public_statistics=True, exempt=True)
    await save(store, made, other)
    await link_operations.report(store, made.code, BlockReason.SPAM, Statement("", "", NOW), "id")
    await link_operations.decide_reports(store, made.code, NOW)
    await link_operations.claim(store, guest, account, 10)
    await store.lists.record_views({made.code: 3}, "1")
    assert (await read_all(store, cursor))[0] == []


async def test_many_changes_are_read_in_pages(store: LinkStore) -> None:
    codes = await make(store, MAX_CHANGES + 10)
    cursor = await now_of(store)
    for start in range(0, len(codes), 130):
        await link_operations.purge(store, codes[start : start + 130], NOW)

    assert (await store.change_feed.read_since(cursor)).more
    assert sorted((await read_all(store, cursor))[0]) == codes


async def test_readers_receive_every_change_of_concurrent_writers(opened: Opened) -> None:
    async with opened(3) as stores:
        todo = [await make(store, 20, f"of{n}-") for n, store in enumerate(stores * 3)]
        start = await now_of(stores[0])
        done = asyncio.Event()
        cursors: set[str] = set()

        async def write(store: LinkStore, codes: Sequence[str]) -> None:
            for code in codes:
                assert await link_operations.purge(store, [code], NOW) == [code]

        async def read(first: LinkStore, then: LinkStore) -> list[str]:
            changed: list[str] = []
            cursor, last = start, False
            while not last:
                last = done.is_set()
                for store in (first, then):
                    some, cursor = await read_all(store, cursor)
                    if some:
                        assert await store.links.resolve(some) == [], "the change is visible"
                    changed += some
                    cursors.add(cursor)
                await asyncio.sleep(0)
            return changed

        readers = [asyncio.create_task(read(stores[n], stores[n - 1])) for n in range(3)]
        await asyncio.gather(*(write(stores[n % 3], codes) for n, codes in enumerate(todo)))
        done.set()

        purged = sorted(code for codes in todo for code in codes)
        for changed in await asyncio.gather(*readers):
            assert sorted(changed) == purged, "each is read once"
        assert len(cursors) > 2, "they read while it was written"


@pytest.mark.parametrize("clock", [timedelta(days=-400), timedelta(days=400)])
async def test_replicas_with_different_clocks_lose_no_changes(
    opened: Opened, clock: timedelta
) -> None:
    async with opened(2) as (one, other):
        codes = await make(one, 30)
        cursor = await now_of(one)
        for n, code in enumerate(codes):
            await link_operations.purge(
                *((other, [code], NOW + clock) if n % 2 else (one, [code], NOW))
            )

        assert (await read_all(one, cursor))[0] == codes


async def test_an_unknown_cursor_is_truncated(store: LinkStore) -> None:
    """For example after the store was restored from a backup."""
    for cursor in ("", "-1", "99999999999999999999", "no cursor", "ff" * 500):
        page = await store.change_feed.read_since(cursor)
        assert page.truncated, cursor
        assert (await read_all(store, page.cursor))[0] == []


async def test_the_use_case_returns_resolutions_of_changed_codes(store: LinkStore) -> None:
    service = Service(store, UrlPolicy("https://atajo.example"), lambda: NOW)
    stays = await service.commands.create("code0001", "a.example", Account("one"))
    (goes,) = await make(store, 1)
    cursor = (await service.queries.changes(None)).cursor
    scanned = await service.commands.create_scan_code(Account("one"), stays.code)
    await service.maintenance.purge([goes])

    changes = await service.queries.changes(cursor)

    of_link = Resolution(stays.code, LinkState.ACTIVE, "http://a.example")
    found = sorted(changes.resolutions, key=lambda one: one.link_code)
    assert found == [of_link, of_link.via_scan_code(scanned.scan_code)]
    assert (changes.gone, changes.more, changes.truncated) == ([goes], False, False)


async def fill(path: Path, codes: Sequence[str], at: datetime) -> None:
    """Insert rows into the feed of an SQLite file, dated at a given time."""
    with sqlite3.connect(path) as connection:
        connection.executemany(
            "INSERT INTO changes (codes, changed_at) VALUES (?, ?)",
            [(code, to_micros(at)) for code in codes],
        )
    connection.close()


@pytest.mark.parametrize(
    ("ahead", "at", "is_truncated"),
    [
        (timedelta(0), NOW - timedelta(days=1), True),
        (timedelta(0), NOW - timedelta(days=1) + timedelta(seconds=1), False),
        # A row dated by a clock that ran ahead does not prevent deletion.
        (timedelta(minutes=2), NOW - timedelta(days=2), True),
        (timedelta(days=3650), NOW - timedelta(days=2), True),
    ],
)
async def test_sqlite_keeps_feed_rows_for_a_day_and_at_least_a_thousand(
    tmp_path: Path, ahead: timedelta, at: datetime, is_truncated: bool
) -> None:
    path = tmp_path / "links.sqlite3"
    codes = [f"code{n:04}" for n in range(1500)]
    async with open_stores_at(f"sqlite:///{path}", "links", STORE_FACTORIES) as store:
        made = await make(store, 10, "new-")
        await fill(path, codes[:20], NOW + ahead if ahead else at)
        await fill(path, codes[20:], at)
        assert (await read_all(store, "0"))[0] == codes

        for code in made:
            await link_operations.purge(store, [code], NOW)

        assert (await store.change_feed.read_since("0")).truncated == is_truncated
        assert (await read_all(store, "500"))[0] == [*codes[500:], *made]
