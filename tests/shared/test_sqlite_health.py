"""Health checks of an SQLite store: its files exist, and the disk accepts commits."""

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
async def test_a_store_without_its_files_is_unhealthy_and_refuses_writes(
    part: str, tmp_path: Path
) -> None:
    """Writes to a deleted file would be lost at the end of the process."""
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


async def test_an_idle_store_makes_test_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are rare, since each wears the disk."""
    full = False
    commits = 0

    class Disk(sqlite3.Connection):
        def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
            nonlocal commits
            if sql == "COMMIT":
                commits += 1
                if full:
                    raise sqlite3.OperationalError("database or disk is full")
            return super().execute(sql, parameters)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Disk))
    async with sqlite.open_database(f"sqlite:///{tmp_path}/db", []) as store:
        for _ in range(20):
            await store.check()
        assert commits == 1
        full = True
        await store.check()
        assert commits == 1, "the last commit is recent"
        monkeypatch.setattr(database, "_PROBE_SECONDS", 0.0)
        for _ in range(20):
            with pytest.raises(Unavailable) as unwritable:
                await store.check()
            assert unwritable.value.reason == "STORE_UNWRITABLE"
        assert commits == 2, "not every check of an unhealthy store makes a commit"
        full = False
        monkeypatch.setattr(database, "_RECOVERY_SECONDS", 0.0)
        await store.check()


async def test_a_write_that_changes_nothing_does_not_prove_health(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not touch the disk."""
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
