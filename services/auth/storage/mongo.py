"""Accounts and counted attempts in a MongoDB database.

    accounts  _id (the account's id), email, email_key (unique), username, password_hash, salt,
              created_at, closed, session
    attempts  _id (the key), count, window_ends, tidied_at (when the server may clear it away)

Moments are microseconds since the Unix epoch: a date of MongoDB has milliseconds. Each method is
one command, which MongoDB applies whole or not at all.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from datetime import datetime, timedelta

from pymongo import IndexModel, ReturnDocument

from services.auth.application.ports import Attempt
from services.auth.domain.account import Account
from services.shared.mongo import Database, Document, Schema
from services.shared.timestamps import CLOCK_LEEWAY, micros_of, moment_of

SCHEMA: Schema = (
    {
        "accounts": [
            IndexModel("email_key", name="accounts_by_email_key", unique=True),
            IndexModel("closed", name="accounts_closed", partialFilterExpression={"closed": True}),
        ],
        "attempts": [IndexModel("tidied_at", name="attempts_tidied", expireAfterSeconds=0)],
    },
)

_TIDIED_AFTER = timedelta(hours=1)
"""A window that ended is kept for so long, whatever the server's clock says."""


class MongoAccountStore:
    """The `AccountStore` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, account: Account) -> Account:
        new = _document(account)
        del new["email_key"]  # The upsert takes it from the query.
        held = await self._database.write(
            "accounts_add",
            lambda db: db.accounts.find_one_and_update(
                {"email_key": account.email_key},
                {"$setOnInsert": new},
                upsert=True,
                return_document=ReturnDocument.AFTER,
            ),
        )
        return _account(held)

    async def by_email(self, email_key: str) -> Account | None:
        return await self._find("accounts_by_email", {"email_key": email_key})

    async def by_id(self, account_id: str) -> Account | None:
        return await self._find("accounts_by_id", {"_id": account_id})

    async def change_password(self, account: Account, password_hash: str, salt: str) -> bool:
        changed = {"password_hash": password_hash, "salt": salt, "session": account.session + 1}
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

    async def closed(self, limit: int) -> list[str]:
        found = await self._database.read(
            "accounts_closed",
            lambda db: db.accounts.find(
                {"closed": True}, {"_id": 1}, limit=limit, batch_size=limit
            ).to_list(None),
        )
        return [document["_id"] for document in found]

    async def remove(self, account_id: str) -> None:
        query = {"_id": account_id, "closed": True}
        await self._database.write("accounts_remove", lambda db: db.accounts.delete_one(query))

    async def _find(self, name: str, query: Document) -> Account | None:
        found = await self._database.read(name, lambda db: db.accounts.find_one(query))
        return _account(found) if found else None

    async def _change(self, name: str, account: Account, changes: Document) -> bool:
        """Set fields of an account that is open and in the session in which it was read."""
        as_read = {"_id": account.id, "closed": False, "session": account.session}
        changed = await self._database.write(
            name, lambda db: db.accounts.update_one(as_read, {"$set": changes})
        )
        return changed.matched_count == 1


class MongoAttemptStore:
    """The `AttemptStore` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, key: str, limit: int, window: timedelta, now: datetime) -> Attempt:
        first, ends = micros_of(now), micros_of(now + window)
        latest = micros_of(now + window + CLOCK_LEEWAY)
        is_over = {
            "$or": [  # A document that is not there yet has no count, which is below any number.
                {"$lte": ["$count", 0]},
                {"$lte": ["$window_ends", first]},
                {"$gt": ["$window_ends", latest]},
            ]
        }
        goes_on = {"$cond": [{"$lt": ["$count", limit]}, {"$add": ["$count", 1]}, "$count"]}
        taken = {
            "count": {"$cond": [is_over, 1, goes_on]},
            "window_ends": {"$cond": [is_over, ends, "$window_ends"]},
            "tidied_at": {"$cond": [is_over, now + window + _TIDIED_AFTER, "$tidied_at"]},
        }
        before = await self._database.write(
            "attempts_take",
            lambda db: db.attempts.find_one_and_update(
                {"_id": key}, [{"$set": taken}], upsert=True
            ),
        )
        if before is None or before["count"] <= 0 or not first < before["window_ends"] <= latest:
            return Attempt(True, now + window)
        return Attempt(before["count"] < limit, moment_of(before["window_ends"]))

    async def give_back(self, key: str, window_ends: datetime) -> None:
        window = {"_id": key, "window_ends": micros_of(window_ends)}
        last = await self._database.write(
            "attempts_end", lambda db: db.attempts.delete_one({**window, "count": 1})
        )
        if last.deleted_count == 0:
            await self._database.write(
                "attempts_give_back",
                lambda db: db.attempts.update_one(
                    {**window, "count": {"$gt": 0}}, {"$inc": {"count": -1}}
                ),
            )


def _document(account: Account) -> Document:
    document = asdict(account)
    return {"_id": document.pop("id"), **document, "created_at": micros_of(account.created_at)}


def _account(document: Document) -> Account:
    """The account of a document, which may have fields that only a later version knows."""
    values = {field.name: document[field.name] for field in fields(Account)[1:]}
    return Account(document["_id"], **{**values, "created_at": moment_of(document["created_at"])})
