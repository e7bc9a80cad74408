"""Administrator's passes: how a service knows that an administrator makes a call.

1. auth checks the session of an administrator and issues a pass, signed with the administration
   secret (`ATAJO_ADMINISTRATION_SECRET`), which the gateway does not have.
2. The gateway sends the pass with a call of a service's `AdministrationService`.
3. The service reads the pass. It also checks the age of the confirmation: a session that was stolen
   after it was confirmed administers for `CONFIRMATION_LIFETIME` at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from services.shared.errors import PermissionDenied
from services.shared.timestamps import from_micros, to_micros

if TYPE_CHECKING:
    from services.shared.signing import TokenSigner

PASS_LIFETIME = timedelta(seconds=60)
CONFIRMATION_LIFETIME = timedelta(minutes=15)
"""Time after which an administrator has to send a password or a passkey again."""

_PURPOSE = "atajo administration"
_MAX_LENGTH = 5000
"""In characters. A pass has about 350, or 4,500 with the longest e-mail address."""


class NotAdministrator(PermissionDenied):
    default_reason = "NOT_ADMINISTRATOR"


class ConfirmationNeeded(PermissionDenied):
    default_reason = "CONFIRMATION_NEEDED"


@dataclass(frozen=True, slots=True)
class Administrator:
    """Who makes a call of administration."""

    account_id: str
    email: str
    """As its owner typed it. Decisions name it."""
    confirmed_at: datetime
    """When the session was last confirmed by a password or a passkey."""


def issue_pass(secret: str, administrator: Administrator, now: datetime) -> str:
    """Return a pass for an administrator, valid for `PASS_LIFETIME`. `secret` is not empty.

    Raises ConfirmationNeeded.
    """
    _check_confirmation(administrator, now)
    token, _ = _signer(secret, now).sign(
        {
            "aud": _PURPOSE,
            "sub": administrator.account_id,
            "email": administrator.email,
            "confirmed_at": to_micros(administrator.confirmed_at),
        }
    )
    return token


def read_pass(secret: str, text: str, now: datetime) -> Administrator:
    """Return the administrator of a pass.

    Raises NotAdministrator if it is forged or has expired, or if `secret` is empty, and
    ConfirmationNeeded.
    """
    if not secret:
        raise not_administrator()
    from services.shared.signing import InvalidSignedToken

    try:
        claims = _signer(secret, now).read(text, ["aud", "sub", "email", "confirmed_at"], _PURPOSE)
    except InvalidSignedToken:
        raise not_administrator() from None
    administrator = Administrator(
        claims["sub"], claims["email"], from_micros(claims["confirmed_at"])
    )
    _check_confirmation(administrator, now)
    return administrator


def not_administrator() -> NotAdministrator:
    return NotAdministrator("Only administrators may do this.")


def _check_confirmation(administrator: Administrator, now: datetime) -> None:
    if now - administrator.confirmed_at > CONFIRMATION_LIFETIME:
        raise ConfirmationNeeded("Confirm the session with your password or a passkey first.")


def _signer(secret: str, now: datetime) -> TokenSigner:
    # Imported here: the package takes some MB, which an instance without administrators saves.
    from services.shared.signing import TokenSigner

    return TokenSigner(secret, _PURPOSE, _MAX_LENGTH, PASS_LIFETIME, lambda: now)
