"""Whether an SQLite store counts as well: what the disk says decides, and its files are there."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from services.shared import sqlite
from services.shared.errors import Unavailable
from services.shared.sqlite import database
from tests.support.processes import TIMEOUT_SECONDS


@pytest.mark.parametrize("part", ["db", "db-wal"])
async def test_a_file_that_is_gone_is_not_well_and_takes_nothing_more(
    part: str, tmp_path: Path
) -> None:
    """Whatever is written to it would be gone at the end of the process."""
    async with sqlite.open_database(
        f"sqlite:///{tmp_path}/db", ["CREATE TABLE t (n INTEGER)"]
    ) as store:

        async def insert() -> None:
            await store.write("add", lambda db: db.execute("INSERT INTO t VALUES (1)").rowcount)

        await insert()
        await store.check()
        (tmp_path / part).rename(tmp_path / "elsewhere")
        for use in (store.check, insert):
            with pytest.raises(Unavailable) as gone:
                await use()
            assert gone.value.reason == "STORE_FILE_GONE"
        (tmp_path / "elsewhere").rename(tmp_path / part)
        await store.check()
        await insert()


async def test_a_store_that_nobody_writes_is_written_for_a_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Now and then alone: each try wears the disk."""
    full = False
    tried = 0

    class Disk(sqlite3.Connection):
        def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
            nonlocal tried
            if sql == "COMMIT":
                tried += 1
                if full:
                    raise sqlite3.OperationalError("database or disk is full")
            return super().execute(sql, parameters)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Disk))
    async with sqlite.open_database(f"sqlite:///{tmp_path}/db", []) as store:
        for _ in range(20):
            await store.check()
        assert tried == 1
        full = True
        await store.check()
        assert tried == 1, "the last one was not long ago"
        monkeypatch.setattr(database, "_PROBE_SECONDS", 0.0)
        for _ in range(20):
            with pytest.raises(Unavailable) as unwritable:
                await store.check()
            assert unwritable.value.reason == "STORE_UNWRITABLE"
        assert tried == 2, "a store that is in doubt is not tried at each look"
        full = False
        monkeypatch.setattr(database, "_RECOVERY_SECONDS", 0.0)
        await store.check()


async def test_what_writes_nothing_says_nothing_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repetition changes nothing, and so does not touch it."""
    insert = "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING"

    def insert_again(connection: sqlite3.Connection) -> None:
        connection.execute(insert)

    monkeypatch.setattr(database, "_PROBE_SECONDS", 0.5)
    migrations = ["CREATE TABLE t (n INTEGER PRIMARY KEY)", insert]
    async with sqlite.open_database(f"sqlite:///{tmp_path}/db", migrations) as store:
        await store.check()

        async def repeat() -> None:
            while True:
                await store.write("again", insert_again)
                await store.check()

        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        room = (tmp_path / "db-wal").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
        try:
            with pytest.raises(Unavailable) as unwritable:
                await asyncio.wait_for(repeat(), TIMEOUT_SECONDS)
            assert unwritable.value.reason == "STORE_UNWRITABLE"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
