"""Owners of links: an account, or a guest, which is a browser with a key.

Only `Guest.of` sees the key. Everything else has its hash.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

_KEY = re.compile(r"[\w-]{43}", re.ASCII)
"""32 bytes in base64url, without padding."""


@dataclass(frozen=True, slots=True)
class Account:
    """An owner with an account, by the account id."""

    id: str


@dataclass(frozen=True, slots=True)
class Guest:
    """An owner without an account, by the SHA-256 of the key that its browser stores."""

    key_hash: bytes = field(repr=False)

    @classmethod
    def of(cls, key: str) -> Guest:
        """Return the guest with a key. Raises ValueError if the text is not a key."""
        if not _KEY.fullmatch(key):
            raise ValueError("invalid guest key")
        return cls(hashlib.sha256(key.encode()).digest())


Owner = Account | Guest


def pseudonym_of(owner: Owner) -> str:
    """Return a pseudonym of an owner, from which the owner cannot be found."""
    match owner:
        case Account(account_id):
            named = b"account:" + account_id.encode()
        case Guest(key_hash):
            named = b"guest:" + key_hash
    return hashlib.sha256(named).hexdigest()[:32]
