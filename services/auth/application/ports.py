"""The stores that the auth service needs.

Every method raises Unavailable if the store cannot be reached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from services.auth.domain.account import Account
from services.auth.domain.api_key import ApiKey
from services.auth.domain.passkey import Passkey
from services.auth.domain.recovery_code import RecoveryCode
from services.auth.domain.session import Session


class AccountStore(Protocol):
    """Stores accounts under unique e-mail keys."""

    async def add(self, account: Account) -> Account:
        """Store an account unless its e-mail key is taken. Return the account with that key."""
        ...

    async def by_email(self, email_key: str) -> Account | None:
        """Return the account with this e-mail key."""
        ...

    async def by_id(self, account_id: str) -> Account | None:
        """Return the account with this id."""
        ...

    async def change_password(
        self, account: Account, password_hash: str, salt: str, session: Session, revoke: bool
    ) -> bool:
        """Set the password, increment the session number, replace all sessions by a new one, and
        delete all recovery codes. With `revoke`, delete all API keys and passkeys, too.

        This is one atomic write. Return False, and change nothing, if the account is closed or does
        not exist, or if its session number is no longer that of `account`.
        """
        ...

    async def close(self, email_key: str) -> str | None:
        """Close the account with this e-mail key, unless it is closed already. Return its id.

        This is one atomic write. It does not decode the account, so a damaged one is closed, too.
        """
        ...

    async def close_in_session(self, account: Account) -> bool:
        """Close an account. Return False under the same conditions as `change_password`."""
        ...

    async def list_closed(self, limit: int) -> list[str]:
        """Return the ids of any `limit` closed accounts."""
        ...

    async def remove(self, account_id: str) -> None:
        """Delete the account with this id, and everything that belongs to it, if it is closed."""
        ...


class SessionStore(Protocol):
    """Stores the sessions of accounts. Expired ones are deleted some time after their end."""

    async def add(self, account: Account, session: Session, limit: int) -> bool:
        """Store a session of an account, and delete the oldest ones beyond `limit`, atomically.

        Return False, and change nothing, if the account is closed or does not exist, or if its
        password is no longer that of `account`.
        """
        ...

    async def find(self, account_id: str, session_id: str) -> tuple[Session, Account] | None:
        """Return a session of an account, and the account, which may be closed."""
        ...

    async def list_all(self, account_id: str) -> list[Session]:
        """Return the sessions of an account, unordered. Some may be expired."""
        ...

    async def delete(self, account_id: str, session_id: str) -> bool:
        """Delete a session of an account. Return whether there was one."""
        ...

    async def delete_others(self, account: Account, session_id: str) -> int | None:
        """Delete all sessions of an account but one, and increment its session number, atomically.

        Return how many were deleted. Do not increment the session number if the one session is not
        stored. Return None, and change nothing, under the same conditions as
        `AccountStore.change_password`.
        """
        ...

    async def record_uses(self, uses: Mapping[tuple[str, str], datetime]) -> None:
        """Advance the last use of sessions, by the ids of account and session, in one command or
        transaction.

        A session that was used later, or is deleted, stays as it is. `uses` is not empty.
        """
        ...


class RecoveryCodeStore(Protocol):
    """Stores the hashes of recovery codes that are not spent."""

    async def replace(
        self, account: Account, hashes: Sequence[bytes], created_at: datetime
    ) -> bool:
        """Replace all codes of an account, expiring ones too, by a set that does not expire.

        Return False, and change nothing, under the same conditions as
        `AccountStore.change_password`.
        """
        ...

    async def put_expiring(self, account_id: str, code: RecoveryCode) -> bool:
        """Replace the expiring code of an account. Return False if it is closed or not there."""
        ...

    async def list_all(self, account_id: str) -> list[RecoveryCode]:
        """Return the codes of an account, unordered. One may be expired."""
        ...

    async def spend(
        self,
        account_id: str,
        code: RecoveryCode,
        password_hash: str,
        salt: str,
        revoke: bool,
        now: datetime,
    ) -> bool:
        """Delete a code, set the password, increment the session number, and end all sessions.

        An expiring code is deleted in any case. The other codes stay, unless the spent one is
        expiring. With `revoke`, delete all API keys and passkeys, too.

        This is one atomic write. Return False, and change nothing, if the account is closed, or has
        no such code that has not expired.
        """
        ...


class PasskeyStore(Protocol):
    """Stores the passkeys of accounts under unique ids."""

    async def add(self, account: Account, passkey: Passkey, limit: int) -> bool:
        """Store a passkey of an account, atomically with the check of the conditions for it.

        Return False, and change nothing, if any account has its id, if the account already has
        `limit` passkeys, or under the same conditions as `AccountStore.change_password`.
        """
        ...

    async def list_all(self, account_id: str) -> list[Passkey]:
        """Return the passkeys of an account, unordered."""
        ...

    async def find(self, passkey_id: str) -> tuple[Passkey, Account] | None:
        """Return the passkey with this id and its account, which may be closed."""
        ...

    async def record_use(self, passkey: Passkey, sign_count: int, used_at: datetime) -> bool:
        """Set the sign count and the last use of a passkey.

        Return False, and change nothing, if it is removed, or if its sign count is no longer that
        of `passkey`.
        """
        ...

    async def delete(self, account_id: str, passkey_id: str) -> bool:
        """Delete a passkey of an account. Return whether there was one."""
        ...


class ApiKeyStore(Protocol):
    """Stores the API keys of accounts under unique hashes."""

    async def add(self, account: Account, key: ApiKey, limit: int) -> bool:
        """Store a key of an account, atomically with the check of the conditions for it.

        Return False, and change nothing, if the account already has `limit` keys, or under the
        same conditions as `AccountStore.change_password`.
        """
        ...

    async def list_all(self, account_id: str) -> list[ApiKey]:
        """Return the keys of an account, unordered."""
        ...

    async def find(self, key_hash: bytes) -> tuple[ApiKey, Account] | None:
        """Return the key with this hash and its account, which may be closed."""
        ...

    async def delete(self, account_id: str, key_id: str) -> bool:
        """Delete a key of an account. Return whether there was one."""
        ...

    async def record_uses(self, uses: Mapping[bytes, datetime]) -> None:
        """Advance the last use of keys, by their hash, in one command or transaction.

        A key that was used later, or is deleted, stays as it is. `uses` is not empty.
        """
        ...


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """Whether an attempt was granted, and when its window ends."""

    granted: bool
    window_ends: datetime


class AttemptStore(Protocol):
    """Counts attempts in fixed windows.

    A window begins with an attempt for which there is no open window, or only one whose attempts
    were all released. It ends by the caller's clock. A window that would last longer than the
    window length and `CLOCK_LEEWAY` was begun by a clock that was ahead, and counts as over. Stores
    delete windows some time after their end.
    """

    async def acquire(
        self, counter: str, limit: int, window: timedelta, now: datetime
    ) -> AttemptResult:
        """Count an attempt, unless the window already has `limit` attempts."""
        ...

    async def release(self, counter: str, window_ends: datetime) -> None:
        """Remove an attempt, if the window that ends at this time is still the current one."""
        ...


@dataclass(frozen=True, slots=True)
class Stores:
    """All stores of one database."""

    accounts: AccountStore
    attempts: AttemptStore
    sessions: SessionStore
    recovery_codes: RecoveryCodeStore
    passkeys: PasskeyStore
    keys: ApiKeyStore
