"""Writes millions of links directly into the MongoDB database of a stopped service."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice

from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient, WriteConcern
from pymongo.database import Database
from pymongo.results import InsertManyResult

from services.links.domain.link import Link
from services.links.domain.owner import Account
from services.links.storage.mongo import SCHEMA
from services.links.storage.mongo.documents import encode_link
from services.shared import mongo
from services.shared.mongo import Document, Schema
from tests.performance.fill import FIRST_LISTED, LINKS_OF_AN_ACCOUNT, LISTED_ACCOUNT, code_of

_CHUNK = 5_000
_AT_ONCE = 2


def fill_links(url: str, first: int, last: int) -> None:
    """Store links `first` up to `last` as the store does, in order of creation, 500 per account."""
    started = datetime.now(UTC) - timedelta(seconds=last)
    links = (
        Link(
            code_of(n),
            f"https://example.com/articles/{n}?from=bench",
            Account(f"{n // LINKS_OF_AN_ACCOUNT:024x}"),
            started + timedelta(seconds=n),
        )
        for n in range(first, last)
    )
    with filled(url, SCHEMA) as documents:
        insert(documents, "links", map(encode_link, links))


def fill_list(url: str, count: int, account: str = LISTED_ACCOUNT) -> None:
    """Store that many links of one account, with unordered titles, tags and views."""
    started = datetime.now(UTC) - timedelta(seconds=count)
    numbers = list(range(count))
    random.Random(1).shuffle(numbers)
    listed = (
        (
            Link(
                code_of(FIRST_LISTED + n),
                f"https://example.org/list/{n}?from=bench",
                Account(account),
                started + timedelta(seconds=n),
                f"{'Año' if n % 10 == 0 else 'Year'} {n}",
                ("news", "list"),
            ),
            n * 7 % 1000,
        )
        for n in numbers
    )
    with filled(url, SCHEMA) as documents:
        insert(documents, "links", (_visited(link, people) for link, people in listed))


def _visited(link: Link, people: int) -> Document:
    """Return a link's document after its visits were ranked."""
    return {**encode_link(link), **({"people": people} if people else {})}


@contextmanager
def filled(url: str, schema: Schema) -> Iterator[Database[Document]]:
    """Open the database with its schema, without durability."""
    asyncio.run(_prepared(url, schema))
    with MongoClient[Document](url) as client:
        yield client.get_default_database().with_options(write_concern=WriteConcern(w=1, j=False))


async def _prepared(url: str, schema: Schema) -> None:
    async with mongo.open_database(url, "", schema) as database:
        await database.wait_for_schema()


def insert(
    documents: Database[Document], collection: str, some: Iterable[Document | RawBSONDocument]
) -> None:
    """Insert documents in batches, creating the next batch while one is in transit."""
    rest = iter(some)
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        under_way: deque[Future[InsertManyResult]] = deque()
        while chunk := list(islice(rest, _CHUNK)):
            under_way.append(
                threads.submit(documents[collection].insert_many, chunk, ordered=False)
            )
            if len(under_way) > _AT_ONCE:
                under_way.popleft().result()
        for one in under_way:
            one.result()


def size(url: str) -> float:
    """Return the bytes of a database with its indexes."""
    with MongoClient[Document](url) as client:
        client.admin.command("fsync")  # Otherwise the files lag behind the data.
        stats = client.get_default_database().command("dbStats")
        return float(stats["storageSize"] + stats["indexSize"])


def cpu_seconds(url: str) -> float:
    """Return the CPU seconds of a server so far."""
    with MongoClient[Document](url) as client:
        usage = client.admin.command("serverStatus")["extra_info"]
        return float(usage["user_time_us"] + usage["system_time_us"]) / 1e6
