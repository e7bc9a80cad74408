"""What can be done with accounts and sessions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from services.auth.attempts import AttemptLimiter
from services.auth.domain import (
    Account,
    EmailTaken,
    InvalidEmail,
    InvalidToken,
    NoAccount,
    Session,
    WrongPassword,
    checked_email,
    earlier_keys,
    key_of,
    new_account,
    password_bytes,
)
from services.auth.fairness import network_of
from services.auth.hasher import Hasher
from services.auth.marks import Marks
from services.auth.metrics import ACCOUNTS_CREATED, login_counted
from services.auth.store import AccountStore
from services.auth.tokens import Tokens


class AuthService:
    """The use cases of accounts over a store; limits, hashing, tokens and clock are handed in."""

    def __init__(
        self,
        accounts: AccountStore,
        attempts: AttemptLimiter,
        hasher: Hasher,
        tokens: Tokens,
        marks: Marks,
        now: Callable[[], datetime],
    ) -> None:
        self._accounts = accounts
        self._attempts = attempts
        self._hasher = hasher
        self._tokens = tokens
        self._marks = marks
        self._now = now

    async def register(self, email: str, password_hash: str, salt: str, username: str) -> Account:
        """Make an account; repeating the same four fields succeeds and changes nothing.

        Raises InvalidEmail, InvalidUsername, InvalidPasswordHash, EmailTaken, Unavailable.
        """
        wanted = new_account(email, password_hash, salt, username, self._now())
        if earlier_keys(wanted.email):
            await self._held(wanted.email)  # Gives it its key, where an earlier version stored it.
        stored = await self._accounts.add(wanted)
        if not stored.same_as(wanted):
            raise EmailTaken("An account with this e-mail address exists.")
        if stored.id == wanted.id:
            ACCOUNTS_CREATED.inc()
        return stored

    async def login(
        self, email: str, password: str, client_address: str, mark: str = ""
    ) -> Session:
        """Open a session. `mark` is the one the browser was last given; any other text is none.

        Raises NoAccount, WrongPassword, TooManyAttempts, LoginsBusy, Unavailable.
        """
        with login_counted():
            account = await self._account_of(email)
            browser = self._marks.browser_of(mark, account.id)
            async with self._attempts.attempt(account.id, client_address, browser):
                given = password_bytes(password)
                if given is None or not await self._hasher.verify(
                    given, account.password_hash, network_of(client_address)
                ):
                    raise WrongPassword("The password is wrong.")
            token, expires_at = self._tokens.issue(account.id)
            given_mark = self._marks.give(account.id, mark)
            return Session(token, expires_at, account.username, given_mark)

    async def account_of_token(self, token: str) -> str:
        """The id of the account a session token stands for.

        Raises InvalidToken, Unavailable.
        """
        account_id = self._tokens.account_of(token)
        if not await self._accounts.exists(account_id):
            raise InvalidToken("The account of this session token is gone.")
        return account_id

    async def close(self, email: str) -> str:
        """Close an account, closed before or not: nobody can use it any more; returns its id.

        Raises NoAccount, Unavailable.
        """
        held = await self._held(email)
        account_id = await self._accounts.close(held.email_key) if held else None
        if account_id is None:
            raise _no_account()
        return account_id

    async def remove(self, account_id: str) -> None:
        """Remove an account that is closed; any other is left as it is. Raises Unavailable."""
        await self._accounts.remove(account_id)

    async def _account_of(self, email: str) -> Account:
        account = await self._held(email)
        if account is None or account.closed:
            raise _no_account()
        return account

    async def _held(self, email: str) -> Account | None:
        """The account of an address, closed or not.

        One that an earlier version stored is given its key on the way. Where another account
        has that, the same address was registered in two spellings: each is found by its own.
        """
        try:
            email = checked_email(email)
        except InvalidEmail:
            return None
        key = key_of(email)
        for earlier in earlier_keys(email):
            held = await self._accounts.by_email(earlier)
            # Some letters of some scripts, folded, are another letter's earlier key.
            if held is None or key_of(held.email) != key:
                continue
            if not await self._accounts.rekey(held, key) and earlier == email.casefold():
                return held
        return await self._accounts.by_email(key)


def _no_account() -> NoAccount:
    return NoAccount("There is no account with this e-mail address.")
