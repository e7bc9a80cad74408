"""Accounts and what belongs to them, and attempt counts, in a MongoDB database.

    accounts  _id (the account's id), email, email_key (unique), username, password_hash, salt,
              created_at, closed, session,
              api_keys: [{id, key_hash (unique), name, prefix, scopes, created_at, expires_at,
              last_used_at, created_by (if known: {id, created_at, browser, system})}],
              sessions: [{id, created_at, expires_at, last_seen_at, browser, system}], newest last,
              recovery_codes: [{hash, expires_at (of the operator's code, or null), created_at}],
              passkeys: [{id (unique), name, public_key, sign_count, created_at, last_used_at,
              created_by (as of api_keys)}]
    attempts  _id (the counter), count, window_ends, tidied_at (when the TTL index deletes it)

Timestamps are microseconds since the Unix epoch, because MongoDB's dates have only milliseconds.
`tidied_at` is a date, as TTL indexes require. Each command is atomic, so no method needs a
transaction. What belongs to an account is in its document: one command adds a key if there is room
for it, another spends a recovery code, sets the password and ends all sessions. A log-in deletes
expired sessions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime, timedelta

from pymongo import IndexModel, ReturnDocument, UpdateOne
from pymongo.errors import DuplicateKeyError

from services.auth.application.ports import AttemptResult
from services.auth.domain.account import Account
from services.auth.domain.api_key import ApiKey, Scope
from services.auth.domain.passkey import Passkey
from services.auth.domain.recovery_code import RecoveryCode
from services.auth.domain.session import Creator, Session
from services.shared.mongo import Database, Document, Schema
from services.shared.timestamps import CLOCK_LEEWAY, from_micros, to_micros
from services.shared.unreadable_records import decode_each

SCHEMA: Schema = (
    {
        "accounts": [
            IndexModel("email_key", name="accounts_by_email_key", unique=True),
            IndexModel("closed", name="accounts_closed", partialFilterExpression={"closed": True}),
        ],
        "attempts": [IndexModel("tidied_at", name="attempts_tidied", expireAfterSeconds=0)],
    },
    {
        "accounts": [
            IndexModel(
                "api_keys.key_hash",
                name="accounts_by_api_key",
                unique=True,
                partialFilterExpression={"api_keys.key_hash": {"$exists": True}},
            ),
        ],
    },
    {
        "accounts": [
            IndexModel(
                "passkeys.id",
                name="accounts_by_passkey",
                unique=True,
                partialFilterExpression={"passkeys.id": {"$exists": True}},
            ),
        ],
    },
)

_WITHOUT_PARTS = {"api_keys": 0, "sessions": 0, "recovery_codes": 0, "passkeys": 0}
_REVOKED: Document = {"api_keys": [], "passkeys": []}
"""The fields of an account whose API keys and passkeys were revoked."""
_SESSION_TIMES = ("created_at", "expires_at", "last_seen_at")
_KEY_TIMES = ("created_at", "expires_at", "last_used_at")
_PASSKEY_TIMES = ("created_at", "last_used_at")

_IS_OPERATORS = {"expires_at": {"$ne": None}}
"""The query for the code of the operator among the recovery codes."""

_DELETE_AFTER = timedelta(hours=1)
"""Time between the end of a window and its deletion. It exceeds the error of the server's clock."""


class MongoAccountStore:
    """An `AccountStore` in a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, account: Account) -> Account:
        new = _document(account)
        del new["email_key"]  # The upsert takes it from the query.
        stored = await self._database.write(
            "accounts_add",
            lambda db: db.accounts.find_one_and_update(
                {"email_key": account.email_key},
                {"$setOnInsert": new},
                _WITHOUT_PARTS,
                upsert=True,
                return_document=ReturnDocument.AFTER,
            ),
        )
        return _account(stored)

    async def by_email(self, email_key: str) -> Account | None:
        return await self._find("accounts_by_email", {"email_key": email_key})

    async def by_id(self, account_id: str) -> Account | None:
        return await self._find("accounts_by_id", {"_id": account_id})

    async def change_password(
        self, account: Account, password_hash: str, salt: str, session: Session, revoke: bool
    ) -> bool:
        changed = {
            "password_hash": password_hash,
            "salt": salt,
            "session": account.session + 1,
            "sessions": [_session_document(session)],
            "recovery_codes": [],
            **(_REVOKED if revoke else {}),
        }
        return await self._change("accounts_change_password", account, changed)

    async def close(self, email_key: str) -> str | None:
        closed = await self._database.write(
            "accounts_close",
            lambda db: db.accounts.find_one_and_update(
                {"email_key": email_key}, {"$set": {"closed": True}}, {"_id": 1}
            ),
        )
        return None if closed is None else str(closed["_id"])

    async def close_in_session(self, account: Account) -> bool:
        return await self._change("accounts_close_in_session", account, {"closed": True})

    async def list_closed(self, limit: int) -> list[str]:
        found = await self._database.read(
            "accounts_list_closed",
            lambda db: db.accounts.find(
                {"closed": True}, {"_id": 1}, limit=limit, batch_size=limit
            ).to_list(None),
        )
        return [document["_id"] for document in found]

    async def remove(self, account_id: str) -> None:
        query = {"_id": account_id, "closed": True}
        await self._database.write("accounts_remove", lambda db: db.accounts.delete_one(query))

    async def _find(self, name: str, query: Document) -> Account | None:
        found = await self._database.read(
            name, lambda db: db.accounts.find_one(query, _WITHOUT_PARTS)
        )
        return _account(found) if found else None

    async def _change(self, name: str, account: Account, changes: Document) -> bool:
        """Set fields of an account if it is open and its session number is unchanged."""
        changed = await self._database.write(
            name, lambda db: db.accounts.update_one(_unchanged(account), {"$set": changes})
        )
        return changed.matched_count == 1


class MongoAttemptStore:
    """An `AttemptStore` in a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def acquire(
        self, counter: str, limit: int, window: timedelta, now: datetime
    ) -> AttemptResult:
        start, end = to_micros(now), to_micros(now + window)
        latest = to_micros(now + window + CLOCK_LEEWAY)
        is_over = {
            "$or": [  # A new document has no count. MongoDB orders a missing value below numbers.
                {"$lte": ["$count", 0]},
                {"$lte": ["$window_ends", start]},
                {"$gt": ["$window_ends", latest]},
            ]
        }
        incremented = {"$cond": [{"$lt": ["$count", limit]}, {"$add": ["$count", 1]}, "$count"]}
        changes = {
            "count": {"$cond": [is_over, 1, incremented]},
            "window_ends": {"$cond": [is_over, end, "$window_ends"]},
            "tidied_at": {"$cond": [is_over, now + window + _DELETE_AFTER, "$tidied_at"]},
        }
        before = await self._database.write(
            "attempts_acquire",
            lambda db: db.attempts.find_one_and_update(
                {"_id": counter}, [{"$set": changes}], upsert=True
            ),
        )
        if before is None or before["count"] <= 0 or not start < before["window_ends"] <= latest:
            return AttemptResult(True, now + window)
        return AttemptResult(before["count"] < limit, from_micros(before["window_ends"]))

    async def release(self, counter: str, window_ends: datetime) -> None:
        window = {"_id": counter, "window_ends": to_micros(window_ends)}
        deleted = await self._database.write(
            "attempts_release", lambda db: db.attempts.delete_one({**window, "count": 1})
        )
        if deleted.deleted_count == 0:
            await self._database.write(
                "attempts_release",
                lambda db: db.attempts.update_one(
                    {**window, "count": {"$gt": 0}}, {"$inc": {"count": -1}}
                ),
            )


class MongoApiKeyStore:
    """An `ApiKeyStore` in a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, account: Account, key: ApiKey, limit: int) -> bool:
        has_room = {f"api_keys.{limit - 1}": {"$exists": False}}
        added = await self._database.write(
            "api_keys_add",
            lambda db: db.accounts.update_one(
                {**_unchanged(account), **has_room}, {"$push": {"api_keys": _key_document(key)}}
            ),
        )
        return added.matched_count == 1

    async def list_all(self, account_id: str) -> list[ApiKey]:
        found = await self._database.read(
            "api_keys_list",
            lambda db: db.accounts.find_one({"_id": account_id}, {"api_keys": 1}),
        )
        keys = found.get("api_keys", []) if found else []
        return list(
            decode_each("api_key", keys, lambda key: _key(key, account_id), lambda _: account_id)
        )

    async def find(self, key_hash: bytes) -> tuple[ApiKey, Account] | None:
        found = await self._database.read(
            "api_keys_find",
            lambda db: db.accounts.find_one({"api_keys.key_hash": key_hash}),
        )
        if found is None:
            return None
        account = _account(found)
        (key,) = (key for key in found["api_keys"] if key["key_hash"] == key_hash)
        return _key(key, account.id), account

    async def delete(self, account_id: str, key_id: str) -> bool:
        deleted = await self._database.write(
            "api_keys_delete",
            lambda db: db.accounts.update_one(
                {"_id": account_id, "api_keys.id": key_id}, {"$pull": {"api_keys": {"id": key_id}}}
            ),
        )
        return deleted.matched_count == 1

    async def record_uses(self, uses: Mapping[bytes, datetime]) -> None:
        updates = [
            UpdateOne(
                {"api_keys.key_hash": key_hash},
                {"$max": {"api_keys.$.last_used_at": to_micros(used_at)}},
            )
            for key_hash, used_at in uses.items()
        ]
        await self._database.write(
            "api_keys_record_uses",
            lambda db: db.accounts.bulk_write(updates, ordered=False),
        )


class MongoSessionStore:
    """A `SessionStore` in a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, account: Account, session: Session, limit: int) -> bool:
        document = _session_document(session)
        is_valid = {"$gt": ["$$one.expires_at", document["created_at"]]}
        valid = {
            "$filter": {"input": {"$ifNull": ["$sessions", []]}, "as": "one", "cond": is_valid}
        }
        sessions = {"$slice": [{"$concatArrays": [valid, [{"$literal": document}]]}, -limit]}
        added = await self._database.write(
            "sessions_add",
            lambda db: db.accounts.update_one(
                {"_id": account.id, "closed": False, "password_hash": account.password_hash},
                [{"$set": {"sessions": sessions}}],
            ),
        )
        return added.matched_count == 1

    async def find(self, account_id: str, session_id: str) -> tuple[Session, Account] | None:
        found = await self._database.read(
            "sessions_find",
            lambda db: db.accounts.find_one(
                {"_id": account_id},
                {
                    **dict.fromkeys((each.name for each in fields(Account)[1:]), 1),
                    "sessions": {"$elemMatch": {"id": session_id}},
                },
            ),
        )
        if found is None or not found.get("sessions"):
            return None
        return _session(found["sessions"][0], account_id), _account(found)

    async def list_all(self, account_id: str) -> list[Session]:
        found = await self._database.read(
            "sessions_list",
            lambda db: db.accounts.find_one({"_id": account_id}, {"sessions": 1}),
        )
        sessions = found.get("sessions", []) if found else []
        return list(
            decode_each(
                "session",
                sessions,
                lambda session: _session(session, account_id),
                lambda _: account_id,
            )
        )

    async def delete(self, account_id: str, session_id: str) -> bool:
        deleted = await self._database.write(
            "sessions_delete",
            lambda db: db.accounts.update_one(
                {"_id": account_id, "sessions.id": session_id},
                {"$pull": {"sessions": {"id": session_id}}},
            ),
        )
        return deleted.matched_count == 1

    async def delete_others(self, account: Account, session_id: str) -> int | None:
        stored = {"$ifNull": ["$sessions", []]}
        is_own = {"$eq": ["$$one.id", session_id]}
        own = {"$filter": {"input": stored, "as": "one", "cond": is_own}}
        before = await self._database.write(
            "sessions_delete_others",
            lambda db: db.accounts.find_one_and_update(
                _unchanged(account),
                [
                    {"$set": {"sessions": own}},
                    {"$set": {"session": {"$add": ["$session", {"$size": "$sessions"}]}}},
                ],
                {"sessions.id": 1},
            ),
        )
        if before is None:
            return None
        return sum(1 for one in before.get("sessions", []) if one["id"] != session_id)

    async def record_uses(self, uses: Mapping[tuple[str, str], datetime]) -> None:
        updates = [
            UpdateOne(
                {"_id": account_id, "sessions.id": session_id},
                {"$max": {"sessions.$.last_seen_at": to_micros(seen_at)}},
            )
            for (account_id, session_id), seen_at in uses.items()
        ]
        await self._database.write(
            "sessions_record_uses",
            lambda db: db.accounts.bulk_write(updates, ordered=False),
        )


class MongoRecoveryCodeStore:
    """A `RecoveryCodeStore` in a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def replace(
        self, account: Account, hashes: Sequence[bytes], created_at: datetime
    ) -> bool:
        created = {"expires_at": None, "created_at": to_micros(created_at)}
        codes = [{"hash": one, **created} for one in hashes]
        replaced = await self._database.write(
            "recovery_codes_replace",
            lambda db: db.accounts.update_one(
                _unchanged(account), {"$set": {"recovery_codes": codes}}
            ),
        )
        return replaced.matched_count == 1

    async def put_expiring(self, account_id: str, code: RecoveryCode) -> bool:
        document = {
            "hash": code.hash,
            "expires_at": _micros(code.expires_at),
            "created_at": _micros(code.created_at),
        }
        stored = {"$ifNull": ["$recovery_codes", []]}
        stays = {"$eq": ["$$one.expires_at", None]}
        others = {"$filter": {"input": stored, "as": "one", "cond": stays}}
        codes = {"$concatArrays": [others, [{"$literal": document}]]}
        put = await self._database.write(
            "recovery_codes_put_expiring",
            lambda db: db.accounts.update_one(
                {"_id": account_id, "closed": False}, [{"$set": {"recovery_codes": codes}}]
            ),
        )
        return put.matched_count == 1

    async def list_all(self, account_id: str) -> list[RecoveryCode]:
        found = await self._database.read(
            "recovery_codes_list",
            lambda db: db.accounts.find_one({"_id": account_id}, {"recovery_codes": 1}),
        )
        codes = found.get("recovery_codes", []) if found else []
        return list(decode_each("recovery_code", codes, _to_recovery_code, lambda _: account_id))

    async def spend(
        self,
        account_id: str,
        code: RecoveryCode,
        password_hash: str,
        salt: str,
        revoke: bool,
        now: datetime,
    ) -> bool:
        is_valid = [{"expires_at": None}, {"expires_at": {"$gt": to_micros(now)}}]
        valid = {"$elemMatch": {"hash": code.hash, "$or": is_valid}}
        deleted = {} if code.is_operators else {"$or": [{"hash": code.hash}, _IS_OPERATORS]}
        changed = {
            "password_hash": password_hash,
            "salt": salt,
            "sessions": [],
            **(_REVOKED if revoke else {}),
        }
        spent = await self._database.write(
            "recovery_codes_spend",
            lambda db: db.accounts.update_one(
                {"_id": account_id, "closed": False, "recovery_codes": valid},
                {
                    "$pull": {"recovery_codes": deleted},
                    "$set": changed,
                    "$inc": {"session": 1},
                },
            ),
        )
        return spent.matched_count == 1


class MongoPasskeyStore:
    """A `PasskeyStore` in a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, account: Account, passkey: Passkey, limit: int) -> bool:
        # The unique index does not compare the passkeys of one account with each other.
        is_new = {
            f"passkeys.{limit - 1}": {"$exists": False},
            "passkeys.id": {"$ne": passkey.id},
        }
        try:
            added = await self._database.write(
                "passkeys_add",
                lambda db: db.accounts.update_one(
                    {**_unchanged(account), **is_new},
                    {"$push": {"passkeys": _passkey_document(passkey)}},
                ),
            )
        except DuplicateKeyError:
            return False
        return added.matched_count == 1

    async def list_all(self, account_id: str) -> list[Passkey]:
        found = await self._database.read(
            "passkeys_list",
            lambda db: db.accounts.find_one({"_id": account_id}, {"passkeys": 1}),
        )
        passkeys = found.get("passkeys", []) if found else []
        return list(
            decode_each(
                "passkey",
                passkeys,
                lambda passkey: _passkey(passkey, account_id),
                lambda _: account_id,
            )
        )

    async def find(self, passkey_id: str) -> tuple[Passkey, Account] | None:
        found = await self._database.read(
            "passkeys_find", lambda db: db.accounts.find_one({"passkeys.id": passkey_id})
        )
        if found is None:
            return None
        account = _account(found)
        (passkey,) = (passkey for passkey in found["passkeys"] if passkey["id"] == passkey_id)
        return _passkey(passkey, account.id), account

    async def record_use(self, passkey: Passkey, sign_count: int, used_at: datetime) -> bool:
        used = {
            "passkeys.$.sign_count": sign_count,
            "passkeys.$.last_used_at": to_micros(used_at),
        }
        same = {"$elemMatch": {"id": passkey.id, "sign_count": passkey.sign_count}}
        recorded = await self._database.write(
            "passkeys_record_use",
            lambda db: db.accounts.update_one(
                {"_id": passkey.account_id, "passkeys": same}, {"$set": used}
            ),
        )
        return recorded.matched_count == 1

    async def delete(self, account_id: str, passkey_id: str) -> bool:
        deleted = await self._database.write(
            "passkeys_delete",
            lambda db: db.accounts.update_one(
                {"_id": account_id, "passkeys.id": passkey_id},
                {"$pull": {"passkeys": {"id": passkey_id}}},
            ),
        )
        return deleted.matched_count == 1


def _unchanged(account: Account) -> Document:
    """Return the query for an account if it is open and its session number is unchanged."""
    return {"_id": account.id, "closed": False, "session": account.session}


def _document(account: Account) -> Document:
    document = asdict(account)
    return {"_id": document.pop("id"), **document, "created_at": to_micros(account.created_at)}


def _account(document: Document) -> Account:
    """Decode an account. Ignores fields that a later version may have added."""
    values = {field.name: document[field.name] for field in fields(Account)[1:]}
    return Account(document["_id"], **{**values, "created_at": from_micros(document["created_at"])})


def _session_document(session: Session) -> Document:
    document = asdict(session)
    del document["account_id"]
    return document | {name: to_micros(document[name]) for name in _SESSION_TIMES}


def _session(document: Document, account_id: str) -> Session:
    """Decode a session. Ignores fields that a later version may have added."""
    values: Document = {each.name: document.get(each.name) for each in fields(Session)}
    values |= {name: from_micros(document[name]) for name in _SESSION_TIMES}
    return Session(**{**values, "account_id": account_id})


def _with_creator(document: Document, creator: Creator | None) -> Document:
    """Encode the session that created something, unless it is not known."""
    if creator is None:
        return {name: value for name, value in document.items() if name != "created_by"}
    encoded = {**asdict(creator), "created_at": to_micros(creator.created_at)}
    return {**document, "created_by": encoded}


def _creator(document: Document | None) -> Creator | None:
    """Decode the session that created something. Ignores fields of later versions."""
    if document is None:
        return None
    values = {each.name: document[each.name] for each in fields(Creator)}
    return Creator(**{**values, "created_at": from_micros(document["created_at"])})


def _key_document(key: ApiKey) -> Document:
    document = asdict(key)
    del document["account_id"]
    document |= {name: _micros(document[name]) for name in _KEY_TIMES}
    document |= {"scopes": [scope.value for scope in key.scopes]}
    return _with_creator(document, key.created_by)


def _key(document: Document, account_id: str) -> ApiKey:
    """Decode a key. Ignores fields and scopes that a later version may have added."""
    values: Document = {each.name: document.get(each.name) for each in fields(ApiKey)}
    values |= {name: _moment(values[name]) for name in _KEY_TIMES}
    values["scopes"] = tuple(scope for scope in Scope if scope.value in document["scopes"])
    values["created_by"] = _creator(values["created_by"])
    return ApiKey(**{**values, "account_id": account_id})


def _passkey_document(passkey: Passkey) -> Document:
    document = asdict(passkey)
    del document["account_id"]
    document |= {name: _micros(document[name]) for name in _PASSKEY_TIMES}
    return _with_creator(document, passkey.created_by)


def _passkey(document: Document, account_id: str) -> Passkey:
    """Decode a passkey. Ignores fields that a later version may have added."""
    values: Document = {each.name: document.get(each.name) for each in fields(Passkey)}
    values |= {name: _moment(values[name]) for name in _PASSKEY_TIMES}
    values["created_by"] = _creator(values["created_by"])
    return Passkey(**{**values, "account_id": account_id})


def _to_recovery_code(code: Document) -> RecoveryCode:
    return RecoveryCode(code["hash"], _moment(code["expires_at"]), _moment(code.get("created_at")))


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
