"""The indexes that MongoDB uses for queries, and its TTL indexes."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from services.analytics.application.ports import NameDetail
from services.analytics.domain.batches import Batch
from services.analytics.domain.visits import VisitCount, VisitKind
from services.analytics.storage.mongo import store as analytics
from services.auth.application.ports import Position
from services.auth.domain.account import Account, Role
from services.auth.domain.api_key import Scope, create_api_key
from services.auth.domain.decision import Action, create_decision
from services.auth.storage.mongo.schema import SCHEMA as AUTH_SCHEMA
from services.auth.storage.mongo.store import open_stores as open_auth_stores
from services.links.application.creations import Creations
from services.links.application.imports import Imports
from services.links.application.ports import UnitOfWork
from services.links.application.records.creations import creation_key
from services.links.domain import owner as owners
from services.links.domain.creations import NewLink
from services.links.domain.imports import ImportRow, to_day
from services.links.domain.link import Link
from services.links.domain.query import AgeCursor, LinkFilter, LinkOrder
from services.links.domain.resolution import LinkState
from services.links.domain.url import UrlPolicy
from services.links.storage import mongo as links
from services.shared import mongo
from services.shared.timestamps import to_micros
from tests.analytics.cases import maintain_all
from tests.support import link_operations
from tests.support.mongo import server
from tests.support.store_fixtures import add_all

NOW = datetime.now(UTC)
pytestmark = pytest.mark.usefixtures("longer_deadlines")


@asynccontextmanager
async def opened(url: str, schema: mongo.Schema) -> AsyncIterator[mongo.Database]:
    async with mongo.open_database(url, "", schema) as database:
        await database.wait_for_schema()
        yield database


@asynccontextmanager
async def profiled(database: mongo.Database, names: str) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield a list that receives the operations on these collections when the block ends."""
    chosen = {"ns": {"$regex": rf"\.({names})$"}}
    operations: list[dict[str, Any]] = []
    await database.write("", lambda db: db.command("profile", 2))
    yield operations
    await database.write("", lambda db: db.command("profile", 0))
    operations += await database.read(
        "", lambda db: db["system.profile"].find(chosen).to_list(None)
    )


async def test_old_attempts_are_deleted() -> None:
    with server.single(*server.SMALL, "--setParameter", "ttlMonitorSleepSecs=1") as url:
        async with opened(f"{url}atajo", AUTH_SCHEMA) as database:
            attempts = open_auth_stores(database).attempts
            await attempts.acquire("old", 1, timedelta(minutes=15), NOW - timedelta(days=1))
            await attempts.acquire("live", 1, timedelta(minutes=15), NOW)
            deadline = time.monotonic() + 60
            while await database.read("", lambda db: db.attempts.find_one({"_id": "old"})):
                assert time.monotonic() < deadline
                await asyncio.sleep(0.1)
            assert await database.read("", lambda db: db.attempts.find_one({"_id": "live"}))


async def test_a_search_reads_only_the_accounts_and_decisions_that_it_finds(
    mongo_url: str,
) -> None:
    async with opened(mongo_url, AUTH_SCHEMA) as database:
        stores = open_auth_stores(database)
        for number in range(60):
            account = Account(f"{number:024x}", "a@b", f"user{number}@b", "Ana", "", "", NOW)
            await stores.accounts.add(account)
            decision = create_decision(Action.ROLE, account.id, "", NOW, "administrator")
            roles = {"role": decision}
            await stores.accounts.change(account.id, None, Role.ADMINISTRATOR, roles)
        async with profiled(database, "accounts|account_decisions") as operations:
            for after in (None, Position(to_micros(NOW), "g")):
                assert len(await stores.accounts.list_page("r7@", after, 10)) == 1
                assert len(await stores.decisions.list_page(f"{7:024x}", after, 10)) == 1
        assert len(operations) == 4
        for query in operations:
            assert "IXSCAN" in query["planSummary"]
            assert not query.get("hasSortStage")
            assert query["docsExamined"] == 1


async def test_a_page_of_an_account_reads_only_its_links(mongo_url: str) -> None:
    async with opened(mongo_url, links.SCHEMA) as database:
        store = links.open_store(database)
        made = []
        for n in range(200):
            owner = (owners.Account("one"), owners.Account("two"), owners.ANONYMOUS)[n % 3]
            at = NOW + timedelta(microseconds=n)
            made.append(Link(f"code{n:04}", "http://a.example", owner, at))
        await add_all(store, made)
        async with profiled(database, "links") as operations:
            assert len(await store.links.all_codes(owners.Account("one"), 20)) == 20
        [query] = operations
        assert "IXSCAN" in query["planSummary"]
        assert not query.get("hasSortStage")
        assert query["docsExamined"] <= 21


async def test_lists_are_read_in_index_order(mongo_url: str) -> None:
    """The owner has 300 links, of which every third is removed and every fifth expired."""
    owner, nobody = owners.Account("one"), owners.ANONYMOUS
    async with opened(mongo_url, links.SCHEMA) as database:
        store = links.open_store(database)
        made = [Link(f"free{n:04}", "http://a.example", nobody, NOW) for n in range(300)]
        for n in range(300):
            link = Link(f"code{n:04}", "http://a.example", owner, NOW + timedelta(seconds=n))
            removed_at = NOW if n % 3 == 0 else None
            expires_at = NOW.replace(microsecond=0) if n % 5 == 0 else None
            made.append(replace(link, removed_at=removed_at, expires_at=expires_at))
        await add_all(store, made)
        await store.lists.record_views({f"code{n:04}": n % 7 for n in range(300)}, None)
        newest, oldest = LinkOrder.NEWEST, LinkOrder.OLDEST
        all_of_them = LinkFilter()
        removed = LinkFilter(state=LinkState.REMOVED)
        expired = LinkFilter(state=LinkState.EXPIRED)

        async with profiled(database, "links") as operations:
            for link_filter, order in (
                (all_of_them, newest),
                (all_of_them, oldest),
                (removed, newest),
            ):
                page = await store.lists.page(owner, link_filter, order, None, 20, NOW)
                after = AgeCursor(page[-1].created_at, page[-1].code)
                assert len(await store.lists.page(owner, link_filter, order, after, 20, NOW)) == 20
            assert len(await store.lists.page(owner, expired, newest, None, 100, NOW)) == 40
            for text, found in (("code0007", 1), ("code001", 7), ("nowhere", 0)):
                for order in (newest, oldest):
                    page = await store.lists.page(owner, LinkFilter(text), order, None, 100, NOW)
                    assert len(page) == found
            assert await store.lists.count(owner, all_of_them, NOW) == 200
            assert await store.lists.count_all(owner, NOW) == 300
            assert len(await store.lists.ranking(owner, all_of_them, NOW)) == 200
            assert len(await store.links.owned_codes(owner, 500)) == 200
            assert len(await store.links.codes_after("", 500)) == 300
            assert len(await store.links.removed_before(NOW, 50)) == 50
        assert len(operations) == 14 + 2 * 3
        for query in operations:
            assert re.match("IXSCAN|COUNT_SCAN", query["planSummary"]), query["planSummary"]
            assert not query.get("hasSortStage")
            # Skipped entries are not fetched; codes and counts need no document.
            of_links = "title" in query["command"].get("projection", {})
            assert query["docsExamined"] <= (query["nreturned"] + 1 if of_links else 0)


async def test_links_of_a_host_are_found_by_index(mongo_url: str) -> None:
    async with opened(mongo_url, links.SCHEMA) as database:
        store = links.open_store(database)
        for name, url in (("code", "http://a.example"), ("free", "http://b.example")):
            made = [Link(f"{name}{n:04}", url, owners.ANONYMOUS, NOW) for n in range(200)]
            await add_all(store, made)
        async with profiled(database, "links") as operations:
            for with_subdomains in (True, False):
                found, place = await store.hosts.at(
                    "a.example", None, 50, with_subdomains=with_subdomains
                )
                found, place = await store.hosts.at(
                    "a.example", place, 50, with_subdomains=with_subdomains
                )
                assert len(found) == 50
            assert len(await store.links.resolve([link.code for link in found])) == 50
            assert await store.hosts.hosts_after("", 500) == ["a.example", "b.example"]
            assert await store.hosts.listed_after("", 50) == []
        assert len(operations) == 16
        for query in operations:
            assert "COLLSCAN" not in query["planSummary"]
            assert not query.get("hasSortStage")
            assert query["docsExamined"] <= query["nreturned"]


async def test_imports_and_their_rows_are_found_by_index(mongo_url: str) -> None:
    owner, other = owners.Account("one"), owners.Account("two")
    ids = [f"import-{n:015}" for n in range(5)]
    async with opened(mongo_url, links.SCHEMA) as database:
        store = links.open_store(database)
        for account in (owner, other):
            for number, import_id in enumerate(ids):
                now = partial(NOW.__add__, timedelta(seconds=number))
                imports = Imports(store, UrlPolicy("https://atajo.example"), now)
                rows = [
                    ImportRow(n, f"{account.id}{number}{n:04}", "a.example") for n in range(100)
                ]
                await imports.run(account, import_id, rows)

        def work(unit: UnitOfWork) -> None:
            codes = [f"one1{n:04}" for n in range(10)]
            assert len(unit.imports.created_codes(owner, ids[1], codes)) == 10
            assert len(unit.imports.created_rows(owner, ids[1], 49, 10)) == 10
            assert len(unit.imports.results(owner, ids[1], range(20))) == 20
            assert unit.imports.find(owner, ids[1])
            assert unit.imports.rows_on(owner, to_day(NOW)) == 500

        async with profiled(database, "imports|import_rows|import_days") as operations:
            await store.transactions.run("test", work)
            assert len(await store.imports.newest(owner, NOW, 3)) == 3
            assert not await store.imports.delete_older(NOW - timedelta(days=1), to_day(NOW), 100)
        queries = [one for one in operations if one["op"] in ("query", "command")]
        assert len(queries) == 8
        for query in queries:
            assert re.match("IXSCAN|IDHACK|EOF", query["planSummary"]), query["planSummary"]
            assert not query.get("hasSortStage")
            assert query["docsExamined"] <= query["nreturned"] + 1
        async with profiled(database, "import_rows") as operations:
            assert not await store.imports.delete_all(other, 1000)
        # The profile begins with the reads above.
        reads = [one for one in operations if one["op"] == "query"][-5:]
        assert [query["nreturned"] for query in reads] == [100] * 5
        assert {query["docsExamined"] for query in reads} == {0}


async def test_records_of_creations_are_found_by_index(mongo_url: str) -> None:
    owner, other = owners.Account("one"), owners.Account("two")
    async with opened(mongo_url, links.SCHEMA) as database:
        store = links.open_store(database)
        for account in (owner, other):
            for number in range(50):
                now = partial(NOW.__add__, timedelta(seconds=number))
                creations = Creations(store, UrlPolicy("https://atajo.example"), now)
                new = NewLink("a.example", f"{account.id}{number:04}")
                await creations.run(account, bytes([number]), bytes(32), [new])
        async with profiled(database, "creations") as operations:
            await creations.run(other, b"key", bytes(32), [NewLink("a.example")])
            await creations.run(other, b"key", bytes(32), [NewLink("a.example")])
            purged = [f"{account.id}{n:04}" for account in (owner, other) for n in (1, 2)]
            await link_operations.purge(store, purged, NOW)
            assert await store.creations.delete_all(owner, 30)
            assert not await store.creations.delete_all(owner, 30)
        assert len(operations) == 2 + 1 + 2 + 2 * 2
        for operation in operations:
            plan = operation.get("planSummary", "IDHACK")
            assert re.match("IXSCAN|IDHACK|EXPRESS", plan), plan
            assert operation.get("docsExamined", 0) <= 30


async def test_records_of_creations_are_deleted_an_hour_after_their_day() -> None:
    with server.single(*server.SMALL, "--setParameter", "ttlMonitorSleepSecs=1") as url:
        async with opened(f"{url}atajo", links.SCHEMA) as database:
            creations = Creations(
                links.open_store(database), UrlPolicy("https://atajo.example"), lambda: NOW
            )
            ages = {b"old": timedelta(hours=25), b"live": timedelta(hours=24, minutes=55)}
            keys = {key: creation_key(owners.Account("one"), key) for key in ages}
            for key, age in ages.items():
                await creations.run(owners.Account("one"), key, bytes(32), [NewLink("a.example")])
                await database.write(
                    "", partial(date_back, key=keys[key], changed_at=datetime.now(UTC) - age)
                )
            deadline = time.monotonic() + 60
            while await database.read("", lambda db: db.creations.find_one({"_id": keys[b"old"]})):
                assert time.monotonic() < deadline
                await asyncio.sleep(0.1)
            assert await database.read("", lambda db: db.creations.find_one({"_id": keys[b"live"]}))


async def date_back(db: Any, key: bytes, changed_at: datetime) -> None:
    """Let the server have written a record at a time."""
    await db.creations.update_one({"_id": key}, {"$set": {"changed_at": changed_at}})


async def test_days_of_links_are_found_by_id(mongo_url: str) -> None:
    codes = [f"code{n:04}" for n in range(60)]
    day = 20_512
    visits = [
        VisitCount(code, (day + n) * 24, VisitKind.PERSON, {}, 1)
        for n in range(40)
        for code in codes
    ]
    found: list[int] = []
    async with opened(mongo_url, analytics.SCHEMA) as database:
        store = analytics.MongoStore(database)
        await store.apply(Batch("one", 1, tuple(visits)), NOW)
        async with profiled(database, "days|totals|aggregates") as operations:
            await store.read_days(
                codes,
                day + 10,
                day + 14,
                lambda _, each: found.append(each.day),
                NameDetail.PER_DAY,
            )
            assert await store.first_day(codes) == day
            await maintain_all(store, day + 40, day + 20)
        assert len(found) == 5 * len(codes)
        assert len(operations) > 5
        for query in operations:
            plan = query.get("planSummary", "IDHACK")
            for part in plan.split(", "):
                # EOF is the plan for an empty collection.
                assert re.match(r"IXSCAN \{ _id: 1|IDHACK|EOF", part), plan
            assert not query.get("hasSortStage")
            if query["op"] == "query":
                assert query["docsExamined"] <= query["nreturned"]


async def test_a_withdrawal_reads_only_the_links_of_its_account(mongo_url: str) -> None:
    async with opened(mongo_url, links.SCHEMA) as database:
        store = links.open_store(database)
        one, two = owners.Account("one"), owners.Account("two")
        made = []
        for n in range(200):
            removed_at = NOW if n % 3 else None
            link = Link(f"code{n:04}", "http://a.example", (one, two)[n % 2], NOW)
            made.append(replace(link, removed_at=removed_at))
        await add_all(store, made)
        async with profiled(database, "links") as operations:
            assert await link_operations.withdraw(store, one, 1000, NOW) == 100
            assert await link_operations.withdraw(store, one, 1000, NOW) == 0
        assert len(operations) == 3
        for query in operations:
            assert re.fullmatch(r"(IXSCAN \{[^}]*\}(, )?)+", query["planSummary"])
            assert query["docsExamined"] <= 100


async def test_closed_accounts_are_found_by_index(mongo_url: str) -> None:
    async with opened(mongo_url, AUTH_SCHEMA) as database:
        store = open_auth_stores(database).accounts
        for n in range(20):
            email = f"{n}@example.com"
            await store.add(Account(f"{n}", email, email, "Ana", "hash", "salt", NOW))
        await store.close("7@example.com")
        async with profiled(database, "accounts") as operations:
            assert await store.list_closed(100) == ["7"]
        (query,) = operations
        assert "IXSCAN" in query["planSummary"]
        assert query["docsExamined"] <= 1


async def test_api_keys_are_found_by_index(mongo_url: str) -> None:
    async with opened(mongo_url, AUTH_SCHEMA) as database:
        stores = open_auth_stores(database)
        accounts, keys = stores.accounts, stores.keys
        hashes = []
        for n in range(20):
            account = Account(f"{n}", f"{n}@b", f"{n}@b", "Ana", "hash", "salt", NOW)
            await accounts.add(account)
            for _ in range(3):
                key, _ = create_api_key(account.id, "Script", [Scope.LINKS_READ], None, NOW)
                await keys.add(account, key, 20)
                hashes.append(key.key_hash)
        async with profiled(database, "accounts") as operations:
            assert await keys.find(hashes[40])
            await keys.record_uses(dict.fromkeys(hashes[:5], NOW))
        assert len(operations) == 1 + 5
        for operation in operations:
            assert "IXSCAN" in operation["planSummary"]
            assert operation["docsExamined"] == 1
