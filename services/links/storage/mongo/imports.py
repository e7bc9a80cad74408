"""Imports and their rows in a MongoDB database.

imports      _id (the key, see `import_key`), creator, id, started_at, links, removed
import_rows  _id {import (the key), number}, verdict, code, fingerprint, undone; absent if empty or
             false. Only rows that created a link have a fingerprint
import_days  _id (the account), day, rows (that it imported on that day, its last one)
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from pymongo import ASCENDING, DESCENDING

from services.links.domain.imports import MAX_ROW_NUMBER, Import, RowResult, StoredRow, Verdict
from services.links.domain.owner import Account
from services.links.storage.import_key import import_key
from services.shared.mongo import Database, Document
from services.shared.mongo.transactions import Transaction
from services.shared.timestamps import from_micros, to_micros
from services.shared.unreadable_records import decode_each, decode_page

_OLDEST_FIRST = [("started_at", ASCENDING)]
_BY_NUMBER = [("_id", ASCENDING)]
_NEWEST_FIRST = [("started_at", DESCENDING), ("_id", DESCENDING)]


class MongoImportReader:
    """The `ImportReader` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def newest(self, account: Account, since: datetime, limit: int) -> list[Import]:
        query = {"creator": account.id, "started_at": {"$gt": to_micros(since)}}
        found = await self._database.read(
            "links_imports",
            lambda db: db.imports.find(
                query, sort=_NEWEST_FIRST, limit=limit, batch_size=limit
            ).to_list(None),
        )
        return list(decode_each("import", found, _import_of, lambda document: document.get("id")))

    async def delete_older(self, until: datetime, day: int, limit: int) -> bool:
        due = {"started_at": {"$lte": to_micros(until)}}
        days = await self._database.read(
            "links_import_days",
            lambda db: db.import_days.find({"day": {"$lt": day}}, {"_id": 1}, limit=limit).to_list(
                None
            ),
        )
        if days:
            old = {"_id": {"$in": [one["_id"] for one in days]}, "day": {"$lt": day}}
            await self._database.write(
                "links_import_days_delete", lambda db: db.import_days.delete_many(old)
            )
        return await self._delete(due, limit) or len(days) == limit

    async def delete_all_of(self, account: Account, limit: int) -> bool:
        count = {"_id": account.id}
        await self._database.write(
            "links_import_days_delete", lambda db: db.import_days.delete_one(count)
        )
        return await self._delete({"creator": account.id}, limit)

    async def _delete(self, query: Document, limit: int) -> bool:
        """Delete the imports of a query, one after the other, each after its last row.

        Deletes up to `limit` rows and imports. Returns whether there may be more.
        """

        while limit > 0:
            one: Document | None = await self._database.read(
                "links_imports_due",
                lambda db: db.imports.find_one(query, {"_id": 1}, sort=_OLDEST_FIRST),
            )
            if one is None:
                return False
            limit -= 1 + await self._database.transaction(
                "links_imports_delete", partial(_delete_rows, one["_id"], limit)
            )
        return True


class MongoImportRepository:
    """The `ImportRepository` of a transaction."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._db = tx.db

    def find(self, account: Account, import_id: str) -> Import | None:
        query = {"_id": import_key(account, import_id)}
        found = self._db.imports.find_one(query, session=self._tx.session)
        return _import_of(found) if found else None

    def save(self, one: Import) -> None:
        new: Document = {
            "creator": one.account.id,
            "id": one.id,
            "started_at": to_micros(one.started_at),
            "links": one.links,
            "removed": one.removed,
        }
        self._db.imports.replace_one(
            {"_id": import_key(one.account, one.id)}, new, upsert=True, session=self._tx.session
        )

    def results(self, account: Account, import_id: str, numbers: Sequence[int]) -> list[RowResult]:
        key = import_key(account, import_id)
        query = {"_id": {"$in": [_row_id(key, number) for number in numbers]}}
        fields = {"verdict": 1, "code": 1}
        return [_row_of(one).result for one in self._rows(query, fields, len(numbers))]

    def add_rows(self, account: Account, import_id: str, rows: Sequence[StoredRow]) -> None:
        key = import_key(account, import_id)
        documents = [_row_document(key, row) for row in rows]
        self._db.import_rows.insert_many(documents, session=self._tx.session)

    def created_codes(
        self, account: Account, import_id: str, codes: Sequence[str]
    ) -> frozenset[str]:
        query: Document = {
            "_id.import": import_key(account, import_id),
            "code": {"$in": list(codes)},
            "fingerprint": {"$exists": True},
        }
        return frozenset(one["code"] for one in self._rows(query, {"code": 1}, len(codes)))

    def created_rows(
        self, account: Account, import_id: str, after: int, limit: int
    ) -> list[StoredRow]:
        query = {
            **_rows_after(import_key(account, import_id), after),
            "fingerprint": {"$exists": True},
            "undone": None,
        }
        return decode_page(
            "import_row",
            lambda wanted: self._rows(query, None, wanted, _BY_NUMBER),
            limit,
            _row_of,
            lambda row: f"{import_id} {row['_id']['number']}",
        )

    def mark_undone(self, account: Account, import_id: str, numbers: Sequence[int]) -> None:
        key = import_key(account, import_id)
        self._db.import_rows.update_many(
            {"_id": {"$in": [_row_id(key, number) for number in numbers]}},
            {"$set": {"undone": True}},
            session=self._tx.session,
        )

    def rows_on(self, account: Account, day: int) -> int:
        query = {"_id": account.id, "day": day}
        found = self._db.import_days.find_one(query, session=self._tx.session)
        return found["rows"] if found else 0

    def save_rows_on(self, account: Account, day: int, count: int) -> None:
        self._db.import_days.replace_one(
            {"_id": account.id},
            {"day": day, "rows": count},
            upsert=True,
            session=self._tx.session,
        )

    def _rows(
        self,
        query: Document,
        fields: Document | None,
        limit: int,
        order: Sequence[tuple[str, int]] | None = None,
    ) -> list[Document]:
        return self._db.import_rows.find(
            query, fields, sort=order, limit=limit, batch_size=limit, session=self._tx.session
        ).to_list()


def _delete_rows(key: bytes, limit: int, tx: Transaction) -> int:
    """Delete up to `limit` rows of an import, and it after the last one; return their number."""
    rows = tx.db.import_rows.find(
        _rows_after(key, -1), {"_id": 1}, limit=limit, batch_size=limit, session=tx.session
    ).to_list()
    if rows:
        found = {"_id": {"$in": [row["_id"] for row in rows]}}
        tx.db.import_rows.delete_many(found, session=tx.session)
    if len(rows) < limit:
        # A call that adds rows writes the import, too, so one of the two runs again.
        tx.db.imports.delete_one({"_id": key}, session=tx.session)
    return len(rows)


def _row_id(key: bytes, number: int) -> Document:
    return {"import": key, "number": number}


def _rows_after(key: bytes, number: int) -> Document:
    """Return the query for the rows of an import with higher numbers."""
    return {"_id": {"$gt": _row_id(key, number), "$lte": _row_id(key, MAX_ROW_NUMBER)}}


def _row_document(key: bytes, row: StoredRow) -> Document:
    fields: Document = {
        "_id": _row_id(key, row.result.number),
        "verdict": row.result.verdict.value,
        "code": row.result.code,
        "fingerprint": row.fingerprint,
    }
    return {name: value for name, value in fields.items() if value}


def _row_of(document: Document) -> StoredRow:
    result = RowResult(
        document["_id"]["number"], Verdict(document["verdict"]), document.get("code")
    )
    return StoredRow(result, document.get("fingerprint", b""))


def _import_of(document: Document) -> Import:
    return Import(
        Account(document["creator"]),
        document["id"],
        from_micros(document["started_at"]),
        document["links"],
        document["removed"],
    )
