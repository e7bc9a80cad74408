"""Opens an SQLite file, upgrades its schema, and ends the process after a failed sync."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from services.shared import supervisor
from services.shared.errors import UnsupportedSchemaVersion
from services.shared.observability import logs

log = logs.get(__name__)

T = TypeVar("T")
Operation = Callable[[sqlite3.Connection], T]
Migration = str
"""A script that upgrades a schema to the next version, without BEGIN and COMMIT."""

BUSY_TIMEOUT_MS = 5000
"""How long to wait for a lock of another process."""
MAX_LOG_PAGES = 65536
"""256 MiB. Beyond it, every commit makes a checkpoint, which bounds a log that grows faster than it
is checkpointed. Reading such a log makes a start 0.1 s longer."""
_FAILED_SYNCS = (sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC)


def connect(path: Path) -> sqlite3.Connection:
    """Open a connection, which may be used in one thread at a time.

    With `synchronous=FULL` in WAL mode, a commit is on disk before it is acknowledged: it survives
    a power failure, not only a killed process.
    """
    connection = sqlite3.connect(
        path,
        isolation_level=None,
        timeout=BUSY_TIMEOUT_MS / 1000,
        check_same_thread=False,
        cached_statements=256,
    )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    # Overwrites deleted data in the pages that are written anyway.
    connection.execute("PRAGMA secure_delete = FAST")
    connection.execute("PRAGMA cache_size = -8192")  # 8 MiB: the system caches the file, too.
    connection.execute(f"PRAGMA wal_autocheckpoint = {MAX_LOG_PAGES}")
    return connection


def open_migrated(path: Path, migrations: Sequence[Migration]) -> sqlite3.Connection:
    """Open or create the file and run the missing migrations, one transaction each.

    `migrations[n]` upgrades schema version n to n + 1. Raises UnsupportedSchemaVersion if the file
    has a version beyond the last migration.
    """
    connection = connect(path)
    try:
        _migrate(connection, str(path), migrations)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: sqlite3.Connection, name: str, migrations: Sequence[Migration]) -> None:
    version = schema_version(connection)
    if version > len(migrations):
        raise UnsupportedSchemaVersion(name, version, len(migrations))
    if 0 < version < len(migrations):  # Creating a file takes no time.
        log.info("schema_upgrading", version=version, to=len(migrations))
        supervisor.report_upgrading(name)
    for number, migration in enumerate(migrations[version:], version + 1):
        # `executescript` commits any open transaction first.
        connection.executescript(f"BEGIN IMMEDIATE; {migration}")
        connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the version of the schema, from the file's header; 0 for a new file."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def end_after_failed_sync(error: sqlite3.Error | OSError) -> None:
    """End the process at once if the error is a failed sync; otherwise return.

    Linux reports a failed sync once and may then mark the pages as clean. A later sync would
    succeed without writing them, and the log would be overwritten although the file lacks its
    content. So nothing may be closed or checkpointed after it. The log still has all commits for
    the next start.
    """
    # Python's own errors, such as that of a closed connection, have no error code.
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(error, sqlite3.Error) and code not in _FAILED_SYNCS:
        return
    log.critical("store_sync_failed", error=str(error))
    sys.stderr.flush()
    os._exit(1)
