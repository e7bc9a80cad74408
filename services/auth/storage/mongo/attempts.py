"""Attempt counts in a MongoDB database. An attempt is one command (docs/adr/0008)."""

from __future__ import annotations

from datetime import datetime, timedelta

from services.auth.application.ports import AttemptResult
from services.shared.mongo import Database
from services.shared.timestamps import CLOCK_LEEWAY, from_micros, to_micros

_DELETE_AFTER = timedelta(hours=1)
"""Time between the end of a window and its deletion. It exceeds the error of the server's clock."""


class MongoAttemptStore:
    """An `AttemptStore` in a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def acquire(
        self, counter: str, limit: int, window: timedelta, now: datetime
    ) -> AttemptResult:
        start, end = to_micros(now), to_micros(now + window)
        latest = to_micros(now + window + CLOCK_LEEWAY)
        is_over = {
            "$or": [  # A new document has no count. MongoDB orders a missing value below numbers.
                {"$lte": ["$count", 0]},
                {"$lte": ["$window_ends", start]},
                {"$gt": ["$window_ends", latest]},
            ]
        }
        incremented = {"$cond": [{"$lt": ["$count", limit]}, {"$add": ["$count", 1]}, "$count"]}
        changes = {
            "count": {"$cond": [is_over, 1, incremented]},
            "window_ends": {"$cond": [is_over, end, "$window_ends"]},
            "tidied_at": {"$cond": [is_over, now + window + _DELETE_AFTER, "$tidied_at"]},
        }
        before = await self._database.write(
            "attempts_acquire",
            lambda db: db.attempts.find_one_and_update(
                {"_id": counter}, [{"$set": changes}], upsert=True
            ),
        )
        if before is None or before["count"] <= 0 or not start < before["window_ends"] <= latest:
            return AttemptResult(True, now + window)
        return AttemptResult(before["count"] < limit, from_micros(before["window_ends"]))

    async def release(self, counter: str, window_ends: datetime) -> None:
        window = {"_id": counter, "window_ends": to_micros(window_ends)}
        deleted = await self._database.write(
            "attempts_release", lambda db: db.attempts.delete_one({**window, "count": 1})
        )
        if deleted.deleted_count == 0:
            await self._database.write(
                "attempts_release",
                lambda db: db.attempts.update_one(
                    {**window, "count": {"$gt": 0}}, {"$inc": {"count": -1}}
                ),
            )
