"""A feed of changes (`feed`) in a MongoDB database, in the collection `announcements`:

    announcements  _id (the number), codes (the keys), announced_at (microseconds since the epoch)

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
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from pymongo import ASCENDING, DESCENDING
from pymongo.errors import DuplicateKeyError

from services.runtime.errors import Unavailable
from services.runtime.feed import LOOK, Announcement, Feed, Told, told_since
from services.runtime.moments import CLOCK_LEEWAY, micros_of
from services.runtime.mongo import Database, Document

_TURNS = 200
"""How often other replicas may be faster before an announcement is given up."""
_LONGEST_PAUSE = 0.02
_WAITING = 4096
"""Most callers who wait for their announcement; one more is refused."""
_CLEAR_EVERY = 100
"""Announcements of one replica between two looks for old ones."""
_CLEARED = 1000
"""Most that one look clears away: more than several replicas make in the meantime."""


@dataclass(eq=False)
class _Group:
    """Keys that are announced together, for all who wait for it."""

    keys: dict[str, None] = field(default_factory=dict)
    written: bool = False
    error: Unavailable | None = None


class MongoFeed:
    """The feed of a database. `service` goes in front of its operations' names in the metrics.

    Changes are announced in groups: while one is written, those that come gather for the next. So a
    replica wants one number at a time, however many changes it makes.
    """

    def __init__(self, database: Database, feed: Feed, service: str) -> None:
        self._database = database
        self._feed = feed
        self._service = service
        self._turn = asyncio.Lock()
        self._gathering = _Group()
        self._waiting = 0
        self._made = 0

    async def since(self, mark: int | None) -> Told:
        """What was announced after a mark; None asks for the mark of now."""
        if mark is None:
            return Told(await self.last())
        from_mark = {"_id": {"$gte": mark}}
        kept = await self._database.read_majority(
            f"{self._service}_announcements",
            lambda db: (
                db.announcements.find(from_mark, {"codes": 1}, batch_size=LOOK)
                .sort("_id", ASCENDING)
                .limit(LOOK)
                .to_list(None)
            ),
        )
        told = told_since(
            self._feed, mark, [Announcement(one["_id"], one["codes"]) for one in kept]
        )
        if told is not None:
            return told
        # Right after a failover, the new primary may not know yet what a majority has.
        own: Document | None = await self._database.read(
            f"{self._service}_announced",
            lambda db: db.announcements.find_one({"_id": mark}, {"_id": 1}),
        )
        if not kept and own:
            return Told(mark)
        return Told(await self.last(), lost=True)

    async def last(self) -> int:
        """The number of the last announcement that a majority has; 0 before the first."""
        found: Document | None = await self._database.read_majority(
            f"{self._service}_last_announced",
            lambda db: db.announcements.find_one({}, {"_id": 1}, sort=[("_id", DESCENDING)]),
        )
        return found["_id"] if found else 0

    async def announce(self, keys: Sequence[str], now: datetime) -> None:
        """Announce changes. Raises Unavailable, after which it may be done or not."""
        for start in range(0, len(keys), self._feed.most_keys):
            await self._join(keys[start : start + self._feed.most_keys], now)

    async def _join(self, keys: Sequence[str], now: datetime) -> None:
        """Wait until the keys are announced, with a group or alone.

        Whoever of a group has the turn first writes it for all. Who gives up then, because the
        caller left, leaves it to the next of them.
        """
        if self._waiting >= _WAITING:
            raise Unavailable("The store is overloaded.", "STORE_OVERLOADED")
        if len(self._gathering.keys.keys() | keys) > self._feed.most_keys:
            self._gathering = _Group()
        group = self._gathering
        group.keys.update(dict.fromkeys(keys))
        self._waiting += 1
        try:
            async with self._turn:
                if group is self._gathering:
                    self._gathering = _Group()
                if not group.written and group.error is None:
                    try:
                        await self._write(list(group.keys), now)
                        group.written = True
                    except Unavailable as error:
                        group.error = error
        finally:
            self._waiting -= 1
        if group.error is not None:
            raise Unavailable(group.error.message, group.error.reason) from group.error

    async def _write(self, keys: list[str], now: datetime) -> None:
        for _ in range(_TURNS):
            last = await self.last()
            new = {"_id": last + 1, "codes": keys, "announced_at": micros_of(now)}
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
                f"{self._service}_announce", lambda db: db.announcements.insert_one(new)
            )
        except DuplicateKeyError:
            return False
        return True

    async def _clear(self, last: int, now: datetime) -> None:
        """Clear some of the oldest announcements away. `last` is a number that was taken."""
        found = await self._database.read(
            f"{self._service}_announcements_old",
            lambda db: (
                db.announcements.find(
                    {"_id": {"$lte": last - self._feed.kept_least}}, {"announced_at": 1}
                )
                .sort("_id", ASCENDING)
                .limit(_CLEARED)
                .to_list(None)
            ),
        )
        # What a clock dated that ran ahead would else be kept until then, and all behind it.
        kept_from, latest = micros_of(now - self._feed.kept_for), micros_of(now + CLOCK_LEEWAY)
        old = [one["_id"] for one in found if not kept_from < one["announced_at"] <= latest]
        if old:
            named = {"_id": {"$in": old}}
            await self._database.write(
                f"{self._service}_announcements_clear",
                lambda db: db.announcements.delete_many(named),
            )
