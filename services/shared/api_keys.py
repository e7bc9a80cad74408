"""The format of API keys: `atajo_`, 30 random characters, and 6 of a checksum of those 30.

The random part has 178 bits, so nobody can guess a key, and a plain SHA-256 is enough to store it.
The checksum is the CRC-32 of the random part. It tells mistyped and invented keys from real ones
without a lookup.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import zlib
from string import ascii_lowercase, ascii_uppercase, digits

PATTERN = r"\batajo_[0-9A-Za-z]{36}\b"
"""Finds API keys in a text, for secret scanners. SECURITY.md documents it."""
PREFIX_LENGTH = 12
"""Length of the beginning of a key that is stored and shown to tell an account's keys apart. It
reveals 6 of the random characters."""

_START = "atajo_"
_ALPHABET = digits + ascii_uppercase + ascii_lowercase
"""Base62."""
_RANDOM_LENGTH = 30
_CHECKSUM_LENGTH = 6
_KEY = re.compile(rf"{_START}([0-9A-Za-z]{{{_RANDOM_LENGTH}}})([0-9A-Za-z]{{{_CHECKSUM_LENGTH}}})")


def generate() -> str:
    """Return a new random key."""
    random_part = "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_LENGTH))
    return f"{_START}{random_part}{_checksum(random_part)}"


def is_well_formed(text: str) -> bool:
    """Return whether a text has the format of a key, including a correct checksum."""
    match = _KEY.fullmatch(text)
    return match is not None and _checksum(match[1]) == match[2]


def hash_key(key: str) -> bytes:
    """Return the SHA-256 of a well-formed key, under which it is stored."""
    return hashlib.sha256(key.encode("ascii")).digest()


def _checksum(random_part: str) -> str:
    """Return the CRC-32 in base62, padded with zeros on the left."""
    number = zlib.crc32(random_part.encode("ascii"))
    characters = []
    for _ in range(_CHECKSUM_LENGTH):
        number, digit = divmod(number, len(_ALPHABET))
        characters.append(_ALPHABET[digit])
    return "".join(reversed(characters))
