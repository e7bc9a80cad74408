"""The collection `gateways` of analytics' MongoDB database: a document a gateway.

_id         the gateway's id
begun       number of the last batch that it began to send
last_batch  number of the last batch that every document holds
seen_at     when it began that batch, in seconds since the Unix epoch; earlier once it closed
live        true until it is dropped, and then absent
dropped     number up to which its batches may be missing in `seen`; 0 if it never was dropped
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime

from pymongo.errors import DuplicateKeyError

from services.analytics.domain import GATEWAY_IDLE, Batch, check_replay, closed_seen_at
from services.runtime.errors import Unavailable
from services.runtime.mongo import Database, Document

_TURNS = 200
"""How often other writers may be faster before a batch is given up until its resend."""
_FORGET_EVERY = 3600.0
"""Seconds between two looks for gateways that are idle."""


class Gateways:
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
                "analytics_gateway", lambda db: db.gateways.find_one({"_id": batch.gateway_id})
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
        """Let a gateway count as idle after `CLOSED_IDLE`, if `number` is still its last batch."""
        last = {"_id": gateway_id, "begun": number, "live": True}
        await self._update(last, {"$set": {"seen_at": closed_seen_at(now)}})

    async def forget_idle(self, now: datetime) -> None:
        """Drop the gateways that are idle: all that they sent so far is refused from then on.

        Looks for them once in `_FORGET_EVERY` seconds, however often it is called.
        """
        looked_at = time.monotonic()
        if self._looked_at is not None and looked_at - self._looked_at < _FORGET_EVERY:
            return
        query = {"live": True, "seen_at": {"$lte": int((now - GATEWAY_IDLE).timestamp())}}
        idle = await self._database.read(
            "analytics_idle", lambda db: db.gateways.find(query).to_list(None)
        )
        for one in idle:
            as_read = {name: one[name] for name in ("_id", "begun", "seen_at", "live")}
            change = {"$set": {"dropped": one["begun"]}, "$unset": {"live": ""}}
            await self._update(as_read, change)
        self._live.clear()
        self._looked_at = looked_at

    async def dropped(self, ids: Iterable[str]) -> dict[str, int]:
        """The last batch that is refused, by id, of those of the gateways that were dropped."""
        unknown = sorted(set(ids) - self._live)
        if not unknown:
            return {}
        found = await self._database.read(
            "analytics_dropped",
            lambda db: db.gateways.find(
                {"_id": {"$in": unknown}}, {"dropped": 1, "live": 1}
            ).to_list(None),
        )
        self._live.update(one["_id"] for one in found if "live" in one and not one["dropped"])
        return {one["_id"]: one["dropped"] for one in found if one["dropped"]}

    async def _insert(self, document: Document) -> bool:
        try:
            await self._database.write(
                "analytics_begin", lambda db: db.gateways.insert_one(document)
            )
        except DuplicateKeyError:
            return False
        return True

    async def _update(self, query: Document, change: Document) -> bool:
        updated = await self._database.write(
            "analytics_advance", lambda db: db.gateways.update_one(query, change)
        )
        return updated.matched_count == 1
