"""Records of calls that created links, until their idempotency key is unused again."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from services.links.domain.creations import CREATION_RETENTION, Creation
from services.links.domain.owner import Account
from services.links.storage.creation_encoding import creation_key, decode_outcomes, encode_outcomes
from services.links.storage.owner_encoding import OwnerValue
from services.links.storage.records import Backend, Condition, Session, Table
from services.shared.timestamps import from_micros, to_micros

_CREATIONS = Table(
    name="creations",
    key=("key",),
    fields=("creator", "created_at", "fingerprint", "outcomes"),
    expires=True,
)
_WITHOUT_OUTCOMES = Table("creations", key=("key",), fields=("creator", "created_at"))
"""The same, for reads of many records: outcomes may be large."""


class CreationReader:
    """The `CreationReader` of a database."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def delete_older(self, until: datetime, limit: int) -> bool:
        if self._backend.deletes_expired:
            return False
        return await self._delete(("created_at", "<=", to_micros(until)), limit)

    async def delete_all_of(self, account: Account, limit: int) -> bool:
        return await self._delete(("creator", "=", account.id), limit)

    async def _delete(self, condition: Condition, limit: int) -> bool:
        # A read does not occupy SQLite's writer.
        found = await self._backend.read(
            "links_creations",
            lambda session: session.select(_WITHOUT_OUTCOMES, condition, limit=limit),
        )
        if found:
            keys = _CREATIONS.keys_of(found)
            await self._backend.write_one(
                "links_creations_delete",
                lambda session: session.delete(_CREATIONS, keys, condition),
            )
        return len(found) == limit


class CreationRepository:
    """The `CreationRepository` of a transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, account: Account, key: bytes) -> Creation | None:
        found = self._session.find(_CREATIONS, creation_key(account, key))
        if found is None:
            return None
        created_at = from_micros(found["created_at"])
        outcomes = decode_outcomes(found["outcomes"], account, created_at)
        return Creation(account, key, found["fingerprint"], created_at, outcomes)

    def save(self, creation: Creation) -> None:
        record = {
            "key": creation_key(creation.account, creation.key),
            "creator": creation.account.id,
            "created_at": to_micros(creation.created_at),
            "fingerprint": creation.fingerprint,
            "outcomes": encode_outcomes(creation.outcomes),
        }
        self._session.put(_CREATIONS, record)


def delete_records_of(
    session: Session, links: Iterable[tuple[OwnerValue, object]], now: datetime
) -> None:
    """Delete the records of the calls that created links, in the transaction of their purge.

    `links` has their stored `creator` and `created_at`. Older links have no records. The records of
    a link whose `created_at` is no number expire within a day.
    """
    oldest = to_micros(now - 2 * CREATION_RETENTION)
    calls = {
        (creator, created_at)
        for creator, created_at in links
        if isinstance(creator, str) and isinstance(created_at, int) and created_at >= oldest
    }
    if not calls:
        return
    # A constant number of statements: the transaction has a deadline.
    candidates = session.select(
        _WITHOUT_OUTCOMES,
        ("creator", "in", sorted({creator for creator, _ in calls})),
        ("created_at", "in", sorted({created_at for _, created_at in calls})),
    )
    found = [record for record in candidates if (record["creator"], record["created_at"]) in calls]
    if found:
        session.delete(_CREATIONS, _CREATIONS.keys_of(found))
