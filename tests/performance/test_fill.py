"""The documents with which benchmarks fill MongoDB are those that the store creates."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import bson
import pymongo
from msgspec import msgpack

from services.analytics.domain.batches import Batch
from services.analytics.domain.visits import Dimension, VisitCount, VisitKind
from services.analytics.storage.mongo.store import SCHEMA, MongoStore
from services.links.storage.mongo import SCHEMA as LINKS_SCHEMA
from services.links.storage.mongo import open_store
from services.links.storage.mongo.documents import decode_link
from services.shared import mongo
from services.shared.mongo import Document
from tests.analytics.cases import maintain_all
from tests.performance import fill_mongo, visits
from tests.performance.fill import code_of
from tests.performance.visits import LinkDay, Mix
from tests.support.mongo import server

_DAYS = 70
_VISITS = 2100


async def test_visits(mongo_server: str) -> None:
    today = int(time.time()) // 86_400
    with server.database(mongo_server) as filled, server.database(mongo_server) as stored:
        await asyncio.to_thread(visits.fill_mongodb, filled, _VISITS, _DAYS)
        mix = Mix()
        async with mongo.open_database(stored, "", SCHEMA) as database:
            await database.wait_for_schema()
            store = MongoStore(database)
            for number, day in enumerate(range(today - _DAYS + 1, today + 1), 1):
                links, held = mix.day(_VISITS // _DAYS)
                codes = [code_of(link) for link in links.tolist()]
                some = list(zip(codes, held, strict=True))
                counts = tuple(visit for code, one in some for visit in _counts(code, day, one))
                visitors = {(day, code): frozenset(one.visitors.tolist()) for code, one in some}
                batch = Batch("one", number, counts, visitors)
                await store.apply(batch, datetime.now(UTC))
            await maintain_all(store, today)
        for collection in ("days", "aggregates", "totals"):
            of_store = _documents(stored, collection)
            assert of_store
            assert _documents(filled, collection) == of_store


async def test_links(mongo_url: str) -> None:
    await asyncio.to_thread(fill_mongo.fill_links, mongo_url, 0, 3)
    await asyncio.to_thread(fill_mongo.fill_list, mongo_url, 20)
    with _opened(mongo_url) as documents:
        held = {one["_id"]: one for one in documents.links.find()}
        links = [link for one in held.values() if (link := decode_link(one))]
        documents.links.delete_many({})
    async with mongo.open_database(mongo_url, "", LINKS_SCHEMA) as database:
        await database.wait_for_schema()
        store = open_store(database)
        for link in links:
            assert await store.links.add(link) == link
        await store.lists.record_views(
            {code: one.get("people", 0) for code, one in held.items()}, None
        )
    assert len(held) == 23
    with _opened(mongo_url) as documents:
        assert {one["_id"]: bson.encode(one) for one in documents.links.find()} == {
            code: bson.encode(one) for code, one in held.items()
        }


def _counts(code: str, day: int, held: LinkDay) -> list[VisitCount]:
    """Return the visits that result in a link's day, one by one."""
    hours = [hour for hour, count in held.people.items() for _ in range(count)]
    names: list[dict[Dimension, str]] = [{} for _ in hours]
    for dimension, breakdown in held.names.items():
        known = (name for name, count in breakdown.items() for _ in range(count))
        for one, name in zip(names, known, strict=False):
            one[dimension] = name
    people = [
        VisitCount(code, 24 * day + hour, VisitKind.PERSON, one, 1)
        for hour, one in zip(hours, names, strict=True)
    ]
    return people + [
        VisitCount(code, 24 * day + hour, VisitKind.BOT, {}, count)
        for hour, count in held.bots.items()
    ]


def _documents(url: str, collection: str) -> dict[str, Document]:
    """Return the decoded documents of a collection, without fields that differ by batch."""
    with _opened(url) as documents:
        return {
            one["_id"]: {
                name: msgpack.decode(value) if name in ("counts", "packed") else value
                for name, value in one.items()
                if name != "revision"
            }
            for one in documents[collection].find()
        }


@contextmanager
def _opened(url: str) -> Iterator[Any]:
    with pymongo.MongoClient[Document](url) as client:
        yield client.get_default_database()
