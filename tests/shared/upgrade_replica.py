"""A replica of a small service: `python -m tests.shared.upgrade_replica STORE VERSION`.

It prints `loaded` and migrates the store to version 1 or 2 of its schema. Then it adds a thing
`same`, of which version 2 allows only one, and things with other names until it is killed. For each
one that is acknowledged, it prints `added` and the name.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sqlite3
import sys
from collections.abc import Awaitable, Callable

from pymongo import IndexModel
from pymongo.errors import DuplicateKeyError

from services.shared import mongo, sqlite, stores

Add = Callable[[str], Awaitable[bool]]
"""Adds a thing with a name. Returns False if it exists and must be unique."""

MIGRATIONS = (
    "CREATE TABLE things (name TEXT NOT NULL);",
    "ALTER TABLE things ADD COLUMN size INTEGER NOT NULL DEFAULT 7;"
    "CREATE UNIQUE INDEX things_by_name ON things (name)",
)
SCHEMA: mongo.Schema = (
    {"things": [IndexModel("color", name="things_by_color")]},
    {"things": [IndexModel("name", name="things_by_name", unique=True)]},
)


def adapters(version: int) -> stores.StoreFactories[Add]:
    """Return the adapters of a service with a schema version."""
    return stores.StoreFactories(
        _on_sqlite, MIGRATIONS[:version], lambda: (_on_mongo, SCHEMA[:version])
    )


def _on_sqlite(database: sqlite.Database) -> Add:
    async def add(name: str) -> bool:
        def insert(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO things (name) VALUES (?)", (name,))

        try:
            await database.write("add", insert)
        except sqlite3.IntegrityError:
            return False
        return True

    return add


def _on_mongo(database: mongo.Database) -> Add:
    async def add(name: str) -> bool:
        try:
            await database.write("add", lambda db: db.things.insert_one({"name": name}))
        except DuplicateKeyError:
            return False
        return True

    return add


async def _main(setting: str, version: int) -> None:
    _print_line("loaded")
    async with stores.open_stores(setting, "test", adapters(version)) as (add, database):
        await database.wait_for_schema()
        numbers = (f"{os.getpid()} {number}" for number in itertools.count())
        for name in itertools.chain(["same"], numbers):
            if await add(name):
                _print_line(f"added {name}")


def _print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], int(sys.argv[2])))
