"""Invitations to register an account."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from services.auth.domain.account import Role, normalize_email, parse_email

LIFETIME = timedelta(days=7)
MAX_INVITATIONS = 1000
"""Maximum invitations that are neither used nor expired."""

_TOKEN_BYTES = 24
"""Random bytes of a token. It cannot be guessed, so a fast hash of it is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """An invitation that is not used. The token itself is not stored, only its hash."""

    id: str
    hash: bytes = field(repr=False)
    """SHA-256 of the token, which is unique."""
    email: str
    """The e-mail address that it is for, empty for anyone."""
    email_key: str
    """The key of that address, see `normalize_email`."""
    role: Role
    """The role of the account that is registered with it."""
    created_at: datetime
    expires_at: datetime
    is_first: bool = False
    """Whether it is for the first account alone. It is void once there is any account."""

    def admits(self, email_key: str, now: datetime) -> bool:
        """Return whether it is valid for an account with this key."""
        return self.expires_at > now and self.email_key in ("", email_key)


def create_invitation(
    email: str, role: Role, now: datetime, *, is_first: bool = False
) -> tuple[Invitation, str]:
    """Return a new invitation with a random id, and its token.

    `email` is an address as typed, or empty for anyone. Raises InvalidEmail.
    """
    parsed = parse_email(email) if email else ""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    invitation = Invitation(
        id=secrets.token_hex(12),
        hash=hash_token(token),
        email=parsed,
        email_key=normalize_email(parsed),
        role=role,
        created_at=now,
        expires_at=now + LIFETIME,
        is_first=is_first,
    )
    return invitation, token


def hash_token(token: str) -> bytes:
    """Return the hash by which an invitation is found."""
    return hashlib.sha256(token.encode()).digest()
