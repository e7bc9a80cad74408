"""The records of accounts and of what belongs to them, and their encoding.

A record is a dictionary of an entity's fields, as MongoDB stores it: times are microseconds, scopes
are a list, and the creator of a key or passkey is a nested record, which is absent if it is not
known. The entities in `domain` are the only lists of fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, Generic, TypeVar, cast

from services.auth.domain.account import Account, Role
from services.auth.domain.api_key import ApiKey, Scope
from services.auth.domain.connection import Connection
from services.auth.domain.decision import Action, Decision
from services.auth.domain.invitation import Invitation
from services.auth.domain.passkey import Passkey
from services.auth.domain.recovery_code import RecoveryCode
from services.auth.domain.session import Creator, Session
from services.shared.timestamps import from_micros, to_micros

T = TypeVar("T")
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Part(Generic[T]):
    """A kind of records that belong to accounts."""

    name: str
    """The table in SQLite, and the field of the account's document in MongoDB."""
    kind: str
    """The name of a record in reports of unreadable ones."""
    entity: type[T]
    has_unique_ids: bool = False
    """Whether ids are unique among all accounts, and not only within each."""


API_KEYS = Part("api_keys", "api_key", ApiKey)
SESSIONS = Part("sessions", "session", Session)
RECOVERY_CODES = Part("recovery_codes", "recovery_code", RecoveryCode)
PASSKEYS = Part("passkeys", "passkey", Passkey, has_unique_ids=True)
CONNECTIONS = Part("connections", "connection", Connection, has_unique_ids=True)


@dataclass(frozen=True, slots=True)
class Collection(Generic[T]):
    """A kind of records that belong to no account."""

    name: str
    """The table in SQLite, and the collection in MongoDB."""
    kind: str
    """The name of a record in reports of unreadable ones."""
    entity: type[T]
    time: str
    """The field by which pages are ordered, before the id."""
    searched: str
    """The field in which a text is searched, empty if none is."""


ACCOUNTS = Collection("accounts", "account", Account, "created_at", "email_key")
INVITATIONS = Collection("invitations", "invitation", Invitation, "created_at", "")
DECISIONS = Collection("account_decisions", "account_decision", Decision, "at", "search_text")

_OPTIONAL_FIELDS: dict[Any, tuple[str, ...]] = {
    Account: ("role", "suspended", "last_seen_at"),
    ApiKey: ("last_used_at", "created_by"),
    Passkey: ("last_used_at", "created_by"),
    RecoveryCode: ("created_at",),
    Session: ("confirmed_at",),
}
"""The fields that a record of an earlier version lacks. Every version stores the others, even if
they have a default: an account without `closed` is damaged, and not open."""


def encode(entity: Any) -> Record:
    """Return the record of an entity, without its `account_id`, which the record's place says."""
    values = {field.name: getattr(entity, field.name) for field in fields(entity)}
    values.pop("account_id", None)
    if values.get("created_by", entity) is None:
        del values["created_by"]
    return {name: _encode_value(value) for name, value in values.items()}


def decode(entity: type[T], record: Record, account_id: str | None = None) -> T:
    """Return the entity of a record, which belongs to an account or is one.

    Ignores fields and scopes that a later version may have added. Raises an exception of any class
    for a damaged record.
    """
    stored = record if account_id is None else {**record, "account_id": account_id}
    return entity(
        **{
            name: decode_value(stored[name])
            for name, decode_value, is_optional in _fields(cast("Any", entity))
            if name in stored or not is_optional
        }
    )


@cache
def _fields(entity: Any) -> list[tuple[str, Callable[[Any], Any], bool]]:
    """Return the name of each field, its decoder, and whether it may be absent."""
    optional = _OPTIONAL_FIELDS.get(entity, ())
    return [
        (field.name, _DECODERS.get(field.type, _unchanged), field.name in optional)
        for field in fields(entity)
    ]


def _encode_value(value: Any) -> Any:
    match value:
        case datetime():
            return to_micros(value)
        case tuple():
            return [scope.value for scope in value]
        case Creator():
            return encode(value)
        case Enum():
            return value.value
    return value


def _unchanged(stored: Any) -> Any:
    return stored


def _decode_scopes(stored: list[str]) -> tuple[Scope, ...]:
    return tuple(scope for scope in Scope if scope.value in stored)


_DECODERS: dict[Any, Callable[[Any], Any]] = {
    "Action": Action,
    "Role": Role,
    "bool": bool,
    "datetime": from_micros,
    "datetime | None": lambda micros: None if micros is None else from_micros(micros),
    "tuple[Scope, ...]": _decode_scopes,
    "Creator | None": lambda record: None if record is None else decode(Creator, record),
}
"""Decoders by the annotation of a field. Other values are stored as they are."""
