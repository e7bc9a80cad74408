"""Counts of visits in a MongoDB database.

    days      _id "code:day", people, bots, hours.<hour of the day>, people by name in a dimension
              (referrers.<host>, devices.<name> and so on), hosts (below), seen.<gateway id>
    totals    _id code, people, bots, seen.<gateway id>
    gateways  see `gateways_mongo`
    announcements  see `services.runtime.feed_mongo`

**Every visit once, without a transaction.** A document says in `seen` which batch of a gateway it
holds last, and one conditional update adds a batch and says so. A document that holds the batch
already is passed over, so a crash between two documents is healed by the resend.

**Many writers.** A chunk of documents is read, and the changes are decided from what was read: a
document that was absent is inserted, one that was there is updated on the condition that its `seen`
is lower and that whatever else decided is as it was read. Where another writer was faster, its key
is a duplicate or the condition fails: then the chunk is read again, until every document holds the
batch.

**At most 100 names in a dimension.** `hosts` counts the names that ever came into a document, those
of all dimensions together. (It has its name from a version that knew referrers alone, and that
writes to the same documents while it is replaced.) A name that is new to a document comes in on the
condition that `hosts` is as it was read: two writers cannot both take the last place. A name that
is there stays, so counting on needs no condition.

**Gateways that went away.** A gateway that was idle for long, or for an hour after it closed, is
dropped: its document says up to which batch, and from then on those numbers are refused. Only then
do they leave `seen`, with a document's next write.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pymongo import ASCENDING, IndexModel, InsertOne, UpdateOne
from pymongo.errors import BulkWriteError

from services.analytics.domain import (
    FEED,
    HOURS_A_DAY,
    OTHER_NAMES,
    Batch,
    Day,
    Dimension,
    Totals,
    count_names,
    sums_of,
    totals_of,
)
from services.analytics.gateways_mongo import Gateways
from services.runtime.errors import Unavailable
from services.runtime.feed import Told
from services.runtime.feed_mongo import MongoFeed
from services.runtime.mongo import Database, Document, Schema

SCHEMA: Schema = (
    {"gateways": [IndexModel([("live", ASCENDING), ("seen_at", ASCENDING)], name="gateways_idle")]},
)

CHUNK = 500
"""Most documents in one command."""
_TURNS = 200
"""How often other writers may be faster before a batch is given up until its resend."""
_PATIENT_TURNS = 3
_LONGEST_PAUSE = 0.02
_DAY_DIGITS = 7
"""Those of the calendar's last day: texts of equal length sort like their numbers."""
_FIELDS = {
    Dimension.REFERRER: "referrers",
    Dimension.DEVICE: "devices",
    Dimension.BROWSER: "browsers",
    Dimension.SYSTEM: "systems",
    Dimension.LANGUAGE: "languages",
    Dimension.COUNTRY: "countries",
    Dimension.SOURCE: "sources",
}
"""Where a day's document has its people by name."""


class MongoAnalyticsStore:
    """The `AnalyticsStore` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._gateways = Gateways(database)
        self._feed = MongoFeed(database, FEED, "analytics")

    async def apply(self, batch: Batch, now: datetime) -> bool:
        await self._gateways.forget_idle(now)
        applied = await self._apply(batch, now)
        # Also what was applied before: whoever applied it may have ended ahead of this line.
        await self._feed.announce(sorted({visit.code for visit in batch.visits}), now)
        return applied

    async def _apply(self, batch: Batch, now: datetime) -> bool:
        if not await self._gateways.begin(batch, now):
            return False
        days, totals = _additions(batch)
        for collection, added in (("days", days), ("totals", totals)):
            for chunk in _chunks(added):
                await self._add(collection, chunk, batch)
        return await self._gateways.finish(batch)

    async def close_gateway(self, gateway_id: str, number: int, now: datetime) -> None:
        await self._gateways.close(gateway_id, number, now)

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        found = await self._read("totals", codes, ("people", "bots"))
        return {one["_id"]: Totals(one["people"], one["bots"]) for one in found}

    async def days(self, code: str, first: int, last: int) -> list[Day]:
        query = {"_id": {"$gte": _day_id(code, first), "$lte": _day_id(code, last)}}
        found = await self._database.read(
            "analytics_days",
            lambda db: db.days.find(query, {"seen": 0}, sort=[("_id", ASCENDING)]).to_list(None),
        )
        return [_day(one) for one in found]

    async def remove(self, codes: Sequence[str]) -> None:
        named = {"_id": {"$in": list(codes)}}
        await self._database.write("analytics_remove", lambda db: db.totals.delete_many(named))
        for code in codes:
            # Every day of the code: a semicolon comes next after the colon.
            days = {"_id": {"$gte": f"{code}:", "$lt": f"{code};"}}
            await self._remove_days(days)

    async def announcements(self, mark: int | None) -> Told:
        return await self._feed.since(mark)

    async def _remove_days(self, query: Document) -> None:
        await self._database.write("analytics_remove", lambda db: db.days.delete_many(query))

    async def _add(self, collection: str, chunk: Mapping[str, _Addition], batch: Batch) -> None:
        """Add to each document what the batch has for it, unless it holds the batch already."""
        fields = ("seen", "hosts", *_FIELDS.values())
        for turn in range(_TURNS):
            if turn >= _PATIENT_TURNS:
                await asyncio.sleep(random.uniform(0, _LONGEST_PAUSE))  # noqa: S311
            held = {one["_id"]: one for one in await self._read(collection, chunk, fields)}
            chunk = {key: one for key, one in chunk.items() if not _has(held.get(key), batch)}
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
                return
        raise Unavailable("The counts are written by too many at once.", "STORE_OVERLOADED")

    async def _read(
        self, collection: str, keys: Iterable[str], fields: Sequence[str]
    ) -> list[Document]:
        named = list(keys)
        return await self._database.read(
            f"analytics_{collection}",
            lambda db: (
                db[collection]
                .find({"_id": {"$in": named}}, dict.fromkeys(fields, 1), batch_size=len(named))
                .to_list(None)
            ),
        )

    async def _write(self, collection: str, changes: list[_Change]) -> bool:
        """Make the changes; False where another writer was faster at one of them."""
        try:
            result = await self._database.write(
                f"analytics_add_{collection}",
                lambda db: db[collection].bulk_write(changes, ordered=False),
            )
        except BulkWriteError:  # Others inserted some of the documents first.
            return False
        return result.inserted_count + result.matched_count == len(changes)


@dataclass
class _Addition:
    """What a batch adds to one document."""

    visits: dict[str, int]
    """`people` and `bots`."""
    hours: dict[str, int] | None = None
    """People by hour of the day; None for a document of totals."""
    names: dict[str, dict[str, int]] = field(default_factory=dict)
    """People by field of a dimension, such as `referrers`, and by the name's key in it."""


_Change = InsertOne[Document] | UpdateOne


def _additions(batch: Batch) -> tuple[dict[str, _Addition], dict[str, _Addition]]:
    """What a batch adds to the documents of days and of totals, by `_id`."""
    sums = sums_of(batch)
    days: dict[str, _Addition] = {}
    for (day, code), one in sums.items():
        visits = {"people": sum(one.people.values()), "bots": sum(one.bots.values())}
        hours = {str(hour): people for hour, people in one.people.items()}
        names = {
            _FIELDS[dimension]: {_key(name): people for name, people in breakdown.items()}
            for dimension, breakdown in one.names.items()
        }
        days[_day_id(code, day)] = _Addition(visits, hours, names)
    totals = {
        code: _Addition({"people": one.people, "bots": one.bots})
        for code, one in totals_of(sums).items()
    }
    return days, totals


def _chunks(added: Mapping[str, _Addition]) -> Iterator[dict[str, _Addition]]:
    """At most `CHUNK` documents each, in the order of their keys.

    Writers that all lock in the same order never wait for each other in a circle.
    """
    keys = sorted(added)
    for start in range(0, len(keys), CHUNK):
        yield {key: added[key] for key in keys[start : start + CHUNK]}


def _has(held: Document | None, batch: Batch) -> bool:
    """Whether a document holds a batch."""
    return held is not None and held["seen"].get(batch.gateway_id, 0) >= batch.number


def _insert(key: str, added: _Addition, batch: Batch) -> InsertOne[Document]:
    document: Document = {"_id": key, **added.visits}
    if added.hours is not None:
        names, new = _named(added, {})
        document |= {"hosts": new, "hours": added.hours, "referrers": {}, **names}
    return InsertOne({**document, "seen": {batch.gateway_id: batch.number}})


def _update(
    held: Document, added: _Addition, batch: Batch, dropped: Mapping[str, int]
) -> UpdateOne:
    seen = f"seen.{batch.gateway_id}"
    condition: Document = {"_id": held["_id"], seen: {"$not": {"$gte": batch.number}}}
    names, new = _named(added, held)
    increments: Document = dict(added.visits)
    for parent, counts in {"hours": added.hours or {}, **names}.items():
        increments |= {f"{parent}.{key}": people for key, people in counts.items()}
    if new:
        condition["hosts"] = held["hosts"]
        increments["hosts"] = new
    change: Document = {"$inc": increments, "$set": {seen: batch.number}}
    for gateway, number in held["seen"].items():
        if gateway != batch.gateway_id and number <= dropped.get(gateway, 0):
            condition[f"seen.{gateway}"] = number
            change.setdefault("$unset", {})[f"seen.{gateway}"] = ""
    return UpdateOne(condition, change)


def _named(added: _Addition, held: Document) -> tuple[dict[str, dict[str, int]], int]:
    """The names under which a batch counts in a document, and how many of them are new to it."""
    names: dict[str, dict[str, int]] = {}
    new = 0
    for name, breakdown in added.names.items():
        known = held.get(name, {})
        names[name] = count_names(breakdown, known)
        new += sum(key not in known and key != OTHER_NAMES for key in names[name])
    return names, new


def _key(name: str) -> str:
    """A name as the name of a field: `a.example` is `a%2Eexample`, as a dot would part fields."""
    return name.replace("%", "%25").replace(".", "%2E").replace("$", "%24")


def _name(key: str) -> str:
    return key.replace("%24", "$").replace("%2E", ".").replace("%25", "%")


def _day_id(code: str, day: int) -> str:
    return f"{code}:{day:0{_DAY_DIGITS}}"


def _day(document: Document) -> Day:
    hours = document["hours"]
    return Day(
        day=int(document["_id"].partition(":")[2]),
        people=document["people"],
        bots=document["bots"],
        people_by_hour=tuple(hours.get(str(hour), 0) for hour in range(HOURS_A_DAY)),
        breakdowns={
            dimension: {_name(key): people for key, people in document[name].items()}
            for dimension, name in _FIELDS.items()
            if document.get(name)
        },
    )
