"""View counts of links in a MongoDB database: the field `people` of their documents.

marks  _id "rank", cursor (of the reconciler)
"""

from __future__ import annotations

from collections.abc import Mapping

from pymongo import UpdateOne

from services.links.storage.mongo.schema import OWNED
from services.shared.mongo import Database, Document

_RANK = {"_id": "rank"}


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
