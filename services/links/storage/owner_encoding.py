"""The encoding of owners in both stores."""

from __future__ import annotations

from services.links.domain.owner import ANONYMOUS, Account, Anonymous, Guest, Owner

OwnerValue = str | bytes | None
"""The value of the field `creator`: an account's id, the hash of a guest's key, or nothing for an
anonymous owner. Both stores distinguish text from bytes, so one index covers all owners."""


def value_of(owner: Owner) -> OwnerValue:
    """Return the encoding of an owner."""
    match owner:
        case Account(id=account):
            return account
        case Guest(key_hash=key_hash):
            return key_hash
        case Anonymous():
            return None


def owner_of(value: OwnerValue) -> Owner:
    """Return the owner of an encoding."""
    if value is None:
        return ANONYMOUS
    return Account(value) if isinstance(value, str) else Guest(value)
