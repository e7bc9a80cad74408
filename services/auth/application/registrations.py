"""The use case of registrations: who may register an account, by policy and invitation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from services.auth.application.stores import AccountStore
from services.auth.domain.account import Account, create_account
from services.auth.domain.connection import Connection, create_impossible_hash
from services.auth.domain.errors import EmailTaken, InvitationInvalid, RegistrationClosed
from services.auth.domain.invitation import hash_token
from services.auth.metrics import ACCOUNTS_CREATED, REGISTRATIONS, count_result

Policy = Literal["open", "invite", "closed"]
"""Who may register: anyone, who has an invitation, or nobody but the first account."""


@dataclass(frozen=True, eq=False)
class Registrations:
    """Registers accounts. `now` returns the time in UTC."""

    _accounts: AccountStore
    _policy: Policy
    _admits_connected: bool
    """Whether those whom the OpenID Connect provider knows need no invitation."""
    _now: Callable[[], datetime]

    async def register(
        self, email: str, password_hash: str, salt: str, username: str, invitation: str = ""
    ) -> Account:
        """Create an account. `invitation` is the token of an invitation, or empty.

        A valid invitation is used up, and decides the role, whatever the policy. Where registration
        is open, one that is not valid counts as none, because nobody needs one. Where it is closed,
        only the invitation of the first account counts. Repeating a registration returns the same
        account, and needs no invitation: that was used.

        Raises InvalidEmail, InvalidUsername, InvalidPasswordHash, EmailTaken, RegistrationClosed,
        InvitationInvalid, Unavailable.
        """
        with count_result(REGISTRATIONS):
            account = create_account(email, password_hash, salt, username, self._now())
            stored = await self._add(account, invitation)
            if not stored.has_same_fields(account):
                raise EmailTaken("An account with this e-mail address already exists.")
            if stored.id == account.id:
                ACCOUNTS_CREATED.inc()
            return stored

    async def register_connected(
        self, email: str, username: str, connection: Connection, invitation: str
    ) -> Account:
        """Create an account without a password, and its connection.

        Raises as `register` does; EmailTaken also for an account that was created meanwhile.
        """
        with count_result(REGISTRATIONS):
            impossible, salt = create_impossible_hash()
            account = create_account(email, impossible, salt, username, self._now())
            account = replace(account, salt="")
            stored = await self._add(account, invitation, connection)
            if stored.id != account.id:
                raise EmailTaken("An account with this e-mail address already exists.")
            ACCOUNTS_CREATED.inc()
            return stored

    async def _add(
        self, account: Account, invitation: str, connection: Connection | None = None
    ) -> Account:
        """Store an account, unless one with its e-mail address exists. Return the stored one."""
        is_admitted = self._policy == "open" or (
            self._policy == "invite" and connection is not None and self._admits_connected
        )
        if invitation or not is_admitted:
            stored = await self._accounts.add_invited(
                account,
                hash_token(invitation),
                self._now(),
                only_first=self._policy == "closed",
                connection=connection,
            )
            if stored:
                return stored
        if is_admitted:
            if connection is not None:
                return await self._accounts.add_connected(account, connection)
            return await self._accounts.add(account)
        if self._policy == "invite":
            raise InvitationInvalid("Registration needs a valid invitation.")
        raise RegistrationClosed("Registration is closed.")
