"""The stores of accounts and of what belongs to them, over a backend.

Every method raises Unavailable if the database cannot be reached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Generic

from services.auth.application.ports import (
    AttemptStore,
    Backend,
    Insert,
    Not,
    Position,
    Transaction,
    Update,
    Use,
    Where,
)
from services.auth.application.records import (
    ACCOUNTS,
    API_KEYS,
    CONNECTIONS,
    DECISIONS,
    INVITATIONS,
    PASSKEYS,
    RECOVERY_CODES,
    SESSIONS,
    Collection,
    Part,
    Record,
    T,
    decode,
    encode,
)
from services.auth.domain.account import Account, Role
from services.auth.domain.api_key import ApiKey
from services.auth.domain.connection import Connection
from services.auth.domain.decision import Decision
from services.auth.domain.errors import LastAdministrator
from services.auth.domain.invitation import MAX_INVITATIONS, Invitation
from services.auth.domain.passkey import Passkey
from services.auth.domain.recovery_code import RecoveryCode
from services.auth.domain.session import Session, start_of_hour
from services.shared.errors import AlreadyExists
from services.shared.timestamps import to_micros
from services.shared.unreadable_records import decode_each, decode_page_async

_REVOKED: list[tuple[Part[Any], Where]] = [(API_KEYS, {}), (PASSKEYS, {}), (CONNECTIONS, {})]
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

    async def add_connected(self, account: Account, connection: Connection) -> Account:
        """Do what `add` does, and store a connection with the account, in one transaction.

        The connection has the id that no other account's has.
        """

        def work(transaction: Transaction) -> Account:
            record = transaction.find_account({"email_key": account.email_key})
            if record:
                return decode(Account, record)
            _insert_account(transaction, account, connection)
            return account

        return await self._backend.transact("accounts_add_connected", work)

    async def add_invited(
        self,
        account: Account,
        token_hash: bytes,
        now: datetime,
        *,
        only_first: bool,
        connection: Connection | None = None,
    ) -> Account | None:
        """Use up an invitation and store an account with its role, in one transaction.

        With a connection, store it with the account, as `add_connected` does.

        With `only_first`, only the invitation of the first account counts. Return the account with
        the e-mail key, which may be another one: then the invitation stays. Return None, and change
        nothing, without a valid invitation for the account; but return an account with the same
        fields also then.
        """

        def work(transaction: Transaction) -> Account | None:
            record = transaction.find_account({"email_key": account.email_key})
            stored = decode(Account, record) if record else None
            if stored and stored.has_same_fields(account):
                return stored
            found = transaction.find(INVITATIONS, {"hash": token_hash})
            invitation = decode(Invitation, found) if found else None
            if (
                invitation is None
                or not invitation.admits(account.email_key, now)
                or (only_first and not invitation.is_first)
                or (invitation.is_first and transaction.has_accounts())
            ):
                return None
            if stored:
                return stored
            invited = replace(account, role=invitation.role)
            transaction.delete(INVITATIONS, {"id": invitation.id})
            _insert_account(transaction, invited, connection)
            return invited

        return await self._backend.transact("accounts_add_invited", work)

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
        delete all recovery codes. With `revoke`, also delete all API keys, passkeys and
        connections.

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

        It does not decode the account, so a damaged one is closed, too. Raises LastAdministrator.
        """
        name = "accounts_close"
        record = await self._backend.find_account(name, {"email_key": email_key})
        if record is None or not await self._close(name, {"id": record["id"]}):
            return None
        account_id: str = record["id"]
        return account_id

    async def close_in_session(self, account: Account) -> bool:
        """Close an account. Return False under the same conditions as `change_password`.

        Raises LastAdministrator.
        """
        return await self._close("accounts_close_in_session", _unchanged(account))

    async def _close(self, name: str, where: Where) -> bool:
        """Close the account that matches. Return whether there is one. `where` contains its id.

        Raises LastAdministrator.
        """
        closed = Update(fields={"closed": True})
        # One command on MongoDB. A process that is killed within a transaction leaves the account
        # locked for some seconds, so only administrators take one.
        member = {**where, "role": Not(Role.ADMINISTRATOR.value)}
        if await self._backend.update(name, member, closed):
            return True

        def work(transaction: Transaction) -> bool:
            record = transaction.find_account(where)
            if record is None:
                return False
            _keep_administrator(transaction, record)
            return transaction.update({"id": record["id"]}, closed)

        return await self._backend.transact(name, work)

    async def change(
        self,
        account_id: str,
        suspended: bool | None,
        role: Role | None,
        decisions: Mapping[str, Decision],
    ) -> Account | None:
        """Suspend or resume an open account, or set its role, and store the decisions for it.

        None leaves that as it is. `decisions` has one for each field that may change, by its name;
        those of fields that already have the value are not stored. Suspending ends all sessions.

        Return the changed account, None if there is none. Raises LastAdministrator.
        """
        given: dict[str, Any] = {"suspended": suspended, "role": role}

        def work(transaction: Transaction) -> Account | None:
            record = transaction.find_account({"id": account_id, "closed": False})
            if record is None:
                return None
            account = decode(Account, record)
            changes = {
                name: value
                for name, value in given.items()
                if value is not None and value != getattr(account, name)
            }
            changed = replace(account, **changes)
            if account.administers and not changed.administers:
                _keep_administrator(transaction, record)
            if changes:
                is_ending = changed.suspended and not account.suspended
                fields = encode(changed)
                update = Update(
                    fields={name: fields[name] for name in changes},
                    increments_session=is_ending,
                    delete=[(SESSIONS, {})] if is_ending else [],
                )
                transaction.update({"id": account_id}, update)
            for name in changes:
                transaction.insert(DECISIONS, encode(decisions[name]))
            return changed

        return await self._backend.transact("accounts_change", work)

    async def list_page(self, text: str, after: Position | None, limit: int) -> list[Account]:
        """Return up to `limit` open accounts whose e-mail key contains a text, newest first.

        `after` is the position of the last account of the page before.
        """
        return await _list_page(self._backend, ACCOUNTS, {"closed": False}, text, after, limit)

    async def count(self) -> int:
        """Return about how many accounts there are, with closed ones."""
        return await self._backend.count("accounts_count", ACCOUNTS)

    async def list_closed(self, limit: int) -> list[str]:
        """Return the ids of any `limit` closed accounts."""
        return await self._backend.list_closed("accounts_list_closed", limit)

    async def remove(self, account_id: str) -> None:
        """Delete the account with this id, and everything that belongs to it, if it is closed."""
        await self._backend.delete_closed("accounts_remove", account_id)

    async def _find(self, name: str, where: Where) -> Account | None:
        record = await self._backend.find_account(name, where)
        return decode(Account, record) if record else None


def _insert_account(
    transaction: Transaction, account: Account, connection: Connection | None
) -> None:
    transaction.insert_account(encode(account))
    if connection is not None:
        insert = Insert(CONNECTIONS, [encode(connection)])
        if not transaction.update({"id": account.id}, Update(insert=insert)):
            raise AlreadyExists("The connection belongs to another account.")


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

        Return False, and change nothing, if the account is closed, suspended or does not exist, or
        if its password differs from `account`.
        """
        unchanged = {
            "id": account.id,
            "closed": False,
            "suspended": Not(True),
            "password_hash": account.password_hash,
        }
        now = to_micros(session.created_at)
        update = Update(
            fields={"last_seen_at": to_micros(session.last_seen_at)},
            insert=Insert(SESSIONS, [encode(session)], max_records=limit, expired_at=now),
        )
        return await self._backend.update("sessions_add", unchanged, update)

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

    async def delete_all(self, account_id: str, decision: Decision) -> bool:
        """Delete all sessions of an open account, increment its session number, store the decision.

        Return False, and change nothing, if there is no such account.
        """
        update = Update(increments_session=True, delete=[(SESSIONS, {})])
        return await _decide(self._backend, "sessions_delete_all", account_id, update, decision)

    async def confirm(self, account_id: str, session_id: str, now: datetime) -> bool:
        """Store that a session was confirmed. Return False if it is not stored any more."""
        return await self._backend.set_fields(
            "sessions_confirm",
            SESSIONS,
            account_id,
            {"id": session_id},
            {"confirmed_at": to_micros(now)},
        )

    async def record_uses(self, uses: Mapping[tuple[str, str], datetime]) -> None:
        """Advance the last use of sessions, by the ids of account and session, and that of their
        accounts, in one command or transaction.

        A session that was used later, or is deleted, stays as it is. `uses` is not empty.
        """
        used = [
            _use({"account_id": account_id, "id": session_id}, seen_at)
            for (account_id, session_id), seen_at in uses.items()
        ]
        await self._backend.advance("sessions_record_uses", SESSIONS, "last_seen_at", used)


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

    async def put_expiring(
        self, account_id: str, code: RecoveryCode, decision: Decision | None = None
    ) -> bool:
        """Replace the expiring code of an account, and store the decision for it.

        Return False, and change nothing, if the account is closed or does not exist.
        """
        name = "recovery_codes_put_expiring"
        update = Update(delete=[_EXPIRING_CODES], insert=Insert(RECOVERY_CODES, [encode(code)]))
        if decision is None:
            return await self._backend.update(name, _is_open(account_id), update)
        return await _decide(self._backend, name, account_id, update, decision)

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
        expiring. With `revoke`, delete all API keys, passkeys and connections, too.

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
        return await self._backend.update("recovery_codes_spend", _is_open(account_id), update)


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
        """Advance the last use of keys, by their hash, and that of their accounts, in one command
        or transaction.

        A key that was used later, or is deleted, stays as it is. `uses` is not empty.
        """
        used = [_use({"key_hash": key_hash}, used_at) for key_hash, used_at in uses.items()]
        await self._backend.advance("api_keys_record_uses", API_KEYS, "last_used_at", used)


class InvitationStore:
    """Stores the hashes of invitations that are not used. `AccountStore.add_invited` uses them."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def add(self, invitation: Invitation, decision: Decision) -> bool:
        """Store an invitation and the decision for it. Delete expired invitations.

        Return False, and store nothing, if there are `MAX_INVITATIONS` already.
        """

        def work(transaction: Transaction) -> bool:
            transaction.delete_expired(INVITATIONS, to_micros(invitation.created_at))
            if transaction.count(INVITATIONS) >= MAX_INVITATIONS:
                return False
            transaction.insert(INVITATIONS, encode(invitation))
            transaction.insert(DECISIONS, encode(decision))
            return True

        return await self._backend.transact("invitations_add", work)

    async def replace_first(self, invitation: Invitation) -> bool:
        """Replace the invitation for the first account. Return False if there is any account."""

        def work(transaction: Transaction) -> bool:
            transaction.delete(INVITATIONS, {"is_first": True})
            if transaction.has_accounts():
                return False
            transaction.insert(INVITATIONS, encode(invitation))
            return True

        return await self._backend.transact("invitations_replace_first", work)

    async def list_all(self) -> list[Invitation]:
        """Return all invitations but that of the first account, newest first.

        Some may be expired.
        """
        limit = MAX_INVITATIONS
        return await _list_page(self._backend, INVITATIONS, {"is_first": False}, "", None, limit)

    async def delete(self, invitation_id: str) -> bool:
        """Delete an invitation. Return whether there was one."""
        return await self._backend.transact(
            "invitations_delete",
            lambda transaction: transaction.delete(INVITATIONS, {"id": invitation_id}),
        )


class DecisionStore:
    """Stores decisions about accounts. They are written with what they decide."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def list_page(self, text: str, after: Position | None, limit: int) -> list[Decision]:
        """Return up to `limit` decisions whose `search_text` contains a text, newest first.

        `after` is the position of the last decision of the page before.
        """
        return await _list_page(self._backend, DECISIONS, {}, text, after, limit)


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
    invitations: InvitationStore
    decisions: DecisionStore


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
        InvitationStore(backend),
        DecisionStore(backend),
    )


def _unchanged(account: Account) -> Where:
    """Return the query for an account if it is open and its session number is unchanged."""
    return {"id": account.id, "closed": False, "session": account.session}


def _is_open(account_id: str) -> Where:
    return {"id": account_id, "closed": False}


def _use(where: Where, at: datetime) -> Use:
    return Use(where, to_micros(at), to_micros(start_of_hour(at)))


async def _decide(
    backend: Backend, name: str, account_id: str, update: Update, decision: Decision
) -> bool:
    """Change an open account and store the decision for it. Return False if there is none."""

    def work(transaction: Transaction) -> bool:
        if not transaction.update(_is_open(account_id), update):
            return False
        transaction.insert(DECISIONS, encode(decision))
        return True

    return await backend.transact(name, work)


def _keep_administrator(transaction: Transaction, record: Record) -> None:
    """Raise LastAdministrator if an account, whose record may be damaged, is the last one.

    Call it before an account ceases to administer.
    """
    administers = record.get("role") == Role.ADMINISTRATOR.value and not (
        record.get("suspended") or record.get("closed")
    )
    if administers and not transaction.has_other_administrator(record["id"]):
        raise LastAdministrator


async def _list_page(
    backend: Backend,
    collection: Collection[T],
    where: Where,
    text: str,
    after: Position | None,
    limit: int,
) -> list[T]:
    async def read(wanted: int) -> Sequence[Record]:
        name = f"{collection.name}_list_page"
        return await backend.list_page(name, collection, where, text, after, wanted)

    return await decode_page_async(
        collection.kind,
        read,
        limit,
        partial(decode, collection.entity),
        lambda record: record.get("id"),
    )
