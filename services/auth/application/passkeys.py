"""The use cases of passkeys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from services.auth.application.attempt_limiter import AttemptLimiter
from services.auth.application.challenges import Challenges, InvalidChallenge
from services.auth.application.password_check import PasswordCheck
from services.auth.application.sessions import CurrentSession, Login, Sessions
from services.auth.application.stores import PasskeyStore
from services.auth.domain.account import Account
from services.auth.domain.errors import (
    AccountSuspended,
    InvalidPasskey,
    InvalidPasskeyName,
    LastLogin,
    NoPasskey,
    TooManyPasskeys,
    WrongPasskey,
)
from services.auth.domain.names import parse_name
from services.auth.domain.passkey import MAX_PASSKEYS, InvalidCredential, Passkey
from services.auth.metrics import PASSKEY_LOGINS, PASSKEYS_ADDED, PASSKEYS_REMOVED, count_result

if TYPE_CHECKING:  # It takes 3 MB, which a service whose accounts have no passkeys saves.
    from services.auth.application.web_authn import WebAuthn

_LOGIN = "login"
"""The purpose of challenges for log-ins."""


@dataclass(frozen=True, eq=False)
class Passkeys:
    """Adds, lists and removes passkeys, and logs in with them. `now` returns the time in UTC.

    `open_web_authn` imports WebAuthn at the first call.

    Adding and removing one takes the password, so that a stolen session cannot add a way to log in.
    """

    _store: PasskeyStore
    _open_web_authn: Callable[[], Awaitable[WebAuthn]]
    _challenges: Challenges
    _passwords: PasswordCheck
    _attempts: AttemptLimiter
    _sessions: Sessions
    _now: Callable[[], datetime]

    async def begin(self, token: str, password: str, client_ip: str) -> str:
        """Return the options with which a browser creates a passkey of a token's account.

        Raises InvalidToken, WrongPassword, TooManyAttempts, LoginsBusy, TooManyPasskeys,
        Unavailable.
        """
        current = await self._sessions.authenticate(token)
        account = current.account
        await self._passwords.check_in_session(current, password, client_ip)
        existing = [passkey.id for passkey in await self._store.list_all(account.id)]
        if len(existing) >= MAX_PASSKEYS:
            raise _too_many()
        web_authn = await self._open_web_authn()
        return web_authn.creation_options(account, _adding(current), existing)

    async def finish(self, token: str, name: str, credential: str) -> Passkey:
        """Add a passkey that a browser created in the session that began to add it.

        Raises InvalidToken, InvalidPasskeyName, InvalidPasskey, TooManyPasskeys, Unavailable.
        """
        current = await self._sessions.authenticate(token)
        account = current.account
        web_authn = await self._open_web_authn()
        try:
            created = web_authn.check_creation(credential, _adding(current))
            passkey = Passkey(
                id=created.id,
                account_id=account.id,
                name=parse_name(name, InvalidPasskeyName),
                public_key=created.public_key,
                sign_count=created.sign_count,
                created_at=self._now(),
                created_by=current.creator,
            )
            await self._challenges.use(created.challenge_id)
        except (InvalidCredential, InvalidChallenge) as error:
            raise InvalidPasskey("The passkey could not be verified.") from error
        if not await self._store.add(account, passkey, MAX_PASSKEYS):
            await self._sessions.authenticate(token)  # Perhaps the session ended meanwhile.
            if await self._store.find(passkey.id):
                raise InvalidPasskey("The passkey exists already.")
            raise _too_many()
        PASSKEYS_ADDED.inc()
        return passkey

    async def list_all(self, token: str) -> list[Passkey]:
        """Return the passkeys of a token's account, newest first.

        Raises InvalidToken, Unavailable.
        """
        account = (await self._sessions.authenticate(token)).account
        passkeys = await self._store.list_all(account.id)
        return sorted(passkeys, key=lambda passkey: (passkey.created_at, passkey.id), reverse=True)

    async def remove(self, token: str, passkey_id: str, password: str, client_ip: str) -> None:
        """Delete a passkey of a token's account, unless it does not exist.

        An account without a password must have a connection besides.

        Raises InvalidToken, WrongPassword, ConfirmationNeeded, LastLogin, TooManyAttempts,
        LoginsBusy, Unavailable.
        """
        current = await self._sessions.authenticate(token)
        await self._passwords.check_in_session(current, password, client_ip)
        account = current.account
        if account.has_password:
            is_removed = await self._store.delete(account.id, passkey_id)
        else:
            is_removed = await self._store.delete_beside_connection(account.id, passkey_id)
            found = None if is_removed else await self._store.find(passkey_id)
            if found is not None and found[1].id == account.id:
                raise LastLogin("An account without a password keeps its passkeys or connections.")
        if is_removed:
            PASSKEYS_REMOVED.inc()

    async def begin_login(self) -> str:
        """Return the options with which a browser logs in with any passkey that it has."""
        return (await self._open_web_authn()).request_options(_LOGIN)

    async def finish_login(
        self, credential: str, device_token: str = "", browser: str = "", system: str = ""
    ) -> Login:
        """Start a session with the answer of a browser. The others are as of `Sessions.start`.

        Failed log-ins with passwords do not limit this: a passkey cannot be guessed.

        Raises NoPasskey, WrongPasskey, AccountSuspended, Unavailable.
        """
        with count_result(PASSKEY_LOGINS):
            account = await self._verify(credential)
            if account.suspended:
                raise AccountSuspended
            login = await self._sessions.start(account, device_token, browser, system)
            if login is None:
                raise WrongPasskey("The account was changed meanwhile.")
            return login

    async def check_in_session(
        self, current: CurrentSession, credential: str, client_ip: str
    ) -> None:
        """Check that a browser's answer to `begin_login` is of a passkey of a session's account.

        A wrong one counts as a wrong password in the session does. Raises WrongPasskey,
        TooManyAttempts, Unavailable.
        """
        account_id = current.account.id
        async with self._attempts.attempt(account_id, client_ip, session=current.id):
            try:
                account = await self._verify(credential)
            except NoPasskey:
                raise _wrong() from None
            if account.id != account_id:
                raise _wrong()

    async def _verify(self, credential: str) -> Account:
        """Return the account of the passkey that a browser used, and record the use.

        Raises NoPasskey, WrongPasskey, Unavailable.
        """
        web_authn = await self._open_web_authn()
        try:
            assertion = web_authn.read_assertion(credential, _LOGIN)
            found = await self._store.find(assertion.credential_id)
            if found is None or found[1].closed:
                raise NoPasskey("There is no account with this passkey.")
            passkey, account = found
            sign_count = web_authn.check_assertion(assertion, passkey)
            await self._challenges.use(assertion.challenge_id)
        except (InvalidCredential, InvalidChallenge) as error:
            raise _wrong() from error
        minute = self._now().replace(second=0, microsecond=0)
        if not await self._store.record_use(passkey, sign_count, minute):
            raise WrongPasskey("The passkey was used or removed meanwhile.")
        return account


def _adding(current: CurrentSession) -> str:
    """Return the purpose of challenges to add a passkey, in one session of an account."""
    return f"add {current.account.id} {current.id}"


def _wrong() -> WrongPasskey:
    return WrongPasskey("The passkey could not be verified.")


def _too_many() -> TooManyPasskeys:
    return TooManyPasskeys(f"An account has at most {MAX_PASSKEYS} passkeys.")
