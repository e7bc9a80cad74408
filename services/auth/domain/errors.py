"""Errors of the auth service, with the reasons that clients receive."""

from __future__ import annotations

from services.shared.errors import (
    AlreadyExists,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    Unauthenticated,
    Unavailable,
    Unimplemented,
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


class InvalidPasskeyName(InvalidArgument):
    default_reason = "INVALID_PASSKEY_NAME"


class InvalidPasskey(InvalidArgument):
    """A browser's answer does not prove that it created a passkey."""

    default_reason = "INVALID_PASSKEY"


class InvalidExpiry(InvalidArgument):
    default_reason = "INVALID_EXPIRY"


class InvalidQuery(InvalidArgument):
    default_reason = "INVALID_QUERY"


class InvalidCursor(InvalidArgument):
    default_reason = "INVALID_CURSOR"


class EmailTaken(AlreadyExists):
    default_reason = "EMAIL_TAKEN"


class NoAccount(NotFound):
    default_reason = "NO_ACCOUNT"


class NoPasskey(NotFound):
    default_reason = "NO_PASSKEY"


class WrongSecret(Unauthenticated):
    """A guess of a secret, which counts towards the limits of failures."""


class WrongPassword(WrongSecret):
    default_reason = "WRONG_PASSWORD"


class WrongRecoveryCode(WrongSecret):
    default_reason = "WRONG_RECOVERY_CODE"


class WrongPasskey(WrongSecret):
    """A browser's answer does not prove that it has the passkey."""

    default_reason = "WRONG_PASSKEY"


class ProviderRefused(Unauthenticated):
    """A browser's answer does not prove that the provider logged its user in."""

    default_reason = "PROVIDER_REFUSED"


class EmailUnverified(Unauthenticated):
    """The provider does not know a verified e-mail address."""

    default_reason = "EMAIL_UNVERIFIED"


class LastLogin(AlreadyExists):
    """Without this, nobody could log in to the account."""

    default_reason = "LAST_LOGIN"


class ProviderUnavailable(Unavailable):
    """The OpenID Connect provider does not answer, or not as it should."""

    default_reason = "PROVIDER_UNAVAILABLE"


class NoProvider(Unimplemented):
    """No OpenID Connect provider is configured."""

    default_reason = "NO_PROVIDER"


class InvalidToken(Unauthenticated):
    default_reason = "INVALID_TOKEN"


class InvalidKey(Unauthenticated):
    default_reason = "INVALID_KEY"


class RegistrationClosed(PermissionDenied):
    default_reason = "REGISTRATION_CLOSED"


class InvitationInvalid(PermissionDenied):
    """An invitation is needed and missing, unknown, used, expired or for another address."""

    default_reason = "INVITATION_INVALID"


class AccountSuspended(PermissionDenied):
    default_reason = "ACCOUNT_SUSPENDED"

    def __init__(self) -> None:
        super().__init__("This account is suspended.")


class LastAdministrator(PermissionDenied):
    """The last administrator can be neither demoted, suspended nor removed."""

    default_reason = "LAST_ADMINISTRATOR"

    def __init__(self) -> None:
        super().__init__(
            "This is the last administrator. Make another account an administrator first."
        )


class TooManyInvitations(ResourceExhausted):
    default_reason = "TOO_MANY_INVITATIONS"


class TooManyKeys(ResourceExhausted):
    default_reason = "TOO_MANY_KEYS"


class TooManyPasskeys(ResourceExhausted):
    default_reason = "TOO_MANY_PASSKEYS"


class TooManyAttempts(ResourceExhausted):
    default_reason = "TOO_MANY_ATTEMPTS"


class LoginsBusy(ResourceExhausted):
    default_reason = "LOGINS_BUSY"
