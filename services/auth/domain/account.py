"""Accounts and the rules they keep to."""

from __future__ import annotations

import re
import secrets
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from services.shared.emails import email_of
from services.shared.errors import (
    AlreadyExists,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    Unauthenticated,
)
from services.shared.text import BLANKS, CONTROLS

MAX_USERNAME_LENGTH = 30
"""In Unicode code points."""
MAX_PASSWORD_BYTES = 72
"""In UTF-8; bcrypt looks at no more."""
STANDARD_COST = 10
"""The bcrypt cost that the pages use, and the lowest that is accepted."""

_LONGEST_PAUSE = 5
"""In seconds: how long someone turned away is told to wait at most."""
# A salt is 16 bytes in 22 characters of 6 bits, a digest 23 bytes in 31: the bits left over in
# the last character of each are zero, or no password can ever verify.
_BCRYPT_HASH = re.compile(
    r"(?P<salt>\$2[aby]\$1[0-4]\$[./A-Za-z0-9]{21}[.Oeu])[./A-Za-z0-9]{30}[.CGKOSWaeimquy26]"
)


class InvalidEmail(InvalidArgument):
    default_reason = "INVALID_EMAIL"


class InvalidUsername(InvalidArgument):
    default_reason = "INVALID_USERNAME"


class InvalidPasswordHash(InvalidArgument):
    default_reason = "INVALID_PASSWORD_HASH"


class EmailTaken(AlreadyExists):
    default_reason = "EMAIL_TAKEN"


class NoAccount(NotFound):
    default_reason = "NO_ACCOUNT"


class WrongPassword(Unauthenticated):
    default_reason = "WRONG_PASSWORD"


class InvalidToken(Unauthenticated):
    default_reason = "INVALID_TOKEN"


class TooManyAttempts(ResourceExhausted):
    default_reason = "TOO_MANY_ATTEMPTS"


class LoginsBusy(ResourceExhausted):
    default_reason = "LOGINS_BUSY"


def busy() -> LoginsBusy:
    """The refusal of a log-in when too many wait. It names a random pause."""
    return LoginsBusy(
        "Too many log-ins at once.", retry_after=1 + secrets.randbelow(_LONGEST_PAUSE)
    )


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who registered. No two accounts have the same `email_key`."""

    id: str
    email: str
    """As typed, without the blanks around it."""
    email_key: str
    username: str
    password_hash: str
    salt: str
    created_at: datetime
    closed: bool = False
    """Whether it is about to be removed: nobody can use it any more."""
    session: int = 0
    """Goes up with each change of the password: tokens of another number do not verify."""

    def same_as(self, other: Account) -> bool:
        """Whether both come from the same four fields: then one repeats the other."""
        return (self.email_key, self.username, self.password_hash, self.salt, self.closed) == (
            other.email_key,
            other.username,
            other.password_hash,
            other.salt,
            other.closed,
        )


@dataclass(frozen=True, slots=True)
class Session:
    """What a log-in gives."""

    token: str
    expires_at: datetime
    username: str
    device_token: str
    """What the browser sends with its next log-in."""


def new_account(
    email: str, password_hash: str, salt: str, username: str, created_at: datetime
) -> Account:
    """An account with a fresh id for the four fields of a registration.

    Raises InvalidEmail, InvalidUsername, InvalidPasswordHash.
    """
    trimmed = checked_email(email)
    return Account(
        id=secrets.token_hex(12),
        email=trimmed,
        email_key=key_of(trimmed),
        username=_checked_username(username),
        password_hash=checked_hash(password_hash, salt),
        salt=salt,
        created_at=created_at,
    )


def checked_email(given: str) -> str:
    """The address without the blanks around it. Raises InvalidEmail."""
    try:
        return email_of(given)
    except ValueError as error:
        raise InvalidEmail(str(error)) from None


def key_of(email: str) -> str:
    """What a checked address is compared by: two addresses are the same if their keys are.

    Case does not matter, nor how a letter is written: `é` may be one character, or `e` and an
    accent. Case folding takes some letters apart, and a second folding would take more apart: so
    a key is made of an address, and never of a key.
    """
    return unicodedata.normalize("NFC", email).casefold()


def checked_hash(password_hash: str, salt: str) -> str:
    """The hash, where some password can verify against it. Raises InvalidPasswordHash."""
    match = _BCRYPT_HASH.fullmatch(password_hash)
    if match is None:
        raise InvalidPasswordHash("This is not a bcrypt hash of cost 10 to 14.")
    if match["salt"] != salt:
        raise InvalidPasswordHash("The hash was made with another salt.")
    return password_hash


def cost_of(password_hash: str) -> int:
    """The cost of a well-formed bcrypt hash: one more takes twice as long."""
    return int(password_hash.split("$")[2])


def lane_of(password_hash: str) -> Literal["standard", "expensive"]:
    """Return the lane in which a hash is verified: expensive above the cost that the pages use."""
    return "standard" if cost_of(password_hash) <= STANDARD_COST else "expensive"


def password_bytes(password: str) -> bytes | None:
    """A password as bcrypt takes it, or None for one that no account can have."""
    try:
        encoded = password.encode()
    except UnicodeEncodeError:  # A lone surrogate.
        return None
    return encoded if len(encoded) <= MAX_PASSWORD_BYTES else None


def _checked_username(given: str) -> str:
    username = given.strip(BLANKS)
    if not 1 <= len(username) <= MAX_USERNAME_LENGTH:
        raise InvalidUsername(f"A username has 1 to {MAX_USERNAME_LENGTH} characters.")
    if CONTROLS.search(username):
        raise InvalidUsername("A username has no control characters.")
    return username
