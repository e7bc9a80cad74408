"""On whose behalf a function is called: an account, or a guest, which is a browser with a key.

The key itself goes no further than `Guest.of`: what is kept, sent on or shown is its hash.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

_KEY = re.compile(r"[\w-]{43}", re.ASCII)
"""32 bytes in base64url, without padding."""


@dataclass(frozen=True, slots=True)
class Account:
    """An owner with an account, by its identifier."""

    id: str


@dataclass(frozen=True, slots=True)
class Guest:
    """An owner without an account, by the SHA-256 of the text of the key that its browser keeps."""

    key_hash: bytes = field(repr=False)

    @classmethod
    def of(cls, key: str) -> Guest:
        """The guest with a key. Raises ValueError for a text that is none."""
        if not _KEY.fullmatch(key):
            raise ValueError("this is no key of a guest")
        return cls(hashlib.sha256(key.encode()).digest())


Owner = Account | Guest


def pseudonym_of(owner: Owner) -> str:
    """A name for an owner that tells owners apart and does not tell who they are."""
    match owner:
        case Account(account_id):
            named = b"account:" + account_id.encode()
        case Guest(key_hash):
            named = b"guest:" + key_hash
    return hashlib.sha256(named).hexdigest()[:32]
