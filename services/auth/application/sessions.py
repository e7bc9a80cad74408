"""The use cases of sessions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from services.auth.application.device_tokens import DeviceTokens
from services.auth.application.last_uses import LastUses
from services.auth.application.session_tokens import SessionTokens
from services.auth.application.stores import AccountStore, SessionStore
from services.auth.domain.account import Account, Role
from services.auth.domain.errors import InvalidToken
from services.auth.domain.session import (
    MAX_SESSIONS,
    Creator,
    Session,
    create_session,
    start_of_hour,
)
from services.auth.metrics import SESSIONS_ENDED
from services.shared.administrators import CONFIRMATION_LIFETIME

SessionUses = LastUses[tuple[str, str]]
"""Last uses by the ids of account and session."""


@dataclass(frozen=True, slots=True)
class CurrentSession:
    """The session of a valid token, and its account."""

    account: Account
    id: str
    stored: Session | None
    """None for the tokens of version 1.0.0, whose sessions are not stored."""

    @property
    def creator(self) -> Creator | None:
        """What to store with what the session creates."""
        session = self.stored
        if session is None:
            return None
        return Creator(session.id, session.created_at, session.browser, session.system)

    @property
    def confirmed_at(self) -> datetime | None:
        """When a password or passkey was last sent in it, None if it is not known."""
        return None if self.stored is None else self.stored.confirmed_at or self.stored.created_at

    def is_confirmed(self, now: datetime) -> bool:
        """Return whether that was at most `CONFIRMATION_LIFETIME` ago."""
        confirmed_at = self.confirmed_at
        return confirmed_at is not None and now <= confirmed_at + CONFIRMATION_LIFETIME


@dataclass(frozen=True, slots=True)
class Login:
    """The result of a log-in."""

    token: str
    expires_at: datetime
    username: str
    role: Role
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
        the account was closed or suspended, or its password changed, since it was read. Raises
        Unavailable.
        """
        session = create_session(account.id, browser, system, self._now())
        if not await self._store.add(account, session, MAX_SESSIONS):
            return None
        token, expires_at = self.issue_token(session, account)
        new_device_token = self._device_tokens.issue(account.id, device_token)
        return Login(token, expires_at, account.username, account.role, new_device_token)

    async def authenticate(self, token: str) -> CurrentSession:
        """Return the session of a token. Raises InvalidToken, Unavailable."""
        claims = self._tokens.read(token)
        if not claims.is_stored:
            account = await self._accounts.by_id(claims.account_id)
            if account is None or account.session != claims.generation or not _is_usable(account):
                raise session_ended()
            return CurrentSession(account, claims.session_id, None)
        found = await self._store.find(claims.account_id, claims.session_id)
        if found is None or not _is_usable(found[1]):
            raise session_ended()
        session, account = found
        hour = start_of_hour(self._now())
        if session.last_seen_at < hour:
            self._uses.note((account.id, session.id), hour)
        return CurrentSession(account, session.id, session)

    async def confirm(self, current: CurrentSession) -> None:
        """Store that the user of a session sent a password or passkey now.

        Raises InvalidToken if the session ended meanwhile, and Unavailable.
        """
        if not await self._store.confirm(current.account.id, current.id, self._now()):
            raise session_ended()

    async def list_all(self, token: str) -> tuple[list[Session], str]:
        """Return the sessions of a token's account, newest first, and the id of its own.

        Raises InvalidToken, Unavailable.
        """
        current = await self.authenticate(token)
        now = self._now()
        stored = await self._store.list_all(current.account.id)
        sessions = [session for session in stored if session.expires_at > now]
        sessions.sort(key=lambda session: (session.created_at, session.id), reverse=True)
        return sessions, current.id

    async def end(self, token: str, session_id: str | None) -> None:
        """End a session of a token's account, by default its own, unless it does not exist.

        Raises InvalidToken, Unavailable.
        """
        current = await self.authenticate(token)
        ending = current.id if session_id is None else session_id
        if await self._store.delete(current.account.id, ending):
            SESSIONS_ENDED.inc()

    async def end_others(self, token: str) -> None:
        """End all sessions of a token's account but its own. Raises InvalidToken, Unavailable."""
        current = await self.authenticate(token)
        ended = await self._store.delete_others(current.account, current.id)
        if ended is None:
            raise session_ended()
        SESSIONS_ENDED.inc(ended)


def session_ended() -> InvalidToken:
    return InvalidToken("The session of this token has ended, or its account was removed.")


def _is_usable(account: Account) -> bool:
    return not (account.closed or account.suspended)
