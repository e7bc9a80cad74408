"""Databases from before there was a version of their schema are taken over with all they hold."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pymongo
import pytest
from pymongo.errors import DuplicateKeyError

from services.analytics import store_mongo as analytics
from services.analytics.domain import (
    MAX_NAMES,
    Batch,
    Day,
    Dimension,
    Totals,
    VisitCount,
    VisitKind,
)
from services.auth import store_mongo as auth
from services.auth.domain import Account
from services.links import domain as owners
from services.links import schema_mongo as links_schema
from services.links import store_mongo as links
from services.links.domain import Link
from services.links.edits import LinkChanges
from services.links.hosts import HostPlace
from services.links.urls import UrlPolicy
from services.runtime import mongo
from services.runtime.feed import Told

CREATED = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
MICROS = 1_772_368_215_123_456
CREATED_DAY = 20_513
"""The UTC day of that moment."""


@pytest.fixture
def before(mongo_url: str) -> Any:
    with pymongo.MongoClient[dict[str, Any]](mongo_url) as client:
        yield client.get_default_database()


@asynccontextmanager
async def opened(url: str, schema: mongo.Schema, before: Any) -> AsyncIterator[mongo.Database]:
    assert "schema" not in before.list_collection_names()
    async with mongo.opened(url, "", schema) as database:
        await database.prepared()
        await database.check()
        yield database
    assert before.schema.find_one() == {"_id": "version", "version": len(schema)}


async def test_links(mongo_url: str, before: Any) -> None:
    before.links.create_index(
        [("creator", -1), ("created_at", -1), ("_id", -1)],
        name="links_of_creator",
        partialFilterExpression={"creator": {"$exists": True}},
    )
    before.links.insert_one(
        {"_id": "abcdefgh", "url": "http://a.example", "creator": "one", "created_at": MICROS}
    )
    before.links.insert_one({"_id": "removed1", "removed": True})
    async with opened(mongo_url, links_schema.SCHEMA, before) as database:
        store = links.MongoLinkStore(database)
        kept = Link("abcdefgh", "http://a.example", owners.Account("one"), CREATED)
        assert [page async for page in store.by_owner(owners.Account("one"), 10)] == [[kept]]
        assert await store.add(kept) == kept
        assert await store.add(Link("removed1", "http://a.example", owners.NOBODY, CREATED)) is None
        assert await store.announcements(None) == Told(0)
        assert await store.purge(["removed1"], CREATED) == ["removed1"]
        assert await store.announcements(0) == Told(1, ("removed1",))


async def reached(store: links.MongoLinkStore, host: str) -> list[str]:
    """The codes of links that lead to a host or below it."""
    codes: set[str] = set()
    place: HostPlace | None = None
    while True:
        found, place = await store.at_or_below(host, place, 1)
        codes.update(link.code for link in found)
        if place is None:
            return sorted(codes)


async def test_hosts_of_links_of_the_version_before_are_noted(mongo_url: str, before: Any) -> None:
    one = {"creator": "one", "created_at": MICROS}
    ended = {"ended_url": "http://c.example/"}
    before.links.insert_one({"_id": "before01", "url": "http://a.example/", **one, **ended})
    before.links.insert_one({"_id": "before02", "url": "http://b.example/", **one})
    before.links.insert_one({"_id": "purged01", "removed": True})
    async with opened(mongo_url, links_schema.SCHEMA, before) as database:
        store = links.MongoLinkStore(database)
        await store.add(Link("after001", "http://a.example/", owners.NOBODY, CREATED))
        # A change by this version writes what changes, and the hosts of that alone.
        change = LinkChanges(url="d.example")
        edit = change.edit(UrlPolicy("https://atajo.example"), CREATED)
        assert await store.edit(None, ["before01"], edit, CREATED)
        code: str | None = ""
        while code is not None:
            code = await store.note_hosts(code, 2)
        found = ["a.example", "b.example", "c.example", "d.example"]
        assert await store.hosts_after("", 10) == found
        for host, codes in zip(
            found, ("after001", "before02", "before01", "before01"), strict=True
        ):
            assert [link.code for link in await store.at_host(host, "", 10)] == [codes]


async def test_links_of_a_version_without_keys_are_found_by_their_very_hosts(
    mongo_url: str, before: Any
) -> None:
    """Until a sweep notes their keys, from when on they are found below a host as well."""
    for n, (host, ended) in enumerate(
        (("a.example", ""), ("www.a.example", ""), ("b.example", "a.example"), ("x.a.example", ""))
    ):
        ends = {"ended_url": f"http://{ended}/", "ended_host": ended} if ended else {}
        one = {"_id": f"before0{n}", "creator": "one", "created_at": MICROS}
        before.links.insert_one({**one, "url": f"http://{host}/", "host": host, **ends})
    async with opened(mongo_url, links_schema.SCHEMA, before) as database:
        store = links.MongoLinkStore(database)
        await store.add(Link("after001", "http://y.a.example/", owners.NOBODY, CREATED))
        ahead = ["after001", "before00", "before01", "before02"]
        assert await reached(store, "a.example") == ahead
        assert await reached(store, "b.example") == ["before02"]
        assert await reached(store, "example") == ["after001"]
        assert await store.note_hosts("", 10) is None
        assert await reached(store, "a.example") == [*ahead, "before03"]
        assert await reached(store, "example") == [*ahead, "before03"]


@pytest.mark.parametrize("indexed", [True, False])
async def test_accounts(mongo_url: str, before: Any, indexed: bool) -> None:
    """Also where a restored copy came without its indexes."""
    if indexed:
        before.accounts.create_index("email_key", name="accounts_by_email_key", unique=True)
        before.attempts.create_index("tidied_at", name="attempts_tidied", expireAfterSeconds=0)
    fields = {"email_key": "a@b", "username": "Ana", "password_hash": "hash", "salt": "salt"}
    account = {"email": "A@b", **fields, "created_at": MICROS, "closed": False}
    before.accounts.insert_one({"_id": "id", **account})
    before.accounts.insert_one({"_id": "closed", **account, "email_key": "b@b", "closed": True})
    async with opened(mongo_url, auth.SCHEMA, before) as database:
        store = auth.MongoAccountStore(database)
        kept = Account("id", "A@b", "a@b", "Ana", "hash", "salt", CREATED)
        assert await store.by_email("a@b") == kept
        assert await store.closed(10) == ["closed"]
        assert await store.session("id") == 0
        assert await store.change_password(kept, "other hash", "other salt")
        assert await store.session("id") == 1
        with pytest.raises(DuplicateKeyError):
            before.accounts.insert_one({"_id": "other", "email_key": "a@b"})


async def test_the_version_before_can_read_an_account_that_this_one_made(
    mongo_url: str, before: Any
) -> None:
    """While it is replaced: it knows these fields and no other."""
    async with opened(mongo_url, auth.SCHEMA, before) as database:
        account = Account("id", "A@b", "a@b", "Ana", "hash", "salt", CREATED)
        await auth.MongoAccountStore(database).add(account)
        known = ["_id", "email", "email_key", "username", "password_hash", "salt", "created_at"]
        assert list(before.accounts.find_one()) == [*known, "closed"]


async def test_counts(mongo_url: str, before: Any) -> None:
    before.gateways.create_index([("live", 1), ("seen_at", 1)], name="gateways_idle")
    before.totals.insert_one({"_id": "abcdefgh", "people": 7, "bots": 2, "seen": {"one": 3}})
    async with opened(mongo_url, analytics.SCHEMA, before) as database:
        store = analytics.MongoAnalyticsStore(database)
        assert await store.totals(["abcdefgh"]) == {"abcdefgh": Totals(7, 2)}


REFERRER, BROWSER = Dimension.REFERRER, Dimension.BROWSER
DAY = 20_513
NOTED_AT = datetime.fromtimestamp(1, UTC)


def batch(number: int, host: str, browser: str = "Firefox") -> Batch:
    """One visit of a person in the eighth hour of the day."""
    names = {REFERRER: host, BROWSER: browser}
    visit = VisitCount("abcdefgh", DAY * 24 + 7, VisitKind.PERSON, names, 1)
    return Batch("one", number, (visit,), {(DAY, "abcdefgh"): frozenset({number << 20})})


async def days_of(
    store: analytics.MongoAnalyticsStore, first: int = DAY, last: int = DAY
) -> list[Day]:
    """The days of the link, oldest first."""
    days: list[Day] = []
    await store.days(["abcdefgh"], first, last, lambda _, day: days.append(day))
    return sorted(days, key=lambda day: day.day)


async def test_days_of_the_version_before_are_kept_and_go_on(mongo_url: str, before: Any) -> None:
    hosts = {f"h{n}%2Eexample": 1 for n in range(MAX_NAMES - 1)}
    seen = {"one": 3}
    before.gateways.insert_one(
        {"_id": "one", "begun": 3, "last_batch": 3, "seen_at": 0, "live": True, "dropped": 0}
    )
    before.days.insert_one(
        {
            "_id": f"abcdefgh:{DAY:07}",
            "people": 100,
            "bots": 2,
            "hosts": len(hosts),
            "hours": {"7": 90, "23": 10},
            "referrers": hosts,
            "seen": seen,
        }
    )
    empty: dict[str, int] = {}
    before.totals.insert_one(
        {
            "_id": "abcdefgh",
            "people": 100,
            "bots": 2,
            "hosts": 0,
            "hours": empty,
            "referrers": empty,
            "seen": seen,
        }
    )
    async with opened(mongo_url, analytics.SCHEMA, before) as database:
        store = analytics.MongoAnalyticsStore(database)
        named = {key.replace("%2E", "."): people for key, people in hosts.items()}
        # It did not say at which hour bots came.
        kept = Day(DAY, {7: 90, 23: 10}, {0: 2}, {REFERRER: named}, 0)
        for _ in range(2):
            assert await days_of(store) == [kept]
            assert await store.first_day(["abcdefgh"]) == DAY

        assert not await store.apply(batch(3, "a.example"), NOTED_AT)
        for number, host in enumerate(("a.example", "b.example", "h0.example"), start=4):
            assert await store.apply(batch(number, host), NOTED_AT)
        bot = VisitCount("abcdefgh", DAY * 24 + 9, VisitKind.BOT, {}, 5)
        assert await store.apply(Batch("one", 7, (bot,)), NOTED_AT)
        (day,) = await days_of(store)
        assert (day.people, day.bots, day.visitors) == ({7: 93, 23: 10}, {0: 2, 9: 5}, 3)
        # One place was left, for which the new names compete with those that are there.
        referrers = day.breakdowns[REFERRER]
        assert (referrers["h0.example"], referrers["*"]) == (2, 1)
        assert referrers.keys() <= {*named, "a.example", "b.example", "*"}
        assert (len(referrers), sum(referrers.values())) == (MAX_NAMES + 1, len(named) + 3)
        assert day.breakdowns[BROWSER] == {"Firefox": 3}
        assert await store.totals(["abcdefgh"]) == {"abcdefgh": Totals(103, 7)}


def of_the_version_before(before: Any, gateway: str, day: int, people: int, bots: int) -> None:
    """Count visits as that version does: the day first, and then totals."""
    visits = {"people": people, "bots": bots}
    fields = {"hosts": 1, "hours": {"7": people}, "referrers": {"a%2Eexample": people}}
    seen = {gateway: 1}
    key = f"abcdefgh:{day:07}"
    if before.days.find_one({"_id": key}) is None:
        before.days.insert_one({"_id": key, **visits, **fields, "seen": seen})
    else:
        added = {**visits, "hours.7": people, "referrers.a%2Eexample": people}
        change = {"$inc": added, "$set": {f"seen.{gateway}": 1}}
        assert before.days.update_one({"_id": key}, change).modified_count == 1
    if before.totals.find_one({"_id": "abcdefgh"}) is None:
        before.totals.insert_one({"_id": "abcdefgh", **visits, "seen": seen})
    else:
        change = {"$inc": visits, "$set": {f"seen.{gateway}": 1}}
        assert before.totals.update_one({"_id": "abcdefgh"}, change).modified_count == 1


async def test_days_that_the_version_before_makes_meanwhile_are_found(
    mongo_url: str, before: Any
) -> None:
    """While it is replaced, both write to the same links."""
    async with opened(mongo_url, analytics.SCHEMA, before) as database:
        store = analytics.MongoAnalyticsStore(database)
        of_the_version_before(before, "old", DAY - 1, 2, 1)
        assert [day.day for day in await days_of(store, DAY - 9, DAY + 9)] == [DAY - 1]
        await store.apply(batch(1, "a.example"), NOTED_AT)
        for number, day in enumerate((DAY, DAY + 5, DAY - 7)):
            of_the_version_before(before, f"old-{number}", day, 3, 2)
            days = await days_of(store, DAY - 9, DAY + 9)
            visits = sum(sum(day.people.values()) + sum(day.bots.values()) for day in days)
            totals = (await store.totals(["abcdefgh"]))["abcdefgh"]
            assert visits == totals.people + totals.bots
        assert [day.day for day in days] == [DAY - 7, DAY - 1, DAY, DAY + 5]
        assert await store.first_day(["abcdefgh"]) == DAY - 7
        assert (days[2].people, days[2].bots, days[2].visitors) == ({7: 4}, {0: 2}, 1)
        assert days[2].breakdowns == {REFERRER: {"a.example": 4}, BROWSER: {"Firefox": 1}}


async def test_since_when_all_is_counted_is_noted_once(mongo_url: str, before: Any) -> None:
    of_the_version_before(before, "old", DAY, 1, 0)
    async with opened(mongo_url, analytics.SCHEMA, before) as database:
        await analytics.MongoAnalyticsStore(database).apply(batch(1, ""), CREATED)
        for _ in range(2):
            store = analytics.MongoAnalyticsStore(database)
            await store.apply(batch(2, ""), CREATED + timedelta(days=9))
            assert await store.counted_from() == CREATED_DAY + 1


async def test_a_new_database_counts_all_from_the_start(mongo_url: str, before: Any) -> None:
    async with opened(mongo_url, analytics.SCHEMA, before) as database:
        await analytics.MongoAnalyticsStore(database).apply(batch(1, ""), CREATED)
        assert await analytics.MongoAnalyticsStore(database).counted_from() is None


async def test_the_version_before_can_add_to_a_day_that_this_one_made(
    mongo_url: str, before: Any
) -> None:
    """While it is replaced: these fields it reads, and this is what it writes."""
    async with opened(mongo_url, analytics.SCHEMA, before) as database:
        store = analytics.MongoAnalyticsStore(database)
        await store.apply(batch(1, host=""), CREATED)
        held = before.days.find_one()
        for name in ("people", "bots", "hosts", "hours", "referrers", "seen"):
            assert name in held
        as_read = {"_id": held["_id"], "seen.two": {"$not": {"$gte": 1}}, "hosts": held["hosts"]}
        added = {"people": 1, "hours.7": 1, "referrers.a%2Eexample": 1, "hosts": 1}
        change = {"$inc": added, "$set": {"seen.two": 1}}
        assert before.days.update_one(as_read, change).modified_count == 1

        await store.apply(batch(2, "a.example"), CREATED)
        (day,) = await days_of(store)
        assert day.breakdowns == {REFERRER: {"a.example": 2}, BROWSER: {"Firefox": 2}}
        assert (day.people, day.visitors) == ({7: 3}, 2)


async def test_an_index_that_went_missing_is_made_again(mongo_url: str, before: Any) -> None:
    async with opened(mongo_url, auth.SCHEMA, before):
        pass
    before.accounts.drop_index("accounts_by_email_key")
    async with mongo.opened(mongo_url, "", auth.SCHEMA) as database:
        await database.check()
        assert "accounts_by_email_key" in before.accounts.index_information()
