"""Counts of visits in a MongoDB database.

    days      _id "code:day", people, bots, hours.<hour of the day>, referrers.<host>, hosts (how
              many hosts are told apart), seen.<gateway id>
    totals    _id code, people, bots, seen.<gateway id>
    gateways  _id gateway id, begun and last_batch (numbers), seen_at (seconds since the Unix
              epoch), live, dropped (the number up to which `seen` may have been dropped)

Every visit once, without a transaction: a document says in `seen` which batch of a gateway it
holds last, and one conditional update adds a batch and says so. What has it already is passed
over; a crash between two documents is healed by the resend.

A chunk of documents is read, and the changes decided from what was read: a document that was
absent is inserted, one that was there is updated on the condition that `seen` is lower and that
whatever else decided is as it was. Where another writer was faster, its key is a duplicate or the
condition fails: the chunk is read again, until every document holds the batch. So it is with
referrers: a host that is new to a document comes in on the condition that `hosts` is as it was
read, so that no more than the most allowed are told apart; past that it counts as the others. A
host that is there stays: counting on needs no condition.

A gateway that was idle for long, or for an hour after it closed, is dropped: its document says up
to which batch, and from then on those numbers are refused. Only then do they leave `seen`, with a
document's next write.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pymongo import ASCENDING, IndexModel, InsertOne, UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError

from services.analytics.domain import (
    GATEWAY_IDLE,
    HOURS_A_DAY,
    MAX_REFERRERS,
    OTHER_REFERRERS,
    Batch,
    Day,
    Totals,
    VisitKind,
    check_replay,
    closed_seen_at,
)
from services.runtime.errors import Unavailable
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
_FORGET_EVERY = 3600.0
"""Seconds between two looks for gateways that are idle."""
_DAY_DIGITS = 7
"""Those of the calendar's last day: texts of equal length sort like their numbers."""


class MongoAnalyticsStore:
    """The `AnalyticsStore` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._gateways = _Gateways(database)

    async def apply(self, batch: Batch, now: datetime) -> bool:
        await self._gateways.forget_idle(now)
        if not await self._gateways.begin(batch, now):
            return False
        days, totals = _sums(batch)
        for collection, sums in (("days", days), ("totals", totals)):
            for chunk in _chunks(sums):
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
            lambda of: of.days.find(query, {"seen": 0}, sort=[("_id", ASCENDING)]).to_list(None),
        )
        return [_day(one) for one in found]

    async def remove(self, codes: Sequence[str]) -> None:
        named = {"_id": {"$in": list(codes)}}
        await self._database.write("analytics_remove", lambda of: of.totals.delete_many(named))
        for code in codes:
            # Every day of the code: a semicolon comes next after the colon.
            days = {"_id": {"$gte": f"{code}:", "$lt": f"{code};"}}
            await self._remove_days(days)

    async def _remove_days(self, query: Document) -> None:
        await self._database.write("analytics_remove", lambda of: of.days.delete_many(query))

    async def _add(self, collection: str, chunk: Mapping[str, _Sum], batch: Batch) -> None:
        """Add to each document what the batch has for it, unless it holds the batch already."""
        fields = ("seen", "hosts", "referrers")
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
            lambda of: (
                of[collection]
                .find({"_id": {"$in": named}}, dict.fromkeys(fields, 1), batch_size=len(named))
                .to_list(None)
            ),
        )

    async def _write(self, collection: str, changes: list[_Change]) -> bool:
        """Whether all of the changes took place."""
        try:
            result = await self._database.write(
                f"analytics_add_{collection}",
                lambda of: of[collection].bulk_write(changes, ordered=False),
            )
        except BulkWriteError:  # Others inserted some of the documents first.
            return False
        return result.inserted_count + result.matched_count == len(changes)


class _Gateways:
    """Which batches each gateway has sent, and which of them can still be sent again."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._live: set[str] = set()
        self._looked_at: float | None = None

    async def begin(self, batch: Batch, now: datetime) -> bool:
        """Note a batch before its first write; False for one that was applied before.

        Raises GatewayForgotten.
        """
        seconds = int(now.timestamp())
        begun = {"begun": batch.number, "seen_at": seconds, "live": True}
        for _ in range(_TURNS):
            held = await self._database.read(
                "analytics_gateway", lambda of: of.gateways.find_one({"_id": batch.gateway_id})
            )
            if held is None:
                new = {"_id": batch.gateway_id, "last_batch": 0, "dropped": 0, **begun}
                if await self._insert(new):
                    return True
                continue
            check_replay(batch, held["begun"], held["seen_at"] if "live" in held else None, now)
            # A gateway sends the next batch once the one before was acknowledged or refused.
            if batch.number < held["begun"] or batch.number <= held["last_batch"]:
                return False
            as_read = {name: held[name] for name in ("_id", "begun", "dropped")}
            if await self._update(as_read, {"$set": begun}):
                return True
        raise Unavailable("The gateway sends too much at once.", "STORE_OVERLOADED")

    async def finish(self, batch: Batch) -> bool:
        """Note that every document holds a batch; False when that was noted before."""
        not_yet = {"_id": batch.gateway_id, "last_batch": {"$lt": batch.number}}
        return await self._update(not_yet, {"$set": {"last_batch": batch.number}})

    async def close(self, gateway_id: str, number: int, now: datetime) -> None:
        """Take a gateway whose last batch has a number to be idle soon."""
        last = {"_id": gateway_id, "begun": number, "live": True}
        await self._update(last, {"$set": {"seen_at": closed_seen_at(now)}})

    async def forget_idle(self, now: datetime) -> None:
        """Now and then: from here on, refuse what gateways that are idle have sent so far."""
        looked_at = time.monotonic()
        if self._looked_at is not None and looked_at - self._looked_at < _FORGET_EVERY:
            return
        query = {"live": True, "seen_at": {"$lte": int((now - GATEWAY_IDLE).timestamp())}}
        idle = await self._database.read(
            "analytics_idle", lambda of: of.gateways.find(query).to_list(None)
        )
        for one in idle:
            as_read = {name: one[name] for name in ("_id", "begun", "seen_at", "live")}
            change = {"$set": {"dropped": one["begun"]}, "$unset": {"live": ""}}
            await self._update(as_read, change)
        self._live.clear()
        self._looked_at = looked_at

    async def dropped(self, ids: Iterable[str]) -> dict[str, int]:
        """Up to which batch each of the gateways was dropped, of those that were."""
        unknown = sorted(set(ids) - self._live)
        if not unknown:
            return {}
        found = await self._database.read(
            "analytics_dropped",
            lambda of: of.gateways.find(
                {"_id": {"$in": unknown}}, {"dropped": 1, "live": 1}
            ).to_list(None),
        )
        self._live.update(one["_id"] for one in found if "live" in one and not one["dropped"])
        return {one["_id"]: one["dropped"] for one in found if one["dropped"]}

    async def _insert(self, document: Document) -> bool:
        try:
            await self._database.write(
                "analytics_begin", lambda of: of.gateways.insert_one(document)
            )
        except DuplicateKeyError:
            return False
        return True

    async def _update(self, query: Document, change: Document) -> bool:
        updated = await self._database.write(
            "analytics_advance", lambda of: of.gateways.update_one(query, change)
        )
        return updated.matched_count == 1


@dataclass
class _Sum:
    """What a batch adds to one document: to plain fields by name, and to referrers by host."""

    fields: Counter[str] = field(default_factory=Counter)
    hosts: Counter[str] = field(default_factory=Counter)


_Change = InsertOne[Document] | UpdateOne


def _sums(batch: Batch) -> tuple[dict[str, _Sum], dict[str, _Sum]]:
    """What a batch adds to the documents of days and of totals."""
    days: dict[str, _Sum] = defaultdict(_Sum)
    totals: dict[str, _Sum] = defaultdict(_Sum)
    for visit in batch.visits:
        day, total = days[_day_id(visit.code, visit.day)], totals[visit.code]
        name = "people" if visit.kind is VisitKind.PERSON else "bots"
        day.fields[name] += visit.count
        total.fields[name] += visit.count
        if visit.kind is VisitKind.PERSON:
            day.fields[f"hours.{visit.hour % HOURS_A_DAY}"] += visit.count
            if visit.referrer_host:
                day.hosts[_key(visit.referrer_host)] += visit.count
    return days, totals


def _chunks(sums: Mapping[str, _Sum]) -> Iterator[dict[str, _Sum]]:
    """In the order of their keys: engines that lock would else wait for each other."""
    keys = sorted(sums)
    for start in range(0, len(keys), CHUNK):
        yield {key: sums[key] for key in keys[start : start + CHUNK]}


def _has(held: Document | None, batch: Batch) -> bool:
    """Whether a document holds a batch."""
    return held is not None and held["seen"].get(batch.gateway_id, 0) >= batch.number


def _insert(key: str, added: _Sum, batch: Batch) -> InsertOne[Document]:
    hosts, named = _told_apart(added.hosts, {})
    document: Document = {
        "_id": key,
        "people": 0,
        "bots": 0,
        "hosts": named,
        "hours": {},
        "referrers": hosts,
        "seen": {batch.gateway_id: batch.number},
    }
    for name, count in added.fields.items():
        parent, _, hour = name.rpartition(".")
        (document[parent] if parent else document)[hour] = count
    return InsertOne(document)


def _update(held: Document, added: _Sum, batch: Batch, dropped: Mapping[str, int]) -> UpdateOne:
    seen = f"seen.{batch.gateway_id}"
    condition: Document = {"_id": held["_id"], seen: {"$not": {"$gte": batch.number}}}
    hosts, named = _told_apart(added.hosts, held.get("referrers", {}))
    increments: Document = dict(added.fields)
    increments |= {f"referrers.{host}": count for host, count in hosts.items()}
    if named:
        condition["hosts"] = held["hosts"]
        increments["hosts"] = named
    change: Document = {"$inc": increments, "$set": {seen: batch.number}}
    for gateway, number in held["seen"].items():
        if gateway != batch.gateway_id and number <= dropped.get(gateway, 0):
            condition[f"seen.{gateway}"] = number
            change.setdefault("$unset", {})[f"seen.{gateway}"] = ""
    return UpdateOne(condition, change)


def _told_apart(hosts: Mapping[str, int], known: Mapping[str, int]) -> tuple[Counter[str], int]:
    """The people of hosts by the field they count in, and how many of the fields are new."""
    room = MAX_REFERRERS - sum(host != OTHER_REFERRERS for host in known)
    counted: Counter[str] = Counter()
    named = 0
    for host, people in hosts.items():
        if host in known or host == OTHER_REFERRERS:
            counted[host] += people
        elif named < room:
            counted[host] += people
            named += 1
        else:
            counted[OTHER_REFERRERS] += people
    return counted, named


def _key(host: str) -> str:
    """A host as the name of a field, in which dots and dollars would have a meaning."""
    return host.replace("%", "%25").replace(".", "%2E").replace("$", "%24")


def _host(key: str) -> str:
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
        people_by_referrer={_host(key): people for key, people in document["referrers"].items()},
    )
