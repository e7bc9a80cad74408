"""The MongoDB store of links when processes die or run concurrently."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pymongo
import pytest
from pymongo.collection import Collection
from pymongo.errors import AutoReconnect

from services.links.__main__ import STORE_FACTORIES
from services.links.application.ports import LinkStore, UnitOfWork
from services.links.domain.block import BlockReason
from services.links.domain.decision import BlockedPattern, Decision, DecisionKind
from services.links.domain.link import FormerUrl, Link
from services.links.domain.owner import ANONYMOUS, Account, Guest, Owner
from services.links.domain.query import LinkFilter, LinkOrder
from services.links.domain.report import Statement
from services.links.storage.mongo import counts, rankings
from services.shared import mongo
from services.shared.errors import Unavailable
from tests.support import link_operations
from tests.support.mongo import server
from tests.support.store_fixtures import NewStore, add_all, open_stores_at

NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
LATER = NOW + timedelta(hours=2)
ONE, TWO = Account("one"), Account("two")
GUEST = Guest(bytes(range(32)))
CODES = [f"code{n:04}" for n in range(12)]
SCAN_CODE = "SC4N-C0D"
SPAM = BlockReason.SPAM
SAID = Statement("Spam.", "ana@b.example", NOW)

T = TypeVar("T")
Work = Callable[[UnitOfWork], Any]


@asynccontextmanager
async def opened(new_mongodb: NewStore, count: int) -> AsyncIterator[tuple[str, list[LinkStore]]]:
    """Open a new database with several stores over it."""
    async with AsyncExitStack() as stack:
        url = stack.enter_context(new_mongodb())
        yield (
            url,
            [
                await stack.enter_async_context(open_stores_at(url, "links", STORE_FACTORIES))
                for _ in range(count)
            ],
        )


async def make(store: LinkStore, owner: Owner, codes: Sequence[str] = CODES) -> None:
    links = [
        Link(code, f"http://{code}.example", owner, NOW - timedelta(microseconds=age))
        for age, code in enumerate(codes)
    ]
    await add_all(store, links)


def documents(url: str) -> dict[str, list[dict[str, Any]]]:
    """Return all documents of a database, by collection."""
    with pymongo.MongoClient[dict[str, Any]](url) as client:
        db = client.get_default_database()
        found = {name: list(db[name].find()) for name in db.list_collection_names()}
    return defaultdict(list, {name: some for name, some in found.items() if some})


def change(unit: UnitOfWork, code: str, **fields: Any) -> Link | None:
    """Change fields of a link, if there is one."""
    link = unit.links.get([code]).get(code)
    if link is None:
        return None
    changed = replace(link, **fields)
    unit.links.save([(link, changed)], NOW)
    return changed


def lead_elsewhere(unit: UnitOfWork) -> Link | None:
    return change(unit, CODES[0], url="http://b.example", changed_at=NOW)


def set_removed(codes: Sequence[str], at: datetime | None) -> Work:
    return lambda unit: [change(unit, code, removed_at=at) for code in codes]


def remove_all(unit: UnitOfWork) -> None:
    links = unit.links.get(CODES)
    unit.links.save([(one, replace(one, removed_at=NOW)) for one in links.values()], NOW)


def scan(unit: UnitOfWork) -> str | None:
    """Give a link the first free one of two scan codes."""
    free = next(code for code in (SCAN_CODE, "SC4N-C0E") if not unit.links.holders([code]).taken)
    return free if change(unit, CODES[0], scan_code=free) else None


def report(unit: UnitOfWork) -> str | None:
    if not unit.links.get(CODES[:1]):
        return None
    return unit.reports.add(CODES[0], SPAM, SAID, "new")


def block(unit: UnitOfWork) -> int:
    """Block a link and its host, and settle its reports."""
    change(unit, CODES[0], blocked=SPAM)
    decided = unit.reports.decide([CODES[0]], NOW)
    unit.decisions.add(Decision(DecisionKind.BLOCK, NOW, CODES[0], reason=SPAM, reports=decided))
    unit.decisions.block(BlockedPattern("a.example", SPAM, NOW))
    return decided


def purge(unit: UnitOfWork) -> list[str]:
    return unit.links.purge(CODES, NOW)


def claim(account: Account, limit: int) -> Work:
    return lambda unit: unit.links.reassign(GUEST, account, limit)


UNITS: dict[str, Work] = {
    "change": lead_elsewhere,
    "removal": remove_all,
    "scan code": lambda unit: (unit.links.holders(["x"]), change(unit, CODES[1], scan_code="NEW")),
    "claim": claim(ONE, 100),
    "withdrawal": lambda unit: unit.links.withdraw(ONE, 100, NOW),
    "purge": purge,
    "report": report,
    "decision": block,
    "ranking": lambda unit: unit.links.save_ranking(GUEST, "key", CODES, NOW),
}
WRITES = (
    "insert_one",
    "insert_many",
    "update_one",
    "update_many",
    "replace_one",
    "bulk_write",
    "delete_one",
    "delete_many",
)


@contextmanager
def broken_off(monkeypatch: pytest.MonkeyPatch, at: int) -> Iterator[list[str]]:
    """Fail after write number `at`, from 0; yield the writes that were made."""
    seen: list[str] = []

    def patched(name: str) -> Callable[..., Any]:
        real = getattr(Collection, name)

        def write(collection: Any, *args: Any, **options: Any) -> Any:
            written = real(collection, *args, **options)
            seen.append(name)
            if len(seen) > at:
                raise AutoReconnect("killed")
            return written

        return write

    with monkeypatch.context() as context:
        for name in WRITES:
            context.setattr(Collection, name, patched(name))
        yield seen


@pytest.mark.parametrize("name", UNITS)
async def test_a_unit_of_work_interrupted_at_any_write_changes_nothing(
    new_mongodb: NewStore, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(rankings, "CODES_PER_PART", 5)
    async with opened(new_mongodb, 1) as (url, (store,)):
        await make(store, GUEST)
        await make(store, ONE, ["of-one01", "of-one02"])
        await store.transactions.run("test", scan)
        await store.transactions.run("test", report)
        await link_operations.store_ranking(store, GUEST, "key", CODES[:7], NOW)
        before = documents(url)
        for at in range(10):
            with broken_off(monkeypatch, at) as writes:
                try:
                    await store.transactions.run("test", UNITS[name])
                except Unavailable:
                    assert len(writes) == at + 1
                    assert documents(url) == before
                    continue
            assert len(writes) == at > 0
            assert documents(url) != before
            return
        pytest.fail("It never ended.")


async def overtaken(store: LinkStore, work: Callable[[UnitOfWork], T], other: Awaitable[Any]) -> T:
    """Run a unit of work while another call commits after its first read. It runs twice."""
    loop = asyncio.get_running_loop()
    runs = 0

    async def call() -> None:
        await other

    def run(unit: UnitOfWork) -> T:
        nonlocal runs
        runs += 1
        unit.links.get(CODES)  # Takes the snapshot.
        if runs == 1:
            asyncio.run_coroutine_threadsafe(call(), loop).result()
        return work(unit)

    result = await store.transactions.run("test", run)
    assert runs == 2
    return result


async def test_edits_and_purges_see_a_concurrent_scan_code(
    new_mongodb: NewStore,
) -> None:
    for work, left in ((lead_elsewhere, {CODES[0], SCAN_CODE}), (purge, set())):
        async with opened(new_mongodb, 2) as (_, (store, other)):
            await make(store, GUEST)
            cursor = (await store.change_feed.read_since(None)).cursor
            await overtaken(store, work, other.transactions.run("test", scan))
            found = await store.links.resolve([CODES[0], SCAN_CODE])
            assert {one.code for one in found} == left
            assert {one.url for one in found} <= {"http://b.example"}
            assert {CODES[0], SCAN_CODE} <= set((await store.change_feed.read_since(cursor)).keys)
            assert await other.links.add(Link(SCAN_CODE, "http://a.example", ONE, NOW)) is None


async def test_a_scan_code_taken_concurrently_is_skipped(new_mongodb: NewStore) -> None:
    async with opened(new_mongodb, 2) as (_, (store, other)):
        await make(store, GUEST)
        taken = Link(SCAN_CODE, "http://a.example", ONE, NOW)
        assert await overtaken(store, scan, other.links.add(taken)) == "SC4N-C0E"
        assert await store.links.find(SCAN_CODE) == taken


async def test_a_link_purged_concurrently_stays_purged(new_mongodb: NewStore) -> None:
    for work in (lead_elsewhere, report, scan):
        async with opened(new_mongodb, 2) as (url, (store, other)):
            await make(store, ANONYMOUS)
            assert await overtaken(store, work, other.transactions.run("test", purge)) is None
            left = sorted(documents(url)["links"], key=lambda one: str(one["_id"]))
            assert left == [{"_id": code, "removed": True} for code in CODES]


async def test_concurrent_claims_share_the_links(new_mongodb: NewStore) -> None:
    async with opened(new_mongodb, 2) as (_, (store, other)):
        await make(store, GUEST)
        by_other = other.transactions.run("test", claim(TWO, 5))
        assert await overtaken(store, claim(ONE, 5), by_other) == 5
        assert await link_operations.claim(store, GUEST, ONE, 5) == 2
        assert await link_operations.claim(store, GUEST, ONE, 5) == 0
        owned = {owner: set(await store.links.owned_codes(owner, 99)) for owner in (ONE, TWO)}
        assert (len(owned[ONE]), len(owned[TWO])) == (7, 5)
        assert owned[ONE] | owned[TWO] == set(CODES)


async def test_an_edit_sees_a_concurrent_change_of_owner(new_mongodb: NewStore) -> None:
    async with opened(new_mongodb, 2) as (_, (store, other)):
        await make(store, GUEST)
        by_other = other.transactions.run("test", claim(ONE, 100))
        link = await overtaken(store, lead_elsewhere, by_other)
        assert link
        assert link.owner == ONE


async def test_a_concurrent_restore_does_not_undo_a_withdrawal(
    new_mongodb: NewStore,
) -> None:
    async with opened(new_mongodb, 2) as (_, (store, other)):
        await make(store, ONE)
        await store.transactions.run("test", remove_all)

        def restore(unit: UnitOfWork) -> bool:
            link = unit.links.get(CODES)[CODES[0]]
            if link.is_gone_at(NOW):
                return False
            return change(unit, CODES[0], removed_at=None) is not None

        assert not await overtaken(store, restore, link_operations.withdraw(other, ONE, 99, NOW))


async def test_concurrent_reports_and_decisions_see_each_other(new_mongodb: NewStore) -> None:
    async with opened(new_mongodb, 2) as (_, (store, other)):
        await make(store, ONE)
        assert await overtaken(store, block, other.transactions.run("test", report)) == 1
        assert await store.reports.count_pending() == 0
        assert [one.reports for one in await store.decisions.page(0, 9)] == [1]

        await store.transactions.run("test", report)
        assert await overtaken(store, report, other.transactions.run("test", block)) == "new"
        [(_, waiting)], _ = await store.reports.pending(None, 100)
        assert (waiting.id, waiting.count) == ("new", 1)


async def test_a_lease_is_released_although_the_primary_steps_down() -> None:
    test_commands = ("--setParameter", "enableTestCommands=1")
    with server.single(*server.SMALL, *test_commands) as url:
        async with open_stores_at(f"{url}atajo", "links", STORE_FACTORIES) as store:
            minute, none = timedelta(minutes=1), timedelta(0)
            assert await store.leases.take("purge", "one", minute, NOW)
            with pymongo.MongoClient[dict[str, Any]](url) as client:
                client.admin.command(
                    "configureFailPoint",
                    "failCommand",
                    mode={"times": 1},
                    data={
                        "failCommands": ["delete"],
                        "errorCode": 189,  # PrimarySteppedDown
                        "errorLabels": ["RetryableWriteError"],
                    },
                )
            await store.leases.take("purge", "one", none, NOW)
            assert await store.leases.take("purge", "two", minute, NOW)


async def test_a_purge_leaves_only_the_code(new_mongodb: NewStore) -> None:
    async with opened(new_mongodb, 1) as (url, (store,)):
        await make(store, ONE, CODES[:1])
        for work in (lead_elsewhere, scan, report):
            await store.transactions.run("test", work)
        assert await store.links.history(CODES[0]) == [FormerUrl(f"http://{CODES[0]}.example", NOW)]
        await store.lists.record_views({CODES[0]: 3}, None)
        await link_operations.store_ranking(store, ONE, "key", CODES[:1], NOW)

        assert await link_operations.purge(store, [CODES[0], "unknown-"], NOW) == [CODES[0]]

        left = documents(url)
        gone = [{"_id": code, "removed": True} for code in (SCAN_CODE, CODES[0])]
        assert sorted(left["links"], key=lambda one: str(one["_id"])) == gone
        assert left["rankings"] == left["ranked_codes"] == []


@pytest.mark.parametrize("missing", ["url", "created_at"])
async def test_a_link_without_a_field_is_purged(new_mongodb: NewStore, missing: str) -> None:
    async with opened(new_mongodb, 1) as (url, (store,)):
        await make(store, ONE)
        with pymongo.MongoClient[dict[str, Any]](url) as client:
            links = client.get_default_database()["links"]
            links.update_one({"_id": CODES[0]}, {"$unset": {missing: ""}})
        assert await store.links.link_code(CODES[0]) == CODES[0]
        assert sorted(await store.links.all_codes(ONE, 100)) == CODES
        assert sorted(await store.transactions.run("test", purge)) == CODES
        left = sorted(documents(url)["links"], key=lambda document: str(document["_id"]))
        assert left == [{"_id": code, "removed": True} for code in CODES]
        assert await store.links.link_code(CODES[0]) is None


async def test_concurrently_stored_rankings_respect_the_limit(
    new_mongodb: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rankings, "CODES_PER_PART", 5)
    monkeypatch.setattr(rankings, "MAX_STORED_RANKINGS", 4)
    async with opened(new_mongodb, 2) as (url, stores):
        for _ in range(2):
            await asyncio.gather(
                *(
                    link_operations.store_ranking(stores[n % 2], ONE, f"key{n}", CODES[n:], NOW)
                    for n in range(6)
                )
            )
        found = [await stores[0].lists.stored_ranking(ONE, f"key{n}", 0, 99, NOW) for n in range(6)]
        assert sum(one is not None for one in found) == 4
        assert all(one in (None, CODES[n:]) for n, one in enumerate(found))
        parts = sum(-(-len(one) // 5) for one in found if one)
        assert len(documents(url)["ranked_codes"]) == parts, "what is not kept is deleted"


async def test_cached_counts_are_correct(
    new_mongodb: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever replica counts and whichever changes links."""
    monkeypatch.setattr(counts, "MAX_UNCACHED", 3)
    async with opened(new_mongodb, 2) as (url, stores):
        one, other = stores

        async def counted(owner: Account | Guest = ONE) -> int:
            first, *others = [
                await store.lists.count(owner, LinkFilter(), LATER) for store in stores * 2
            ]
            assert others == [first] * 3
            return first

        await make(one, GUEST)
        assert await counted(GUEST) == 12
        await link_operations.claim(other, GUEST, ONE, 5)
        assert (await counted(), await counted(GUEST)) == (5, 7)
        await link_operations.claim(other, GUEST, ONE, 100)
        assert (await counted(), await counted(GUEST)) == (12, 0)
        await other.links.add(Link("newer", "http://a.example", ONE, LATER))
        assert await counted() == 13
        own = [link.code for link in await one.links.find_all(ONE, CODES)]
        await one.transactions.run("test", set_removed(["newer", *own[:3]], LATER))
        assert await counted() == 9
        await other.transactions.run("test", set_removed(own[1:3], None))
        assert await counted() == 11
        await link_operations.purge(one, ["newer", *own[:2]], LATER)
        assert await counted() == 10
        assert await link_operations.withdraw(one, ONE, 2, LATER) == 2
        assert await counted() == 8

        await link_operations.store_ranking(one, ONE, "key", CODES, NOW)
        for name in ("counts", "count_changes", "rankings", "ranked_codes"):
            dates = [one["changed_at"] for one in documents(url)[name]]
            assert dates, "the server deletes them by that"
            assert all(isinstance(date, datetime) for date in dates)


async def test_a_removal_during_a_count_invalidates_it(
    new_mongodb: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link is removed between counting and caching, for the first or a later count."""
    monkeypatch.setattr(counts, "MAX_UNCACHED", 3)
    write = mongo.Database.write
    async with opened(new_mongodb, 2) as (_, (store, other)):
        await make(store, ONE)
        for n in range(3):
            overtaken_counts = 0

            async def meanwhile(database: Any, name: str, operation: Any, n: int = n) -> Any:
                nonlocal overtaken_counts
                if name == "links_count_keep":
                    overtaken_counts += 1
                    await other.transactions.run("test", set_removed([CODES[n]], NOW))
                return await write(database, name, operation)

            with monkeypatch.context() as context:
                context.setattr(mongo.Database, "write", meanwhile)
                assert await store.lists.count(ONE, LinkFilter(), LATER) == 12 - n
                assert overtaken_counts == 1
            assert await store.lists.count(ONE, LinkFilter(), LATER) == 11 - n
            for removed_at in (NOW, None):
                await other.transactions.run("test", set_removed(CODES[11:], removed_at))


async def test_a_removal_that_commits_after_a_count_invalidates_it(
    new_mongodb: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "MAX_UNCACHED", 3)
    loop = asyncio.get_running_loop()
    async with opened(new_mongodb, 2) as (_, (store, other)):
        await make(store, ONE)

        def work(unit: UnitOfWork) -> None:
            set_removed(CODES[:5], NOW)(unit)
            counting = other.lists.count(ONE, LinkFilter(), LATER)
            assert asyncio.run_coroutine_threadsafe(counting, loop).result() == 12

        await store.transactions.run("test", work)
        assert await other.lists.count(ONE, LinkFilter(), LATER) == 7


async def test_a_count_is_cached_for_an_hour(
    new_mongodb: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "MAX_UNCACHED", 3)
    async with opened(new_mongodb, 1) as (url, (store,)):
        await make(store, ONE)

        async def counted_until(moment: datetime) -> int:
            assert await store.lists.count(ONE, LinkFilter(), moment) == 12
            return int(documents(url)["counts"][0]["until"])

        first = await counted_until(LATER)
        await store.transactions.run("test", lambda unit: change(unit, CODES[0], title="t"))
        assert await counted_until(LATER + timedelta(minutes=59)) == first
        assert await counted_until(LATER + timedelta(minutes=61)) > first


async def test_reads_of_links_exclude_their_history(
    new_mongodb: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may take two megabytes per link of a page."""
    fields_read: list[Any] = []
    find = Collection.find

    def spy(collection: Any, query: Any, fields: Any = None, *rest: Any, **options: Any) -> Any:
        if collection.name == "links":
            fields_read.append(fields)
        return find(collection, query, fields, *rest, **options)

    async with opened(new_mongodb, 1) as (_, (store,)):
        await make(store, ONE)
        with monkeypatch.context() as context:
            context.setattr(Collection, "find", spy)
            await store.links.find(CODES[0])
            await store.links.resolve(CODES)
            await link_operations.newest(store, ONE, 100)
            await store.lists.page(ONE, LinkFilter(), LinkOrder.NEWEST, None, 9, NOW)
            await store.lists.ranking(ONE, LinkFilter(), NOW)
            await store.links.find_all(ONE, CODES)
            for work in (lead_elsewhere, purge):
                await store.transactions.run("test", work)
        assert len(fields_read) >= 8
        assert all(fields and "history" not in fields for fields in fields_read)
