"""Records as documents of collections. Implements `application.records.session`.

Documents leave out the values that their `Table` names. The server sets the date `changed_at` of
records that expire, and deletes them by its own clock (see `schema`).

    marks  _id "addresses", mark (the version of the blocked patterns)
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from bson import MaxKey
from pymongo import ASCENDING, DESCENDING
from pymongo.client_session import ClientSession
from pymongo.collection import Collection
from pymongo.database import Database as PyMongoDatabase
from pymongo.errors import DuplicateKeyError

from services.links.application.records.session import Condition, Key, Record, Session, Table, Work
from services.shared.mongo import Database, Document

T = TypeVar("T")

_VERSION = {"_id": "addresses"}
_OPERATORS = {"=": "$eq", "<>": "$ne", "<": "$lt", "<=": "$lte", ">": "$gt", "in": "$in"}


class MongoSession(Session):
    """The `Session` of a transaction, or of a connection without one."""

    def __init__(self, db: PyMongoDatabase[Document], session: ClientSession | None) -> None:
        self._db = db
        self._session = session

    def scan(
        self,
        table: Table,
        conditions: Sequence[Condition],
        order: Sequence[str],
        limit: int,
        index: str = "",
    ) -> Iterator[Record]:
        found = self._documents(table).find(
            _query(table, conditions),
            ["_id", *table.fields],
            sort=list(_sort(table, order)),
            limit=limit,
            batch_size=limit,
            hint=index or None,
            session=self._session,
        )
        return (_decode_record(table, document) for document in found)

    def search(
        self,
        table: Table,
        fields: Sequence[str],
        pattern: re.Pattern[str],
        conditions: Sequence[Condition],
        order: Sequence[str],
        max_searched: int,
        limit: int,
    ) -> list[Record]:
        """Search on the server, which sends only what matches."""
        matching = {"$regex": pattern.pattern, "$options": "i"}
        absent = [name for name in fields if pattern.search(str(table.left_out.get(name) or ""))]
        alternatives: list[Document] = [
            *({name: matching} for name in fields),
            *({name: {"$exists": False}} for name in absent),
        ]
        stages: list[Document] = [
            {"$match": _query(table, conditions)},
            {"$sort": dict(_sort(table, order))},
            {"$limit": max_searched},
            {"$match": {"$or": alternatives}},
            {"$limit": limit},
        ]
        found = self._documents(table).aggregate(stages, session=self._session)
        return [_decode_record(table, document) for document in found]

    def add(self, table: Table, records: Sequence[Record]) -> None:
        documents = [{"_id": _id(table, record)} | _values(table, record) for record in records]
        self._documents(table).insert_many(documents, session=self._session)

    def append(self, table: Table, record: Record) -> str:
        key = secrets.token_hex(12)
        self._documents(table).insert_one(
            {"_id": key} | _values(table, record), session=self._session
        )
        return key

    def parse_key(self, text: str) -> str:
        return text

    def put(self, table: Table, record: Record) -> None:
        documents, values = self._documents(table), _values(table, record)
        query = {"_id": _id(table, record)}
        if table.expires:
            change = {"$set": values, "$currentDate": {"changed_at": True}}
            documents.update_one(query, change, upsert=True, session=self._session)
        else:
            documents.replace_one(query, values, upsert=True, session=self._session)

    def put_unless_held(self, table: Table, record: Record, *alternatives: Condition) -> bool:
        free = [_query(table, [condition]) for condition in alternatives]
        query, change = {"_id": _id(table, record), "$or": free}, {"$set": _values(table, record)}
        try:
            self._documents(table).update_one(query, change, upsert=True, session=self._session)
        except DuplicateKeyError:
            return False
        return True

    def update(self, table: Table, keys: Sequence[Key], field: str, value: Any) -> None:
        query, change = _query(table, table.with_keys(keys)), {"$set": {field: value}}
        self._documents(table).update_many(query, change, session=self._session)

    def delete(self, table: Table, keys: Sequence[Key], *conditions: Condition) -> int:
        query = _query(table, [*table.with_keys(keys), *conditions])
        documents = self._documents(table)
        # PyMongo retries only a deletion of one document after a failover.
        delete = documents.delete_one if len(keys) == 1 else documents.delete_many
        # The conditions might suggest another index.
        return delete(query, hint="_id_", session=self._session).deleted_count

    def blocked_patterns_version(self) -> int:
        found = self._db.marks.find_one(_VERSION, session=self._session)
        return found["mark"] if found else 0

    def change_blocked_patterns_version(self) -> None:
        change = {"$inc": {"mark": 1}}
        self._db.marks.update_one(_VERSION, change, upsert=True, session=self._session)

    def _documents(self, table: Table) -> Collection[Document]:
        return self._db["marks" if table.mark else table.name]


class MongoBackend:
    """The `Backend` of a MongoDB database."""

    deletes_expired = True
    has_long_transactions = False

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, name: str, work: Work[T]) -> T:
        return await self._database.read_in_thread(name, lambda db: work(MongoSession(db, None)))

    async def write(self, name: str, work: Work[T]) -> T:
        return await self._database.transaction(
            name, lambda tx: work(MongoSession(tx.db, tx.session))
        )

    async def write_one(self, name: str, work: Work[T]) -> T:
        return await self._database.write_in_thread(name, lambda db: work(MongoSession(db, None)))


def _id(table: Table, record: Record) -> Any:
    """Return the `_id` of a record, of which only the key is needed."""
    if table.mark:
        return table.mark
    values = {name: record[name] for name in table.key}
    return values if len(values) > 1 else values[table.key[0]]


def _decode_record(table: Table, document: Document) -> Record:
    document_id = document["_id"]
    key = {table.key[0]: document_id} if len(table.key) == 1 else document_id
    return {**table.left_out, **document, **key}


def _values(table: Table, record: Record) -> Document:
    """Return the fields of a document beside `_id`."""
    return {
        name: value
        for name in table.fields
        if (value := record[name]) != table.left_out.get(name, ...)
    }


def _query(table: Table, conditions: Sequence[Condition]) -> Document:
    """Return the query for conditions. The last field of a key stands for `_id` as a whole."""
    *same, last = table.key
    paths = {last: "_id"} if not same else {name: f"_id.{name}" for name in table.key}
    query: Document = {
        paths.get(name, name): {_OPERATORS[operator]: value}
        for name, operator, value in conditions
        if not table.has_pair((name, operator, value))
    }
    for date, before in (value for *_, value in filter(table.has_pair, conditions)):
        query["$or"] = [
            {table.dated_by: {"$lt": date}},
            {table.dated_by: date, "_id": {"$lt": before}},
        ]
    if table.mark:
        query["_id"] = table.mark
    elif same and paths[last] in query:
        key = {name: query.pop(paths[name])["$eq"] for name in same}
        bound = query.pop(paths[last])
        if "$in" in bound:
            query["_id"] = {"$in": [{**key, last: value} for value in bound["$in"]]}
        else:
            query["_id"] = {"$gt": {**key, last: bound["$gt"]}, "$lte": {**key, last: MaxKey()}}
    return query


def _sort(table: Table, order: Sequence[str]) -> Iterator[tuple[str, int]]:
    for term in order:
        name, direction = (term[1:], DESCENDING) if term[0] == "-" else (term, ASCENDING)
        if name in table.key and table.dated_by:
            yield table.dated_by, direction
        yield "_id" if name in table.key else name, direction
