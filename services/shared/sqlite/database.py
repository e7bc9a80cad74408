"""The operations on an SQLite file that services use: writes with group commit, reads, health."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from services.shared.errors import Unavailable, UnsupportedSchemaVersion
from services.shared.observability import metrics
from services.shared.observability.store_size import StoreSize
from services.shared.sqlite.checkpointer import Checkpointer
from services.shared.sqlite.connection import (
    Migration,
    Operation,
    T,
    open_migrated,
    schema_version,
)
from services.shared.sqlite.readers import Readers
from services.shared.sqlite.writer import Writer

SCHEME = "sqlite:///"
_READERS = 2
"""Number of threads for `read`."""
_PROBE_SECONDS = 30.0
"""Time without a commit after which a check makes a test commit: a page, 12 MB a day."""
_RECOVERY_SECONDS = 5.0
"""Time since the last failed commit after which a successful one proves that the store recovered.
On a disk that is almost full, small commits succeed between large ones that fail."""


class Database:
    """One SQLite file."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._identities = {file: _identity(file) for file in (path, Path(f"{path}-wal"))}
        self._is_gone = False
        self._checkpointer = Checkpointer(path, lambda: self._writer.written_at)
        self._writer = Writer(connection, self._checkpointer.finish)
        self._readers = Readers(path, _READERS, "sqlite-read")
        self._reserved = Readers(path, 1, "sqlite-lookup")
        self._probing: asyncio.Future[None] | None = None
        self._writer.start()
        self._checkpointer.start()

    @classmethod
    async def open(cls, path: Path, migrations: Sequence[Migration]) -> Database:
        """Open or create the file and upgrade its schema, as `open_migrated` does."""
        path.parent.mkdir(parents=True, exist_ok=True)
        return cls(path, await asyncio.to_thread(open_migrated, path, migrations))

    async def close(self) -> None:
        """Finish the waiting operations, then close the file. Later operations are refused."""
        await asyncio.to_thread(self._checkpointer.stop)
        await self._writer.close()
        await self._readers.close()
        await self._reserved.close()
        self._checkpointer.close()

    async def write(self, name: str, operation: Operation[T]) -> T:
        """Run `operation` in a transaction and return its result once it is on disk.

        `operation` runs in the writer's thread. An exception that it raises rolls back only this
        operation. Raises Unavailable if too many operations wait or the file cannot be written.
        """
        with metrics.store_operation(name):
            return await self._submit(operation)

    async def read(self, name: str, operation: Operation[T]) -> T:
        """Run `operation` on a read connection, concurrently with the writer.

        SQLite interrupts it if the caller is cancelled. Raises Unavailable if the file cannot be
        read.
        """
        with metrics.store_operation(name):
            return await self._readers.run(operation)

    async def look_up(self, name: str, operation: Operation[T]) -> T:
        """Run a short `operation` on a connection that `read` never uses.

        For redirects and their invalidation. Raises Unavailable if the file cannot be read.
        """
        with metrics.store_operation(name):
            return await self._reserved.run(operation)

    async def empty_log(self) -> None:
        """Move the write-ahead log into the file and truncate it.

        After that, deleted data is in neither of them. Raises Unavailable if a reader, such as a
        backup, prevents it.
        """
        with metrics.store_operation("empty_log"):
            await self._submit(self._checkpointer.empty_log, is_outside=True)

    async def wait_for_schema(self) -> None:
        """Return at once: the schema was upgraded when the file was opened."""

    async def check(self) -> None:
        """Raise Unavailable if the file cannot be read or written. Not in the metrics.

        Only a commit shows whether a file can be written: a transaction that is rolled back or
        changes nothing need not reach the disk. So the last commits decide. If they were long ago
        or failed, this makes a test commit.
        """
        try:
            await self._reserved.run(self._check_file)
        except sqlite3.Error as error:  # The file is no longer a database.
            raise Unavailable("The store cannot be read.", "STORE_UNAVAILABLE") from error
        now = time.monotonic()
        written_at, failed_at = self._writer.written_at, self._writer.failed_at
        if now - failed_at < _RECOVERY_SECONDS:
            raise Unavailable("The store cannot be written.", "STORE_UNWRITABLE")
        if failed_at > written_at or now - written_at >= _PROBE_SECONDS:
            await self._probe()

    async def size(self) -> StoreSize:
        """Return the bytes of the file and its log, and the free space on their disk.

        Raises Unavailable.
        """
        return await asyncio.to_thread(self._measure)

    def _submit(self, operation: Operation[T], *, is_outside: bool = False) -> asyncio.Future[T]:
        if self._is_gone:
            raise Unavailable("The file of the store is gone.", "STORE_FILE_GONE")
        return self._writer.submit(operation, is_outside=is_outside)

    def _check_file(self, connection: sqlite3.Connection) -> None:
        """Read one value, and check that the files were not removed or replaced."""
        self._is_gone = any(_identity(path) != was for path, was in self._identities.items())
        if self._is_gone:
            raise Unavailable("The file of the store is gone.", "STORE_FILE_GONE")
        schema_version(connection)

    async def _probe(self) -> None:
        """Make a test commit that changes nothing. Concurrent callers share one."""
        if self._probing is None or self._probing.done():
            self._probing = self._submit(_write_nothing)
            self._probing.add_done_callback(self._on_probe_done)
        try:
            await asyncio.shield(self._probing)
        except Unavailable as error:
            raise Unavailable("The store cannot be written.", "STORE_UNWRITABLE") from error

    def _on_probe_done(self, probe: asyncio.Future[None]) -> None:
        if not probe.cancelled() and probe.exception() is None:
            self._writer.written_at = time.monotonic()

    def _measure(self) -> StoreSize:
        try:
            size = self._path.stat().st_size
            with suppress(FileNotFoundError):  # There may be no log.
                size += Path(f"{self._path}-wal").stat().st_size
            disk = os.statvfs(self._path)
        except OSError as error:
            raise Unavailable("The file of the store is gone.", "STORE_FILE_GONE") from error
        return StoreSize(size, disk.f_bavail * disk.f_frsize)


@asynccontextmanager
async def open_database(store: str, migrations: Sequence[Migration]) -> AsyncIterator[Database]:
    """Open the file that a `sqlite:///path` setting names, as `Database.open` does.

    Raises SystemExit with one line for another setting or a file that cannot be used.
    """
    if not store.startswith(SCHEME) or store == SCHEME:
        raise SystemExit("ATAJO_STORE must have the form sqlite:///path/to/file")
    path = Path(store.removeprefix(SCHEME))
    try:
        database = await Database.open(path, migrations)
    except UnsupportedSchemaVersion as error:
        raise SystemExit(f"Cannot use the store. {error}") from None
    except (OSError, sqlite3.Error) as error:
        raise SystemExit(f"Cannot use the store {path}: {error}.") from None
    try:
        yield database
    finally:
        await database.close()


def _write_nothing(connection: sqlite3.Connection) -> None:
    """Write the schema's version, unchanged, which makes a commit."""
    connection.execute(f"PRAGMA user_version = {schema_version(connection)}")


def _identity(path: Path) -> tuple[int, int]:
    """Return the device and inode of a file; zeros if there is none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return 0, 0
    return found.st_dev, found.st_ino
