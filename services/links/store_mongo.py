"""Links and their changes in a MongoDB database.

    links          _id (the code; that of a removed link stays, so that it is never free again), url
                   (absent once removed), creator (the owner: the id of an account as text, or the
                   hash of a guest's key as bytes; absent for nobody and once removed), created_at
    announcements  _id (the number), codes, announced_at

Moments are microseconds since the Unix epoch: a date of MongoDB has milliseconds.

A change is one write and its announcement another, which comes second. A process that is killed in
between has acknowledged nothing: whoever asked repeats the change, which changes nothing then and
is announced all the same.

An announcement gets the number after the last one that a majority has, and the key `_id` decides
between replicas that want the same. A last one that no majority has could be undone by a failover,
and the number after it would leave a gap. Old announcements are cleared away by those who make new
ones, but for the last of them, which a TTL index would take, too: then numbers would begin anew.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.errors import DuplicateKeyError

from services.links.domain import (
    ANNOUNCED_FOR,
    MAX_ANNOUNCED,
    MIN_ANNOUNCEMENTS,
    Account,
    Announcements,
    Guest,
    Link,
    Resolution,
)
from services.links.stored import LOOK, Announcement, owner_of, told_since, value_of
from services.runtime.errors import Unavailable
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
_TURNS = 200
"""How often other replicas may be faster before an announcement is given up."""
_LONGEST_PAUSE = 0.02
_WAITING = 4096
"""Most callers who wait for their announcement; one more is refused."""
_CLEAR_EVERY = 100
"""Announcements of one replica between two looks for old ones."""
_CLEARED = 1000
"""Most that one look clears away: more than several replicas make in the meantime."""


class MongoLinkStore:
    """The `LinkStore` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._announcer = _Announcer(database)

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

    async def remove(self, codes: Sequence[str], now: datetime) -> list[str]:
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
        await self._announcer.announce(removed, now)
        return removed

    async def announcements(self, mark: int | None) -> Announcements:
        if mark is None:
            return Announcements(await self._announcer.last())
        from_mark = {"_id": {"$gte": mark}}
        kept = await self._database.read_majority(
            "links_announcements",
            lambda db: (
                db.announcements.find(from_mark, {"codes": 1}, batch_size=LOOK)
                .sort("_id", ASCENDING)
                .limit(LOOK)
                .to_list(None)
            ),
        )
        told = told_since(mark, [Announcement(one["_id"], one["codes"]) for one in kept])
        if told is not None:
            return told
        # Right after a failover, the new primary may not know yet what a majority has.
        own: Document | None = await self._database.read(
            "links_announced", lambda db: db.announcements.find_one({"_id": mark}, {"_id": 1})
        )
        if not kept and own:
            return Announcements(mark)
        return Announcements(await self._announcer.last(), lost=True)


@dataclass(eq=False)
class _Group:
    """Codes that are announced together, for all who wait for it."""

    codes: dict[str, None] = field(default_factory=dict)
    written: bool = False
    error: Unavailable | None = None


class _Announcer:
    """Announces changes in groups: while one is written, those that come gather for the next.

    So a replica wants one number at a time, however many changes it makes.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._turn = asyncio.Lock()
        self._gathering = _Group()
        self._waiting = 0
        self._made = 0

    async def last(self) -> int:
        """The number of the last announcement that a majority has; 0 before the first."""
        found: Document | None = await self._database.read_majority(
            "links_last_announced",
            lambda db: db.announcements.find_one({}, {"_id": 1}, sort=[("_id", DESCENDING)]),
        )
        return found["_id"] if found else 0

    async def announce(self, codes: Sequence[str], now: datetime) -> None:
        """Announce changes of links. Raises Unavailable, after which it may be done or not."""
        for start in range(0, len(codes), MAX_ANNOUNCED):
            await self._join(codes[start : start + MAX_ANNOUNCED], now)

    async def _join(self, codes: Sequence[str], now: datetime) -> None:
        """Wait until the codes are announced, with a group or alone.

        Whoever of a group has the turn first writes it for all. Who gives up then, because the
        caller left, leaves it to the next of them.
        """
        if self._waiting >= _WAITING:
            raise Unavailable("The store is overloaded.", "STORE_OVERLOADED")
        if len(self._gathering.codes.keys() | codes) > MAX_ANNOUNCED:
            self._gathering = _Group()
        group = self._gathering
        group.codes.update(dict.fromkeys(codes))
        self._waiting += 1
        try:
            async with self._turn:
                if group is self._gathering:
                    self._gathering = _Group()
                if not group.written and group.error is None:
                    try:
                        await self._write(list(group.codes), now)
                        group.written = True
                    except Unavailable as error:
                        group.error = error
        finally:
            self._waiting -= 1
        if group.error is not None:
            raise Unavailable(group.error.message, group.error.reason) from group.error

    async def _write(self, codes: list[str], now: datetime) -> None:
        for _ in range(_TURNS):
            last = await self.last()
            new = {"_id": last + 1, "codes": codes, "announced_at": micros_of(now)}
            if await self._insert(new):
                break
            await asyncio.sleep(random.uniform(0, _LONGEST_PAUSE))  # noqa: S311
        else:
            raise Unavailable("The changes are announced by too many at once.", "STORE_OVERLOADED")
        self._made += 1
        if self._made % _CLEAR_EVERY == 1:
            # The announcement is there. Why old ones are not cleared away is in the log and metrics
            # of the operation, and the next look is soon enough.
            with suppress(Unavailable):
                await self._clear(last, now)

    async def _insert(self, new: Document) -> bool:
        try:
            await self._database.write(
                "links_announce", lambda db: db.announcements.insert_one(new)
            )
        except DuplicateKeyError:
            return False
        return True

    async def _clear(self, last: int, now: datetime) -> None:
        """Clear some of the oldest announcements away. `last` is a number that was taken."""
        found = await self._database.read(
            "links_announcements_old",
            lambda db: (
                db.announcements.find(
                    {"_id": {"$lte": last - MIN_ANNOUNCEMENTS}}, {"announced_at": 1}
                )
                .sort("_id", ASCENDING)
                .limit(_CLEARED)
                .to_list(None)
            ),
        )
        kept_from = micros_of(now - ANNOUNCED_FOR)
        old = [one["_id"] for one in found if one["announced_at"] <= kept_from]
        if old:
            named = {"_id": {"$in": old}}
            await self._database.write(
                "links_announcements_clear", lambda db: db.announcements.delete_many(named)
            )


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
