"""Records as documents of collections. Implements `records`.

Documents leave out the optional values of their `Table`. The server sets the date `changed_at` of
records that expire, and deletes them by its own clock (see `schema`).

    marks  _id "addresses", mark (the version of the blocked patterns)
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Sequence
from typing import Any, TypeVar

from bson import MaxKey
from pymongo import ASCENDING, DESCENDING
from pymongo.client_session import ClientSession
from pymongo.collection import Collection
from pymongo.database import Database as PyMongoDatabase
from pymongo.errors import DuplicateKeyError

from services.links.storage.records import Condition, Key, Record, Table, Work
from services.shared.mongo import Database, Document

T = TypeVar("T")

_PATTERNS_VERSION = {"_id": "addresses"}
_OPERATORS = {
    "=": "$eq",
    "<>": "$ne",
    "<": "$lt",
    "<=": "$lte",
    ">": "$gt",
    "in": "$in",
    "is not": "$exists",
}


class MongoSession:
    """A transaction, or a connection without one. Implements `records.Session`."""

    def __init__(self, db: PyMongoDatabase[Document], session: ClientSession | None) -> None:
        self._db = db
        self._session = session

    def find(self, table: Table, *key: Any) -> Record | None:
        found = self._documents(table).find_one({"_id": _id(table, key)}, session=self._session)
        return _record(table, found) if found else None

    def find_all(self, table: Table, keys: Sequence[Key]) -> list[Record]:
        return self._records(table, _with_keys(table, keys), limit=len(keys))

    def select(
        self, table: Table, *conditions: Condition, order: Sequence[str] = (), limit: int = 0
    ) -> list[Record]:
        return self._records(table, _query(table, conditions), order, limit)

    def select_keys(self, table: Table, *conditions: Condition, limit: int = 0) -> list[Key]:
        found = self._documents(table).find(
            _query(table, conditions),
            {"_id": 1},
            limit=limit,
            batch_size=limit,
            session=self._session,
        )
        return [_key(table, document["_id"]) for document in found]

    def select_after(
        self, table: Table, key: Key, *conditions: Condition, limit: int
    ) -> list[Record]:
        last = (*key[:-1], MaxKey())
        range_of_ids = {"_id": {"$gt": _id(table, key), "$lte": _id(table, last)}}
        query = {**range_of_ids, **_query(table, conditions)}
        return self._records(table, query, table.key[-1:], limit)

    def search(
        self,
        table: Table,
        fields: Sequence[str],
        pattern: re.Pattern[str],
        *,
        order: Sequence[str],
        max_searched: int,
        limit: int,
    ) -> list[Record]:
        matching = {"$regex": pattern.pattern, "$options": "i"}
        pipeline: list[Document] = [
            {"$sort": dict(_sort(table, order))},
            {"$limit": max_searched},
            {"$match": {"$or": [{name: matching} for name in fields]}},
            {"$limit": limit},
        ]
        found = self._documents(table).aggregate(pipeline, session=self._session)
        return [_record(table, document) for document in found]

    def add(self, table: Table, records: Sequence[Record]) -> None:
        documents = [
            {
                "_id": secrets.token_hex(12) if table.dated_by else _id_of_record(table, record),
                **_values(table, record),
            }
            for record in records
        ]
        self._documents(table).insert_many(documents, session=self._session)

    def put(self, table: Table, record: Record) -> None:
        query, values = {"_id": _id_of_record(table, record)}, _values(table, record)
        if table.expires:
            change = {"$set": values, "$currentDate": {"changed_at": True}}
            self._documents(table).update_one(query, change, upsert=True, session=self._session)
        else:
            self._documents(table).replace_one(query, values, upsert=True, session=self._session)

    def put_unless_held(self, table: Table, record: Record, *alternatives: Condition) -> bool:
        free = {
            "_id": _id_of_record(table, record),
            "$or": [_query(table, [condition]) for condition in alternatives],
        }
        change = {"$set": _values(table, record)}
        try:
            self._documents(table).update_one(free, change, upsert=True, session=self._session)
        except DuplicateKeyError:
            return False
        return True

    def update(self, table: Table, keys: Sequence[Key], field: str, value: Any) -> None:
        change = {"$set": {field: value}}
        query = _with_keys(table, keys)
        self._documents(table).update_many(query, change, session=self._session)

    def delete(self, table: Table, keys: Sequence[Key], *conditions: Condition) -> int:
        query = {**_with_keys(table, keys), **_query(table, conditions)}
        # The conditions might suggest another index.
        deleted = self._documents(table).delete_many(query, hint="_id_", session=self._session)
        return deleted.deleted_count

    def blocked_patterns_version(self) -> int:
        found = self._db.marks.find_one(_PATTERNS_VERSION, session=self._session)
        return found["mark"] if found else 0

    def change_blocked_patterns_version(self) -> None:
        self._db.marks.update_one(
            _PATTERNS_VERSION, {"$inc": {"mark": 1}}, upsert=True, session=self._session
        )

    def _documents(self, table: Table) -> Collection[Document]:
        return self._db["marks" if table.mark else table.name]

    def _records(
        self, table: Table, query: Document, order: Sequence[str] = (), limit: int = 0
    ) -> list[Record]:
        found = self._documents(table).find(
            query,
            sort=_sort(table, order),
            limit=limit,
            batch_size=limit,
            session=self._session,
        )
        return [_record(table, document) for document in found]


class MongoBackend:
    """A MongoDB database. Implements `records.Backend`."""

    deletes_expired = True

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, name: str, work: Work[T]) -> T:
        return await self._database.read_in_thread(name, lambda db: work(MongoSession(db, None)))

    async def write(self, name: str, work: Work[T]) -> T:
        return await self._database.transaction(
            name, lambda tx: work(MongoSession(tx.db, tx.session))
        )

    async def write_one(self, name: str, work: Work[T]) -> T:
        return await self._database.write(
            name, lambda db: asyncio.to_thread(work, MongoSession(db.delegate, None))
        )


def _id(table: Table, key: Key) -> Any:
    if table.mark:
        return table.mark
    return key[0] if len(key) == 1 else dict(zip(table.key, key, strict=True))


def _id_of_record(table: Table, record: Record) -> Any:
    return _id(table, tuple(record[name] for name in table.key))


def _key(table: Table, document_id: Any) -> Key:
    if len(table.key) == 1:
        return (document_id,)
    return tuple(document_id[name] for name in table.key)


def _record(table: Table, document: Document) -> Record:
    key = zip(table.key, _key(table, document["_id"]), strict=True)
    return {**table.optional, **document, **dict(key)}


def _values(table: Table, record: Record) -> Document:
    """Return the fields of a document beside `_id`."""
    values = {name: record[name] for name in table.fields}
    return {
        name: value
        for name, value in values.items()
        if name not in table.optional or value != table.optional[name]
    }


def _query(table: Table, conditions: Sequence[Condition]) -> Document:
    return {
        _path(table, name): {_OPERATORS[operator]: _compared(table, name, operator, value)}
        for name, operator, value in conditions
    }


def _compared(table: Table, name: str, operator: str, value: Any) -> Any:
    if operator == "is not":
        return True
    is_left_out = name in table.optional and value == table.optional[name]
    return None if is_left_out else value  # MongoDB takes an absent field for null.


def _with_keys(table: Table, keys: Sequence[Key]) -> Document:
    return {"_id": {"$in": [_id(table, key) for key in keys]}}


def _path(table: Table, name: str) -> str:
    """Return where documents have a field."""
    if name not in table.key:
        return name
    return "_id" if len(table.key) == 1 else f"_id.{name}"


def _sort(table: Table, order: Sequence[str]) -> list[tuple[str, int]]:
    sort: list[tuple[str, int]] = []
    for term in order:
        name, direction = (term[1:], DESCENDING) if term[0] == "-" else (term, ASCENDING)
        if name in table.key:
            names = [table.dated_by, "_id"] if table.dated_by else ["_id"]
        else:
            names = [name]
        sort += [(each, direction) for each in names]
    return sort
