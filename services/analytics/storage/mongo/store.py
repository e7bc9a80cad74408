"""The analytics store in a MongoDB database.

    totals        _id code, people, bots, days, aggregated, revision: see `records.TotalsRecord`
    days          _id "code:day", counts, sketch (absent if empty): see `records.DayRecord`
    aggregates    _id "code:block", packed: see `domain.aggregates`
    unreadable_totals, unreadable_days
                  documents of these collections that could not be read, as they were
    gateways      _id gateway, or a lane of one, batch, counted, visits (absent if empty): see
                  `records.GatewayRecord`
    visitor_keys  _id day, key

Shard keys: docs/performance.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pymongo.client_session import ClientSession
from pymongo.database import Database as PyMongoDatabase
from pymongo.errors import BulkWriteError, DuplicateKeyError

from services.analytics.application.ports import MAX_CHANGES, T, Work
from services.analytics.application.records import (
    TOTALS,
    AggregateRecord,
    DayRecord,
    GatewayRecord,
    K,
    Key,
    R,
    Table,
    TotalsRecord,
)
from services.analytics.application.store import AnalyticsStore, chunks
from services.shared.feed import FeedPage
from services.shared.mongo import Database, Document, Documents, Schema
from services.shared.mongo.feed import MongoFeed

SCHEMA: Schema = ({},)
"""Version 1 has no indexes: all queries are by `_id`."""

_CHANGES: Document = {"operationType": {"$in": ["insert", "replace"]}}
"""Events of the change feed. Updates are not among them: replicas of 1.0 lock totals by updates."""
_WRITES_PER_COMMAND = 250
"""A day has at most 60 kB (a sketch, 100 names in each of seven dimensions), a command 16 MB."""
_SKETCH = "sketch"
"""A field that documents lack if it is empty."""


class _Session:
    """A transaction, or a connection for reads. Implements `ports.Session`."""

    def __init__(self, db: PyMongoDatabase[Document], session: ClientSession | None) -> None:
        self._db = db
        self._session = session

    def find(self, table: Table[K, R], keys: Collection[K]) -> Iterator[tuple[K, R]]:
        keys_by_id = {_to_id(key): key for key in keys}
        for document in self._find(table.name, keys):
            yield keys_by_id[document["_id"]], _to_record(table, document)

    def put(
        self, table: Table[K, R], records: Mapping[K, R], new: Collection[K] = frozenset()
    ) -> None:
        documents = {_to_id(key): _to_document(record) for key, record in records.items()}
        self._put(table.name, documents, set(map(_to_id, new)))

    def delete(self, table: Table[K, R], keys: Collection[K]) -> None:
        for collection in filter(None, (table.name, table.unreadable)):
            self._delete(collection, keys)

    def set_aside(self, table: Table[K, R], keys: Collection[K]) -> None:
        found = {document.pop("_id"): document for document in self._find(table.name, keys)}
        if found and table.unreadable:
            self._put(table.unreadable, found)
            self._delete(table.name, keys)

    def totals_after(self, code: str, limit: int) -> dict[str, TotalsRecord]:
        found = self._db.totals.find(
            {"_id": {"$gt": code}}, sort=[("_id", 1)], limit=limit, session=self._session
        )
        return {document["_id"]: _to_record(TOTALS, document) for document in found}

    def find_days(self, code: str) -> list[int]:
        # A semicolon follows the colon. Codes have neither.
        ids = {"_id": {"$gte": f"{code}:", "$lt": f"{code};"}}
        days = {
            int(document["_id"].removeprefix(f"{code}:"))
            for collection in ("days", "unreadable_days")
            for document in self._db[collection].find(ids, {"_id": 1}, session=self._session)
        }
        return sorted(days)

    def find_gateways(self, gateway_ids: Collection[str]) -> dict[str, GatewayRecord]:
        found = self._find("gateways", gateway_ids)
        return {document["_id"]: _to_gateway(document) for document in found}

    def gateways(self) -> Iterator[GatewayRecord]:
        return map(_to_gateway, self._db.gateways.find(session=self._session))

    def put_gateways(self, records: Mapping[str, GatewayRecord]) -> None:
        self._put("gateways", {id_: record._asdict() for id_, record in records.items()})

    def publish(self, codes: Sequence[str], now: datetime) -> None:
        """Do nothing: the feed is the change stream of the totals."""

    def _find(self, collection: str, keys: Collection[str | Key]) -> Iterable[Document]:
        if not keys:
            return ()
        # One more than the maximum: a full batch would be followed by another request.
        return self._db[collection].find(
            _match(keys), batch_size=len(keys) + 1, session=self._session
        )

    def _delete(self, collection: str, keys: Collection[str | Key]) -> None:
        self._db[collection].delete_many(_match(keys), session=self._session)

    def _put(
        self,
        collection: str,
        documents: Mapping[str, Document],
        new: Collection[str] = frozenset(),
    ) -> None:
        inserts: list[Document] = []
        updates: list[Document] = []
        for key, document in documents.items():
            if key in new:
                inserts.append({"_id": key, **document})
            else:
                updates.append({"q": {"_id": key}, "u": document, "upsert": True})
        self._command("insert", collection, "documents", inserts)
        self._command("update", collection, "updates", updates)

    def _command(self, name: str, collection: str, field: str, writes: list[Document]) -> None:
        """Run commands with many writes, in a third of the processor time of `bulk_write`."""
        for step in chunks(writes, _WRITES_PER_COMMAND):
            reply = self._db.command({name: collection, field: step}, session=self._session)
            if "writeErrors" in reply:
                raise BulkWriteError(reply)


class MongoStore(AnalyticsStore):
    """The analytics store in a MongoDB database."""

    codes_per_transaction = 1000
    """Some 0.1 s of the 2 s that a transaction may take."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self._feed = MongoFeed(database, "analytics_changes", "totals", _CHANGES, MAX_CHANGES)

    async def _read(self, name: str, work: Work[T]) -> T:
        return await self._database.read_in_thread(name, lambda db: work(_Session(db, None)))

    async def _write(self, name: str, work: Work[T]) -> T:
        return await self._database.transaction(
            name, lambda transaction: work(_Session(transaction.db, transaction.session))
        )

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


def _match(keys: Iterable[str | Key]) -> Document:
    return {"_id": {"$in": list(map(_to_id, keys))}}


def _to_id(key: str | Key) -> str:
    return key if isinstance(key, str) else f"{key[0]}:{key[1]}"


def _to_gateway(document: Document) -> GatewayRecord:
    return GatewayRecord(document["batch"], document["counted"], document.get("visits", b""))


def _to_record(table: Table[K, R], document: Document) -> R:
    # With None in place of a missing value, the record is unreadable. Readers of it report that.
    values: Iterable[Any] = (
        document.get(name, b"" if name == _SKETCH else None) for name in table.fields
    )
    return table.record(*values)


def _to_document(record: TotalsRecord | DayRecord | AggregateRecord) -> Document:
    document = record._asdict()
    if document.get(_SKETCH) == b"":
        del document[_SKETCH]
    return document
