"""The MongoDB backend of the auth stores.

The document of an account contains its records, so every operation is one command, and none needs a
transaction. An `Update` is an aggregation pipeline. Its query contains the conditions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from pymongo import ReturnDocument, UpdateOne
from pymongo.errors import DuplicateKeyError

from services.auth.application.ports import Not, Update, Where
from services.auth.application.records import SESSIONS, Part, Record
from services.auth.application.stores import Stores, build_stores
from services.auth.domain.account import Account
from services.auth.storage.mongo.attempts import MongoAttemptStore
from services.shared.mongo import Database, Document

_ACCOUNT_FIELDS = {field.name: 1 for field in dataclasses.fields(Account) if field.name != "id"}
"""The projection of an account without its records. It always contains `_id`."""


def open_stores(database: Database) -> Stores:
    """Return the auth stores in a MongoDB database."""
    return build_stores(MongoBackend(database), MongoAttemptStore(database))


class MongoBackend:
    """A MongoDB database. Implements `ports.Backend`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def insert(self, name: str, account: Record) -> Record:
        new = _to_document(account)
        del new["email_key"]  # The upsert takes it from the query.
        stored = await self._database.write(
            name,
            lambda db: db.accounts.find_one_and_update(
                {"email_key": account["email_key"]},
                {"$setOnInsert": new},
                _ACCOUNT_FIELDS,
                upsert=True,
                return_document=ReturnDocument.AFTER,
            ),
        )
        return _to_account(stored)

    async def find_account(self, name: str, where: Where) -> Record | None:
        document = await self._database.read(
            name, lambda db: db.accounts.find_one(_to_document(where), _ACCOUNT_FIELDS)
        )
        return _to_account(document) if document else None

    async def find(self, name: str, part: Part[Any], where: Where) -> tuple[Record, Record] | None:
        wanted = {field: value for field, value in where.items() if field != "account_id"}
        projection = {**_ACCOUNT_FIELDS, part.name: {"$elemMatch": wanted}}
        document = await self._database.read(
            name, lambda db: db.accounts.find_one(_record_query(part, where), projection)
        )
        if document is None:
            return None
        (record,) = document[part.name]
        return record, _to_account(document)

    async def list_all(self, name: str, part: Part[Any], account_id: str) -> list[Record]:
        document = await self._database.read(
            name, lambda db: db.accounts.find_one({"_id": account_id}, {part.name: 1})
        )
        records: list[Record] = document.get(part.name, []) if document else []
        return records

    async def list_closed(self, name: str, limit: int) -> list[str]:
        documents = await self._database.read(
            name,
            lambda db: db.accounts.find(
                {"closed": True}, {"_id": 1}, limit=limit, batch_size=limit
            ).to_list(None),
        )
        return [document["_id"] for document in documents]

    async def close(self, name: str, email_key: str) -> str | None:
        document = await self._database.write(
            name,
            lambda db: db.accounts.find_one_and_update(
                {"email_key": email_key}, {"$set": {"closed": True}}, {"_id": 1}
            ),
        )
        return str(document["_id"]) if document else None

    async def delete_closed(self, name: str, account_id: str) -> None:
        query = {"_id": account_id, "closed": True}
        await self._database.write(name, lambda db: db.accounts.delete_one(query))

    async def update(self, name: str, account: Where, update: Update) -> bool:
        query, pipeline = _query(account, update), _pipeline(update)
        try:
            updated = await self._database.write(
                name, lambda db: db.accounts.update_one(query, pipeline)
            )
        except DuplicateKeyError:
            if update.insert and update.insert.part.has_unique_ids:
                return False
            raise
        return updated.matched_count == 1

    async def delete_other_sessions(self, name: str, account: Where, session_id: str) -> int | None:
        pipeline = [
            *_pipeline(Update(delete=[(SESSIONS, {"id": Not(session_id)})])),
            # The first stage left one session, or none.
            {"$set": {"session": {"$add": ["$session", {"$size": "$sessions"}]}}},
        ]
        before = await self._database.write(
            name,
            lambda db: db.accounts.find_one_and_update(
                _to_document(account), pipeline, {"sessions.id": 1}
            ),
        )
        if before is None:
            return None
        ids = [session.get("id") for session in before.get("sessions", [])]
        return len(ids) - ids.count(session_id)

    async def set_fields(
        self, name: str, part: Part[Any], account_id: str, where: Where, values: Record
    ) -> bool:
        query = _record_query(part, {"account_id": account_id, **where})
        changes = {f"{part.name}.$.{field}": value for field, value in values.items()}
        updated = await self._database.write(
            name, lambda db: db.accounts.update_one(query, {"$set": changes})
        )
        return updated.matched_count == 1

    async def advance(
        self, name: str, part: Part[Any], field: str, uses: Sequence[tuple[Where, int]]
    ) -> None:
        updates = [
            UpdateOne(_record_query(part, where), {"$max": {f"{part.name}.$.{field}": number}})
            for where, number in uses
        ]
        await self._database.write(name, lambda db: db.accounts.bulk_write(updates, ordered=False))


def _to_document(account: Where) -> Document:
    """Return an account, or the query for one, with the id in MongoDB's field."""
    return {"_id" if name == "id" else name: value for name, value in account.items()}


def _record_query(part: Part[Any], where: Where) -> Document:
    """Return the query for the account that has such a record, or any if nothing is asked of it.

    A single field is queried by its path, as the indexes of the collection name it.
    """
    query = {**where}
    account = {"_id": query.pop("account_id")} if "account_id" in query else {}
    if not query:
        return account | {f"{part.name}.0": {"$exists": True}}
    if len(query) == 1:
        return account | {f"{part.name}.{name}": value for name, value in query.items()}
    return account | {part.name: {"$elemMatch": query}}


def _query(account: Where, update: Update) -> Document:
    """Return the query for an account to which an update applies."""
    query = _to_document(account)
    if update.has:
        query |= _record_query(*update.has)
    if update.insert:
        part, records, limit, *_ = update.insert
        if limit is not None:
            query[f"{part.name}.{limit - 1}"] = {"$exists": False}
        if part.has_unique_ids:
            # The unique index does not compare the records of one account with each other.
            query[f"{part.name}.id"] = {"$nin": [record["id"] for record in records]}
    return query


def _pipeline(update: Update) -> list[Document]:
    fields = update.fields or {}
    changes: Document = {name: {"$literal": value} for name, value in fields.items()}
    if update.increments_session:
        changes["session"] = {"$add": ["$session", 1]}
    for part, where in update.delete:
        stored = changes.get(part.name, _stored(part))
        others = {"input": stored, "cond": {"$not": [_matches(where)]}}
        changes[part.name] = {"$filter": others}
    if update.insert:
        part, new, _, max_records, expired_at = update.insert
        records = changes.get(part.name, _stored(part))
        if expired_at is not None:
            is_valid = {"$gt": ["$$this.expires_at", expired_at]}
            records = {"$filter": {"input": records, "cond": is_valid}}
        records = {"$concatArrays": [records, {"$literal": new}]}
        if max_records is not None:
            records = {"$slice": [records, -max_records]}
        changes[part.name] = records
    return [{"$set": changes}]


def _stored(part: Part[Any]) -> Document:
    """Return the expression for the records of a part."""
    return {"$ifNull": [f"${part.name}", []]}


def _matches(where: Where) -> Document:
    """Return the expression for whether a record matches. Without conditions, each does."""
    tests = [
        {"$ne": [f"$$this.{name}", {"$literal": value.value}]}
        if isinstance(value, Not)
        else {"$eq": [f"$$this.{name}", {"$literal": value}]}
        for name, value in where.items()
    ]
    return {"$and": tests}


def _to_account(document: Document) -> Record:
    return {"id": document["_id"], **document}
