"""Checks the passwords of accounts, within the limits of failures."""

from __future__ import annotations

from dataclasses import dataclass

from services.auth.application.attempt_limiter import AttemptLimiter
from services.auth.application.client_networks import capacity_network
from services.auth.application.password_verifier import PasswordVerifier
from services.auth.application.sessions import CurrentSession
from services.auth.domain.account import Account
from services.auth.domain.errors import WrongPassword
from services.auth.domain.passwords import encode_password


@dataclass(frozen=True, eq=False)
class PasswordCheck:
    """Joins the limits of failures and the verification of hashes."""

    _attempts: AttemptLimiter
    _passwords: PasswordVerifier

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
        """Do the same for a password that is sent in a session, which counts for the session."""
        account = current.account
        async with self._attempts.attempt(account.id, client_ip, session=current.id):
            await self._verify(account, password, capacity_network(client_ip, in_session=True))

    async def _verify(self, account: Account, password: str, network: str) -> None:
        encoded = encode_password(password)
        if encoded is None or not await self._passwords.verify(
            encoded, account.password_hash, network
        ):
            raise WrongPassword("The password is wrong.")
