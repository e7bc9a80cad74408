"""Stored rankings of owners' links in a MongoDB database.

    rankings      _id (the owner), kept (the stored rankings, the newest last: {key, id, count,
                  kept_at}), changed_at
    ranked_codes  _id ("id:part"), codes (separated by spaces), changed_at

The server sets `changed_at`, a date, and deletes the documents some hours later by its own clock.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime

from pymongo import UpdateOne

from services.links.domain.owner import Account, Guest
from services.links.domain.query import MAX_STORED_RANKINGS, RANKING_TTL
from services.links.storage.link_encoding import OwnerValue, encode_owner
from services.shared.mongo import Database, Document
from services.shared.mongo.transactions import Transaction
from services.shared.timestamps import to_micros

CODES_PER_PART = 10_000
"""Codes in one document of `ranked_codes`: at most 330 kB. MongoDB's limit is 16 MB."""
_TOUCH: Document = {"$currentDate": {"changed_at": True}}


def save_ranking(
    tx: Transaction, owner: Account | Guest, key: str, codes: Sequence[str], now: datetime
) -> None:
    db, session = tx.db, tx.session
    new = {
        "key": key,
        "id": secrets.token_hex(12),
        "count": len(codes),
        "kept_at": to_micros(now),
    }
    query = {"_id": encode_owner(owner)}
    document = db.rankings.find_one(query, session=session)
    before = document["kept"] if document else []
    others = [ranking for ranking in before if ranking["key"] != key]
    after = [*others[1 - MAX_STORED_RANKINGS :], new]
    db.rankings.update_one(query, {"$set": {"kept": after}, **_TOUCH}, upsert=True, session=session)
    _delete_codes(tx, [ranking for ranking in before if ranking not in after])
    starts = range(0, len(codes), CODES_PER_PART)
    updates = [
        UpdateOne(
            {"_id": part},
            {"$set": {"codes": " ".join(codes[start : start + CODES_PER_PART])}, **_TOUCH},
            upsert=True,
        )
        for part, start in zip(_parts(str(new["id"]), len(codes)), starts, strict=True)
    ]
    if updates:
        db.ranked_codes.bulk_write(updates, session=session)


async def read_ranking(
    database: Database, owner: Account | Guest, key: str, start: int, limit: int, now: datetime
) -> list[str] | None:
    """Return up to `limit` codes of a stored ranking from `start`; None if it has expired."""
    query = {"_id": encode_owner(owner)}
    document: Document | None = await database.read(
        "links_kept_ranking", lambda db: db.rankings.find_one(query)
    )
    rankings = {kept["key"]: kept for kept in document["kept"]} if document else {}
    ranking = rankings.get(key)
    if ranking is None or ranking["kept_at"] <= to_micros(now - RANKING_TTL):
        return None
    end = min(start + limit, ranking["count"])
    if start >= end:
        return []
    first = start // CODES_PER_PART
    parts = _parts(ranking["id"], end)[first:]
    found = await database.read(
        "links_ranked_codes",
        lambda db: db.ranked_codes.find({"_id": {"$in": parts}}, {"codes": 1}).to_list(None),
    )
    by_part = {part["_id"]: part["codes"].split() for part in found}
    if len(by_part) < len(parts):  # It was replaced between the two reads.
        return None
    codes = [code for part in parts for code in by_part[part]]
    return codes[start - first * CODES_PER_PART : end - first * CODES_PER_PART]


def delete_orphaned_rankings(tx: Transaction, owners: Iterable[OwnerValue]) -> None:
    """Delete the rankings of those of the owners who have no links left."""
    found = tx.db.rankings.find({"_id": {"$in": list(owners)}}, session=tx.session).to_list()
    for document in found:
        query = {"creator": document["_id"]}
        if tx.db.links.find_one(query, {"_id": 1}, session=tx.session) is None:
            _delete_codes(tx, document["kept"])
            tx.db.rankings.delete_one({"_id": document["_id"]}, session=tx.session)


def _parts(ranking: str, count: int) -> list[str]:
    """Return the `_id`s of the parts of a ranking with `count` codes."""
    return [f"{ranking}:{number}" for number in range(-(-count // CODES_PER_PART))]


def _delete_codes(tx: Transaction, rankings: Sequence[Document]) -> None:
    parts = [part for ranking in rankings for part in _parts(ranking["id"], ranking["count"])]
    if parts:
        tx.db.ranked_codes.delete_many({"_id": {"$in": parts}}, session=tx.session)
