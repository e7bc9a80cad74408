"""The rules for passwords and their bcrypt hashes."""

from __future__ import annotations

import re
from typing import Literal

from services.auth.domain.errors import InvalidPasswordHash

MAX_PASSWORD_BYTES = 72
"""In UTF-8. bcrypt ignores further bytes."""
STANDARD_COST = 10
"""The bcrypt cost that the pages use, and the minimum that a registration may use."""

Lane = Literal["standard", "expensive"]
"""A class of bcrypt costs. Each lane has its own threads and queue."""

# bcrypt encodes a salt of 16 bytes in 22 characters of 6 bits, and a digest of 23 bytes in 31. The
# unused bits of the last character of each are zero. A hash with other bits can never verify.
_BCRYPT_HASH = re.compile(
    r"(?P<salt>\$2[aby]\$1[0-4]\$[./A-Za-z0-9]{21}[.Oeu])[./A-Za-z0-9]{30}[.CGKOSWaeimquy26]"
)


def validate_password_hash(password_hash: str, salt: str) -> str:
    """Return the hash if some password can verify against it. Raises InvalidPasswordHash."""
    match = _BCRYPT_HASH.fullmatch(password_hash)
    if match is None:
        raise InvalidPasswordHash("The hash must be a bcrypt hash of cost 10 to 14.")
    if match["salt"] != salt:
        raise InvalidPasswordHash("The hash does not have this salt.")
    return password_hash


def parse_cost(password_hash: str) -> int:
    """Return the cost of a well-formed bcrypt hash. Each step up doubles the time of a check."""
    return int(password_hash.split("$")[2])


def choose_lane(password_hash: str) -> Lane:
    """Return the lane that verifies a hash: expensive above the cost that the pages use."""
    return "standard" if parse_cost(password_hash) <= STANDARD_COST else "expensive"


def encode_password(password: str) -> bytes | None:
    """Return the bytes that bcrypt hashes. Return None for a password that no account can have."""
    try:
        encoded = password.encode()
    except UnicodeEncodeError:  # An unpaired surrogate.
        return None
    return encoded if len(encoded) <= MAX_PASSWORD_BYTES else None
