"""Connections of accounts with their owners' accounts at an OpenID Connect provider."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from services.auth.domain.account import MAX_USERNAME_LENGTH
from services.shared.characters import CONTROL_CHARACTERS, WHITESPACE

MAX_CONNECTIONS = 10
"""Maximum connections of an account."""
MAX_SUBJECT_LENGTH = 255
"""In characters, by OpenID Connect Core 1.0, section 2."""

_SALT_ALPHABET = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
"""bcrypt's base64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The right of a subject of a provider to log in to an account."""

    id: str
    """`connection_id` of issuer and subject. Unique among all accounts."""
    account_id: str
    issuer: str
    subject: str
    email: str
    """The verified e-mail address that the provider named when the connection was made."""
    created_at: datetime
    last_used_at: datetime | None = None
    """The minute of the last log-in, None if there was none after the first."""


def connection_id(issuer: str, subject: str) -> str:
    """Return the id of the connection of a subject. Issuers have no spaces."""
    return hashlib.sha256(f"{issuer} {subject}".encode()).hexdigest()


def create_impossible_hash() -> tuple[str, str]:
    """Return a well-formed bcrypt hash of cost 10 that no password has, and its salt.

    A log-in with a password takes as long with it as with any other hash, and is refused.
    """
    salt = "".join(secrets.choice(_SALT_ALPHABET) for _ in range(21)) + secrets.choice(".Oeu")
    digest = "".join(secrets.choice(_SALT_ALPHABET) for _ in range(30))
    return f"$2b$10${salt}{digest}{secrets.choice('.CGKOSWaeimquy26')}", f"$2b$10${salt}"


def choose_username(names: Iterable[str], email: str) -> str:
    """Return a username within the rules: the first of `names` that has one in it.

    Names of a provider may have any length and any characters. Without a usable one, the username
    is the local part of the e-mail address.
    """
    for name in (*names, email.partition("@")[0]):
        cleaned = " ".join(CONTROL_CHARACTERS.sub(" ", name).split())
        if username := cleaned[:MAX_USERNAME_LENGTH].strip(WHITESPACE):
            return username
    return "-"
