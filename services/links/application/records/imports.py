"""Imports, the results of their rows, and how many rows each account imported on its last day."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from services.links.application.records.session import Backend, Condition, Record, Session, Table
from services.links.domain.imports import Import, RowResult, StoredRow, Verdict
from services.links.domain.owner import Account
from services.shared.errors import Unavailable
from services.shared.timestamps import from_micros, to_micros
from services.shared.unreadable_records import decode_each, decode_page

_IMPORTS = Table(
    "imports", key=("key",), fields=("creator", "id", "started_at", "links", "removed")
)
_ROWS = Table(
    name="import_rows",
    key=("import", "number"),
    fields=("verdict", "code", "fingerprint", "undone"),
    left_out={"code": None, "fingerprint": None, "undone": False},
)
_DAYS = Table("import_days", key=("creator",), fields=("day", "rows"))
_IMPORT_KEYS, _ROW_KEYS, _DAY_KEYS = (
    Table(table.name, table.key, fields=()) for table in (_IMPORTS, _ROWS, _DAYS)
)
"""The same, for reads of many keys, which need no documents."""
_CREATED: Condition = ("fingerprint", ">", b"")
"""Only rows that created a link have a fingerprint."""
_KEY_BYTES = 16


class ImportReader:
    """Imports outside of a unit of work."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def newest(self, account: Account, since: datetime, limit: int) -> list[Import]:
        """Return an account's newest imports that started after a time, newest first."""
        found = await self._backend.read(
            "links_imports",
            lambda session: session.select(
                _IMPORTS,
                ("creator", "=", account.id),
                ("started_at", ">", to_micros(since)),
                order=("-started_at", "-key"),
                limit=limit,
            ),
        )
        return list(decode_each("import", found, _decode_import, lambda record: record.get("id")))

    async def delete_older(self, until: datetime, day: int, limit: int) -> bool:
        """Delete imports that started at a time or before, and row counts of days before `day`.

        Deletes up to `limit` rows, and each import after its last row. Returns whether there may be
        more.
        """
        is_older: Condition = ("day", "<", day)
        days = await self._backend.read(
            "links_import_days", lambda session: session.select(_DAY_KEYS, is_older, limit=limit)
        )
        if days:
            keys = _DAYS.read_keys(days)
            await self._backend.write_one(
                "links_import_days_delete", lambda session: session.delete(_DAYS, keys, is_older)
            )
        is_due: Condition = ("started_at", "<=", to_micros(until))
        return await self._delete(is_due, limit) or len(days) == limit

    async def delete_all(self, account: Account, limit: int) -> bool:
        """Delete an account's imports in the same way, and its row count."""
        await self._backend.write_one(
            "links_import_days_delete", lambda session: session.delete(_DAYS, [(account.id,)])
        )
        return await self._delete(("creator", "=", account.id), limit)

    async def _delete(self, condition: Condition, limit: int) -> bool:
        """Delete the imports of a condition, one after the other, each after its last row.

        Deletes up to `limit` rows and imports. Returns whether there may be more.
        """
        max_imports = limit if self._backend.has_long_transactions else 1
        while limit > 0:
            # A read does not occupy SQLite's writer.
            found = await self._backend.read(
                "links_imports_due",
                lambda session: session.select(
                    _IMPORT_KEYS, condition, order=("started_at",), limit=max_imports
                ),
            )
            if not found:
                return False
            limit -= await self._backend.write(
                "links_imports_delete",
                partial(_delete_imports, keys=[record["key"] for record in found], limit=limit),
            )
        return True


class ImportRepository:
    """Imports and their rows in a unit of work."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, account: Account, import_id: str) -> Import | None:
        """Return an import of an account."""
        found = self._session.find(_IMPORTS, import_key(account, import_id))
        return _decode_import(found) if found else None

    def save(self, saved: Import) -> None:
        """Store an import, or replace it."""
        record = {
            "key": import_key(saved.account, saved.id),
            "creator": saved.account.id,
            "id": saved.id,
            "started_at": to_micros(saved.started_at),
            "links": saved.links,
            "removed": saved.removed,
        }
        self._session.put(_IMPORTS, record)

    def results(self, account: Account, import_id: str, numbers: Sequence[int]) -> list[RowResult]:
        """Return the results of the rows that are stored, unordered.

        Raises Unavailable if one of them cannot be read.
        """
        key = import_key(account, import_id)
        found = self._session.find_all(_ROWS, [(key, number) for number in numbers])
        rows = decode_each("import_row", found, _decode_row, partial(_row_name, import_id))
        results = [row.result for row in rows]
        if len(results) < len(found):
            # Without its result, a row would be imported again.
            raise Unavailable("A row of the import cannot be read.", "STORE_UNAVAILABLE")
        return results

    def add_rows(self, account: Account, import_id: str, rows: Sequence[StoredRow]) -> None:
        """Store rows that are not stored yet."""
        key = import_key(account, import_id)
        records = [
            {
                "import": key,
                "number": row.result.number,
                "verdict": row.result.verdict.value,
                "code": row.result.code,
                "fingerprint": row.fingerprint or None,
                "undone": False,
            }
            for row in rows
        ]
        self._session.add(_ROWS, records)

    def created_codes(
        self, account: Account, import_id: str, codes: Sequence[str]
    ) -> frozenset[str]:
        """Return the codes whose links rows of the import created."""
        found = self._session.select(
            _ROWS,
            ("import", "=", import_key(account, import_id)),
            ("code", "in", list(codes)),
            _CREATED,
            limit=len(codes),
            index="import_rows_by_code",
        )
        return frozenset(record["code"] for record in found)

    def created_rows(
        self, account: Account, import_id: str, after: int, limit: int
    ) -> list[StoredRow]:
        """Return rows that created a link and are not undone, by number, after a number."""
        conditions: list[Condition] = [
            ("import", "=", import_key(account, import_id)),
            ("number", ">", after),
            _CREATED,
            ("undone", "<>", True),
        ]
        return decode_page(
            "import_row",
            lambda wanted: self._session.select(
                _ROWS, *conditions, order=("number",), limit=wanted
            ),
            limit,
            _decode_row,
            partial(_row_name, import_id),
        )

    def mark_undone(self, account: Account, import_id: str, numbers: Sequence[int]) -> None:
        """Note that the links of some rows were removed."""
        key = import_key(account, import_id)
        self._session.update(_ROWS, [(key, number) for number in numbers], "undone", True)

    def rows_on(self, account: Account, day: int) -> int:
        """Return how many rows an account imported on a day, counted from the Unix epoch."""
        found = self._session.find(_DAYS, account.id)
        return found["rows"] if found and found["day"] == day else 0

    def save_rows_on(self, account: Account, day: int, count: int) -> None:
        """Store how many rows an account imported on a day. Replaces the count of another day."""
        self._session.put(_DAYS, {"creator": account.id, "day": day, "rows": count})


def import_key(account: Account, import_id: str) -> bytes:
    """Return the key of an import: a hash, which keeps the keys of its rows short."""
    return hashlib.sha256(f"{import_id}{account.id}".encode()).digest()[:_KEY_BYTES]


def _delete_imports(session: Session, keys: Sequence[bytes], limit: int) -> int:
    """Delete up to `limit` rows and imports; return their number."""
    left = limit
    for key in keys:
        if left <= 0:
            break
        left -= 1 + _delete_rows(session, key, left)
    return limit - left


def _delete_rows(session: Session, key: bytes, limit: int) -> int:
    """Delete up to `limit` rows of an import, and it after the last one; return their number."""
    rows = session.select(_ROW_KEYS, ("import", "=", key), ("number", ">", -1), limit=limit)
    if rows:
        session.delete(_ROWS, _ROWS.read_keys(rows))
    if len(rows) < limit:
        # A call that adds rows writes the import, too, so one of the two runs again.
        session.delete(_IMPORTS, [(key,)])
    return len(rows)


def _row_name(import_id: str, record: Record) -> str:
    """Return what names a row in the log."""
    return f"{import_id} {record['number']}"


def _decode_row(record: Record) -> StoredRow:
    result = RowResult(record["number"], Verdict(record["verdict"]), record["code"])
    return StoredRow(result, record["fingerprint"] or b"")


def _decode_import(record: Record) -> Import:
    return Import(
        account=Account(record["creator"]),
        id=record["id"],
        started_at=from_micros(record["started_at"]),
        links=record["links"],
        removed=record["removed"],
    )
