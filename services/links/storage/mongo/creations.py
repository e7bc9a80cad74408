"""Records of calls that created links, in a MongoDB database.

creations  _id (the key, see `creation_key`), creator, created_at, fingerprint, outcomes (see
           `encode_outcomes`), changed_at

The server sets `changed_at`, a date, and deletes the record a day later by its own clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from services.links.domain.creations import CREATION_RETENTION, Creation
from services.links.domain.owner import Account
from services.links.storage.creation_encoding import creation_key, decode_outcomes, encode_outcomes
from services.shared.mongo import Database, Document
from services.shared.mongo.transactions import Transaction
from services.shared.timestamps import from_micros, to_micros


class MongoCreationReader:
    """The `CreationReader` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def delete_older(self, until: datetime, limit: int) -> bool:
        """Do nothing: a TTL index deletes them."""
        return False

    async def delete_all_of(self, account: Account, limit: int) -> bool:
        query = {"creator": account.id}
        found = await self._database.read(
            "links_creations",
            lambda db: db.creations.find(query, {"_id": 1}, limit=limit, batch_size=limit).to_list(
                None
            ),
        )
        if found:
            named = {"_id": {"$in": [one["_id"] for one in found]}}
            await self._database.write(
                "links_creations_delete", lambda db: db.creations.delete_many(named)
            )
        return len(found) == limit


class MongoCreationRepository:
    """The `CreationRepository` of a transaction."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._creations = tx.db.creations

    def find(self, account: Account, key: bytes) -> Creation | None:
        found = self._creations.find_one(
            {"_id": creation_key(account, key)}, session=self._tx.session
        )
        if found is None:
            return None
        created_at = from_micros(found["created_at"])
        outcomes = decode_outcomes(found["outcomes"], account, created_at)
        return Creation(account, key, found["fingerprint"], created_at, outcomes)

    def save(self, creation: Creation) -> None:
        fields: Document = {
            "creator": creation.account.id,
            "created_at": to_micros(creation.created_at),
            "fingerprint": creation.fingerprint,
            "outcomes": encode_outcomes(creation.outcomes),
        }
        self._creations.update_one(
            {"_id": creation_key(creation.account, creation.key)},
            {"$set": fields, "$currentDate": {"changed_at": True}},
            upsert=True,
            session=self._tx.session,
        )


def delete_records_of(tx: Transaction, links: Sequence[Document], now: datetime) -> None:
    """Delete the records of the calls that created links, in the transaction of their purge.

    The documents have the fields `creator` and `created_at`. Older links have no records. The
    records of a link whose `created_at` is no number expire within a day.
    """
    oldest = to_micros(now - 2 * CREATION_RETENTION)
    recent = [
        link
        for link in links
        if "creator" in link
        and isinstance(link.get("created_at"), int)
        and link["created_at"] >= oldest
    ]
    if not recent:
        return
    query: Document = {
        field: {"$in": list({link[field] for link in recent})}
        for field in ("creator", "created_at")
    }
    found = tx.db.creations.find(query, {"_id": 1}, session=tx.session).to_list()
    if found:
        named = {"_id": {"$in": [one["_id"] for one in found]}}
        tx.db.creations.delete_many(named, session=tx.session)
