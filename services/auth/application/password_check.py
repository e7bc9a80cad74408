"""Checks the passwords of accounts, within the limits of failures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from services.auth.application.attempt_limiter import AttemptLimiter
from services.auth.application.client_networks import capacity_network
from services.auth.application.password_verifier import PasswordVerifier
from services.auth.application.sessions import CurrentSession
from services.auth.domain.account import Account
from services.auth.domain.errors import WrongPassword
from services.auth.domain.passwords import encode_password
from services.shared.administrators import ConfirmationNeeded
from services.shared.errors import InvalidArgument


@dataclass(frozen=True, eq=False)
class PasswordCheck:
    """Joins the limits of failures and the verification of hashes. `now` returns UTC."""

    _attempts: AttemptLimiter
    _passwords: PasswordVerifier
    _now: Callable[[], datetime]

    async def check(
        self,
        account: Account,
        password: str,
        client_ip: str,
        browser: str | None = None,
    ) -> None:
        """Raise WrongPassword, and count the failure, unless a log-in has the right password.

        `browser` is the id of a browser that the account knows.

        Raises TooManyAttempts, LoginsBusy, Unavailable.
        """
        async with self._attempts.attempt(account.id, client_ip, browser):
            await self._verify(account, password, capacity_network(client_ip, in_session=False))

    async def check_in_session(
        self, current: CurrentSession, password: str, client_ip: str
    ) -> None:
        """Do the same for a password that is sent in a session, which counts for the session.

        For an account without a password, the session must have been confirmed shortly before, by
        the provider or a passkey. The password is ignored. Raises ConfirmationNeeded for it, and
        InvalidArgument for an empty password of others.
        """
        account = current.account
        if not account.has_password:
            if not current.is_confirmed(self._now()):
                raise ConfirmationNeeded("The session must be confirmed.")
            return
        if not password:
            raise InvalidArgument("The password is needed.")
        async with self._attempts.attempt(account.id, client_ip, session=current.id):
            await self._verify(account, password, capacity_network(client_ip, in_session=True))

    async def check_identified(
        self, account: Account, password: str, client_ip: str, identity: str
    ) -> None:
        """Do the same for a password that somebody sends whom a provider identified.

        It counts for the account and this identity, so that strangers keep nobody out.
        """
        async with self._attempts.attempt(account.id, client_ip, session=identity):
            await self._verify(account, password, capacity_network(client_ip, in_session=False))

    async def _verify(self, account: Account, password: str, network: str) -> None:
        encoded = encode_password(password)
        if encoded is None or not await self._passwords.verify(
            encoded, account.password_hash, network
        ):
            raise WrongPassword("The password is wrong.")
