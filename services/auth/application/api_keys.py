"""The use cases of API keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from services.auth.application.last_uses import LastUses
from services.auth.application.password_check import PasswordCheck
from services.auth.application.sessions import Sessions
from services.auth.application.stores import ApiKeyStore
from services.auth.domain.account import Account
from services.auth.domain.api_key import MAX_KEYS, ApiKey, Scope, create_api_key
from services.auth.domain.errors import InvalidKey, TooManyKeys
from services.auth.metrics import KEY_VERIFICATIONS, KEYS_CREATED, KEYS_REVOKED, KeyResult


@dataclass(frozen=True, eq=False)
class ApiKeys:
    """Creates, lists, revokes and verifies the API keys of accounts. `now` returns UTC.

    Only a session token manages keys, so that nobody can create a key with another one. Creating
    one takes the password, so that a stolen session cannot leave a key behind.
    """

    _store: ApiKeyStore
    _uses: LastUses[bytes]
    _passwords: PasswordCheck
    _sessions: Sessions
    _now: Callable[[], datetime]

    async def create(
        self,
        token: str,
        password: str,
        name: str,
        scopes: Iterable[Scope],
        expires_at: datetime | None,
        client_ip: str,
    ) -> tuple[ApiKey, str]:
        """Create a key of a token's account. Return it and its text, which is not stored.

        Raises InvalidToken, InvalidKeyName, InvalidScopes, InvalidExpiry, WrongPassword,
        TooManyAttempts, LoginsBusy, TooManyKeys, Unavailable.
        """
        current = await self._sessions.authenticate(token)
        account, creator = current.account, current.creator
        key, text = create_api_key(account.id, name, scopes, expires_at, self._now(), creator)
        await self._passwords.check_in_session(current, password, client_ip)
        if not await self._store.add(account, key, MAX_KEYS):
            await self._sessions.authenticate(token)  # Perhaps the session ended meanwhile.
            raise TooManyKeys(f"An account has at most {MAX_KEYS} API keys.")
        KEYS_CREATED.inc()
        return key, text

    async def list_all(self, token: str) -> list[ApiKey]:
        """Return the keys of a token's account, newest first. Raises InvalidToken, Unavailable."""
        account = (await self._sessions.authenticate(token)).account
        keys = await self._store.list_all(account.id)
        return sorted(keys, key=lambda key: (key.created_at, key.id), reverse=True)

    async def revoke(self, token: str, key_id: str) -> None:
        """Delete a key of a token's account, unless it does not exist.

        Raises InvalidToken, Unavailable.
        """
        account = (await self._sessions.authenticate(token)).account
        if await self._store.delete(account.id, key_id):
            KEYS_REVOKED.inc()

    async def verify(self, key_hash: bytes) -> tuple[ApiKey, Account]:
        """Return the valid key with a hash and its account, and note the use of the key.

        Raises InvalidKey, Unavailable.
        """
        found = await self._store.find(key_hash)
        if found is None:
            raise _invalid("unknown")
        key, account = found
        now = self._now()
        if account.closed:
            raise _invalid("closed")
        if account.suspended:
            raise _invalid("suspended")
        if key.has_expired(now):
            raise _invalid("expired")
        minute = now.replace(second=0, microsecond=0)
        if key.last_used_at is None or key.last_used_at < minute:
            self._uses.note(key_hash, minute)
        KEY_VERIFICATIONS.labels("ok").inc()
        return key, account


def _invalid(result: KeyResult) -> InvalidKey:
    """Count a rejected key. Return the error, which does not tell the reason."""
    KEY_VERIFICATIONS.labels(result).inc()
    return InvalidKey("The API key is not valid.")
