"""How many links an owner has in a list, where they are too many to be counted each time.

    counts   _id (the owner, as in `links.creator`), count (of those made up to `until`), until,
             counted_at, token

To count them takes longer than to read a page of them. So of an owner with many links the number
of those that are older than an hour is kept, and the newer ones are counted. It is kept only if
nobody removed, restored or took any meanwhile: whoever does that deletes the document, after the
change and before it is told. What is not deleted, as a process was killed between the two or is
one of the version before, holds for ten minutes.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from pymongo.errors import DuplicateKeyError

from services.links.stored import OwnerValue
from services.runtime.moments import micros_of
from services.runtime.mongo import Database, Document

_FEW = 2000
"""Links that are counted each time: in a millisecond."""
_MADE_WITHIN = timedelta(hours=1)
"""How long ago a link may say it was made that is stored just now: replicas' clocks differ."""
_KEPT_FOR = timedelta(minutes=10)


class Counts:
    """The numbers of links of a database's owners, who have them by age in `index`."""

    def __init__(self, database: Database, index: str) -> None:
        self._database = database
        self._index = index

    async def of(self, owner: OwnerValue, now: datetime) -> int:
        """How many links of an owner are not removed."""
        few = await self._count(owner, {}, _FEW)
        if few < _FEW:
            return few
        held: Document | None = await self._database.read(
            "links_count_kept", lambda db: db.counts.find_one({"_id": owner})
        )
        since = micros_of(now - _KEPT_FOR)
        if held is None or "count" not in held or not since < held["counted_at"] <= micros_of(now):
            return await self._count_anew(owner, now)
        newer = await self._count(owner, {"created_at": {"$gt": held["until"]}})
        return int(held["count"]) + newer

    async def forget(self, owners: Collection[OwnerValue]) -> None:
        """Drop the numbers of owners, as other links are theirs, or are removed, from now on."""
        if owners:
            named = {"_id": {"$in": list(owners)}}
            await self._database.write("links_count_drop", lambda db: db.counts.delete_many(named))

    async def count(self, query: Document, index: str, most: int = 0) -> int:
        """How many links a query finds by an index, `most` where there are more; 0 counts all."""
        # The command, not the aggregation of the driver's method: it counts in the index.
        counted: Document = await self._database.read(
            "links_count",
            lambda db: db.command("count", "links", query=query, hint=index, limit=most),
        )
        return int(counted["n"])

    async def _count_anew(self, owner: OwnerValue, now: datetime) -> int:
        own = {"_id": owner}
        token = secrets.token_hex(12)
        begun = {"$set": {"token": token, "counted_at": micros_of(now)}, "$unset": {"count": ""}}
        try:
            await self._database.write(
                "links_count_begin", lambda db: db.counts.update_one(own, begun, upsert=True)
            )
        except DuplicateKeyError:
            token = ""  # Another replica has just begun.
        until = micros_of(now - _MADE_WITHIN)
        older = await self._count(owner, {"created_at": {"$lte": until}})
        if token:
            as_begun = {**own, "token": token}
            kept = {"$set": {"count": older, "until": until}}
            await self._database.write(
                "links_count_keep", lambda db: db.counts.update_one(as_begun, kept)
            )
        count = older + await self._count(owner, {"created_at": {"$gt": until}})
        if count < _FEW:  # They went meanwhile, the owner perhaps with them.
            await self.forget([owner])
        return count

    async def _count(self, owner: OwnerValue, made: Document, most: int = 0) -> int:
        """How many of an owner's links are not removed, `most` where there are more."""
        return await self.count({"creator": owner, "bin": None, **made}, self._index, most)
