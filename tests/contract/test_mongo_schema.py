"""Databases from before there was a version of their schema are taken over with all they hold."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
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
from services.links import store_mongo as links
from services.links.domain import Link
from services.runtime import mongo
from services.runtime.feed import Told

CREATED = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
MICROS = 1_772_368_215_123_456


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
    async with opened(mongo_url, links.SCHEMA, before) as database:
        store = links.MongoLinkStore(database)
        kept = Link("abcdefgh", "http://a.example", owners.Account("one"), CREATED)
        assert [page async for page in store.by_owner(owners.Account("one"), 10)] == [[kept]]
        assert await store.add(kept) == kept
        assert await store.add(Link("removed1", "http://a.example", owners.NOBODY, CREATED)) is None
        assert await store.announcements(None) == Told(0)
        assert await store.purge(["removed1"], CREATED) == ["removed1"]
        assert await store.announcements(0) == Told(1, ("removed1",))


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


def batch(number: int, host: str, browser: str = "Firefox") -> Batch:
    """One visit of a person in the eighth hour of the day."""
    names = {REFERRER: host, BROWSER: browser}
    visit = VisitCount("abcdefgh", DAY * 24 + 7, VisitKind.PERSON, names, 1)
    return Batch("one", number, (visit,))


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
    now = datetime.fromtimestamp(1, UTC)
    async with opened(mongo_url, analytics.SCHEMA, before) as database:
        store = analytics.MongoAnalyticsStore(database)
        named = {key.replace("%2E", "."): people for key, people in hosts.items()}
        hours = (0,) * 7 + (90,) + (0,) * 15 + (10,)
        assert await store.days("abcdefgh", DAY, DAY) == [
            Day(DAY, 100, 2, hours, {REFERRER: named})
        ]

        assert not await store.apply(batch(3, "a.example"), now)
        for number, host in enumerate(("a.example", "b.example", "h0.example"), start=4):
            assert await store.apply(batch(number, host), now)
        (day,) = await store.days("abcdefgh", DAY, DAY)
        assert (day.people, day.people_by_hour[7]) == (103, 93)
        # One place was left.
        assert day.breakdowns == {
            REFERRER: {**named, "h0.example": 2, "a.example": 1, "*": 1},
            BROWSER: {"Firefox": 3},
        }
        assert await store.totals(["abcdefgh"]) == {"abcdefgh": Totals(103, 2)}


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
        (day,) = await store.days("abcdefgh", DAY, DAY)
        assert day.breakdowns == {REFERRER: {"a.example": 2}, BROWSER: {"Firefox": 2}}
        assert (day.people, day.people_by_hour[7]) == (3, 3)


async def test_an_index_that_went_missing_is_made_again(mongo_url: str, before: Any) -> None:
    async with opened(mongo_url, auth.SCHEMA, before):
        pass
    before.accounts.drop_index("accounts_by_email_key")
    async with mongo.opened(mongo_url, "", auth.SCHEMA) as database:
        await database.check()
        assert "accounts_by_email_key" in before.accounts.index_information()
