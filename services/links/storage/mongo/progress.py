"""Leases and the progress of background jobs in a MongoDB database.

leases  _id (the job), holder, ends_at
marks   _id "rank", cursor (of the reconciler);
        _id "sweep", contents (the fingerprint), round, stage (the phase), after
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from pymongo import UpdateOne
from pymongo.errors import DuplicateKeyError

from services.links.domain.lease import latest_end
from services.links.domain.rescan_progress import RescanPhase, RescanProgress
from services.links.storage.mongo.schema import OWNED
from services.shared.mongo import Database, Document
from services.shared.timestamps import to_micros

_RANK = {"_id": "rank"}
_RESCAN = {"_id": "sweep"}


class MongoViewCounts:
    """The `ViewCounts` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, people: Mapping[str, int], cursor: str | None) -> None:
        # The field is absent for links without visits, so 0 is not stored.
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
    """The `Leases` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, job: str, holder: str, duration: timedelta, now: datetime) -> bool:
        if not duration:
            held = {"_id": job, "holder": holder}
            await self._database.write("links_lease_end", lambda db: db.leases.delete_one(held))
            return False
        expired = {"ends_at": {"$lte": to_micros(now)}}
        impossible = {"ends_at": {"$gt": to_micros(latest_end(now))}}
        free = {"_id": job, "$or": [{"holder": holder}, expired, impossible]}
        lease = {"$set": {"holder": holder, "ends_at": to_micros(now + duration)}}
        try:
            await self._database.write(
                "links_lease", lambda db: db.leases.update_one(free, lease, upsert=True)
            )
        except DuplicateKeyError:  # Another holder has it.
            return False
        return True


class MongoRescanProgressStore:
    """The `RescanProgressStore` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self) -> RescanProgress | None:
        found: Document | None = await self._database.read(
            "links_sweep", lambda db: db.marks.find_one(_RESCAN, {"_id": 0})
        )
        if found is None:
            return None
        return RescanProgress(
            fingerprint=found["contents"],
            round=found["round"],
            phase=RescanPhase(found["stage"]),
            after=found["after"],
        )

    async def put(self, progress: RescanProgress) -> None:
        fields: Document = {
            "contents": progress.fingerprint,
            "round": progress.round,
            "stage": progress.phase.value,
            "after": progress.after,
        }
        await self._database.write(
            "links_sweep_progress", lambda db: db.marks.replace_one(_RESCAN, fields, upsert=True)
        )
