"""Pages, totals and rankings of an owner's links in a MongoDB database.

    counts        _id (the owner), count (of the links created until `until`), until, changes,
                  changed_at
    count_changes _id ({owner, slot}), token, changed_at
    rankings      _id (the owner), kept (the last rankings, the newest last: {key, id, count,
                  kept_at}), changed_at
    ranked_codes  _id ("id:part"), codes (separated by blanks), changed_at

Counting 100,000 links takes 60 ms or more, a page of them 2 ms. So the number of an owner's older
links is kept, and the newer ones are counted each time. A transaction that removes, restores or
moves links of an owner gives a random slot of the owner a new random token. A count holds for as
long as the owner's tokens are those of before it was made. One slot would do, but then the
transactions of one owner would conflict with each other.

The server sets `changed_at`, a date, and deletes the documents some hours after it, by its own
clock: a token after all counts that were made before it have ceased to hold.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from pymongo import DESCENDING, UpdateOne

from services.links.domain.link import RESTORABLE_FOR, Account, Guest, Link, LinkState
from services.links.domain.query import KEPT_RANKINGS, RANKING_KEPT_FOR, LinkOrder, Position, Wanted
from services.links.storage.mongo import reads
from services.links.storage.mongo.schema import BY_AGE, BY_VIEWS, SEARCHED
from services.links.storage.owner_encoding import OwnerValue, value_of
from services.shared.mongo import Database, Document
from services.shared.mongo.transactions import Transaction
from services.shared.timestamps import micros_of

_FEW = 2000
"""Links that are counted each time, in about a millisecond."""
_CREATED_WITHIN = timedelta(hours=1)
"""Links are dated by the clocks of replicas: one stored now is not dated further back."""
_COUNT_HOLDS_FOR = timedelta(hours=1)
"""At most; a token stays for two hours."""
_SLOTS = 64
"""With 16 transactions of one owner at once, four in five find a slot of their own."""
_PART = 10_000
"""Codes in one document of `ranked_codes`: at most 330 kB, where a document may have 16 MB."""
_NOW: Document = {"$currentDate": {"changed_at": True}}
_MAX_PATTERN_LENGTH = 16
"""Characters of a text up to which it is searched for by a regular expression. Its time grows with
the product of both lengths where they repeat themselves: MongoDB 6.0.5 took 3.3 s for 2,000 links
of 990 characters and a text of 500. `$indexOfBytes` took 50 ms, and twice as long as a regular
expression for 100,000 ordinary links."""
_MOST_VIEWED_FIRST: reads.Order = (("people", DESCENDING), *reads.NEWEST_FIRST)


class MongoLinkLists:
    """Pages, totals and rankings."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self,
        owner: Account | Guest,
        wanted: Wanted,
        order: LinkOrder,
        after: Position | None,
        limit: int,
        now: datetime,
    ) -> list[Link]:
        oldest = order is LinkOrder.OLDEST
        query = _query(owner, wanted, now) | (after_position(after, oldest=oldest) if after else {})
        sort = reads.OLDEST_FIRST if oldest else reads.NEWEST_FIRST
        name, index = ("links_search", SEARCHED) if wanted.text else ("links_page", BY_AGE)
        return await reads.find_links(self._database, name, query, sort, limit, index)

    async def count(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> int:
        query, index = _query(owner, wanted, now), SEARCHED if wanted.text else BY_AGE
        if wanted != Wanted():
            return await self._database.read(
                "links_count", lambda db: db.links.count_documents(query, hint=index)
            )
        few: int = await self._database.read(
            "links_count", lambda db: db.links.count_documents(query, hint=BY_AGE, limit=_FEW)
        )
        return few if few < _FEW else await self._count_many(value_of(owner), query, now)

    async def ranking(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> list[str]:
        query = _query(owner, wanted, now)
        return await reads.find_codes(
            self._database, "links_ranking", query, _MOST_VIEWED_FIRST, 0, BY_VIEWS
        )

    async def kept_ranking(
        self, owner: Account | Guest, key: str, start: int, limit: int, now: datetime
    ) -> list[str] | None:
        own = {"_id": value_of(owner)}
        held: Document | None = await self._database.read(
            "links_kept_ranking", lambda db: db.rankings.find_one(own)
        )
        rankings = {one["key"]: one for one in held["kept"]} if held else {}
        ranking = rankings.get(key)
        if ranking is None or ranking["kept_at"] <= micros_of(now - RANKING_KEPT_FOR):
            return None
        end = min(start + limit, ranking["count"])
        if start >= end:
            return []
        first = start // _PART
        parts = _parts_of(ranking["id"], end)[first:]
        found = await self._database.read(
            "links_ranked_codes",
            lambda db: db.ranked_codes.find({"_id": {"$in": parts}}, {"codes": 1}).to_list(None),
        )
        codes_of = {one["_id"]: one["codes"].split() for one in found}
        if len(codes_of) < len(parts):  # It was replaced between the two reads.
            return None
        codes = [code for part in parts for code in codes_of[part]]
        return codes[start - first * _PART : end - first * _PART]

    async def mark_expired(self, now: datetime, limit: int) -> bool:
        """Nothing is marked: the index of links by age has their expiry times."""
        return False

    async def _count_many(self, owner: OwnerValue, query: Document, now: datetime) -> int:
        slots = [{"owner": owner, "slot": slot} for slot in range(_SLOTS)]
        found = await self._database.read_majority(
            "links_count_changes",
            lambda db: db.count_changes.find({"_id": {"$in": slots}}).to_list(None),
        )
        changes = sorted(one["token"] for one in found)
        kept: Document | None = await self._database.read(
            "links_count_kept", lambda db: db.counts.find_one({"_id": owner})
        )
        oldest = micros_of(now - _CREATED_WITHIN - _COUNT_HOLDS_FOR)
        if kept is None or kept["changes"] != changes or kept["until"] < oldest:
            kept = await self._count_older(owner, query, changes, now)
        newer = {**query, "created_at": {"$gt": kept["until"]}}
        return int(kept["count"]) + await self._database.read(
            "links_count", lambda db: db.links.count_documents(newer, hint=BY_AGE)
        )

    async def _count_older(
        self, owner: OwnerValue, query: Document, changes: list[str], now: datetime
    ) -> Document:
        """Count an owner's older links, keep the count and return what is kept."""
        until = micros_of(now - _CREATED_WITHIN)
        older = {**query, "created_at": {"$lte": until}}
        count: int = await self._database.read_majority(
            "links_count", lambda db: db.links.count_documents(older, hint=BY_AGE)
        )
        kept = {"count": count, "until": until, "changes": changes}
        await self._database.write(
            "links_count_keep",
            lambda db: db.counts.update_one({"_id": owner}, {"$set": kept, **_NOW}, upsert=True),
        )
        return kept


class MongoRankings:
    """The rankings that are kept, in a transaction."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def keep(self, owner: Account | Guest, key: str, codes: Sequence[str], now: datetime) -> None:
        db, session = self._tx.db, self._tx.session
        new = {
            "key": key,
            "id": secrets.token_hex(12),
            "count": len(codes),
            "kept_at": micros_of(now),
        }
        own = {"_id": value_of(owner)}
        held = db.rankings.find_one(own, session=session)
        before = held["kept"] if held else []
        kept = [*[one for one in before if one["key"] != key][1 - KEPT_RANKINGS :], new]
        db.rankings.update_one(own, {"$set": {"kept": kept}, **_NOW}, upsert=True, session=session)
        _delete_codes(self._tx, [one for one in before if one not in kept])
        parts = [
            UpdateOne(
                {"_id": part},
                {"$set": {"codes": " ".join(codes[start : start + _PART])}, **_NOW},
                upsert=True,
            )
            for part, start in zip(
                _parts_of(str(new["id"]), len(codes)), range(0, len(codes), _PART), strict=True
            )
        ]
        if parts:
            db.ranked_codes.bulk_write(parts, session=session)


def delete_rankings(tx: Transaction, owners: Iterable[OwnerValue]) -> None:
    """Delete the rankings of those of the owners who have no links."""
    found = tx.db.rankings.find({"_id": {"$in": list(owners)}}, session=tx.session).to_list()
    for held in found:
        theirs = {"creator": held["_id"]}
        if tx.db.links.find_one(theirs, {"_id": 1}, session=tx.session) is None:
            _delete_codes(tx, held["kept"])
            tx.db.rankings.delete_one({"_id": held["_id"]}, session=tx.session)


def invalidate_counts(tx: Transaction, owners: Iterable[OwnerValue]) -> None:
    """Invalidate the kept counts of owners whose links a transaction removes, restores or moves."""
    updates = [
        UpdateOne(
            {"_id": {"owner": owner, "slot": secrets.randbelow(_SLOTS)}},
            {"$set": {"token": secrets.token_hex(8)}, **_NOW},
            upsert=True,
        )
        for owner in owners
    ]
    if updates:
        tx.db.count_changes.bulk_write(updates, session=tx.session)


def removed_and_shown(now: datetime) -> Document:
    """The conditions of a removed link that is not gone."""
    return {"bin": True, "removed_at": {"$gt": micros_of(now - RESTORABLE_FOR)}}


def _query(owner: Account | Guest, wanted: Wanted, now: datetime) -> Document:
    """The query for those of an owner's links that are wanted."""
    query: Document = {"creator": value_of(owner), "bin": None, **_in_state(wanted.state, now)}
    if not wanted.text:
        return query
    if len(wanted.text) <= _MAX_PATTERN_LENGTH:
        return {**query, "folded": {"$regex": re.escape(wanted.text)}}
    position = {"$indexOfBytes": ["$folded", {"$literal": wanted.text}]}
    return {**query, "folded": {"$exists": True}, "$expr": {"$gte": [position, 0]}}


def _in_state(state: LinkState | None, now: datetime) -> Document:
    """The conditions of a state, in a form that an index answers."""
    over = {"$lte": micros_of(now)}
    match state:
        case None:
            return {}
        case LinkState.BLOCKED:
            return {"blocked": {"$gt": ""}}
        case LinkState.REMOVED:
            return removed_and_shown(now)
        case LinkState.EXPIRED:
            return {"blocked": None, "expires_at": over}
        case LinkState.ACTIVE:
            return {"blocked": None, "expires_at": {"$not": over}}


def after_position(position: Position, *, oldest: bool) -> Document:
    """The conditions of what follows a position in a list by age, the oldest or newest first."""
    edge, beyond = ("$gte", "$gt") if oldest else ("$lte", "$lt")
    at = micros_of(position.created_at)
    return {
        "created_at": {edge: at},
        "$or": [{"created_at": {beyond: at}}, {"_id": {beyond: position.code}}],
    }


def _parts_of(ranking: str, count: int) -> list[str]:
    """The `_id` of each part of a ranking of so many codes."""
    return [f"{ranking}:{number}" for number in range(-(-count // _PART))]


def _delete_codes(tx: Transaction, rankings: Sequence[Document]) -> None:
    parts = [part for one in rankings for part in _parts_of(one["id"], one["count"])]
    if parts:
        tx.db.ranked_codes.delete_many({"_id": {"$in": parts}}, session=tx.session)
