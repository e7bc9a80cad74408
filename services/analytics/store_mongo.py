"""Counts of visits in a MongoDB database.

    days, totals, blocks   see `documents_mongo`
    gateways       see `gateways_mongo`
    visitor_keys   _id day, key
    day_changes    _id day, changes: how often visits of it were counted since that was asked for
    notes          _id "counted_from", day: of the counts that the version before left, else null
    announcements  see `services.runtime.feed_mongo`

**Every visit once, without a transaction.** A document says in `seen` which batch of a gateway it
holds last, and one conditional update adds a batch and says so. A document that holds the batch
already is passed over, so a crash between two documents is healed by the resend.

**Many writers.** A chunk of documents is read, and the changes are decided from what was read: a
document that was absent is inserted, one that was there is updated on the condition that its `seen`
is lower and that whatever else decided is as it was read. Where another writer was faster, its key
is a duplicate or the condition fails: then the chunk is read again, until every document holds the
batch.

**At most 100 names in a dimension.** A name that is new to a document is added on the condition
that `hosts` is as it was read: two writers cannot both take the last place. A name that is evicted
(`count_names`) is deleted on the condition that its people are as read. In a dimension that is
full, counting on has the condition on `hosts`, too, because every eviction increases it. A writer
that read the dimension before it was full has no such condition, nor has an older version of the
program: it can add a name again after its eviction. The sums stay exact, and the next batch for the
document removes what is above the limit.

**Visitors.** A sketch takes the place of the one that it was made of, on the condition that this is
as it was read. One that has all visitors of a batch already stays, without a condition.

**Days first.** Totals come after the days that they count (`days_mongo` says why).

**Gateways that went away.** A gateway that was idle for long, or for an hour after it closed, is
dropped: its document says up to which batch, and from then on those numbers are refused. Only then
do they leave `seen`, with a document's next write.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from pymongo import ASCENDING, IndexModel, InsertOne, UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError

from services.analytics.days_mongo import Days, chunks
from services.analytics.documents_mongo import Addition, additions
from services.analytics.domain import FEED, HOURS_A_DAY, Batch, Day, Totals
from services.analytics.gateways_mongo import Gateways
from services.runtime.errors import Unavailable
from services.runtime.feed import Told
from services.runtime.feed_mongo import MongoFeed
from services.runtime.moments import EPOCH
from services.runtime.mongo import Database, Document, Documents, Schema

SCHEMA: Schema = (
    {"gateways": [IndexModel([("live", ASCENDING), ("seen_at", ASCENDING)], name="gateways_idle")]},
)

CHUNK = 500
"""Most documents in one command that writes."""
_TURNS = 200
"""How often other writers may be faster before a batch is given up until its resend."""
_PATIENT_TURNS = 3
_LONGEST_PAUSE = 0.02


class MongoAnalyticsStore:
    """The `AnalyticsStore` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._gateways = Gateways(database)
        self._days = Days(database)
        self._feed = MongoFeed(database, FEED, "analytics")
        self._noted: Document | None = None
        """The note on what is counted since when, once it is there for certain."""

    async def apply(self, batch: Batch, now: datetime) -> bool:
        await self._gateways.forget_idle(now)
        applied = await self._apply(batch, now)
        # Also what was applied before: whoever applied it may have ended ahead of this line.
        await self._feed.announce(sorted({visit.code for visit in batch.visits}), now)
        return applied

    async def _apply(self, batch: Batch, now: datetime) -> bool:
        if not await self._gateways.begin(batch, now):
            return False
        await self._note(now)
        days, totals = additions(batch)
        for collection, added in (("days", days), ("totals", totals)):
            # Writers that all lock in the same order never wait for each other in a circle.
            for chunk in chunks(sorted(added), CHUNK):
                await self._add(collection, {key: added[key] for key in chunk}, batch)
        await self._days.count_change({visit.hour // HOURS_A_DAY for visit in batch.visits})
        return await self._gateways.finish(batch)

    async def close_gateway(self, gateway_id: str, number: int, now: datetime) -> None:
        await self._gateways.close(gateway_id, number, now)

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        found = await self._read("totals", codes, {"people": 1, "bots": 1})
        return {one["_id"]: Totals(one["people"], one["bots"]) for one in found}

    async def days(
        self,
        codes: Sequence[str],
        first: int,
        last: int,
        take: Callable[[str, Day], None],
        coarse: bool = False,
        named: bool = True,
        apart: bool = False,
    ) -> None:
        # Blocks are no months: each day comes by itself, the names of a block with its first.
        await self._days.read(codes, first, last, take, named, blocks=not (named and apart))

    async def visited(
        self, codes: Sequence[str], first: int, last: int, take: Callable[[str, range], None]
    ) -> None:
        await self._days.visited(codes, first, last, take)

    async def changes(self, days: Sequence[int]) -> dict[int, int]:
        return await self._days.changes(days)

    async def first_day(self, codes: Sequence[str]) -> int | None:
        return await self._days.first(codes)

    async def counted_from(self) -> int | None:
        day: int | None = (await self._note(datetime.now(UTC)))["day"]
        return day

    async def visitor_key(self, day: int, fresh: bytes) -> bytes:
        key: bytes = (await self._keep("visitor_keys", {"_id": day, "key": fresh}))["key"]
        return key

    async def forget_keys(self, today: int) -> int:
        query = {"$or": [{"_id": {"$lt": today}}, {"_id": {"$gt": today + 1}}]}
        deleted = await self._database.write(
            "analytics_forget_keys", lambda db: db.visitor_keys.delete_many(query)
        )
        return deleted.deleted_count

    async def forget_days(self, before: int) -> int:
        return await self._days.forget(before)

    async def sum_up(self, before: int) -> bool:
        return await self._days.sum_up(before)

    async def remove(self, codes: Sequence[str]) -> None:
        named = {"_id": {"$in": list(codes)}}
        await self._database.write("analytics_remove", lambda db: db.totals.delete_many(named))
        await self._days.remove(codes)

    async def announcements(self, mark: int | None) -> Told:
        return await self._feed.since(mark)

    async def _note(self, now: datetime) -> Document:
        """What is noted on since when all is counted, ahead of the first batch of this version.

        Who finds days without the note finds those of the version before: replicas of this one
        make it before they write a day.
        """
        if self._noted is None:
            days = await self._database.read(
                "analytics_noted", lambda db: db.days.find_one({}, {"_id": 1})
            )
            # Of today the version before counted some, and it may while it is replaced.
            day = (now - EPOCH).days + 1 if days else None
            self._noted = await self._keep("notes", {"_id": "counted_from", "day": day})
        return self._noted

    async def _keep(self, collection: str, document: Document) -> Document:
        """The document of this `_id`: the one that is there, or this one, which then is."""

        def find(db: Documents) -> Awaitable[Document | None]:
            return db[collection].find_one({"_id": document["_id"]})

        held = await self._database.read_majority(f"analytics_{collection}", find)
        if held is not None:
            return held
        try:
            await self._database.write(
                f"analytics_keep_{collection}", lambda db: db[collection].insert_one(document)
            )
        except DuplicateKeyError:
            return await self._database.read_held(f"analytics_{collection}", find)
        return document

    async def _add(self, collection: str, chunk: dict[str, Addition], batch: Batch) -> None:
        """Add to each document what the batch has for it, unless it holds the batch already."""
        read = next(iter(chunk.values())).read
        projection = dict.fromkeys(("seen", *read), 1)
        for turn in range(_TURNS):
            if turn >= _PATIENT_TURNS:
                await asyncio.sleep(random.uniform(0, _LONGEST_PAUSE))  # noqa: S311
            held = {one["_id"]: one for one in await self._read(collection, chunk, projection)}
            for key in [key for key in chunk if _has(held.get(key), batch)]:
                added = chunk.pop(key)
                if turn:  # Not by the same batch before.
                    added.written()
            if not chunk:
                return
            dropped = await self._gateways.dropped(
                gateway for key in chunk if key in held for gateway in held[key]["seen"]
            )
            changes = [
                _insert(key, one, batch)
                if key not in held
                else _update(held[key], one, batch, dropped)
                for key, one in chunk.items()
            ]
            if await self._write(collection, changes):
                for added in chunk.values():
                    added.written()
                return
        raise Unavailable("The counts are written by too many at once.", "STORE_OVERLOADED")

    async def _read(
        self, collection: str, keys: Iterable[str], projection: Mapping[str, int]
    ) -> list[Document]:
        named = list(keys)
        # One more than there can be: a batch that is full is followed by a question for the next.
        return await self._database.read(
            f"analytics_{collection}",
            lambda db: (
                db[collection]
                .find({"_id": {"$in": named}}, projection, batch_size=len(named) + 1)
                .to_list(None)
            ),
        )

    async def _write(self, collection: str, changes: list[_Write]) -> bool:
        """Make the changes; False where another writer was faster at one of them."""
        try:
            result = await self._database.write(
                f"analytics_add_{collection}",
                lambda db: db[collection].bulk_write(changes, ordered=False),
            )
        except BulkWriteError:  # Others inserted some of the documents first.
            return False
        return result.inserted_count + result.matched_count == len(changes)


_Write = InsertOne[Document] | UpdateOne


def _has(held: Document | None, batch: Batch) -> bool:
    """Whether a document holds a batch."""
    return held is not None and held["seen"].get(batch.gateway_id, 0) >= batch.number


def _insert(key: str, added: Addition, batch: Batch) -> InsertOne[Document]:
    return InsertOne({"_id": key, **added.new(), "seen": {batch.gateway_id: batch.number}})


def _update(held: Document, added: Addition, batch: Batch, dropped: Mapping[str, int]) -> UpdateOne:
    change = added.change(held)
    seen = f"seen.{batch.gateway_id}"
    condition = {"_id": held["_id"], seen: {"$not": {"$gte": batch.number}}, **change.as_read}
    update: Document = {"$inc": change.increments, "$set": {seen: batch.number, **change.values}}
    if change.removed:
        update["$unset"] = dict.fromkeys(change.removed, "")
    for gateway, number in held["seen"].items():
        if gateway != batch.gateway_id and number <= dropped.get(gateway, 0):
            condition[f"seen.{gateway}"] = number
            update.setdefault("$unset", {})[f"seen.{gateway}"] = ""
    return UpdateOne(condition, update)
