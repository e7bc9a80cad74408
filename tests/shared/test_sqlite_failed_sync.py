"""A failed sync of an SQLite store ends the process, since later syncs are unreliable."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import PYTHON_PATH, ROOT, TIMEOUT_SECONDS

_SCRIPT = """
import asyncio, errno, os, sqlite3, sys
from pathlib import Path
from services.shared.observability import logs
from services.shared import sqlite
from services.shared.sqlite.checkpointer import INTERVAL_SECONDS

def failing(fd):
    raise OSError(errno.EIO, "Input/output error")

class Connection(sqlite3.Connection):
    failing = ""

    def execute(self, statement, *values):
        if Connection.failing and statement.startswith(Connection.failing):
            Connection.failing = ""
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = int(sys.argv[3])
            raise error
        return super().execute(statement, *values)

async def main():
    logs.configure("store", "info")
    connect = sqlite3.connect
    sqlite3.connect = lambda *args, **options: connect(*args, factory=Connection, **options)
    migrations = ("CREATE TABLE numbers (number INTEGER)",)
    async with sqlite.open_database(f"sqlite:///{sys.argv[1]}", migrations) as database:
        async def add(number):
            insert = "INSERT INTO numbers VALUES (?)"
            await database.write("add", lambda db: db.execute(insert, (number,)).rowcount)
        await add(1)
        print("acknowledged", flush=True)
        if sys.argv[2] == "fdatasync":
            os.fdatasync = failing
        else:
            Connection.failing = sys.argv[2]
        try:
            await add(2)
            await asyncio.sleep(3 * INTERVAL_SECONDS)
        except Exception as error:
            print(type(error).__name__, flush=True)
        print("went on", flush=True)

asyncio.run(main())
"""


def _run(path: Path, fails: str, code: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(path), fails, str(code)],
        cwd=ROOT,
        env={"PYTHONPATH": PYTHON_PATH},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


@pytest.mark.parametrize("fails", ["fdatasync", "COMMIT", "PRAGMA wal_checkpoint"])
def test_a_failed_sync_ends_the_process(tmp_path: Path, fails: str) -> None:
    path = tmp_path / "store.db"
    ran = _run(path, fails, sqlite3.SQLITE_IOERR_FSYNC)
    assert (ran.returncode, ran.stdout) == (1, "acknowledged\n"), ran.stderr
    assert "store_sync_failed" in ran.stdout + ran.stderr
    with sqlite3.connect(path) as connection:
        assert (1,) in connection.execute("SELECT number FROM numbers").fetchall()
    connection.close()


def test_another_disk_error_does_not_end_the_process(tmp_path: Path) -> None:
    ran = _run(tmp_path / "store.db", "COMMIT", sqlite3.SQLITE_IOERR_WRITE)
    assert (ran.returncode, ran.stdout) == (0, "acknowledged\nUnavailable\nwent on\n"), ran.stderr
