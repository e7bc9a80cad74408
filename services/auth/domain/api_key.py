"""API keys of accounts, and the rules for their fields."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from services.auth.domain.errors import InvalidExpiry, InvalidKeyName, InvalidScopes
from services.auth.domain.names import parse_name
from services.auth.domain.session import Creator
from services.shared import api_keys

MAX_KEYS = 20
"""Maximum keys of an account, including expired ones."""


class Scope(Enum):
    """What a key may do. The values are stored."""

    LINKS_READ = "links:read"
    LINKS_WRITE = "links:write"
    STATISTICS_READ = "statistics:read"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key of an account. The key itself is not stored, only its hash."""

    id: str
    """Identifies the key among those of its account."""
    account_id: str
    key_hash: bytes = field(repr=False)
    """SHA-256 of the key, which is unique."""
    name: str
    prefix: str
    """First characters of the key."""
    scopes: tuple[Scope, ...]
    """In the order of `Scope`."""
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None = None
    """The minute of the last use, None if it was never used."""
    created_by: Creator | None = None
    """None if the session is not known, as for those of earlier schema versions."""

    def has_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


def create_api_key(
    account_id: str,
    name: str,
    scopes: Iterable[Scope],
    expires_at: datetime | None,
    now: datetime,
    created_by: Creator | None = None,
) -> tuple[ApiKey, str]:
    """Return a new key with a random id, and the text of the key.

    Raises InvalidKeyName, InvalidScopes, InvalidExpiry.
    """
    name, scopes = parse_name(name, InvalidKeyName), set(scopes)
    if not scopes:
        raise InvalidScopes("A key needs at least one scope.")
    if expires_at is not None and expires_at <= now:
        raise InvalidExpiry("A key must expire in the future.")
    text = api_keys.generate()
    key = ApiKey(
        id=secrets.token_hex(12),
        account_id=account_id,
        key_hash=api_keys.hash_key(text),
        name=name,
        prefix=text[: api_keys.PREFIX_LENGTH],
        scopes=tuple(scope for scope in Scope if scope in scopes),
        created_at=now,
        expires_at=expires_at,
        created_by=created_by,
    )
    return key, text
