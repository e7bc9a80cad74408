"""Passkeys of accounts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from services.auth.domain.session import Creator

MAX_PASSKEYS = 10
"""Maximum passkeys of an account."""


class InvalidCredential(Exception):
    """A browser's answer is malformed, or does not prove what it should."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passkey:
    """A WebAuthn credential of an account, which its authenticator can discover."""

    id: str
    """The credential's id in base64url. Unique among all accounts."""
    account_id: str
    name: str
    public_key: bytes = field(repr=False)
    """In COSE's format."""
    sign_count: int
    """The authenticator's last signature counter, 0 if it has none."""
    created_at: datetime
    last_used_at: datetime | None = None
    """The minute of the last log-in, None if there was none."""
    created_by: Creator | None = None
    """None if the session is not known, as for those of earlier schema versions."""
