"""Edits under way of links of everybody, in a MongoDB database.

    edits              _id (random), codes, begun_at (microseconds since the Unix epoch)

An edit is written and then announced. Who edits an owner's links, or a link by the operator's word,
repeats a call that broke off in between, and that announces it. A look through all links is not
repeated with the same ones: what it changed already it does not find again. So it says first which
links it is about to change, and what stands here for long is announced by any process. To announce
what was not changed, or is announced twice, does no harm: whoever hears of it reads it anew.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime

from services.runtime.moments import CLOCK_LEEWAY, micros_of
from services.runtime.mongo import Database, Document

_TOGETHER = 100
"""Most edits that are read at a time."""


class Edits:
    """The edits of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, codes: Sequence[str], now: datetime) -> str:
        """Note which links are about to be changed; returns the id for `end`."""
        new = {"_id": secrets.token_hex(12), "codes": list(codes), "begun_at": micros_of(now)}
        await self._database.write("links_edit_begin", lambda db: db.edits.insert_one(new))
        return str(new["_id"])

    async def end(self, begun: str) -> None:
        """Forget an edit that was announced."""
        await self._database.write("links_edit_end", lambda db: db.edits.delete_one({"_id": begun}))

    async def left(self, until: datetime) -> list[tuple[str, list[str]]]:
        """Some that began at a moment or before, or a minute later: their ids, and their codes."""
        # What began later than now was begun by a process whose clock ran ahead.
        ahead = {"$gt": micros_of(until + CLOCK_LEEWAY)}
        query: Document = {"$or": [{"begun_at": {"$lte": micros_of(until)}}, {"begun_at": ahead}]}
        found = await self._database.read_majority(
            "links_edits_left",
            lambda db: db.edits.find(query, limit=_TOGETHER, batch_size=_TOGETHER).to_list(None),
        )
        return [(one["_id"], one["codes"]) for one in found]
