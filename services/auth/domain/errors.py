"""Errors of the auth service, with the reasons that clients receive."""

from __future__ import annotations

from services.shared.errors import (
    AlreadyExists,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    Unauthenticated,
)


class InvalidEmail(InvalidArgument):
    default_reason = "INVALID_EMAIL"


class InvalidUsername(InvalidArgument):
    default_reason = "INVALID_USERNAME"


class InvalidPasswordHash(InvalidArgument):
    default_reason = "INVALID_PASSWORD_HASH"


class InvalidKeyName(InvalidArgument):
    default_reason = "INVALID_KEY_NAME"


class InvalidScopes(InvalidArgument):
    default_reason = "INVALID_SCOPES"


class InvalidExpiry(InvalidArgument):
    default_reason = "INVALID_EXPIRY"


class EmailTaken(AlreadyExists):
    default_reason = "EMAIL_TAKEN"


class NoAccount(NotFound):
    default_reason = "NO_ACCOUNT"


class WrongPassword(Unauthenticated):
    default_reason = "WRONG_PASSWORD"


class InvalidToken(Unauthenticated):
    default_reason = "INVALID_TOKEN"


class InvalidKey(Unauthenticated):
    default_reason = "INVALID_KEY"


class TooManyKeys(ResourceExhausted):
    default_reason = "TOO_MANY_KEYS"


class TooManyAttempts(ResourceExhausted):
    default_reason = "TOO_MANY_ATTEMPTS"


class LoginsBusy(ResourceExhausted):
    default_reason = "LOGINS_BUSY"
