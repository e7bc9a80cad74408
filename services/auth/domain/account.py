"""Accounts and the rules for their e-mail address and username."""

from __future__ import annotations

import secrets
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from services.auth.domain.errors import InvalidEmail, InvalidUsername
from services.auth.domain.names import parse_name
from services.auth.domain.passwords import validate_password_hash
from services.shared.email_addresses import parse_email_address

MAX_USERNAME_LENGTH = 30
"""In Unicode code points."""


class Role(Enum):
    """What an account may do. The values are stored."""

    MEMBER = "member"
    ADMINISTRATOR = "administrator"


@dataclass(frozen=True, slots=True)
class Account:
    """A registered account. `email_key` is unique."""

    id: str
    email: str
    """As typed, without surrounding whitespace."""
    email_key: str
    """The normalized e-mail address, see `normalize_email`."""
    username: str
    password_hash: str
    """Of a password that nobody knows, if the account has none."""
    salt: str
    """Empty if the account has no password."""
    created_at: datetime
    closed: bool = False
    """Closed for removal: the account cannot be used any more."""
    session: int = 0
    """Increases when sessions end together. Changes that began with another number are refused, and
    so are tokens with another number whose sessions are not stored."""
    role: Role = Role.MEMBER
    suspended: bool = False
    """Suspended by an administrator: the account has no sessions, and its API keys do not work."""
    last_seen_at: datetime | None = None
    """The hour in which a session or API key was last used, None if it is not known."""

    @property
    def administers(self) -> bool:
        """Whether it may administer the instance now."""
        return self.role is Role.ADMINISTRATOR and not (self.suspended or self.closed)

    @property
    def has_password(self) -> bool:
        """Whether its owner ever set a password. An account that has one keeps one."""
        return self.salt != ""

    def has_same_fields(self, other: Account) -> bool:
        """Return whether both are open or both closed, and result from the same registration.

        A registration with the same fields repeats the earlier one.
        """
        return (self.email_key, self.username, self.password_hash, self.salt, self.closed) == (
            other.email_key,
            other.username,
            other.password_hash,
            other.salt,
            other.closed,
        )


def create_account(
    email: str, password_hash: str, salt: str, username: str, created_at: datetime
) -> Account:
    """Return an account with a new random id.

    Raises InvalidEmail, InvalidUsername, InvalidPasswordHash.
    """
    email = parse_email(email)
    return Account(
        id=secrets.token_hex(12),
        email=email,
        email_key=normalize_email(email),
        username=parse_name(username, InvalidUsername, "A username", MAX_USERNAME_LENGTH),
        password_hash=validate_password_hash(password_hash, salt),
        salt=salt,
        created_at=created_at,
    )


def parse_email(text: str) -> str:
    """Return the e-mail address without surrounding whitespace. Raises InvalidEmail."""
    try:
        return parse_email_address(text)
    except ValueError as error:
        raise InvalidEmail(str(error)) from None


def normalize_email(email: str) -> str:
    """Return the key by which parsed e-mail addresses are compared.

    The key ignores case and Unicode composition: `é` may be one character, or `e` and a combining
    accent. Do not normalize a key again. Case folding decomposes some letters, and folding the
    result can decompose more of them.
    """
    return unicodedata.normalize("NFC", email).casefold()


def parse_email_key(text: str) -> str | None:
    """Return the key of an e-mail address as typed. Return None if no account can have it."""
    try:
        return normalize_email(parse_email(text))
    except InvalidEmail:
        return None
