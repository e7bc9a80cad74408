"""The use cases of sessions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from services.auth.application.device_tokens import DeviceTokens
from services.auth.application.last_uses import LastUses
from services.auth.application.session_tokens import SessionTokens
from services.auth.application.stores import AccountStore, SessionStore
from services.auth.domain.account import Account
from services.auth.domain.errors import InvalidToken
from services.auth.domain.session import (
    MAX_SESSIONS,
    Creator,
    Session,
    create_session,
    start_of_hour,
)
from services.auth.metrics import SESSIONS_ENDED

SessionUses = LastUses[tuple[str, str]]
"""Last uses by the ids of account and session."""


@dataclass(frozen=True, slots=True)
class Login:
    """The result of a log-in."""

    token: str
    expires_at: datetime
    username: str
    device_token: str
    """The browser sends it with its next log-in."""


@dataclass(frozen=True, eq=False)
class Sessions:
    """Starts, verifies, lists and ends the sessions of accounts. `now` returns the time in UTC.

    Tokens of version 1.0.0 belong to sessions that are not stored. They are not listed, and end
    with the next password change, or when an owner ends all other sessions.
    """

    _accounts: AccountStore
    _store: SessionStore
    _uses: SessionUses
    _tokens: SessionTokens
    _device_tokens: DeviceTokens
    _now: Callable[[], datetime]

    def issue_token(self, session: Session, account: Account) -> tuple[str, datetime]:
        """Return the token of a session, and its expiry in whole seconds."""
        return self._tokens.issue(account.id, account.session, session.id)

    async def start(
        self, account: Account, device_token: str, browser: str, system: str
    ) -> Login | None:
        """Start a session in a browser that sent `device_token`, the last one that it received.

        `browser` and `system` are names for the list of sessions, empty if unknown. Return None if
        the account was closed, or its password changed, since it was read. Raises Unavailable.
        """
        session = create_session(account.id, browser, system, self._now())
        if not await self._store.add(account, session, MAX_SESSIONS):
            return None
        token, expires_at = self.issue_token(session, account)
        new_device_token = self._device_tokens.issue(account.id, device_token)
        return Login(token, expires_at, account.username, new_device_token)

    async def authenticate(self, token: str) -> tuple[Account, str]:
        """Return the account and the session id of a token. Raises InvalidToken, Unavailable."""
        account, session_id, _ = await self.authenticate_creator(token)
        return account, session_id

    async def authenticate_creator(self, token: str) -> tuple[Account, str, Creator | None]:
        """Like `authenticate`, but also return what to store with what the session creates.

        That is None for a session that is not stored.
        """
        claims = self._tokens.read(token)
        if not claims.is_stored:
            account = await self._accounts.by_id(claims.account_id)
            if account is None or account.closed or account.session != claims.generation:
                raise session_ended()
            return account, claims.session_id, None
        found = await self._store.find(claims.account_id, claims.session_id)
        if found is None or found[1].closed:
            raise session_ended()
        session, account = found
        hour = start_of_hour(self._now())
        if session.last_seen_at < hour:
            self._uses.note((account.id, session.id), hour)
        creator = Creator(session.id, session.created_at, session.browser, session.system)
        return account, session.id, creator

    async def list_all(self, token: str) -> tuple[list[Session], str]:
        """Return the sessions of a token's account, newest first, and the id of its own.

        Raises InvalidToken, Unavailable.
        """
        account, current = await self.authenticate(token)
        now = self._now()
        stored = await self._store.list_all(account.id)
        sessions = [session for session in stored if session.expires_at > now]
        sessions.sort(key=lambda session: (session.created_at, session.id), reverse=True)
        return sessions, current

    async def end(self, token: str, session_id: str | None) -> None:
        """End a session of a token's account, by default its own, unless it does not exist.

        Raises InvalidToken, Unavailable.
        """
        account, current = await self.authenticate(token)
        if await self._store.delete(account.id, current if session_id is None else session_id):
            SESSIONS_ENDED.inc()

    async def end_others(self, token: str) -> None:
        """End all sessions of a token's account but its own. Raises InvalidToken, Unavailable."""
        account, current = await self.authenticate(token)
        ended = await self._store.delete_others(account, current)
        if ended is None:
            raise session_ended()
        SESSIONS_ENDED.inc(ended)


def session_ended() -> InvalidToken:
    return InvalidToken("The session of this token has ended, or its account was removed.")
