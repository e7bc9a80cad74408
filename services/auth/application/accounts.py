"""What can be done with accounts and sessions."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from services.auth.application.attempt_limiter import AttemptLimiter
from services.auth.application.device_tokens import DeviceTokens
from services.auth.application.fair_queue import share_of
from services.auth.application.password_hasher import Hasher
from services.auth.application.ports import AccountStore
from services.auth.application.session_tokens import Tokens
from services.auth.domain.account import (
    Account,
    EmailTaken,
    InvalidEmail,
    InvalidToken,
    NoAccount,
    Session,
    WrongPassword,
    checked_email,
    checked_hash,
    key_of,
    lane_of,
    new_account,
    password_bytes,
)
from services.auth.metrics import (
    ACCOUNT_CLOSINGS,
    ACCOUNTS_CREATED,
    LOGINS,
    PASSWORD_CHANGES,
    counted,
    login_timed,
)

MAX_CLOSED = 10_000
"""Maximum closed accounts in one list: 0.3 MB. The reconciler must see all accounts that wait, or
their links would stop late."""


class AuthService:
    """The use cases of accounts over a store; limits, hashing, tokens and clock are handed in."""

    def __init__(
        self,
        accounts: AccountStore,
        attempts: AttemptLimiter,
        hasher: Hasher,
        tokens: Tokens,
        device_tokens: DeviceTokens,
        now: Callable[[], datetime],
    ) -> None:
        self._accounts = accounts
        self._attempts = attempts
        self._hasher = hasher
        self._tokens = tokens
        self._device_tokens = device_tokens
        self._now = now

    async def register(self, email: str, password_hash: str, salt: str, username: str) -> Account:
        """Make an account; repeating the same four fields succeeds and changes nothing.

        Raises InvalidEmail, InvalidUsername, InvalidPasswordHash, EmailTaken, Unavailable.
        """
        wanted = new_account(email, password_hash, salt, username, self._now())
        stored = await self._accounts.add(wanted)
        if not stored.same_as(wanted):
            raise EmailTaken("An account with this e-mail address exists.")
        if stored.id == wanted.id:
            ACCOUNTS_CREATED.inc()
        return stored

    async def login(
        self, email: str, password: str, client_address: str, device_token: str = ""
    ) -> Session:
        """Open a session. `device_token` is what the browser was last given.

        Raises NoAccount, WrongPassword, TooManyAttempts, LoginsBusy, Unavailable.
        """
        began = time.perf_counter()
        with counted(LOGINS):
            account = await self._account_of(email)
            browser = self._device_tokens.browser_of(device_token, account.id)
            with login_timed(began, lane_of(account.password_hash)):
                await self._check_password(account, password, client_address, browser)
            token, expires_at = self._tokens.issue(account.id, account.session)
            new_device_token = self._device_tokens.issue(account.id, device_token)
            return Session(token, expires_at, account.username, new_device_token)

    async def account_of_token(self, token: str) -> str:
        """The id of the account a session token stands for.

        Raises InvalidToken, Unavailable.
        """
        account, _ = await self._account_in_session(token)
        return account.id

    async def change_password(
        self, token: str, password: str, new_hash: str, new_salt: str, client_address: str
    ) -> tuple[str, datetime]:
        """Give the account of a token another password, and a new session.

        Returns the token of that, and when it expires. All tokens of before stop. Of two changes at
        once one is made, and the other one's token has stopped. Repeated, it is an InvalidToken.

        Raises InvalidPasswordHash, InvalidToken, WrongPassword, TooManyAttempts, LoginsBusy,
        Unavailable.
        """
        with counted(PASSWORD_CHANGES):
            new_hash = checked_hash(new_hash, new_salt)
            account, session = await self._account_in_session(token)
            await self._check_password(account, password, client_address, session=session)
            if not await self._accounts.change_password(account, new_hash, new_salt):
                raise _session_ended()
            return self._tokens.issue(account.id, account.session + 1)

    async def close_own(self, token: str, password: str, client_address: str) -> None:
        """Close the account of a token, as `close` does. Repeated, it is an InvalidToken.

        Raises InvalidToken, WrongPassword, TooManyAttempts, LoginsBusy, Unavailable.
        """
        with counted(ACCOUNT_CLOSINGS):
            account, session = await self._account_in_session(token)
            await self._check_password(account, password, client_address, session=session)
            if not await self._accounts.close_in_session(account):
                raise _session_ended()

    async def close(self, email: str) -> str:
        """Close an account, closed before or not: nobody can use it any more; returns its id.

        Raises NoAccount, Unavailable.
        """
        key = _key_of(email)
        account_id = await self._accounts.close(key) if key else None
        if account_id is None:
            raise _no_account()
        return account_id

    async def closed(self) -> list[str]:
        """The ids of up to `MAX_CLOSED` closed accounts, in no order. Raises Unavailable."""
        return await self._accounts.closed(MAX_CLOSED)

    async def remove(self, account_id: str) -> None:
        """Remove an account that is closed; any other is left as it is. Raises Unavailable."""
        await self._accounts.remove(account_id)

    async def _check_password(
        self,
        account: Account,
        password: str,
        client_address: str,
        browser: str | None = None,
        session: str | None = None,
    ) -> None:
        """Raise WrongPassword, which is counted, unless this is the account's password.

        `session` is the id of the session that sends it, None at a log-in.

        Raises TooManyAttempts, LoginsBusy, Unavailable.
        """
        async with self._attempts.attempt(account.id, client_address, browser, session):
            given = password_bytes(password)
            share = share_of(client_address, in_session=session is not None)
            if given is None or not await self._hasher.verify(given, account.password_hash, share):
                raise WrongPassword("The password is wrong.")

    async def _account_in_session(self, token: str) -> tuple[Account, str]:
        """Return the account of a token and the id of its session. Raises InvalidToken."""
        claims = self._tokens.read(token)
        account = await self._accounts.by_id(claims.account_id)
        if account is None or account.closed or account.session != claims.generation:
            raise _session_ended()
        return account, claims.session_id

    async def _account_of(self, email: str) -> Account:
        """Return the open account of an address. Raises NoAccount."""
        key = _key_of(email)
        account = await self._accounts.by_email(key) if key else None
        if account is None or account.closed:
            raise _no_account()
        return account


def _key_of(email: str) -> str | None:
    """The key of an address as it was typed; None for what no account can have."""
    try:
        return key_of(checked_email(email))
    except InvalidEmail:
        return None


def _session_ended() -> InvalidToken:
    return InvalidToken("The session of this token has ended, or its account is gone.")


def _no_account() -> NoAccount:
    return NoAccount("There is no account with this e-mail address.")
