"""The encoding of owners in both stores."""

from __future__ import annotations

from services.links.domain.owner import ANONYMOUS, Account, Anonymous, Guest, Owner

OwnerValue = str | bytes | None
"""An owner in the field `creator`: an account is its id, a guest the hash of its key, nobody is
absent. Text and bytes are told apart by either store, so that one index lists the links of both."""


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
