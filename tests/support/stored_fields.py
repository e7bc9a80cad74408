"""Compares the fields in a store with the list of stored data on the privacy page."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

import pymongo
from msgspec import msgpack

from services.shared import sqlite
from tests.support.processes import ROOT

_DOCUMENTED = ROOT / "web" / "src" / "features" / "legal" / "stored.json"
_ANY = "*"
_PACKED = {("days", "counts"), ("aggregates", "packed")}
"""Columns and fields whose values are MessagePack."""

Path = tuple[str, ...]
"""The path of a value: table and column, or collection and field, then keys of nested values."""


def documented(*, but: Iterable[str] = ()) -> set[Path]:
    """Return the documented paths, except for some tables. `*` stands for any name or number."""
    groups: dict[str, list[dict[str, Any]]] = json.loads(_DOCUMENTED.read_text(encoding="utf-8"))
    entries = [entry for group in groups.values() for entry in group]
    paths = {tuple(field.split(".")) for entry in entries for field in entry["fields"]}
    return {path for path in paths if path[0] not in but}


def matches(pattern: Path, path: Path) -> bool:
    """Return whether a documented path matches a path."""
    return len(pattern) == len(path) and all(
        one in (_ANY, other) for one, other in zip(pattern, path, strict=True)
    )


def undocumented(paths: Iterable[Path]) -> list[str]:
    """Return the paths that are not documented."""
    patterns = documented()
    return sorted(
        {".".join(path) for path in paths if not any(matches(one, path) for one in patterns)}
    )


def read_fields(setting: str) -> set[Path]:
    """Return all paths in the store that `ATAJO_STORE` names, including empty columns."""
    if setting.startswith(sqlite.SCHEME):
        return set(_fields_of_file(setting.removeprefix(sqlite.SCHEME)))
    return set(_fields_of_database(setting))


def _fields_of_file(file: str) -> Iterator[Path]:
    with closing(sqlite3.connect(file)) as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        for (table,) in tables:
            for _, column, *_ in connection.execute(f"PRAGMA table_info({table})").fetchall():
                if (table, column) not in _PACKED:
                    yield table, column
                    continue
                for (packed,) in connection.execute(f"SELECT {column} FROM {table}"):
                    value = zlib.decompress(packed) if column == "packed" else packed
                    yield from _nested((table, column), value)


def _fields_of_database(url: str) -> Iterator[Path]:
    with pymongo.MongoClient[dict[str, Any]](url) as client:
        database = client.get_default_database()
        for collection in database.list_collection_names():
            if not collection.startswith("system."):
                for document in database[collection].find():
                    yield from _nested((collection,), document)


def _nested(path: Path, value: Any) -> Iterator[Path]:
    if path in _PACKED:
        value = msgpack.decode(value)
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _nested((*path, str(name)), part)
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _nested((*path, str(number)), part)
    else:
        yield path
