"""Leases, and how far background jobs have come, in a MongoDB database.

leases  _id (the job), holder, ends_at
marks   _id "rank", cursor (of the reconciler); _id "sweep" and the fields of a `Sweep`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta

from pymongo import UpdateOne
from pymongo.errors import DuplicateKeyError

from services.links.domain.lease import latest_end
from services.links.domain.sweep import Stage, Sweep
from services.links.storage.mongo.schema import OWNED
from services.shared.mongo import Database, Document
from services.shared.timestamps import micros_of

_RANK = {"_id": "rank"}
_SWEEP = {"_id": "sweep"}


class MongoViewCounts:
    """How often people visited links."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, people: Mapping[str, int], cursor: str | None) -> None:
        # Links without visits have no number, so none is stored as 0.
        updates = [
            UpdateOne({"_id": code, **OWNED}, {"$max": {"people": count}})
            for code, count in sorted(people.items())
            if count > 0
        ]
        if updates:
            await self._database.write(
                "links_rank", lambda db: db.links.bulk_write(updates, ordered=False)
            )
        if cursor is not None:
            change = {"$set": {"cursor": cursor}}
            await self._database.write(
                "links_note_rank_cursor", lambda db: db.marks.update_one(_RANK, change, upsert=True)
            )

    async def cursor(self) -> str | None:
        found: Document | None = await self._database.read(
            "links_rank_cursor", lambda db: db.marks.find_one(_RANK)
        )
        return found["cursor"] if found else None


class MongoLeases:
    """Leases."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, job: str, holder: str, duration: timedelta, now: datetime) -> bool:
        if not duration:
            held = {"_id": job, "holder": holder}
            await self._database.write("links_lease_end", lambda db: db.leases.delete_one(held))
            return False
        over = {"ends_at": {"$lte": micros_of(now)}}
        impossible = {"ends_at": {"$gt": micros_of(latest_end(now))}}
        free = {"_id": job, "$or": [{"holder": holder}, over, impossible]}
        lease = {"$set": {"holder": holder, "ends_at": micros_of(now + duration)}}
        try:
            await self._database.write(
                "links_lease", lambda db: db.leases.update_one(free, lease, upsert=True)
            )
        except DuplicateKeyError:  # Another holder has it.
            return False
        return True


class MongoSweepProgress:
    """The progress of the last rescan."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self) -> Sweep | None:
        found: Document | None = await self._database.read(
            "links_sweep", lambda db: db.marks.find_one(_SWEEP, {"_id": 0})
        )
        return Sweep(**{**found, "stage": Stage(found["stage"])}) if found else None

    async def put(self, sweep: Sweep) -> None:
        fields = {**asdict(sweep), "stage": sweep.stage.value}
        await self._database.write(
            "links_sweep_progress", lambda db: db.marks.replace_one(_SWEEP, fields, upsert=True)
        )
