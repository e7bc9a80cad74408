"""The use cases of accounts and sessions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from services.auth.application.device_tokens import DeviceTokens
from services.auth.application.password_check import PasswordCheck
from services.auth.application.sessions import Login, Sessions, session_ended
from services.auth.application.stores import AccountStore
from services.auth.domain.account import Account, parse_email_key
from services.auth.domain.errors import AccountSuspended, NoAccount, WrongPassword
from services.auth.domain.passwords import choose_lane, validate_password_hash
from services.auth.domain.session import create_session
from services.auth.metrics import (
    ACCOUNT_CLOSINGS,
    LOGINS,
    PASSWORD_CHANGES,
    count_result,
    time_login,
)

MAX_CLOSED = 10_000
"""Maximum closed accounts in one list: 0.3 MB. A list that left accounts out would delay the
removal of their links."""


@dataclass(frozen=True, eq=False)
class AuthService:
    """The use cases of accounts. `now` returns the time in UTC."""

    _accounts: AccountStore
    _passwords: PasswordCheck
    _sessions: Sessions
    _device_tokens: DeviceTokens
    _now: Callable[[], datetime]

    async def login(
        self,
        email: str,
        password: str,
        client_ip: str,
        device_token: str = "",
        browser: str = "",
        system: str = "",
    ) -> Login:
        """Start a session. `device_token` is the last one that the browser received.

        `browser` and `system` are names for the list of sessions, empty if unknown.

        Raises NoAccount, WrongPassword, AccountSuspended, TooManyAttempts, LoginsBusy, Unavailable.
        """
        start = time.perf_counter()
        with count_result(LOGINS):
            account = await find_open_account(self._accounts, email)
            device = self._device_tokens.find_browser(device_token, account.id)
            with time_login(start, choose_lane(account.password_hash)):
                await self._passwords.check(account, password, client_ip, device)
            if account.suspended:
                raise AccountSuspended
            login = await self._sessions.start(account, device_token, browser, system)
            if login is None:
                raise WrongPassword("The password was changed meanwhile.")
            return login

    async def verify_token(self, token: str) -> Account:
        """Return the account of a session token. Raises InvalidToken, Unavailable."""
        return (await self._sessions.authenticate(token)).account

    async def change_password(
        self,
        token: str,
        password: str,
        new_hash: str,
        new_salt: str,
        client_ip: str,
        browser: str = "",
        system: str = "",
        revoke: bool = False,
    ) -> tuple[str, datetime]:
        """Change the password of a token's account. Return a new session token and its expiry.

        All earlier tokens and recovery codes of the account become invalid, so that they keep
        nobody in the account. With `revoke`, so do its API keys, passkeys and connections. Of
        concurrent changes, one succeeds; the others raise InvalidToken, and so does a repeated
        call.

        Raises InvalidPasswordHash, InvalidToken, WrongPassword, ConfirmationNeeded,
        TooManyAttempts, LoginsBusy, Unavailable.
        """
        with count_result(PASSWORD_CHANGES):
            new_hash = validate_password_hash(new_hash, new_salt)
            current = await self._sessions.authenticate(token)
            account = current.account
            await self._passwords.check_in_session(current, password, client_ip)
            session = create_session(account.id, browser, system, self._now())
            if not await self._accounts.change_password(
                account, new_hash, new_salt, session, revoke
            ):
                raise session_ended()
            changed = replace(account, session=account.session + 1)
            return self._sessions.issue_token(session, changed)

    async def close_own(self, token: str, password: str, client_ip: str) -> None:
        """Close the account of a token. A repeated call raises InvalidToken.

        Raises InvalidToken, WrongPassword, ConfirmationNeeded, LastAdministrator, TooManyAttempts,
        LoginsBusy, Unavailable.
        """
        with count_result(ACCOUNT_CLOSINGS):
            current = await self._sessions.authenticate(token)
            await self._passwords.check_in_session(current, password, client_ip)
            if not await self._accounts.close_in_session(current.account):
                raise session_ended()

    async def find(self, email: str) -> str:
        """Return the id of an open account. Raises NoAccount, Unavailable."""
        return (await find_open_account(self._accounts, email)).id

    async def close(self, email: str) -> str:
        """Close an account, so that nobody can use it any more. Return its id.

        May be repeated. Raises NoAccount, LastAdministrator, Unavailable.
        """
        key = parse_email_key(email)
        account_id = await self._accounts.close(key) if key else None
        if account_id is None:
            raise no_account()
        return account_id

    async def list_closed(self) -> list[str]:
        """Return the ids of up to `MAX_CLOSED` closed accounts, unordered. Raises Unavailable."""
        return await self._accounts.list_closed(MAX_CLOSED)

    async def remove(self, account_id: str) -> None:
        """Delete an account if it is closed. Raises Unavailable."""
        await self._accounts.remove(account_id)


async def find_open_account(accounts: AccountStore, email: str) -> Account:
    """Return the account with an e-mail address as typed.

    Raises NoAccount, also if it is closed, and Unavailable.
    """
    key = parse_email_key(email)
    account = await accounts.by_email(key) if key else None
    if account is None or account.closed:
        raise no_account()
    return account


def no_account() -> NoAccount:
    return NoAccount("There is no account with this e-mail address.")
