"""The MongoDB backend of the analytics store.

    totals        _id code, people, bots, days, aggregated, revision: see `records.TotalsRecord`
    days          _id "code:day", counts, sketch (absent if empty): see `records.DayRecord`
    aggregates    _id "code:block", packed: see `domain.aggregates`
    unreadable_totals, unreadable_days
                  documents of these collections that could not be read, as they were
    gateways      _id gateway, batch, counted: see `records.GatewayRecord`
    visitor_keys  _id day, key

Shard keys: docs/performance.md.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from bson import ObjectId
from pymongo import InsertOne, ReplaceOne
from pymongo.client_session import ClientSession
from pymongo.database import Database as PyMongoDatabase
from pymongo.errors import ConnectionFailure, DuplicateKeyError, PyMongoError

from services.analytics.application.ports import MAX_CHANGES
from services.analytics.storage.records import DayRecord, GatewayRecord, Key, TotalsRecord
from services.analytics.storage.session import Work
from services.analytics.storage.store import Store
from services.shared import background
from services.shared.feed import FeedPage
from services.shared.mongo import Database, Document, Documents, Schema
from services.shared.mongo.feed import MongoFeed
from services.shared.mongo.transactions import Transaction

SCHEMA: Schema = ({},)
"""Version 1 has no indexes: all queries are by `_id`."""

T = TypeVar("T")

_CODES_PER_TRANSACTION = 500
"""Maximum links to which one transaction adds batches: some 0.1 s of the 2 s that it may take."""
_WRITES_PER_TRANSACTION = 10
"""Maximum writes, such as batches, that share a transaction."""
_CHANGES: Document = {"operationType": {"$in": ["insert", "replace"]}}
"""Events of the change feed. Updates are not among them: those are from `lock`."""


def open_store(database: Database) -> Store:
    """Return the analytics store in a MongoDB database."""
    return Store(_Backend(database))


class _Session:
    """A transaction, or a connection for reads. Implements `session.Session`."""

    def __init__(self, db: PyMongoDatabase[Document], session: ClientSession | None) -> None:
        self._db = db
        self._session = session

    def gateway(self, gateway_id: str) -> GatewayRecord | None:
        found = self._db.gateways.find_one({"_id": gateway_id}, session=self._session)
        return GatewayRecord(found["batch"], found["counted"]) if found else None

    def put_gateway(self, gateway_id: str, record: GatewayRecord) -> None:
        self._put("gateways", {gateway_id: record._asdict()})

    def lock(self, codes: Sequence[str]) -> None:
        # Storing the totals removes the field.
        self._db.totals.update_many(
            {"_id": {"$in": list(codes)}}, {"$set": {"lock": ObjectId()}}, session=self._session
        )

    def totals(self, codes: Sequence[str]) -> dict[str, TotalsRecord]:
        return {each["_id"]: _totals_record(each) for each in self._find("totals", codes)}

    def totals_after(self, code: str, limit: int) -> dict[str, TotalsRecord]:
        found = self._db.totals.find(
            {"_id": {"$gt": code}}, sort=[("_id", 1)], limit=limit, session=self._session
        )
        return {each["_id"]: _totals_record(each) for each in found}

    def put_totals(self, totals: Mapping[str, TotalsRecord]) -> None:
        self._put("totals", {code: record._asdict() for code, record in totals.items()})

    def delete_totals(self, codes: Sequence[str]) -> None:
        self._delete("totals", codes)
        self._delete("unreadable_totals", codes)

    def set_totals_aside(self, codes: Sequence[str]) -> None:
        self._set_aside("totals", codes)

    def days(self, keys: Sequence[Key]) -> Iterable[tuple[Key, DayRecord]]:
        for each in self._find("days", map(_document_id, keys)):
            record = DayRecord(each.get("counts", b""), each.get("sketch", b""))
            yield _parse_key(each["_id"]), record

    def put_days(self, days: Mapping[Key, DayRecord], new: set[Key]) -> None:
        documents = {
            _document_id(key): {"counts": counts, "sketch": sketch}
            if sketch
            else {"counts": counts}
            for key, (counts, sketch) in days.items()
        }
        self._put("days", documents, set(map(_document_id, new)))

    def delete_days(self, keys: Sequence[Key]) -> None:
        ids = list(map(_document_id, keys))
        self._delete("days", ids)
        self._delete("unreadable_days", ids)

    def find_days(self, code: str) -> list[int]:
        # A semicolon follows the colon. Codes have neither.
        ids = {"_id": {"$gte": f"{code}:", "$lt": f"{code};"}}
        days = {
            _parse_key(document["_id"])[1]
            for collection in ("days", "unreadable_days")
            for document in self._db[collection].find(ids, {"_id": 1}, session=self._session)
        }
        return sorted(days)

    def set_days_aside(self, keys: Sequence[Key]) -> None:
        self._set_aside("days", map(_document_id, keys))

    def aggregates(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = self._find("aggregates", map(_document_id, keys))
        return {_parse_key(each["_id"]): each.get("packed", b"") for each in found}

    def put_aggregates(self, aggregates: Mapping[Key, bytes]) -> None:
        self._put(
            "aggregates",
            {_document_id(key): {"packed": packed} for key, packed in aggregates.items()},
        )

    def delete_aggregates(self, keys: Sequence[Key]) -> None:
        self._delete("aggregates", map(_document_id, keys))

    def publish(self, codes: Sequence[str], now: datetime) -> None:
        """Do nothing: the feed is the change stream of the totals."""

    def _find(self, collection: str, ids: Iterable[str]) -> Iterable[Document]:
        wanted_ids = list(ids)
        if not wanted_ids:
            return ()
        # One more than the maximum: a full batch would be followed by another request.
        return self._db[collection].find(
            {"_id": {"$in": wanted_ids}}, batch_size=len(wanted_ids) + 1, session=self._session
        )

    def _put(
        self, collection: str, documents: Mapping[str, Document], new: set[str] | None = None
    ) -> None:
        writes: list[InsertOne[Document] | ReplaceOne[Document]] = [
            InsertOne({"_id": key, **document})
            if new and key in new
            else ReplaceOne({"_id": key}, document, upsert=True)
            for key, document in documents.items()
        ]
        if writes:
            self._db[collection].bulk_write(writes, ordered=False, session=self._session)

    def _set_aside(self, collection: str, ids: Iterable[str]) -> None:
        found = list(self._find(collection, ids))
        if found:
            moved = {each.pop("_id"): each for each in found}
            self._put(f"unreadable_{collection}", moved)
            self._delete(collection, moved)

    def _delete(self, collection: str, ids: Iterable[str]) -> None:
        self._db[collection].delete_many({"_id": {"$in": list(ids)}}, session=self._session)


class _Write(NamedTuple):
    """A write that waits for its transaction."""

    name: str
    work: Work[Any]
    size: int
    done: asyncio.Future[Any]


class _Refused(Exception):
    """One of several writes in a transaction failed for a reason of its own."""

    def __init__(self, write: _Write) -> None:
        super().__init__(write.name)
        self.write = write


class _Backend:
    """A MongoDB database. Implements `session.Backend`.

    Batches share busy links, so concurrent transactions of one process would only conflict. Writes
    that arrive during a transaction share the next one (group commit), as on SQLite.
    """

    codes_per_transaction = _CODES_PER_TRANSACTION

    def __init__(self, database: Database) -> None:
        self._database = database
        self._feed = MongoFeed(database, "analytics_changes", "totals", _CHANGES, MAX_CHANGES)
        self._waiting: deque[_Write] = deque()
        self._committing: asyncio.Task[None] | None = None

    async def read(self, name: str, work: Work[T]) -> T:
        return await self._database.read_in_thread(name, lambda db: work(_Session(db, None)))

    async def write(self, name: str, work: Work[T], size: int = 0) -> T:
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Write(name, work, size, done))
        if self._committing is None or self._committing.done():
            self._committing = background.start_task(self._commit_all(), "analytics-commit")
        return await done

    async def _commit_all(self) -> None:
        """Run the waiting writes, one transaction after the other."""
        while self._waiting:
            group = [self._waiting.popleft()]
            size = group[0].size
            while (
                self._waiting
                and len(group) < _WRITES_PER_TRANSACTION
                and size + self._waiting[0].size <= _CODES_PER_TRANSACTION
            ):
                group.append(self._waiting.popleft())
                size += group[-1].size
            await self._apply(group)

    async def _apply(self, group: Sequence[_Write]) -> None:
        """Commit writes together. One that is refused does not fail the others."""
        try:
            results = await self._commit(group)
        except _Refused as refused:
            await self._apply([refused.write])
            await self._apply([write for write in group if write is not refused.write])
        except Exception as error:  # Every caller raises it.
            for write in group:
                if not write.done.done():
                    write.done.set_exception(error)
        else:
            for write, result in zip(group, results, strict=True):
                if not write.done.done():
                    write.done.set_result(result)

    async def _commit(self, group: Sequence[_Write]) -> list[Any]:
        """Run writes in one transaction. Raises _Refused if only one of several failed."""

        def run(tx: Transaction) -> list[Any]:
            session = _Session(tx.db, tx.session)
            results = []
            for write in group:
                try:
                    results.append(write.work(session))
                except Exception as error:
                    if len(group) == 1 or _fails_all(error):
                        raise
                    raise _Refused(write) from error
            return results

        return await self._database.transaction(group[0].name, run)

    async def changed_since(self, cursor: str | None) -> FeedPage:
        return await self._feed.read_since(cursor)

    async def visitor_key(self, day: int, new_key: bytes) -> bytes:
        def find(db: Documents) -> Awaitable[Document | None]:
            return db.visitor_keys.find_one({"_id": day})

        stored = await self._database.read_majority("analytics_key", find)
        if stored is None:
            try:
                await self._database.write(
                    "analytics_key",
                    lambda db: db.visitor_keys.insert_one({"_id": day, "key": new_key}),
                )
            except DuplicateKeyError:
                stored = await self._database.read_key_holder("analytics_key", find)
        key: bytes = stored["key"] if stored else new_key
        return key

    async def delete_visitor_keys(self, today: int) -> int:
        query = {"$or": [{"_id": {"$lt": today}}, {"_id": {"$gt": today + 1}}]}
        deleted = await self._database.write(
            "analytics_delete_keys", lambda db: db.visitor_keys.delete_many(query)
        )
        return deleted.deleted_count


def _fails_all(error: Exception) -> bool:
    """Return whether an error concerns the whole transaction: a conflict, or the server is away."""
    return isinstance(error, PyMongoError) and (
        error.timeout
        or isinstance(error, ConnectionFailure)
        or error.has_error_label("TransientTransactionError")
    )


def _totals_record(document: Document) -> TotalsRecord:
    # With None in place of a missing value, the record is unreadable. Readers of it report that.
    values: Iterable[Any] = (document.get(name) for name in TotalsRecord._fields)
    return TotalsRecord(*values)


def _document_id(key: Key) -> str:
    code, number = key
    return f"{code}:{number}"


def _parse_key(document_id: str) -> Key:
    code, _, number = document_id.partition(":")
    return code, int(number)
