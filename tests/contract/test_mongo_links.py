"""What the links store of MongoDB keeps to where a call breaks off, or others are faster.

Every write of a call is broken off in turn: ahead of it, in the middle of it, and once it was done
and the answer was lost. What the server cannot show is injected at the driver's edge.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from motor.motor_asyncio import AsyncIOMotorCollection
from pymongo import UpdateOne
from pymongo.errors import AutoReconnect, DuplicateKeyError

from services.links import collection_mongo, counts_mongo, rankings_mongo, schema_mongo
from services.links.blocks import BlockReason
from services.links.decisions import Decision, DecisionKind
from services.links.domain import (
    NOBODY,
    Account,
    FormerUrl,
    Guest,
    Link,
    LinkState,
    Owner,
    Resolution,
)
from services.links.edits import Edit, removal, restoration
from services.links.listing import LinkOrder, Wanted
from services.links.reports import Statement
from services.links.store_mongo import MongoLinkStore
from services.runtime import mongo
from services.runtime.errors import Unavailable
from services.runtime.feed import Told
from tests.mongo import server

NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
ONE, TWO = Account("one"), Account("two")
GUEST = Guest(bytes(range(32)))
CODES = [f"code{n:04}" for n in range(12)]
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
WRITES = (
    "insert_one",
    "insert_many",
    "update_one",
    "update_many",
    "bulk_write",
    "delete_one",
    "delete_many",
    "find_one_and_update",
)


@asynccontextmanager
async def replicas(server_url: str, count: int = 1) -> AsyncIterator[list[MongoLinkStore]]:
    """Stores over one new database, as several processes have them."""
    with server.database(server_url) as url:
        databases = [mongo.opened(url, "", schema_mongo.SCHEMA) for _ in range(count)]
        opened = []
        try:
            for one in databases:
                opened.append(await one.__aenter__())
                await opened[-1].prepared()
            yield [MongoLinkStore(one) for one in opened]
        finally:
            for one in databases[: len(opened)]:
                await one.__aexit__(None, None, None)


async def make(store: MongoLinkStore, owner: Owner, codes: Sequence[str] = CODES) -> None:
    for age, code in enumerate(codes):
        at = NOW - timedelta(microseconds=age)
        await store.add(Link(code, f"http://{code}.example", owner, at))


async def codes_of(store: MongoLinkStore, owner: Account | Guest) -> list[str]:
    return [link.code async for page in store.by_owner(owner, 100) for link in page]


async def told(store: MongoLinkStore) -> set[str]:
    """All that was announced."""
    some = await store.announcements(0)
    assert not some.more
    return set(some.keys)


async def everything(store: MongoLinkStore, collection: str) -> list[mongo.Document]:
    """The documents of a collection."""
    return await store._database.read("", lambda db: db[collection].find().to_list(None))


def to(url: str) -> Edit:
    """A change of URL."""
    return Edit(
        lambda link: (
            link
            if link.url == url
            else replace(link, url=url, created_url=link.created_url or link.url, changed_at=NOW)
        ),
        is_announced=True,
    )


HALF: dict[str, Callable[..., tuple[Any, ...]]] = {
    "bulk_write": lambda requests: (requests[: len(requests) // 2],),
    "insert_many": lambda documents: (documents[: len(documents) // 2],),
    "update_many": lambda query, change: (half_of(query), change),
    "delete_many": lambda query: (half_of(query),),
}


def half_of(query: dict[str, Any]) -> dict[str, Any]:
    """A query for half of what another names; an empty one where that names nothing."""
    if "_id" not in query:
        return {}
    named = query["_id"]["$in"]
    return {**query, "_id": {"$in": named[: len(named) // 2]}}


@contextmanager
def broken_off(monkeypatch: pytest.MonkeyPatch, at: int, how: str) -> Iterator[list[str]]:
    """Break the write number `at` off, from 0 on; yields the writes there were."""
    seen: list[str] = []

    def patched(name: str) -> Callable[..., Awaitable[Any]]:
        real = getattr(AsyncIOMotorCollection, name)

        async def write(collection: Any, *args: Any, **options: Any) -> Any:
            seen.append(name)
            if len(seen) - 1 != at:
                return await real(collection, *args, **options)
            if how == "half":
                args = HALF[name](*args) if name in HALF else ((),)
            if how != "ahead" and args[0]:
                await real(collection, *args, **options)
            raise AutoReconnect("killed")

        return write

    with monkeypatch.context() as context:
        for name in WRITES:
            context.setattr(AsyncIOMotorCollection, name, patched(name))
        yield seen


async def removed(store: MongoLinkStore) -> None:
    found = [await store.find(code) for code in CODES]
    assert all(link and link.removed_at == NOW for link in found)
    assert await told(store) == set(CODES)


async def led_elsewhere(store: MongoLinkStore) -> None:
    found = await store.find(CODES[0])
    assert found
    assert (found.url, found.created_url) == ("http://b.example", f"http://{CODES[0]}.example")
    assert await store.history(CODES[0]) == [FormerUrl(f"http://{CODES[0]}.example", NOW)]
    assert await told(store) == {CODES[0]}


async def claimed(store: MongoLinkStore) -> None:
    assert await codes_of(store, ONE) == CODES
    assert await codes_of(store, GUEST) == []


async def purged(store: MongoLinkStore) -> None:
    assert await store.resolve(CODES) == []
    assert await store.add(Link(CODES[0], "http://a.example", ONE, NOW)) is None
    assert await told(store) == set(CODES)


async def ranked(store: MongoLinkStore) -> None:
    assert await store.ranking(GUEST, Wanted(), NOW) == CODES[::-1]
    assert await store.rank_mark() == 7


async def kept(store: MongoLinkStore) -> None:
    assert await store.kept_ranking(GUEST, "key", 0, 100, NOW) == CODES


async def report(store: MongoLinkStore) -> None:
    """The first report of a link, or one that follows."""
    said = Statement("Spam.", "ana@b.example", NOW)
    assert await store.report(CODES[0], BlockReason.SPAM, said, "one") == "one"


async def report_twice(store: MongoLinkStore) -> None:
    await report(store)
    await report(store)


async def reported(store: MongoLinkStore) -> None:
    """Who was not answered may have been counted all the same."""
    [(_, found)], _ = await store.reports(None, 100)
    assert (found.id, await store.waiting_reports()) == ("one", 1)
    assert 1 <= found.count <= 4
    assert len(found.statements) == found.count


async def report_and_decide(store: MongoLinkStore) -> None:
    await report(store)
    await store.dismiss(Decision(DecisionKind.DISMISS, NOW, CODES[0]))


async def decided(store: MongoLinkStore) -> None:
    assert (await store.reports(None, 100), await store.waiting_reports()) == (([], None), 0)
    await report(store)
    await reported(store)


async def report_and_forget(store: MongoLinkStore) -> None:
    await report_and_decide(store)
    await store.forget_reports(NOW, 100)


async def forgotten(store: MongoLinkStore) -> None:
    (document, *_) = await everything(store, "links")
    assert not {name for name in document if name.startswith("report")}


Call = Callable[[MongoLinkStore], Awaitable[Any]]
CALLS: dict[str, tuple[Call, Callable[[MongoLinkStore], Awaitable[None]]]] = {
    "removal": (lambda store: store.edit(GUEST, CODES, removal(NOW), NOW), removed),
    "change": (
        lambda store: store.edit(GUEST, CODES[:1], to("http://b.example"), NOW),
        led_elsewhere,
    ),
    "claim": (lambda store: store.claim(GUEST, ONE, 1000), claimed),
    "purge": (lambda store: store.purge(CODES, NOW), purged),
    "rank": (
        lambda store: store.rank({code: n for n, code in enumerate(CODES)}, 7),
        ranked,
    ),
    "report": (report_twice, reported),
    "decision": (report_and_decide, decided),
    "forgetting": (report_and_forget, forgotten),
    "ranking": (lambda store: store.keep_ranking(GUEST, "key", CODES, NOW), kept),
}


@pytest.mark.parametrize("how", ["ahead", "half", "done"])
@pytest.mark.parametrize("name", CALLS)
async def test_a_call_broken_off_at_any_write_is_finished_by_its_repetition(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch, name: str, how: str
) -> None:
    call, hold = CALLS[name]
    monkeypatch.setattr(rankings_mongo, "_PART", 5)
    for at in range(10):
        async with replicas(mongo_server, 2) as (store, other):
            await make(store, GUEST)
            with broken_off(monkeypatch, at, how) as writes:
                try:
                    await call(store)
                    ended = True
                except Unavailable:
                    ended = False
            if ended:
                assert at == len(writes) > 0
                await hold(other)
                return
            await call(other)
            await hold(store)
    pytest.fail("it never came to its end")


SCAN_CODE = "SC4N-C0D"


async def scan(store: MongoLinkStore) -> str | None:
    """Have a scan code made of which the first that is drawn is taken."""
    return await store.give_scan_code(GUEST, CODES[0], iter([CODES[1], SCAN_CODE]), NOW)


async def answers(store: MongoLinkStore, *codes: str) -> dict[str, tuple[LinkState, str]]:
    """What codes answer, and of which link they are the scan codes."""
    return {one.code: (one.state, one.link_code) for one in await store.resolve(codes)}


async def scanned(store: MongoLinkStore) -> None:
    found = await store.find(SCAN_CODE)
    assert found
    assert (found.code, found.scan_code) == (CODES[0], SCAN_CODE)
    active = LinkState.ACTIVE
    assert await answers(store, CODES[0], SCAN_CODE) == {
        CODES[0]: (active, ""),
        SCAN_CODE: (active, CODES[0]),
    }
    assert await store.add(Link(SCAN_CODE, "http://a.example", ONE, NOW)) is None
    assert SCAN_CODE in await told(store)


async def removed_with_scan_code(store: MongoLinkStore) -> None:
    assert await answers(store, SCAN_CODE) == {SCAN_CODE: (LinkState.REMOVED, CODES[0])}
    assert await told(store) == {*CODES, SCAN_CODE}


async def purged_with_scan_code(store: MongoLinkStore) -> None:
    codes = {*CODES, SCAN_CODE}
    left = sorted(await everything(store, "links"), key=lambda one: str(one["_id"]))
    assert left == [{"_id": code, "removed": True} for code in sorted(codes)]
    assert await store.resolve(sorted(codes)) == []
    assert await told(store) == codes


SCAN_CALLS: dict[str, tuple[Call, Callable[[MongoLinkStore], Awaitable[None]]]] = {
    "scan": (scan, scanned),
    "removal": (CALLS["removal"][0], removed_with_scan_code),
    "purge": (CALLS["purge"][0], purged_with_scan_code),
}


@pytest.mark.parametrize("how", ["ahead", "half", "done"])
@pytest.mark.parametrize("name", SCAN_CALLS)
async def test_a_call_about_scan_codes_broken_off_at_any_write_is_finished_by_its_repetition(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch, name: str, how: str
) -> None:
    call, hold = SCAN_CALLS[name]
    for at in range(10):
        async with replicas(mongo_server, 2) as (store, other):
            await make(store, GUEST)
            if name != "scan":
                await scan(store)
            with broken_off(monkeypatch, at, how) as writes:
                try:
                    await call(store)
                    ended = True
                except Unavailable:
                    ended = False
            if not ended:
                await call(other)
            await hold(store)
            await hold(other)
            if at == len(writes) > 0:
                return
    pytest.fail("it never came to its end")


async def test_of_many_who_give_a_link_a_scan_code_at_once_one_does(mongo_server: str) -> None:
    async with replicas(mongo_server, 2) as stores:
        await make(stores[0], GUEST, CODES[:1])
        made = await asyncio.gather(
            *(
                stores[n % 2].give_scan_code(GUEST, CODES[0], iter([f"SCAN000{n}"]), NOW)
                for n in range(8)
            )
        )
        assert len(set(made)) == 1
        held = {one["_id"] for one in await everything(stores[0], "links")}
        assert held == {CODES[0], made[0]}, "no code is lost to those who were slower"


@pytest.mark.parametrize("first", ["edit", "purge"])
async def test_who_did_not_see_the_scan_code_yet_announces_it(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """It was made between the read and the write of another replica's call."""
    bulk_write = AsyncIOMotorCollection.bulk_write
    async with replicas(mongo_server, 2) as (store, other):
        await make(store, GUEST, CODES[:2])

        async def later(collection: Any, *args: Any, **options: Any) -> Any:
            monkeypatch.setattr(AsyncIOMotorCollection, "bulk_write", bulk_write)
            assert await scan(other) == SCAN_CODE
            assert await other.announcements(None) == Told(1)
            return await bulk_write(collection, *args, **options)

        monkeypatch.setattr(AsyncIOMotorCollection, "bulk_write", later)
        if first == "edit":
            assert await store.edit(GUEST, CODES[:1], removal(NOW), NOW)
            assert await answers(store, SCAN_CODE) == {SCAN_CODE: (LinkState.REMOVED, CODES[0])}
        else:
            assert await store.purge(CODES[:1], NOW) == CODES[:1]
            assert await answers(store, SCAN_CODE) == {}
        since = await store.announcements(1)
        assert set(since.keys) == {CODES[0], SCAN_CODE}


async def test_a_scan_code_is_in_no_list_and_no_link_of_its_own(mongo_server: str) -> None:
    async with replicas(mongo_server) as (store,):
        await make(store, GUEST, CODES[:2])
        await scan(store)
        assert await codes_of(store, GUEST) == CODES[:2]
        assert await store.codes_after("", 9) == CODES[:2]
        assert await store.note_hosts("", 9) is None
        assert await store.edit(None, [SCAN_CODE], removal(NOW), NOW) is None
        assert await store.purge([SCAN_CODE], NOW) == []
        assert await answers(store, SCAN_CODE) == {SCAN_CODE: (LinkState.ACTIVE, CODES[0])}


async def test_edits_of_several_replicas_at_once_are_all_there(mongo_server: str) -> None:
    def tag(name: str) -> Edit:
        return Edit(
            lambda link: link if name in link.tags else replace(link, tags=(*link.tags, name)),
            is_announced=False,
        )

    names = [f"tag{n}" for n in range(8)]
    async with replicas(mongo_server, 2) as stores:
        await make(stores[0], ONE)
        await asyncio.gather(
            *(stores[n % 2].edit(ONE, CODES, tag(name), NOW) for n, name in enumerate(names))
        )
        for code in CODES:
            found = await stores[0].find(code)
            assert found
            assert sorted(found.tags) == names
        assert await told(stores[0]) == set()


async def test_a_link_that_is_claimed_while_it_is_edited_is_not_the_guests(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bulk_write = AsyncIOMotorCollection.bulk_write
    async with replicas(mongo_server, 2) as (store, other):
        await make(store, GUEST)

        async def later(collection: Any, *args: Any, **options: Any) -> Any:
            monkeypatch.setattr(AsyncIOMotorCollection, "bulk_write", bulk_write)
            await other.claim(GUEST, ONE, 1)
            return await bulk_write(collection, *args, **options)

        monkeypatch.setattr(AsyncIOMotorCollection, "bulk_write", later)
        assert await store.edit(GUEST, CODES, removal(NOW), NOW) is None

        (first,) = await codes_of(store, ONE)
        assert await store.resolve([first]) == [Resolution.active(first, f"http://{first}.example")]
        # What became of the others meanwhile is known everywhere.
        gone = {link.code for link in await store.find_all(GUEST, CODES) if link.removed_at}
        assert gone <= await told(store)


async def test_who_comes_to_the_end_of_a_claim_has_left_nothing_to_one_who_broke_off(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    update_many = AsyncIOMotorCollection.update_many
    async with replicas(mongo_server, 2) as (store, other):
        await make(store, GUEST)

        async def later(collection: Any, *args: Any, **options: Any) -> Any:
            monkeypatch.setattr(AsyncIOMotorCollection, "update_many", update_many)
            assert await other.claim(GUEST, TWO, 5) == 5
            return await update_many(collection, *args, **options)

        monkeypatch.setattr(AsyncIOMotorCollection, "update_many", later)
        # It found the same five, which the other account has now.
        assert await store.claim(GUEST, ONE, 5) == 5
        assert await store.claim(GUEST, ONE, 5) == 2
        assert await store.claim(GUEST, ONE, 5) == 0

        one, two = await codes_of(store, ONE), await codes_of(store, TWO)
        assert (len(one), len(two)) == (7, 5)
        assert sorted(one + two) == CODES


async def test_a_claim_ends_while_others_are_made(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    update_many = AsyncIOMotorCollection.update_many
    made = 0
    async with replicas(mongo_server, 2) as (store, other):
        await make(store, GUEST)

        async def meanwhile(collection: Any, *args: Any, **options: Any) -> Any:
            nonlocal made
            made += 1
            await make(other, GUEST, [f"later{made:03}"])
            return await update_many(collection, *args, **options)

        monkeypatch.setattr(AsyncIOMotorCollection, "update_many", meanwhile)
        assert await store.claim(GUEST, ONE, 1000) == len(CODES)
        assert made == 1


@pytest.mark.parametrize("name", ["removal", "change", "claim"])
async def test_what_a_failover_could_undo_is_not_taken_for_done(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The call before wrote, was killed, and no majority has it yet."""
    call, hold = CALLS[name]
    find = AsyncIOMotorCollection.find
    looks = 0

    class Behind:
        """What a majority had before."""

        def __init__(self, found: list[Any]) -> None:
            self._found = found

        async def to_list(self, _: None) -> list[Any]:
            return self._found

    async with replicas(mongo_server, 2) as (store, other):
        await make(store, GUEST)
        before = await everything(store, "links")

        def behind(collection: Any, *args: Any, **options: Any) -> Any:
            nonlocal looks
            if collection.name != "links" or collection.read_concern.level != "majority":
                return find(collection, *args, **options)
            looks += 1
            return Behind(before) if looks < 5 else find(collection, *args, **options)

        await call(other)
        monkeypatch.setattr(AsyncIOMotorCollection, "find", behind)
        await call(store)
        assert looks == 5
        await hold(store)


async def test_an_edit_that_others_are_always_faster_than_is_given_up(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bulk_write = AsyncIOMotorCollection.bulk_write
    tries = 0

    async def missed(collection: Any, changes: Any, **options: Any) -> Any:
        nonlocal tries
        tries += 1
        nothing = [UpdateOne({"_id": "nothing"}, {"$set": {"a": 1}}) for _ in changes]
        return await bulk_write(collection, nothing, **options)

    async with replicas(mongo_server) as (store,):
        await make(store, ONE)
        monkeypatch.setattr(collection_mongo, "_LONGEST_PAUSE", 0.0)
        monkeypatch.setattr(AsyncIOMotorCollection, "bulk_write", missed)
        assert await store.edit(ONE, CODES, restoration(), NOW), "nothing is to be written"
        with pytest.raises(Unavailable) as refused:
            await store.edit(ONE, CODES, removal(NOW), NOW)
        assert refused.value.reason == "STORE_OVERLOADED"
        assert 10 < tries < 1000


@pytest.mark.parametrize("owner", [ONE, NOBODY])
async def test_a_link_that_is_purged_while_it_is_edited_stays_gone(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch, owner: Owner
) -> None:
    bulk_write = AsyncIOMotorCollection.bulk_write
    async with replicas(mongo_server, 2) as (store, other):
        await make(store, owner, CODES[:1])

        async def later(collection: Any, *args: Any, **options: Any) -> Any:
            monkeypatch.setattr(AsyncIOMotorCollection, "bulk_write", bulk_write)
            assert await other.purge(CODES[:1], NOW) == CODES[:1]
            return await bulk_write(collection, *args, **options)

        monkeypatch.setattr(AsyncIOMotorCollection, "bulk_write", later)
        assert await store.edit(None, CODES[:1], removal(NOW), NOW) is None
        assert await store.find(CODES[0]) is None
        assert await store.removed_before(NOW, 10) == []


@pytest.mark.parametrize("ahead", [timedelta(days=-20), timedelta(days=20)])
async def test_replicas_whose_clocks_are_apart_edit_one_after_the_other(
    mongo_server: str, ahead: timedelta
) -> None:
    async with replicas(mongo_server, 2) as stores:
        await make(stores[0], ONE, CODES[:1])
        urls = [f"http://{n}.example" for n in range(6)]
        for n, url in enumerate(urls):
            now = NOW + ahead * (n % 2)
            found = await stores[n % 2].edit(ONE, CODES[:1], to(url), now)
            assert [link.url for link in found or ()] == [url]
            assert await stores[n % 2].edit(ONE, CODES[:1], removal(now), now)
            assert await stores[1 - n % 2].edit(ONE, CODES[:1], restoration(), NOW)

        assert await stores[0].resolve(CODES[:1]) == [Resolution.active(CODES[0], urls[-1])]
        former = [one.url for one in await stores[0].history(CODES[0])]
        assert former == [*urls[-2::-1], f"http://{CODES[0]}.example"]
        assert (await stores[1].announcements(None)).mark == 3 * len(urls)


async def test_of_many_who_want_a_lease_one_has_it(mongo_server: str) -> None:
    async with replicas(mongo_server, 2) as stores:
        for now in (NOW, NOW + MINUTE):
            held = await asyncio.gather(
                *(stores[n % 2].take_lease("job", f"{now}{n}", MINUTE, now) for n in range(10))
            )
            assert held.count(True) == 1


@pytest.mark.parametrize("made", ["me", "another"])
async def test_a_lease_that_another_replica_makes_at_the_same_time_is_whose_it_is(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    """MongoDB refuses the second of two documents that are made at once."""
    update_one = AsyncIOMotorCollection.update_one
    async with replicas(mongo_server, 2) as (store, other):

        async def taken(*args: Any, **options: Any) -> Any:
            monkeypatch.setattr(AsyncIOMotorCollection, "update_one", update_one)
            assert await other.take_lease("job", made, MINUTE, NOW)
            raise DuplicateKeyError("taken", 11000)

        monkeypatch.setattr(AsyncIOMotorCollection, "update_one", taken)
        assert await store.take_lease("job", "me", MINUTE, NOW) is (made == "me")
        assert not await store.take_lease("job", "third", MINUTE, NOW)


async def test_a_mark_that_another_replica_makes_at_the_same_time_is_noted(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    update_one = AsyncIOMotorCollection.update_one
    async with replicas(mongo_server, 2) as (store, other):

        async def taken(*args: Any, **options: Any) -> Any:
            monkeypatch.setattr(AsyncIOMotorCollection, "update_one", update_one)
            await other.rank({}, 1)
            raise DuplicateKeyError("taken", 11000)

        monkeypatch.setattr(AsyncIOMotorCollection, "update_one", taken)
        await store.rank({}, 2)
        assert await store.rank_mark() == 2


async def test_rankings_that_replicas_keep_at_once_are_as_many_as_are_kept(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rankings_mongo, "_PART", 5)
    monkeypatch.setattr(rankings_mongo, "KEPT_RANKINGS", 4)
    async with replicas(mongo_server, 2) as stores:
        for _ in range(2):
            await asyncio.gather(
                *(stores[n % 2].keep_ranking(ONE, f"key{n}", CODES[n:], NOW) for n in range(8))
            )
        found = [await stores[0].kept_ranking(ONE, f"key{n}", 0, 99, NOW) for n in range(8)]
        assert sum(one is not None for one in found) == 4
        assert all(one in (None, CODES[n:]) for n, one in enumerate(found))
        left = [len(CODES[n:]) for n, one in enumerate(found) if one]
        parts = await everything(stores[0], "ranked_codes")
        assert len(parts) == sum(-(-codes // 5) for codes in left), "what is not kept is deleted"


async def test_links_that_are_too_many_to_be_counted_each_time_are_counted_right(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By two replicas, whoever of them counts and whoever changes something."""
    monkeypatch.setattr(counts_mongo, "_FEW", 3)
    later = NOW + 2 * HOUR
    async with replicas(mongo_server, 2) as stores:
        one, other = stores

        async def counted(owner: Account | Guest = ONE) -> int:
            first, *others = [await store.count(owner, Wanted(), later) for store in stores * 2]
            assert others == [first] * 3
            return first

        await make(one, GUEST)
        assert await counted(GUEST) == 12
        await other.claim(GUEST, ONE, 5)
        assert (await counted(), await counted(GUEST)) == (5, 7)
        await other.claim(GUEST, ONE, 100)
        assert (await counted(), await counted(GUEST)) == (12, 0)
        await other.add(Link("newer", "http://a.example", ONE, later))
        assert await counted() == 13
        await one.edit(ONE, ["newer", *CODES[:3]], removal(later), later)
        assert await counted() == 9
        await other.edit(ONE, CODES[1:3], restoration(), later)
        assert await counted() == 11
        await one.purge(["newer", *CODES[:2]], later)
        assert await counted() == 10


async def test_a_number_of_links_is_kept_for_ten_minutes(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is what a process leaves wrong that is killed before it tells of a removal."""
    monkeypatch.setattr(counts_mongo, "_FEW", 3)
    later = NOW + 2 * HOUR
    async with replicas(mongo_server) as (store,):
        await make(store, ONE)
        assert await store.count(ONE, Wanted(), later) == 12
        gone = {"_id": CODES[0]}
        await store._database.write("", lambda db: db.links.delete_one(gone))
        for minutes, expected in ((9, 12), (11, 11), (-1, 11)):
            assert await store.count(ONE, Wanted(), later + minutes * MINUTE) == expected


async def test_a_number_that_a_removal_overtakes_is_not_kept(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link is removed after it was counted and before its owner's number is kept."""
    monkeypatch.setattr(counts_mongo, "_FEW", 3)
    update_one = AsyncIOMotorCollection.update_one
    later = NOW + 2 * HOUR
    async with replicas(mongo_server, 2) as (store, other):
        await make(store, ONE)

        async def meanwhile(collection: Any, *args: Any, **options: Any) -> Any:
            if collection.name == "counts" and "count" in args[1]["$set"]:
                await other.edit(ONE, CODES[:1], removal(later), later)
            return await update_one(collection, *args, **options)

        with monkeypatch.context() as context:
            context.setattr(AsyncIOMotorCollection, "update_one", meanwhile)
            assert await store.count(ONE, Wanted(), later) == 12
        assert await store.count(ONE, Wanted(), later) == 11


async def test_no_number_stays_of_an_owner_who_went_while_it_was_counted(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts_mongo, "_FEW", 3)
    update_one = AsyncIOMotorCollection.update_one
    async with replicas(mongo_server, 2) as (store, other):
        await make(store, ONE)

        async def meanwhile(collection: Any, *args: Any, **options: Any) -> Any:
            if collection.name == "counts" and options.get("upsert"):
                await other.purge(CODES, NOW)
            return await update_one(collection, *args, **options)

        with monkeypatch.context() as context:
            context.setattr(AsyncIOMotorCollection, "update_one", meanwhile)
            assert await store.count(ONE, Wanted(), NOW + 2 * HOUR) == 0
        assert await store._database.read("", lambda db: db.counts.find_one({})) is None


async def test_links_of_the_version_before_are_in_every_list_they_belong_to(
    mongo_server: str,
) -> None:
    """It writes to the same documents while it is replaced."""
    before = {
        "_id": "abcdefgh",
        "url": "http://a.example/Page",
        "creator": "one",
        "created_at": 1_772_368_215_123_456,
    }
    kept = Link("abcdefgh", "http://a.example/Page", ONE, NOW)
    async with replicas(mongo_server) as (store,):
        await store._database.write("", lambda db: db.links.insert_one(before))
        newer = Link("newer", "http://a.example/page", ONE, NOW + MINUTE)
        assert await store.add(newer)
        for order, both in ((LinkOrder.OLDEST, [kept, newer]), (LinkOrder.NEWEST, [newer, kept])):
            for size in (1, 2, 3):
                page = await store.page(ONE, Wanted("a.example/page"), order, None, size, NOW)
                assert page == both[:size]
        await store.purge(["newer"], NOW)
        for text in ("", "bcdef", "a.example/page"):
            assert await store.page(ONE, Wanted(text), LinkOrder.OLDEST, None, 9, NOW) == [kept]
            assert await store.count(ONE, Wanted(text), NOW) == 1
            assert await store.ranking(ONE, Wanted(text), NOW) == ["abcdefgh"]
        assert await store.codes_after("", 9) == ["abcdefgh"]

        edited = await store.edit(ONE, ["abcdefgh"], to("http://b.example"), NOW)
        assert [await store.find("abcdefgh")] == edited
        assert await store.count(ONE, Wanted("a.example"), NOW) == 0
        assert await store.count(ONE, Wanted("b.example"), NOW) == 1
        await store.edit(ONE, ["abcdefgh"], removal(NOW), NOW)
        assert await store.count(ONE, Wanted(), NOW) == 0


async def test_nothing_of_a_purged_link_is_left_but_its_code(mongo_server: str) -> None:
    async with replicas(mongo_server) as (store,):
        await make(store, ONE, CODES[:1])
        await store.edit(ONE, CODES[:1], to("http://b.example"), NOW)
        await store.edit(ONE, CODES[:1], removal(NOW), NOW)
        await store.rank({CODES[0]: 3}, None)
        await store.keep_ranking(ONE, "key", CODES[:1], NOW)

        assert await store.purge([CODES[0], "unknown-"], NOW) == [CODES[0]]

        for collection, left in (
            ("links", [{"_id": CODES[0], "removed": True}]),
            ("rankings", []),
            ("ranked_codes", []),
        ):
            assert await everything(store, collection) == left


async def test_a_read_of_links_leaves_their_history_alone(
    mongo_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have two megabytes, of each of a page's links."""
    asked: list[Any] = []
    find, find_one = AsyncIOMotorCollection.find, AsyncIOMotorCollection.find_one

    def noted(real: Any) -> Any:
        def read(
            collection: Any, query: Any, fields: Any = None, *rest: Any, **options: Any
        ) -> Any:
            if collection.name == "links":
                asked.append(fields)
            return real(collection, query, fields, *rest, **options)

        return read

    async with replicas(mongo_server) as (store,):
        await make(store, ONE)
        monkeypatch.setattr(AsyncIOMotorCollection, "find", noted(find))
        monkeypatch.setattr(AsyncIOMotorCollection, "find_one", noted(find_one))
        await store.find(CODES[0])
        await store.resolve(CODES)
        await codes_of(store, ONE)
        await store.page(ONE, Wanted(), LinkOrder.NEWEST, None, 9, NOW)
        await store.ranking(ONE, Wanted(), NOW)
        await store.find_all(ONE, CODES)
        await store.edit(ONE, CODES, removal(NOW), NOW)
        assert len(asked) >= 7
        assert all(fields and "history" not in fields for fields in asked)
