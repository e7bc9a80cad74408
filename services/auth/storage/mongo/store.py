"""The MongoDB backend of the auth stores.

The document of an account contains its records, so most operations are one command. Only those that
also concern other documents are transactions. An `Update` is an aggregation pipeline. Its query
contains the conditions.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any

from pymongo import DESCENDING, ReturnDocument, UpdateOne
from pymongo.errors import DuplicateKeyError

from services.auth.application.ports import Not, Position, T, Transaction, Update, Use, Where
from services.auth.application.records import ACCOUNTS, SESSIONS, Collection, Part, Record
from services.auth.application.stores import Stores, build_stores
from services.auth.domain.account import Account
from services.auth.storage.mongo.attempts import MongoAttemptStore
from services.shared.mongo import Database, Document
from services.shared.mongo.transactions import Transaction as MongoTransaction

_ACCOUNT_FIELDS = {field.name: 1 for field in dataclasses.fields(Account) if field.name != "id"}
"""The projection of an account without its records. It always contains `_id`."""
_MAX_ATTEMPTS = 3
"""How often a transaction runs whose insertions lose against concurrent ones."""


def open_stores(database: Database) -> Stores:
    """Return the auth stores in a MongoDB database."""
    return build_stores(MongoBackend(database), MongoAttemptStore(database))


class MongoBackend:
    """A MongoDB database. Implements `ports.Backend`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def transact(self, name: str, work: Callable[[Transaction], T]) -> T:
        def run(transaction: MongoTransaction) -> T:
            return work(_Transaction(transaction))

        for _ in range(_MAX_ATTEMPTS - 1):
            try:
                return await self._database.transaction(name, run)
            except DuplicateKeyError:  # Another transaction was faster: the next one sees it.
                continue
        return await self._database.transaction(name, run)

    async def list_page(
        self,
        name: str,
        collection: Collection[Any],
        where: Where,
        text: str,
        after: Position | None,
        limit: int,
    ) -> list[Record]:
        query = _to_document(where)
        if text:
            query[collection.searched] = {"$regex": re.escape(text)}
            # With a bound of its first field, the server compares the index with the text. Without
            # one, it would use the index for the order only, and read every record.
            query[collection.time] = {"$gte": 0}
        if after:
            query[collection.time] = {"$lte": after.micros}
            query["$or"] = [
                {collection.time: {"$lt": after.micros}},
                {collection.time: after.micros, "_id": {"$lt": after.id}},
            ]
        order = [(collection.time, DESCENDING), ("_id", DESCENDING)]
        documents = await self._database.read(
            name,
            lambda db: (
                db[collection.name]
                .find(query, _ACCOUNT_FIELDS if collection is ACCOUNTS else None)
                .sort(order)
                .limit(limit)
                .to_list(None)
            ),
        )
        return [_to_record(document) for document in documents]

    async def count(self, name: str, collection: Collection[Any]) -> int:
        count: int = await self._database.read(
            name, lambda db: db[collection.name].estimated_document_count()
        )
        return count

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
        return _to_record(stored)

    async def find_account(self, name: str, where: Where) -> Record | None:
        document = await self._database.read(
            name, lambda db: db.accounts.find_one(_to_document(where), _ACCOUNT_FIELDS)
        )
        return _to_record(document) if document else None

    async def find(self, name: str, part: Part[Any], where: Where) -> tuple[Record, Record] | None:
        wanted = {field: value for field, value in where.items() if field != "account_id"}
        projection = {**_ACCOUNT_FIELDS, part.name: {"$elemMatch": wanted}}
        document = await self._database.read(
            name, lambda db: db.accounts.find_one(_record_query(part, where), projection)
        )
        if document is None:
            return None
        (record,) = document[part.name]
        return record, _to_record(document)

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
            if _inserts_unique_ids(update):
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

    async def advance(self, name: str, part: Part[Any], field: str, uses: Sequence[Use]) -> None:
        updates = [
            UpdateOne(
                _record_query(part, where),
                {"$max": {f"{part.name}.$.{field}": at, "last_seen_at": hour}},
            )
            for where, at, hour in uses
        ]
        await self._database.write(name, lambda db: db.accounts.bulk_write(updates, ordered=False))


class _Transaction:
    """A transaction on a MongoDB database. Implements `ports.Transaction`."""

    def __init__(self, transaction: MongoTransaction) -> None:
        self._db = transaction.db
        self._session = transaction.session

    def find_account(self, where: Where) -> Record | None:
        document = self._db.accounts.find_one(
            _to_document(where), _ACCOUNT_FIELDS, session=self._session
        )
        return _to_record(document) if document else None

    def has_accounts(self) -> bool:
        return self._db.accounts.find_one({}, {"_id": 1}, session=self._session) is not None

    def insert_account(self, account: Record) -> None:
        self._db.accounts.insert_one(_to_document(account), session=self._session)

    def update(self, account: Where, update: Update) -> bool:
        query, pipeline = _query(account, update), _pipeline(update)
        try:
            updated = self._db.accounts.update_one(query, pipeline, session=self._session)
        except DuplicateKeyError:
            if _inserts_unique_ids(update):
                return False
            raise
        return updated.matched_count == 1

    def has_other_administrator(self, account_id: str) -> bool:
        # Two transactions that only read each other's account would not conflict.
        self._db.marks.update_one(
            {"_id": "administrators"}, {"$inc": {"mark": 1}}, upsert=True, session=self._session
        )
        query = {
            "role": "administrator",
            "suspended": {"$ne": True},
            "closed": False,
            "_id": {"$ne": account_id},
        }
        return self._db.accounts.find_one(query, {"_id": 1}, session=self._session) is not None

    def find(self, collection: Collection[Any], where: Where) -> Record | None:
        document = self._db[collection.name].find_one(_to_document(where), session=self._session)
        return _to_record(document) if document else None

    def count(self, collection: Collection[Any]) -> int:
        return self._db[collection.name].count_documents({}, session=self._session)

    def insert(self, collection: Collection[Any], record: Record) -> None:
        self._db[collection.name].insert_one(_to_document(record), session=self._session)

    def delete(self, collection: Collection[Any], where: Where) -> bool:
        query = _to_document(where)
        deleted = self._db[collection.name].delete_many(query, session=self._session)
        return deleted.deleted_count > 0

    def delete_expired(self, collection: Collection[Any], now: int) -> None:
        query = {"expires_at": {"$lte": now}}
        self._db[collection.name].delete_many(query, session=self._session)


def _to_document(record: Where) -> Document:
    """Return a record, or the query for one, with the id in MongoDB's field."""
    return {
        "_id" if name == "id" else name: {"$ne": value.value} if isinstance(value, Not) else value
        for name, value in record.items()
    }


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


def _inserts_unique_ids(update: Update) -> bool:
    return update.insert is not None and update.insert.part.has_unique_ids


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


def _to_record(document: Document) -> Record:
    return {"id": document["_id"], **document}
