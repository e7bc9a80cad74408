"""The form in which both stores keep an owner."""

from __future__ import annotations

from services.links.domain.link import NOBODY, Account, Guest, Nobody, Owner

OwnerValue = str | bytes | None
"""An owner in the field `creator`: an account is its id, a guest the hash of its key, nobody is
absent. Text and bytes are told apart by either store, so that one index lists the links of both."""


def value_of(owner: Owner) -> OwnerValue:
    """An owner as the stores keep it."""
    match owner:
        case Account(id=account):
            return account
        case Guest(key_hash=key_hash):
            return key_hash
        case Nobody():
            return None


def owner_of(value: OwnerValue) -> Owner:
    """The owner that the stores kept as `value`."""
    if value is None:
        return NOBODY
    return Account(value) if isinstance(value, str) else Guest(value)
