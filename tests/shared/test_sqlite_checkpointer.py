"""Checkpoints move commits from the log to the file concurrently with writes."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from unittest import mock

import pytest

from services.shared import sqlite
from services.shared.sqlite import checkpointer, connection
from tests.support.processes import TIMEOUT_SECONDS

WRITERS, LOGS_WRITTEN, NOTE = 8, 8, "x" * 8_000
TEXTS = [f"a committed text {number}" for number in range(30)]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[sqlite.Database]:
    """A store with continuous checkpoints, and none by a commit."""
    migrations = ["CREATE TABLE note (text TEXT);"]
    with (
        mock.patch.object(checkpointer, "INTERVAL_SECONDS", 0.0),
        mock.patch.object(connection, "MAX_LOG_PAGES", 2**30),
    ):
        async with sqlite.open_database(
            f"sqlite:///{tmp_path}/store.sqlite3", migrations
        ) as database:
            yield database


async def write(database: sqlite.Database, text: str) -> None:
    def insert(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO note VALUES (?)", (text,))

    await database.write("insert", insert)


async def test_commits_reach_the_file_while_the_store_is_open(
    database: sqlite.Database, tmp_path: Path
) -> None:
    for text in TEXTS:
        await write(database, text)
    file = tmp_path / "store.sqlite3"
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not all(text.encode() in file.read_bytes() for text in TEXTS):
            await database.check()


async def test_the_log_is_truncated_concurrently_with_checkpoints(
    database: sqlite.Database, tmp_path: Path
) -> None:
    for text in TEXTS:
        await write(database, text)
        await database.empty_log()
    assert (tmp_path / "store.sqlite3-wal").stat().st_size == 0
    assert all(text.encode() in (tmp_path / "store.sqlite3").read_bytes() for text in TEXTS)


async def test_a_long_log_restarts_during_concurrent_commits(
    database: sqlite.Database, tmp_path: Path
) -> None:
    log = tmp_path / "store.sqlite3-wal"
    written = 0

    async def keep_writing() -> None:
        nonlocal written
        while written < LOGS_WRITTEN * log.stat().st_size:
            await write(database, NOTE)
            written += len(NOTE)

    with mock.patch.object(checkpointer, "LONG_LOG_PAGES", 64):
        await write(database, NOTE)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await asyncio.gather(*(keep_writing() for _ in range(WRITERS)))
