"""A replica of a small service: `python -m tests.analytics.replica STORE VERSION`.

It says `loaded` and brings the store to version 1 or 2 of a schema. It adds the thing `same`, of
which version 2 allows one, and then things of other names until it is killed. It says `added` and
the name of each that was acknowledged.
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
"""Adds a thing of a name; False where one is there and may be there once."""

MIGRATIONS = (
    "CREATE TABLE things (name TEXT NOT NULL);",
    "ALTER TABLE things ADD COLUMN size INTEGER NOT NULL DEFAULT 7;"
    "CREATE UNIQUE INDEX things_by_name ON things (name)",
)
SCHEMA: mongo.Schema = (
    {"things": [IndexModel("color", name="things_by_color")]},
    {"things": [IndexModel("name", name="things_by_name", unique=True)]},
)


def adapters(version: int) -> stores.Adapters[Add]:
    """What a service of a schema version opens its store with."""
    return stores.Adapters(_on_sqlite, MIGRATIONS[:version], lambda: (_on_mongo, SCHEMA[:version]))


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
    _say("loaded")
    async with stores.opened(setting, "test", adapters(version)) as (add, database):
        await database.prepared()
        numbers = (f"{os.getpid()} {number}" for number in itertools.count())
        for name in itertools.chain(["same"], numbers):
            if await add(name):
                _say(f"added {name}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], int(sys.argv[2])))
