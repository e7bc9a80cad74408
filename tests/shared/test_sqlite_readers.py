"""Concurrent reads of an SQLite file, and the interruption of abandoned ones."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from services.shared import sqlite

ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
READERS = 2
MANY = 8
"""More than the number of readers."""


@pytest_asyncio.fixture
async def database(tmp_path: Path) -> AsyncIterator[sqlite.Database]:
    opened = await sqlite.Database.open(tmp_path / "file", ["CREATE TABLE note (text TEXT);"])
    yield opened
    await opened.close()


class Endless:
    """Reads that never end by themselves."""

    def __init__(self, database: sqlite.Database) -> None:
        self._database = database
        self._begun = threading.Semaphore(0)

    async def begin(self) -> list[asyncio.Task[None]]:
        """Occupy all readers."""
        tasks = [
            asyncio.create_task(self._database.read("endless", self._read)) for _ in range(MANY)
        ]
        for _ in range(READERS):
            await asyncio.to_thread(self._begun.acquire)
        return tasks

    def _read(self, connection: sqlite3.Connection) -> None:
        self._begun.release()
        connection.execute(ENDLESS).fetchone()


def one(connection: sqlite3.Connection) -> int:
    (value,) = connection.execute("SELECT 1").fetchone()
    return int(value)


async def test_reads_never_occupy_the_reader_for_redirects(database: sqlite.Database) -> None:
    endless = Endless(database)
    tasks = await endless.begin()
    for _ in range(MANY):
        assert await database.look_up("look_up", one) == 1
    await database.check()
    assert not any(task.done() for task in tasks)
    await cancel(tasks)


async def test_an_abandoned_read_is_interrupted(database: sqlite.Database) -> None:
    endless = Endless(database)
    for _ in range(5):
        await cancel(await endless.begin())
        # These reads wait for each other, so they need all readers.
        both = threading.Barrier(READERS)
        reads = [database.read("read", lambda _, both=both: both.wait()) for _ in range(READERS)]  # type: ignore[misc]
        assert sorted(await asyncio.gather(*reads)) == [*range(READERS)]


async def cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in reversed(tasks):
        task.cancel()
    await asyncio.wait(tasks)
    assert all(task.cancelled() for task in tasks)
