"""Links and their changes in a MongoDB database.

    links          _id (the code; that of a removed link stays, so that it is never free again), url
                   (absent once removed), creator (the owner: the id of an account as text, or the
                   hash of a guest's key as bytes; absent for nobody and once removed), created_at
    announcements  see `services.runtime.feed_mongo`

Moments are microseconds since the Unix epoch: a date of MongoDB has milliseconds.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from pymongo import DESCENDING, IndexModel
from pymongo.errors import DuplicateKeyError

from services.links.domain import FEED, Account, Guest, Link, Resolution
from services.links.stored import owner_of, value_of
from services.runtime.feed import Told
from services.runtime.feed_mongo import MongoFeed
from services.runtime.moments import micros_of, moment_of
from services.runtime.mongo import Database, Document, Documents, Operation, Schema

SCHEMA: Schema = (
    {
        "links": [
            IndexModel(
                [("creator", DESCENDING), ("created_at", DESCENDING), ("_id", DESCENDING)],
                name="links_of_creator",
                # It keeps links of nobody out, which only saves room.
                partialFilterExpression={"creator": {"$exists": True}},
            )
        ]
    },
)

_RESOLVED = {"url": 1}
"""The fields that decide what a short address answers; `_resolution` reads them."""


class MongoLinkStore:
    """The `LinkStore` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._feed = MongoFeed(database, FEED, "links")

    async def add(self, link: Link) -> Link | None:
        new = _document(link)
        try:
            await self._database.write("links_add", lambda db: db.links.insert_one(new))
        except DuplicateKeyError:
            return _link(await self._database.read_held("links_held", _of_code(link.code)))
        return link

    async def find(self, code: str) -> Link | None:
        found = await self._database.read("links_find", _of_code(code))
        return _link(found) if found else None

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        query = {"_id": {"$in": list(codes)}}
        found = await self._database.read(
            "links_resolve",
            lambda db: db.links.find(query, _RESOLVED, batch_size=len(codes)).to_list(None),
        )
        return [_resolution(one) for one in found if "url" in one]

    async def by_owner(self, owner: Account | Guest, page_size: int) -> AsyncIterator[list[Link]]:
        # Keyset pages: each goes on below the last link seen, whatever came on top meanwhile.
        creator = value_of(owner)
        query: Document = {"creator": creator}
        while True:
            found = await self._database.read("links_by_owner", _page(query, page_size))
            if found:
                yield [link for one in found if (link := _link(one))]
            if len(found) < page_size:
                return
            at, code = found[-1]["created_at"], found[-1]["_id"]
            query = {
                "creator": creator,
                "created_at": {"$lte": at},
                "$or": [{"created_at": {"$lt": at}}, {"_id": {"$lt": code}}],
            }

    async def purge(self, codes: Sequence[str], now: datetime) -> list[str]:
        named = {"_id": {"$in": list(codes)}}
        removal = {
            "$set": {"removed": True},
            "$unset": {"url": "", "creator": "", "created_at": ""},
        }
        await self._database.write("links_remove", lambda db: db.links.update_many(named, removal))
        found = await self._database.read(
            "links_removed",
            lambda db: db.links.find(named, {"removed": 1}, batch_size=len(codes)).to_list(None),
        )
        removed = [one["_id"] for one in found if "removed" in one]
        await self._feed.announce(removed, now)
        return removed

    async def announcements(self, mark: int | None) -> Told:
        return await self._feed.since(mark)


def _of_code(code: str) -> Operation[Document | None]:
    """The operation that reads what is under a code."""
    return lambda db: db.links.find_one({"_id": code})


def _page(query: Document, size: int) -> Operation[list[Document]]:
    """The operation that reads one page of an owner's links."""

    async def operation(db: Documents) -> list[Document]:
        newest_first = [("created_at", DESCENDING), ("_id", DESCENDING)]
        return await db.links.find(query, sort=newest_first, limit=size, batch_size=size).to_list(
            None
        )

    return operation


def _resolution(document: Document) -> Resolution:
    """What the short address of a link that was not removed answers."""
    return Resolution.active(document["_id"], document["url"])


def _document(link: Link) -> Document:
    document: Document = {
        "_id": link.code,
        "url": link.url,
        "created_at": micros_of(link.created_at),
    }
    creator = value_of(link.owner)
    if creator is not None:
        document["creator"] = creator
    return document


def _link(document: Document) -> Link | None:
    """The link of a document; None of one that was removed."""
    if "url" not in document:
        return None
    return Link(
        document["_id"],
        document["url"],
        owner_of(document.get("creator")),
        moment_of(document["created_at"]),
    )
