"""Cached counts of owners' links in a MongoDB database.

    counts        _id (the owner), count (of the links created until `until`), until, changes,
                  changed_at
    count_changes _id ({owner, slot}), token, changed_at

Counting 100,000 links takes 60 ms or more, a page of them 2 ms. So the count of an owner's older
links is cached, and the newer ones are counted each time. A transaction that removes, restores or
moves links of an owner writes a random token into a random slot of the owner. A cached count is
valid while the owner's tokens are those from before it was made. Several slots keep transactions of
one owner from conflicting with each other.

The server sets `changed_at`, a date, and deletes the documents some hours later by its own clock: a
token after all counts made before it have expired.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from pymongo import UpdateOne

from services.links.storage.link_encoding import OwnerValue
from services.links.storage.mongo.schema import BY_AGE
from services.shared.mongo import Database, Document
from services.shared.mongo.transactions import Transaction
from services.shared.timestamps import to_micros

MAX_UNCACHED = 2000
"""Up to this many links are counted each time, in about a millisecond."""
_MAX_CLOCK_LAG = timedelta(hours=1)
"""Replicas date links by their clocks. A link stored now is not dated further back than this."""
_TTL = timedelta(hours=1)
"""Of a cached count; a token lives for two hours."""
_SLOTS = 64
"""With 16 concurrent transactions of one owner, four in five get a slot of their own."""
_TOUCH: Document = {"$currentDate": {"changed_at": True}}


async def count_cached(
    database: Database, owner: OwnerValue, query: Document, now: datetime
) -> int:
    """Count an owner's links that match a query by age, from the cache if there are many.

    All calls for an owner must have the same query.
    """
    uncached: int = await database.read(
        "links_count",
        lambda db: db.links.count_documents(query, hint=BY_AGE, limit=MAX_UNCACHED),
    )
    if uncached < MAX_UNCACHED:
        return uncached
    slots = [{"owner": owner, "slot": slot} for slot in range(_SLOTS)]
    found = await database.read_majority(
        "links_count_changes",
        lambda db: db.count_changes.find({"_id": {"$in": slots}}).to_list(None),
    )
    changes = sorted(change["token"] for change in found)
    cached: Document | None = await database.read(
        "links_count_kept", lambda db: db.counts.find_one({"_id": owner})
    )
    oldest = to_micros(now - _MAX_CLOCK_LAG - _TTL)
    if cached is None or cached["changes"] != changes or cached["until"] < oldest:
        cached = await _count_older(database, owner, query, changes, now)
    newer = {**query, "created_at": {"$gt": cached["until"]}}
    return int(cached["count"]) + await database.read(
        "links_count", lambda db: db.links.count_documents(newer, hint=BY_AGE)
    )


def invalidate_counts(tx: Transaction, owners: Iterable[OwnerValue]) -> None:
    """Invalidate the counts of owners whose links a transaction removes, restores or moves."""
    updates = [
        UpdateOne(
            {"_id": {"owner": owner, "slot": secrets.randbelow(_SLOTS)}},
            {"$set": {"token": secrets.token_hex(8)}, **_TOUCH},
            upsert=True,
        )
        for owner in owners
    ]
    if updates:
        tx.db.count_changes.bulk_write(updates, session=tx.session)


async def _count_older(
    database: Database, owner: OwnerValue, query: Document, changes: list[str], now: datetime
) -> Document:
    """Count an owner's older links; cache and return the count."""
    until = to_micros(now - _MAX_CLOCK_LAG)
    older = {**query, "created_at": {"$lte": until}}
    count: int = await database.read_majority(
        "links_count", lambda db: db.links.count_documents(older, hint=BY_AGE)
    )
    cached = {"count": count, "until": until, "changes": changes}
    await database.write(
        "links_count_keep",
        lambda db: db.counts.update_one({"_id": owner}, {"$set": cached, **_TOUCH}, upsert=True),
    )
    return cached
