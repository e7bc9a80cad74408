"""Pages, totals and rankings of an owner's links in a MongoDB database, and their view counts.

The number of views is the field `people` of the link's document.

marks  _id "rank", cursor (of the reconciler)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from pymongo import DESCENDING, UpdateOne

from services.links.domain.link import RESTORABLE_FOR, Link
from services.links.domain.owner import Account, Guest
from services.links.domain.query import AgeCursor, LinkFilter, LinkOrder
from services.links.domain.resolution import LinkState
from services.links.storage.link_encoding import encode_owner
from services.links.storage.mongo import reads
from services.links.storage.mongo.counts import count_cached
from services.links.storage.mongo.rankings import read_ranking
from services.links.storage.mongo.schema import BY_AGE, BY_VIEWS, OWNED, SEARCHED
from services.shared.mongo import Database, Document
from services.shared.timestamps import to_micros

_MAX_REGEX_LENGTH = 16
"""Characters of a search text up to which a regular expression searches for it. On repetitive texts
its time grows with the product of both lengths: MongoDB 6.0.5 took 3.3 s for 2,000 links of 990
characters and a text of 500. `$indexOfBytes` took 50 ms, but for 100,000 ordinary links twice as
long as a regular expression."""
_MOST_VIEWED_FIRST: reads.Order = (("people", DESCENDING), *reads.NEWEST_FIRST)
_RANK = {"_id": "rank"}


class MongoLinkLists:
    """The `LinkLists` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self,
        owner: Account | Guest,
        link_filter: LinkFilter,
        order: LinkOrder,
        after: AgeCursor | None,
        limit: int,
        now: datetime,
    ) -> list[Link]:
        oldest = order is LinkOrder.OLDEST
        query = _query(owner, link_filter, now)
        if after:
            edge, beyond = ("$gte", "$gt") if oldest else ("$lte", "$lt")
            at = to_micros(after.created_at)
            query["created_at"] = {edge: at}
            query["$or"] = [{"created_at": {beyond: at}}, {"_id": {beyond: after.code}}]
        sort = reads.OLDEST_FIRST if oldest else reads.NEWEST_FIRST
        name, index = ("links_search", SEARCHED) if link_filter.text else ("links_page", BY_AGE)
        return await reads.find_links(self._database, name, query, sort, limit, index)

    async def count(self, owner: Account | Guest, link_filter: LinkFilter, now: datetime) -> int:
        query = _query(owner, link_filter, now)
        if link_filter == LinkFilter():
            return await count_cached(self._database, encode_owner(owner), query, now)
        index = SEARCHED if link_filter.text else BY_AGE
        return await self._database.read(
            "links_count", lambda db: db.links.count_documents(query, hint=index)
        )

    async def count_all(self, owner: Account | Guest, now: datetime) -> int:
        removed = {"creator": encode_owner(owner), "bin": True}
        return await self.count(owner, LinkFilter(), now) + await self._database.read(
            "links_count_removed", lambda db: db.links.count_documents(removed, hint=BY_AGE)
        )

    async def ranking(
        self, owner: Account | Guest, link_filter: LinkFilter, now: datetime
    ) -> list[str]:
        query = _query(owner, link_filter, now)
        return await reads.find_codes(
            self._database, "links_ranking", query, _MOST_VIEWED_FIRST, 0, BY_VIEWS
        )

    async def stored_ranking(
        self, owner: Account | Guest, key: str, start: int, limit: int, now: datetime
    ) -> list[str] | None:
        return await read_ranking(self._database, owner, key, start, limit, now)

    async def mark_expired(self, now: datetime, limit: int) -> bool:
        """Do nothing: the index of links by age contains their expiry times."""
        return False

    async def record_views(self, people: Mapping[str, int], cursor: str | None) -> None:
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

    async def view_cursor(self) -> str | None:
        found: Document | None = await self._database.read(
            "links_rank_cursor", lambda db: db.marks.find_one(_RANK)
        )
        return found["cursor"] if found else None


def restorable(now: datetime) -> Document:
    """Return the conditions of a removed link that can still be restored."""
    return {"bin": True, "removed_at": {"$gt": to_micros(now - RESTORABLE_FOR)}}


def _query(owner: Account | Guest, link_filter: LinkFilter, now: datetime) -> Document:
    """Return the query for an owner's matching links."""
    text = link_filter.text
    query: Document = {
        "creator": encode_owner(owner),
        "bin": None,
        **_in_state(link_filter.state, now),
    }
    if not text:
        return query
    if len(text) <= _MAX_REGEX_LENGTH:
        return {**query, "folded": {"$regex": re.escape(text)}}
    index = {"$indexOfBytes": ["$folded", {"$literal": text}]}
    return {**query, "folded": {"$exists": True}, "$expr": {"$gte": [index, 0]}}


def _in_state(state: LinkState | None, now: datetime) -> Document:
    """Return the conditions of a state, in a form that an index can evaluate."""
    past = {"$lte": to_micros(now)}
    match state:
        case None:
            return {}
        case LinkState.BLOCKED:
            return {"blocked": {"$gt": ""}}
        case LinkState.REMOVED:
            return restorable(now)
        case LinkState.EXPIRED:
            return {"blocked": None, "expires_at": past}
        case LinkState.ACTIVE:
            return {"blocked": None, "expires_at": {"$not": past}}
