"""Recovery codes: single-use codes that set a new password when the old one is forgotten."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta

COUNT = 10
"""Codes of a set."""
RESET_LIFETIME = timedelta(hours=1)
"""Lifetime of a code that the operator creates."""

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base32, https://www.crockford.com/base32.html."""
_GROUPS, _GROUP_LENGTH = 3, 4
_LOOK_ALIKES = str.maketrans("OIL", "011", "-")


@dataclass(frozen=True, slots=True)
class RecoveryCode:
    """A code that is not spent. The code itself is not stored, only its hash."""

    hash: bytes = field(repr=False)
    expires_at: datetime | None = None
    """None for a code of the owner's set, which does not expire."""
    created_at: datetime | None = None
    """None if the time is not known. The time of an operator's code is never known."""

    def __post_init__(self) -> None:
        if not isinstance(self.hash, bytes):
            raise TypeError("The hash of a recovery code is not bytes.")

    @property
    def is_operators(self) -> bool:
        return self.expires_at is not None


def generate_code() -> str:
    """Return a new code, such as `7KQM-2XBD-9RT4`. It has 60 random bits."""
    groups = (
        "".join(secrets.choice(_ALPHABET) for _ in range(_GROUP_LENGTH)) for _ in range(_GROUPS)
    )
    return "-".join(groups)


def normalize_code(text: str) -> str:
    """Return a code as it is hashed: in capitals, without hyphens and white space.

    Letters that look like digits count as these digits, as Crockford specifies.
    """
    return "".join(text.split()).upper().translate(_LOOK_ALIKES)
