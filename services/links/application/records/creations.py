"""Records of calls that created links, until their idempotency key is unused again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from services.links.application.records.session import Backend, Condition, Session, Table
from services.links.domain.creations import CREATION_RETENTION, Creation, Outcome
from services.links.domain.link import OWNER_FIELDS, Link
from services.links.domain.owner import Account
from services.shared.errors import AlreadyExists, AppError, InvalidArgument
from services.shared.timestamps import from_micros, to_micros

_CREATIONS = Table(
    name="creations",
    key=("key",),
    fields=("creator", "created_at", "fingerprint", "outcomes"),
    expires=True,
)
_WITHOUT_OUTCOMES = Table("creations", key=("key",), fields=("creator", "created_at"))
"""The same, for reads of many records: outcomes may be large."""
_KEY_BYTES = 16
_ERRORS: dict[str, type[AppError]] = {"invalid": InvalidArgument, "exists": AlreadyExists}
"""The class of each error that is an outcome, by its encoding."""
_SETTABLE = {"code", "url", "ended_url", "domain", *OWNER_FIELDS}
_NAMES = [field.name for field in fields(Link) if field.name in _SETTABLE]
"""What a creation can set, in the order of `Link`."""
_DECODERS: dict[str, Callable[[Any], Any]] = {"tags": tuple, "expires_at": from_micros}


class CreationReader:
    """Records of calls that created links, outside of a unit of work."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def delete_older(self, until: datetime, limit: int) -> bool:
        """Delete up to `limit` records from a time or before; return whether there may be more.

        Does nothing if the database deletes them by itself.
        """
        if self._backend.deletes_expired:
            return False
        return await self._delete(("created_at", "<=", to_micros(until)), limit)

    async def delete_all(self, account: Account, limit: int) -> bool:
        """Delete up to `limit` records of an account; return whether there may be more."""
        return await self._delete(("creator", "=", account.id), limit)

    async def _delete(self, condition: Condition, limit: int) -> bool:
        # A read does not occupy SQLite's writer.
        found = await self._backend.read(
            "links_creations",
            lambda session: session.select(_WITHOUT_OUTCOMES, condition, limit=limit),
        )
        if found:
            keys = _CREATIONS.read_keys(found)
            await self._backend.write_one(
                "links_creations_delete",
                lambda session: session.delete(_CREATIONS, keys, condition),
            )
        return len(found) == limit


class CreationRepository:
    """Records of calls that created links of accounts, in a unit of work."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, account: Account, key: bytes) -> Creation | None:
        """Return the record of an account's idempotency key, also one that is over."""
        found = self._session.find(_CREATIONS, creation_key(account, key))
        if found is None:
            return None
        created_at = from_micros(found["created_at"])
        outcomes = decode_outcomes(found["outcomes"], account, created_at)
        return Creation(account, key, found["fingerprint"], created_at, outcomes)

    def save(self, creation: Creation) -> None:
        """Store a record, or replace the one of its key."""
        record = {
            "key": creation_key(creation.account, creation.key),
            "creator": creation.account.id,
            "created_at": to_micros(creation.created_at),
            "fingerprint": creation.fingerprint,
            "outcomes": encode_outcomes(creation.outcomes),
        }
        self._session.put(_CREATIONS, record)


def delete_records(session: Session, links: Iterable[tuple[object, object]], now: datetime) -> None:
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
        session.delete(_CREATIONS, _CREATIONS.read_keys(found))


def creation_key(account: Account, key: bytes) -> bytes:
    """Return the key of a record: a hash, since idempotency keys may contain anything."""
    size = len(key).to_bytes()
    return hashlib.sha256(size + key + account.id.encode()).digest()[:_KEY_BYTES]


def encode_outcomes(outcomes: Sequence[Outcome]) -> str:
    """Return outcomes as JSON: of a link, what its creation can set, without empty fields."""
    encoded = [
        _link_values(outcome) if isinstance(outcome, Link) else _error_values(outcome)
        for outcome in outcomes
    ]
    return json.dumps(encoded, ensure_ascii=False, separators=(",", ":"))


def decode_outcomes(text: str, account: Account, created_at: datetime) -> list[Outcome]:
    """Return the outcomes of a call of an account."""
    return [_decode_outcome(values, account, created_at) for values in json.loads(text)]


def _link_values(link: Link) -> dict[str, Any]:
    return {
        name: to_micros(value) if isinstance(value, datetime) else value
        for name in _NAMES
        if (value := getattr(link, name))
    }


def _error_values(error: AppError) -> dict[str, str]:
    kind = next(name for name, kind in _ERRORS.items() if isinstance(error, kind))
    return {"error": kind, "reason": error.reason, "message": error.message}


def _decode_outcome(values: dict[str, Any], account: Account, created_at: datetime) -> Outcome:
    if "error" in values:
        return _ERRORS[values["error"]](values["message"], values["reason"])
    decoded = {
        name: _DECODERS[name](value) if name in _DECODERS else value
        for name, value in values.items()
    }
    return Link(owner=account, created_at=created_at, **decoded)
