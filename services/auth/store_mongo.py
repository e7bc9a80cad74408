"""Accounts and counted attempts in a MongoDB database.

    accounts  _id (the account's id), email, email_key (unique), username, password_hash, salt,
              created_at, closed, session (not there before the first change of the password)
    attempts  _id (the key), count, window_ends, tidied_at (when the server may clear it away)

Moments are microseconds since the Unix epoch: a date of MongoDB has milliseconds.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from pymongo import IndexModel
from pymongo.errors import DuplicateKeyError

from services.auth.domain import Account
from services.auth.store import Attempt
from services.runtime.errors import Unavailable
from services.runtime.moments import CLOCK_LEEWAY, micros_of, moment_of
from services.runtime.mongo import Database, Document, Schema

SCHEMA: Schema = (
    {
        "accounts": [IndexModel("email_key", name="accounts_by_email_key", unique=True)],
        "attempts": [IndexModel("tidied_at", name="attempts_tidied", expireAfterSeconds=0)],
    },
    {
        "accounts": [
            IndexModel("closed", name="accounts_closed", partialFilterExpression={"closed": True})
        ],
    },
)

_TIDIED_AFTER = timedelta(hours=1)
"""A window that ended is kept for so long, whatever the server's clock says."""
_TURNS = 200
"""How often others may be faster before an attempt is given up."""


class MongoAccountStore:
    """The `AccountStore` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, account: Account) -> Account:
        new = _document(account)
        same_email = {"email_key": account.email_key}
        try:
            await self._database.write("accounts_add", lambda db: db.accounts.insert_one(new))
        except DuplicateKeyError:
            return _account(
                await self._database.read_held(
                    "accounts_held", lambda db: db.accounts.find_one(same_email)
                )
            )
        return account

    async def by_email(self, email_key: str) -> Account | None:
        found = await self._database.read(
            "accounts_by_email", lambda db: db.accounts.find_one({"email_key": email_key})
        )
        return _account(found) if found else None

    async def rekey(self, account: Account, email_key: str) -> bool:
        query = {"_id": account.id, "email_key": account.email_key}
        change = {"$set": {"email_key": email_key}}
        try:
            changed = await self._database.write(
                "accounts_rekey", lambda db: db.accounts.update_one(query, change)
            )
        except DuplicateKeyError:
            return False
        return changed.matched_count == 1

    async def by_id(self, account_id: str) -> Account | None:
        found = await self._database.read(
            "accounts_by_id", lambda db: db.accounts.find_one({"_id": account_id})
        )
        return _account(found) if found else None

    async def session(self, account_id: str) -> int | None:
        found = await self._database.read(
            "accounts_session",
            lambda db: db.accounts.find_one({"_id": account_id}, {"closed": 1, "session": 1}),
        )
        return None if found is None or found["closed"] else _session(found)

    async def change_password(self, account: Account, password_hash: str, salt: str) -> bool:
        changed = {"password_hash": password_hash, "salt": salt, "session": account.session + 1}
        return await self._update("accounts_change_password", account, {"$set": changed})

    async def close(self, email_key: str) -> str | None:
        closed = await self._database.write(
            "accounts_close",
            lambda db: db.accounts.find_one_and_update(
                {"email_key": email_key}, {"$set": {"closed": True}}, {"_id": 1}
            ),
        )
        if closed is None:
            return None
        account_id: str = closed["_id"]
        return account_id

    async def close_as_read(self, account: Account) -> bool:
        change = {"$set": {"closed": True}}
        return await self._update("accounts_close_as_read", account, change)

    async def closed(self, most: int) -> list[str]:
        found = await self._database.read(
            "accounts_closed",
            lambda db: db.accounts.find(
                {"closed": True}, {"_id": 1}, limit=most, batch_size=most
            ).to_list(None),
        )
        return [document["_id"] for document in found]

    async def remove(self, account_id: str) -> None:
        query = {"_id": account_id, "closed": True}
        await self._database.write("accounts_remove", lambda db: db.accounts.delete_one(query))

    async def _update(self, name: str, account: Account, change: Document) -> bool:
        """Change an account that is open and in the session it was read in."""
        # None finds the documents without the field, too.
        session = account.session or None
        as_read = {"_id": account.id, "closed": False, "session": session}
        updated = await self._database.write(
            name, lambda db: db.accounts.update_one(as_read, change)
        )
        return updated.matched_count == 1


class MongoAttemptStore:
    """The `AttemptStore` of a MongoDB database.

    An attempt is taken by one update whose condition is the window that was read; where somebody
    was faster, it is read again.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, key: str, limit: int, window: timedelta, now: datetime) -> Attempt:
        latest = micros_of(now + window + CLOCK_LEEWAY)
        for _ in range(_TURNS):
            held = await self._database.read(
                "attempts_read", lambda db: db.attempts.find_one({"_id": key})
            )
            if held is None:
                ends, taken = now + window, await self._begin(key, now + window)
            elif held["count"] <= 0 or not micros_of(now) < held["window_ends"] <= latest:
                ends, taken = now + window, await self._begin_again(held, now + window)
            elif held["count"] >= limit:
                return Attempt(False, moment_of(held["window_ends"]))
            else:
                ends, taken = moment_of(held["window_ends"]), await self._go_on(held, limit)
            if taken:
                return Attempt(True, ends)
        raise Unavailable("Too many attempts at once.", "STORE_OVERLOADED")

    async def give_back(self, key: str, window_ends: datetime) -> None:
        window = {"_id": key, "window_ends": micros_of(window_ends)}
        await self._update({**window, "count": {"$gt": 0}}, {"$inc": {"count": -1}})
        none_left = {**window, "count": {"$lte": 0}}
        await self._database.write("attempts_end", lambda db: db.attempts.delete_one(none_left))

    async def _begin(self, key: str, ends: datetime) -> bool:
        new = {"_id": key, **_window(ends)}
        try:
            await self._database.write("attempts_begin", lambda db: db.attempts.insert_one(new))
        except DuplicateKeyError:
            return False
        return True

    async def _begin_again(self, held: Document, ends: datetime) -> bool:
        as_read = {name: held[name] for name in ("_id", "window_ends", "count")}
        return await self._update(as_read, {"$set": _window(ends)})

    async def _go_on(self, held: Document, limit: int) -> bool:
        window = {"_id": held["_id"], "window_ends": held["window_ends"]}
        open_still = {**window, "count": {"$gt": 0, "$lt": limit}}
        return await self._update(open_still, {"$inc": {"count": 1}})

    async def _update(self, query: Document, change: Document) -> bool:
        updated = await self._database.write(
            "attempts_update", lambda db: db.attempts.update_one(query, change)
        )
        return updated.matched_count == 1


def _window(ends: datetime) -> Document:
    """A window with its first attempt."""
    return {"count": 1, "window_ends": micros_of(ends), "tidied_at": ends + _TIDIED_AFTER}


def _document(account: Account) -> Document:
    """A new account: its session is 0, which is not written."""
    return {
        "_id": account.id,
        "email": account.email,
        "email_key": account.email_key,
        "username": account.username,
        "password_hash": account.password_hash,
        "salt": account.salt,
        "created_at": micros_of(account.created_at),
        "closed": account.closed,
    }


def _account(document: Document) -> Account:
    return Account(
        id=document["_id"],
        email=document["email"],
        email_key=document["email_key"],
        username=document["username"],
        password_hash=document["password_hash"],
        salt=document["salt"],
        created_at=moment_of(document["created_at"]),
        closed=document["closed"],
        session=_session(document),
    )


def _session(document: Document) -> int:
    session: int = document.get("session", 0)
    return session
