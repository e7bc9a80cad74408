"""The use cases of confirmed sessions, without which nobody administers the instance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from services.auth.application.passkeys import Passkeys
from services.auth.application.password_check import PasswordCheck
from services.auth.application.sessions import Sessions
from services.auth.domain.errors import WrongPassword
from services.shared.administrators import (
    Administrator,
    ConfirmationNeeded,
    issue_pass,
    not_administrator,
)


@dataclass(frozen=True, eq=False)
class Confirmations:
    """Confirms sessions, and issues passes to administrators. `now` returns the time in UTC.

    `secret` signs the passes. If it is empty, nobody gets one.
    """

    _passwords: PasswordCheck
    _passkeys: Passkeys
    _sessions: Sessions
    _secret: str
    _now: Callable[[], datetime]

    async def confirm_by_password(self, token: str, password: str, client_ip: str) -> None:
        """Confirm a session by the password of its account.

        Raises InvalidToken, WrongPassword, TooManyAttempts, LoginsBusy, Unavailable.
        """
        current = await self._sessions.authenticate(token)
        if not current.account.has_password:
            raise WrongPassword("The account has no password.")
        await self._passwords.check_in_session(current, password, client_ip)
        await self._sessions.confirm(current)

    async def confirm_by_passkey(self, token: str, credential: str, client_ip: str) -> None:
        """Confirm a session by a passkey of its account, with the options of a log-in.

        Raises InvalidToken, WrongPasskey, TooManyAttempts, Unavailable.
        """
        current = await self._sessions.authenticate(token)
        await self._passkeys.check_in_session(current, credential, client_ip)
        await self._sessions.confirm(current)

    async def issue_pass(self, token: str) -> str:
        """Return the pass of an administrator.

        Raises InvalidToken, NotAdministrator, ConfirmationNeeded, Unavailable.
        """
        current = await self._sessions.authenticate(token)
        account, confirmed_at = current.account, current.confirmed_at
        if not account.administers or not self._secret:
            raise not_administrator()
        if confirmed_at is None:
            raise ConfirmationNeeded("Log in again: this session cannot be confirmed.")
        return issue_pass(
            self._secret, Administrator(account.id, account.email, confirmed_at), self._now()
        )
