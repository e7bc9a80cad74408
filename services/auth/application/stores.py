"""The stores of accounts and of what belongs to them, over a backend.

Every method raises Unavailable if the database cannot be reached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Generic

from services.auth.application.ports import AttemptStore, Backend, Insert, Not, Update, Where
from services.auth.application.records import (
    API_KEYS,
    CONNECTIONS,
    PASSKEYS,
    RECOVERY_CODES,
    SESSIONS,
    Part,
    T,
    decode,
    encode,
)
from services.auth.domain.account import Account
from services.auth.domain.api_key import ApiKey
from services.auth.domain.connection import Connection
from services.auth.domain.passkey import Passkey
from services.auth.domain.recovery_code import RecoveryCode
from services.auth.domain.session import Session
from services.shared.timestamps import to_micros
from services.shared.unreadable_records import decode_each

_REVOKED: list[tuple[Part[Any], Where]] = [(API_KEYS, {}), (PASSKEYS, {})]
"""What a password change deletes if it revokes the other ways into an account."""
_EXPIRING_CODES = (RECOVERY_CODES, {"expires_at": Not(None)})
"""The code of the operator among the recovery codes."""


class AccountStore:
    """Stores accounts under unique e-mail keys."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def add(self, account: Account) -> Account:
        """Store an account unless its e-mail key is taken. Return the account with that key."""
        return decode(Account, await self._backend.insert("accounts_add", encode(account)))

    async def by_email(self, email_key: str) -> Account | None:
        """Return the account with this e-mail key."""
        return await self._find("accounts_by_email", {"email_key": email_key})

    async def by_id(self, account_id: str) -> Account | None:
        """Return the account with this id."""
        return await self._find("accounts_by_id", {"id": account_id})

    async def change_password(
        self, account: Account, password_hash: str, salt: str, session: Session, revoke: bool
    ) -> bool:
        """Set the password, increment the session number, replace all sessions by a new one, and
        delete all recovery codes. With `revoke`, delete all API keys and passkeys, too.

        This is one atomic write. Return False, and change nothing, if the account is closed or does
        not exist, or if its session number differs from `account`.
        """
        update = Update(
            fields={"password_hash": password_hash, "salt": salt},
            increments_session=True,
            delete=[(SESSIONS, {}), (RECOVERY_CODES, {}), *(_REVOKED if revoke else ())],
            insert=Insert(SESSIONS, [encode(session)]),
        )
        return await self._backend.update("accounts_change_password", _unchanged(account), update)

    async def close(self, email_key: str) -> str | None:
        """Close the account with this e-mail key, unless it is closed already. Return its id.

        This is one atomic write. It does not decode the account, so a damaged one is closed, too.
        """
        return await self._backend.close("accounts_close", email_key)

    async def close_in_session(self, account: Account) -> bool:
        """Close an account. Return False under the same conditions as `change_password`."""
        update = Update(fields={"closed": True})
        return await self._backend.update("accounts_close_in_session", _unchanged(account), update)

    async def list_closed(self, limit: int) -> list[str]:
        """Return the ids of any `limit` closed accounts."""
        return await self._backend.list_closed("accounts_list_closed", limit)

    async def remove(self, account_id: str) -> None:
        """Delete the account with this id, and everything that belongs to it, if it is closed."""
        await self._backend.delete_closed("accounts_remove", account_id)

    async def _find(self, name: str, where: Where) -> Account | None:
        record = await self._backend.find_account(name, where)
        return decode(Account, record) if record else None


class _PartStore(Generic[T]):
    """A store of a part of accounts."""

    _part: Part[T]

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def list_all(self, account_id: str) -> list[T]:
        """Return the records of an account, unordered. Some may be expired."""
        part = self._part
        stored = await self._backend.list_all(f"{part.name}_list", part, account_id)
        decode_record = partial(decode, part.entity, account_id=account_id)
        return list(decode_each(part.kind, stored, decode_record, lambda _: account_id))


class _IdentifiedPartStore(_PartStore[T]):
    """A store of a part whose records have ids."""

    async def add(self, account: Account, entity: T, limit: int) -> bool:
        """Store a record of an account, atomically with the check of the conditions for it.

        Return False, and change nothing, if the account already has `limit` records, if their ids
        are unique and any account has this one, or under the same conditions as
        `AccountStore.change_password`.
        """
        update = Update(insert=Insert(self._part, [encode(entity)], limit))
        return await self._backend.update(f"{self._part.name}_add", _unchanged(account), update)

    async def delete(self, account_id: str, record_id: str) -> bool:
        """Delete a record of an account. Return whether there was one."""
        record = (self._part, {"id": record_id})
        update = Update(has=record, delete=[record])
        return await self._backend.update(f"{self._part.name}_delete", {"id": account_id}, update)

    async def _find(self, where: Where) -> tuple[T, Account] | None:
        """Return the record that matches and its account, which may be closed."""
        found = await self._backend.find(f"{self._part.name}_find", self._part, where)
        if found is None:
            return None
        record, account = found
        return decode(self._part.entity, record, account["id"]), decode(Account, account)


class SessionStore(_IdentifiedPartStore[Session]):
    """Stores the sessions of accounts. Expired ones are deleted some time after their end."""

    _part = SESSIONS

    async def add(self, account: Account, session: Session, limit: int) -> bool:
        """Store a session of an account, and delete the oldest ones beyond `limit`, atomically.

        Return False, and change nothing, if the account is closed or does not exist, or if its
        password differs from `account`.
        """
        same_password = {"id": account.id, "closed": False, "password_hash": account.password_hash}
        now = to_micros(session.created_at)
        insert = Insert(SESSIONS, [encode(session)], max_records=limit, expired_at=now)
        return await self._backend.update("sessions_add", same_password, Update(insert=insert))

    async def find(self, account_id: str, session_id: str) -> tuple[Session, Account] | None:
        """Return a session of an account, and the account, which may be closed."""
        return await self._find({"account_id": account_id, "id": session_id})

    async def delete_others(self, account: Account, session_id: str) -> int | None:
        """Delete all sessions of an account but one, and increment its session number, atomically.

        Return how many were deleted. Do not increment the session number if the one session is not
        stored. Return None, and change nothing, under the same conditions as
        `AccountStore.change_password`.
        """
        return await self._backend.delete_other_sessions(
            "sessions_delete_others", _unchanged(account), session_id
        )

    async def record_uses(self, uses: Mapping[tuple[str, str], datetime]) -> None:
        """Advance the last use of sessions, by the ids of account and session, in one command or
        transaction.

        A session that was used later, or is deleted, stays as it is. `uses` is not empty.
        """
        advances = [
            ({"account_id": account_id, "id": session_id}, to_micros(seen_at))
            for (account_id, session_id), seen_at in uses.items()
        ]
        await self._backend.advance("sessions_record_uses", SESSIONS, "last_seen_at", advances)


class RecoveryCodeStore(_PartStore[RecoveryCode]):
    """Stores the hashes of recovery codes that are not spent."""

    _part = RECOVERY_CODES

    async def replace(
        self, account: Account, hashes: Sequence[bytes], created_at: datetime
    ) -> bool:
        """Replace all codes of an account, expiring ones too, by a set that does not expire.

        Return False, and change nothing, under the same conditions as
        `AccountStore.change_password`.
        """
        codes = [encode(RecoveryCode(code_hash, created_at=created_at)) for code_hash in hashes]
        update = Update(delete=[(RECOVERY_CODES, {})], insert=Insert(RECOVERY_CODES, codes))
        return await self._backend.update("recovery_codes_replace", _unchanged(account), update)

    async def put_expiring(self, account_id: str, code: RecoveryCode) -> bool:
        """Replace the expiring code of an account. Return False if it is closed or not there."""
        update = Update(delete=[_EXPIRING_CODES], insert=Insert(RECOVERY_CODES, [encode(code)]))
        is_open = {"id": account_id, "closed": False}
        return await self._backend.update("recovery_codes_put_expiring", is_open, update)

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
        if code.expires_at is not None and code.expires_at <= now:
            return False
        spent = {"hash": code.hash, "expires_at": encode(code)["expires_at"]}
        update = Update(
            has=(RECOVERY_CODES, spent),
            fields={"password_hash": password_hash, "salt": salt},
            increments_session=True,
            delete=[
                (RECOVERY_CODES, {} if code.is_operators else {"hash": code.hash}),
                _EXPIRING_CODES,
                (SESSIONS, {}),
                *(_REVOKED if revoke else ()),
            ],
        )
        is_open = {"id": account_id, "closed": False}
        return await self._backend.update("recovery_codes_spend", is_open, update)


class PasskeyStore(_IdentifiedPartStore[Passkey]):
    """Stores the passkeys of accounts under unique ids."""

    _part = PASSKEYS

    async def find(self, passkey_id: str) -> tuple[Passkey, Account] | None:
        """Return the passkey with this id and its account, which may be closed."""
        return await self._find({"id": passkey_id})

    async def record_use(self, passkey: Passkey, sign_count: int, used_at: datetime) -> bool:
        """Set the sign count and the last use of a passkey.

        Return False, and change nothing, if it is removed, or if its sign count is no longer that
        of `passkey`.
        """
        read = {"id": passkey.id, "sign_count": passkey.sign_count}
        used = {"sign_count": sign_count, "last_used_at": to_micros(used_at)}
        return await self._backend.set_fields(
            "passkeys_record_use", PASSKEYS, passkey.account_id, read, used
        )

    async def delete_beside_connection(self, account_id: str, passkey_id: str) -> bool:
        """Delete a passkey of an account that has a connection. Return whether it had one.

        This is one atomic write.
        """
        update = Update(has=(CONNECTIONS, {}), delete=[(PASSKEYS, {"id": passkey_id})])
        return await self._backend.update("passkeys_delete", {"id": account_id}, update)


class ConnectionStore(_IdentifiedPartStore[Connection]):
    """Stores the connections of accounts under unique ids."""

    _part = CONNECTIONS

    async def find(self, connection_id: str) -> tuple[Connection, Account] | None:
        """Return the connection with this id and its account, which may be closed."""
        return await self._find({"id": connection_id})

    async def record_use(self, connection: Connection, used_at: datetime) -> bool:
        """Set the last use of a connection. Return False if it is removed."""
        return await self._backend.set_fields(
            "connections_record_use",
            CONNECTIONS,
            connection.account_id,
            {"id": connection.id},
            {"last_used_at": to_micros(used_at)},
        )

    async def delete_beside_passkey(self, account_id: str, connection_id: str) -> bool:
        """Delete a connection of an account that has a passkey. Return whether it had one.

        This is one atomic write.
        """
        deleted = [(CONNECTIONS, {"id": connection_id})]
        update = Update(has=(PASSKEYS, {}), delete=deleted)
        return await self._backend.update("connections_delete", {"id": account_id}, update)


class ApiKeyStore(_IdentifiedPartStore[ApiKey]):
    """Stores the API keys of accounts under unique hashes."""

    _part = API_KEYS

    async def find(self, key_hash: bytes) -> tuple[ApiKey, Account] | None:
        """Return the key with this hash and its account, which may be closed."""
        return await self._find({"key_hash": key_hash})

    async def record_uses(self, uses: Mapping[bytes, datetime]) -> None:
        """Advance the last use of keys, by their hash, in one command or transaction.

        A key that was used later, or is deleted, stays as it is. `uses` is not empty.
        """
        advances = [
            ({"key_hash": key_hash}, to_micros(used_at)) for key_hash, used_at in uses.items()
        ]
        await self._backend.advance("api_keys_record_uses", API_KEYS, "last_used_at", advances)


@dataclass(frozen=True, slots=True)
class Stores:
    """All stores of one database."""

    accounts: AccountStore
    attempts: AttemptStore
    sessions: SessionStore
    recovery_codes: RecoveryCodeStore
    passkeys: PasskeyStore
    connections: ConnectionStore
    keys: ApiKeyStore


def build_stores(backend: Backend, attempts: AttemptStore) -> Stores:
    """Return all stores of a database."""
    return Stores(
        AccountStore(backend),
        attempts,
        SessionStore(backend),
        RecoveryCodeStore(backend),
        PasskeyStore(backend),
        ConnectionStore(backend),
        ApiKeyStore(backend),
    )


def _unchanged(account: Account) -> Where:
    """Return the query for an account if it is open and its session number is unchanged."""
    return {"id": account.id, "closed": False, "session": account.session}
