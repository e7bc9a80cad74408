"""An SQLite file as services use it: writes with group commit, reads beside them, health."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from services.shared.errors import Unavailable
from services.shared.observability import metrics
from services.shared.observability.store_size import StoreSize
from services.shared.schema_version import SchemaTooNew
from services.shared.sqlite.checkpointer import Checkpointer
from services.shared.sqlite.connection import Operation, T, schema_version
from services.shared.sqlite.migrations import Migration, open_migrated
from services.shared.sqlite.readers import Readers
from services.shared.sqlite.writer import Writer

SCHEME = "sqlite:///"
_READERS = 2
"""Threads for reads of any length."""
_PROBE_SECONDS = 30.0
"""Time after which a store that nobody writes is written to as a probe: a page, 12 MB a day."""
_DOUBT_SECONDS = 5.0
"""Time without a failed commit, and then a good one, until a store counts as well again: where
little room is left, small commits succeed between large ones that fail."""


class Database:
    """One SQLite file. Made by `Database.open`, ended by `close`."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._files = {each: _identity(each) for each in (path, Path(f"{path}-wal"))}
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
        """Open or make the file and bring its schema up to date, as `open_migrated` does."""
        path.parent.mkdir(parents=True, exist_ok=True)
        return cls(path, await asyncio.to_thread(open_migrated, path, migrations))

    async def close(self) -> None:
        """Finish what waits, then close the file. What is asked for later is refused."""
        await asyncio.to_thread(self._checkpointer.stop)
        await self._writer.close()
        await self._readers.close()
        await self._reserved.close()
        self._checkpointer.close()

    async def write(self, name: str, operation: Operation[T]) -> T:
        """Run `operation` in a transaction and return its result once that is on disk.

        `operation` runs in the writing thread; an exception it raises undoes it alone.
        Raises Unavailable when too many operations wait or the file cannot be written.
        """
        with metrics.store_operation(name):
            return await self._submit(operation)

    async def read(self, name: str, operation: Operation[T]) -> T:
        """Run `operation` on a reading connection, beside the writer.

        SQLite interrupts it when the caller is cancelled. Raises Unavailable when the file cannot
        be read.
        """
        with metrics.store_operation(name):
            return await self._readers.run(operation)

    async def look_up(self, name: str, operation: Operation[T]) -> T:
        """Run a short `operation` on the connection that `read` never occupies.

        For redirects and what keeps them current. Raises Unavailable when the file cannot be read.
        """
        with metrics.store_operation(name):
            return await self._reserved.run(operation)

    async def empty_log(self) -> None:
        """Move the write-ahead log into the file and empty it: what was deleted is in neither then.

        Raises Unavailable where a reader, such as a backup, is in the way.
        """
        with metrics.store_operation("empty_log"):
            await self._submit(self._checkpointer.empty_log, is_outside=True)

    async def prepared(self) -> None:
        """Return at once: the schema was brought up to date when the file was opened."""

    async def check(self) -> None:
        """Raises Unavailable when the file cannot be read or written. Not in the metrics.

        Only a commit tells whether a file can be written: a transaction that is rolled back, or
        that changes nothing, need not reach the disk. So the last commits decide. Where they were
        long ago, or failed, one is made to find out.
        """
        try:
            await self._reserved.run(self._look)
        except sqlite3.Error as error:  # It is there and no database.
            raise Unavailable("The store cannot be read.", "STORE_UNAVAILABLE") from error
        now, written_at, failed_at = (
            time.monotonic(),
            self._writer.written_at,
            self._writer.failed_at,
        )
        if now - failed_at < _DOUBT_SECONDS:
            raise Unavailable("The store cannot be written.", "STORE_UNWRITABLE")
        if failed_at > written_at or now - written_at >= _PROBE_SECONDS:
            await self._probe()

    async def size(self) -> StoreSize:
        """Return the bytes of the file and its log, and what their disk has free.

        Raises Unavailable.
        """
        return await asyncio.to_thread(self._measure)

    def _submit(self, operation: Operation[T], *, is_outside: bool = False) -> asyncio.Future[T]:
        if self._is_gone:
            raise Unavailable("The file of the store is gone.", "STORE_FILE_GONE")
        return self._writer.submit(operation, is_outside=is_outside)

    def _look(self, connection: sqlite3.Connection) -> None:
        """Read one value, and see that the files were not removed or replaced by others."""
        self._is_gone = any(_identity(path) != was for path, was in self._files.items())
        if self._is_gone:
            raise Unavailable("The file of the store is gone.", "STORE_FILE_GONE")
        schema_version(connection)

    async def _probe(self) -> None:
        """Make a commit that changes nothing. All who ask at once share it."""
        if self._probing is None or self._probing.done():
            self._probing = self._submit(_write_nothing)
            self._probing.add_done_callback(self._note_probe)
        try:
            await asyncio.shield(self._probing)
        except Unavailable as error:
            raise Unavailable("The store cannot be written.", "STORE_UNWRITABLE") from error

    def _note_probe(self, probe: asyncio.Future[None]) -> None:
        if not probe.cancelled() and probe.exception() is None:
            self._writer.written_at = time.monotonic()

    def _measure(self) -> StoreSize:
        try:
            size = self._path.stat().st_size
            with suppress(FileNotFoundError):  # A log that is emptied may be gone.
                size += Path(f"{self._path}-wal").stat().st_size
            disk = os.statvfs(self._path)
        except OSError as error:
            raise Unavailable("The file of the store is gone.", "STORE_FILE_GONE") from error
        return StoreSize(size, disk.f_bavail * disk.f_frsize)


@asynccontextmanager
async def opened(store: str, migrations: Sequence[Migration]) -> AsyncIterator[Database]:
    """The file a `sqlite:///path` setting names, as `Database.open` opens it, closed at the end.

    Raises SystemExit with one line for a setting of another form or a file that cannot be used.
    """
    if not store.startswith(SCHEME) or store == SCHEME:
        raise SystemExit("ATAJO_STORE must have the form sqlite:///path/to/file")
    path = Path(store.removeprefix(SCHEME))
    try:
        database = await Database.open(path, migrations)
    except (SchemaTooNew, OSError, sqlite3.Error) as error:
        raise SystemExit(f"Cannot use the store {path}: {error}") from None
    try:
        yield database
    finally:
        await database.close()


def _write_nothing(connection: sqlite3.Connection) -> None:
    """Write the schema's version as it is: that makes a commit, and changes nothing."""
    connection.execute(f"PRAGMA user_version = {schema_version(connection)}")


def _identity(path: Path) -> tuple[int, int]:
    """The device and inode of the file of this name; zeros where there is none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return 0, 0
    return found.st_dev, found.st_ino
