"""An SQLite file as an asynchronous store with group commit.

One thread owns the writing connection. It takes every operation that waits, runs them in one
transaction, each in a savepoint of its own, and commits once: the price of the disk is shared.
`synchronous=FULL` in WAL mode makes each commit reach the disk before it is acknowledged, so
that what a caller was told survives a power cut, not only a killed process.

Another thread moves what was committed from the log into the file. SQLite would do that inside a
commit, and everybody who writes would wait for it, 50 to 230 ms each time. A log begins anew with a
commit that finds all of it in the file. Under load none does, as others commit while the log is
moved: once it is long, the writing thread moves the rest of it between two commits, in 2 to 10 ms.

Whether the file can be written only a commit tells: a transaction that is rolled back, or that
changes nothing, need not reach the disk, and neither notices a file that was removed. So the end of
the last commit that wrote is what counts, and where nobody writes, one is made now and then.
"""

from __future__ import annotations

import asyncio
import math
import os
import queue
import sqlite3
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from services.runtime import background, logs, metrics, ready
from services.runtime.errors import Unavailable
from services.runtime.schema import SchemaTooNew
from services.runtime.store_size import StoreSize

log = logs.get(__name__)

T = TypeVar("T")
Operation = Callable[[sqlite3.Connection], T]
Migration = str | Callable[[sqlite3.Connection], None]
"""What leads from one version of a schema to the next: a script of statements, or a function where
SQL cannot say it. Neither begins or commits: it is part of a transaction."""

SCHEME = "sqlite:///"
_GROUP = 256
"""Most operations in one commit."""
_WAITING = 4096
"""Most operations that may wait; one more is refused."""
_READERS = 2
"""Threads for reads of any length."""
_INTERRUPTED_EVERY = 0.05
"""Seconds after which a read that was interrupted and goes on is interrupted again."""
_PATIENCE_MS = 5000
"""For how long a lock of another process is waited for."""
_READ_MAPPED = 2**30
"""Bytes of the file that readers map: a page of them costs no call of the system, and redirects of
a million links that no gateway has in memory are a tenth faster. It counts as the process's memory,
and is the system's to take back. Where the disk fails to read a mapped page the process ends, so
the writer, whose errors are told, maps none."""
_LOG_PATIENCE_MS = 100
"""The same for readers, while the log is emptied and nobody writes."""
_MOVED_EVERY = 2.0
"""Seconds from one move of the log into the file to the next, where anything was committed."""
_LONG_LOG = 16384
"""Pages, 64 MiB, from which on a log is to begin anew."""
_LONGEST_LOG = 65536
"""Pages, 256 MiB, from which on every commit moves the log after all, so that it has a bound where
more is written than is moved. To read such a log makes a start 0.1 s longer."""
_TRIED_EVERY = 30.0
"""Seconds after which a store that nobody writes is written for a try: a page, 12 MB a day."""
_FAILED_SYNCS = (sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC)
_DOUBTED = 5.0
"""Seconds without a failed commit, and then a good one, until a store counts as well again: where
little room is left, small commits succeed between large ones that fail."""


class _Read(Generic[T]):
    """A read in a thread, which its caller can abandon from another one."""

    def __init__(self, operation: Operation[T]) -> None:
        self._operation = operation
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._is_abandoned = False

    def run(self, connection: sqlite3.Connection) -> T:
        with self._lock:
            if self._is_abandoned:
                raise sqlite3.OperationalError("interrupted")
            self._connection = connection
        try:
            return self._operation(connection)
        finally:
            with self._lock:
                self._connection = None

    def abandon(self, loop: asyncio.AbstractEventLoop) -> None:
        """Interrupt the read until it has ended: each statement that runs ends with an error.

        SQLite ignores an interrupt between two statements.
        """
        with self._lock:
            self._is_abandoned = True
            if self._connection is None:
                return
            self._connection.interrupt()
        loop.call_later(_INTERRUPTED_EVERY, self.abandon, loop)


@dataclass
class _Pending:
    operation: Operation[Any]
    future: asyncio.Future[Any]
    is_outside: bool
    """Whether it runs after the transaction of its group, and in none."""
    result: Any = None
    error: BaseException | None = None


class Database:
    """One SQLite file. Made by `Database.open`, ended by `close`."""

    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop) -> None:
        self._path = path
        self._loop = loop
        self._pending: queue.Queue[_Pending | None] = queue.Queue(_WAITING)
        self._closing = False
        self._local = threading.local()
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="sqlite-read")
        self._reserved = ThreadPoolExecutor(1, thread_name_prefix="sqlite-lookup")
        self._writer = threading.Thread(target=self._write, name="sqlite-write", daemon=True)
        self._mover = threading.Thread(target=self._move, name="sqlite-move", daemon=True)
        self._moving = threading.Lock()
        self._move_stopped = threading.Event()
        self._log_is_long = False
        # To close it takes away the locks of all connections to the file: the last thing to close.
        self._file = os.open(path, os.O_RDONLY)
        self._throttled = logs.Throttled(__name__)
        self._group: list[_Pending] = []
        self._written_at = self._failed_at = -math.inf
        self._trying: asyncio.Future[None] | None = None
        self._files: Mapping[Path, tuple[int, int]] = {}
        self._gone = False

    @classmethod
    async def open(cls, path: Path, migrations: Sequence[Migration]) -> Database:
        """Open or make the file and bring its schema up to date.

        `migrations[n]` leads from schema version n to n + 1. Raises SchemaTooNew when
        the file's version is above the last of them.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        await asyncio.to_thread(_migrate, path, migrations)
        database = cls(path, asyncio.get_running_loop())
        database._writer.start()
        database._mover.start()
        return database

    async def close(self) -> None:
        """Finish what waits, then close the file. What is asked for later is refused."""
        self._closing = True
        self._move_stopped.set()
        await asyncio.to_thread(self._mover.join)
        await asyncio.to_thread(self._pending.put, None)
        await asyncio.to_thread(self._writer.join)
        await asyncio.to_thread(self._readers.shutdown)
        await asyncio.to_thread(self._reserved.shutdown)
        os.close(self._file)

    async def write(self, name: str, operation: Operation[T]) -> T:
        """Run `operation` in a transaction and return its result once that is on disk.

        `operation` runs in the writing thread; an exception it raises undoes it alone.
        Raises Unavailable when too many operations wait or the file cannot be written.
        """
        with metrics.store_operation(name):
            return await self._queued(operation)

    async def read(self, name: str, operation: Operation[T]) -> T:
        """Run `operation` on a reading connection, beside the writer.

        SQLite interrupts it when the caller is cancelled. Raises Unavailable when the file cannot
        be read.
        """
        with metrics.store_operation(name):
            return await self._read_in(self._readers, operation)

    async def look_up(self, name: str, operation: Operation[T]) -> T:
        """Run a short `operation` on the connection that `read` never occupies.

        For redirects and what keeps them current. Raises Unavailable when the file cannot be read.
        """
        with metrics.store_operation(name):
            return await self._read_in(self._reserved, operation)

    async def empty_log(self) -> None:
        """Move the write-ahead log into the file and empty it: what was deleted is in neither then.

        Raises Unavailable where a reader, such as a backup, is in the way.
        """
        with metrics.store_operation("empty_log"):
            await self._queued(self._empty_log, is_outside=True)

    async def prepared(self) -> None:
        """Return at once: the schema was brought up to date when the file was opened."""

    async def check(self) -> None:
        """Raises Unavailable when the file cannot be read or written. Not in the metrics.

        The outcome of the last commits decides. Where they were long ago, or failed, one more is
        made to find out.
        """
        try:
            await self._loop.run_in_executor(self._reserved, self._look)
        except sqlite3.Error as error:  # It is there and no database.
            raise Unavailable("The store cannot be read.", "STORE_UNAVAILABLE") from error
        now = time.monotonic()
        if now - self._failed_at < _DOUBTED:
            raise Unavailable("The store cannot be written.", "STORE_UNWRITABLE")
        if self._failed_at > self._written_at or now - self._written_at >= _TRIED_EVERY:
            if self._trying is None or self._trying.done():
                self._trying = self._queued(_write_nothing)
                self._trying.add_done_callback(lambda tried: tried.cancelled() or tried.exception())
            try:
                await asyncio.shield(self._trying)
            except Unavailable as error:
                raise Unavailable("The store cannot be written.", "STORE_UNWRITABLE") from error

    async def size(self) -> StoreSize:
        """Return the bytes of the file and its log, and what their disk has free.

        Raises Unavailable.
        """
        return await self._loop.run_in_executor(self._readers, self._measure)

    def _measure(self) -> StoreSize:
        try:
            size = self._path.stat().st_size
            with suppress(FileNotFoundError):  # The writing thread creates the log as it starts.
                size += Path(f"{self._path}-wal").stat().st_size
            disk = os.statvfs(self._path)
        except OSError as error:
            raise Unavailable("The file of the store is gone.", "STORE_FILE_GONE") from error
        return StoreSize(size, disk.f_bavail * disk.f_frsize)

    def _queued(self, operation: Operation[T], is_outside: bool = False) -> asyncio.Future[T]:
        """Hand an operation to the writer. Raises Unavailable where it is not taken."""
        if self._closing:
            raise Unavailable("The store is closed.", "STORE_CLOSED")
        if self._gone:
            raise Unavailable("The file of the store is gone.", "STORE_FILE_GONE")
        future: asyncio.Future[T] = self._loop.create_future()
        try:
            self._pending.put_nowait(_Pending(operation, future, is_outside))
        except queue.Full:
            raise Unavailable("The store is overloaded.", "STORE_OVERLOADED") from None
        return future

    def _look(self) -> None:
        """Read one value, and see that the files were not removed or replaced by others."""
        self._gone = any(_identity(path) != was for path, was in self._files.items())
        if self._gone:
            raise Unavailable("The file of the store is gone.", "STORE_FILE_GONE")
        self._read_one(_schema_version)

    async def _read_in(self, readers: ThreadPoolExecutor, operation: Operation[T]) -> T:
        read = _Read(operation)
        try:
            return await self._loop.run_in_executor(readers, self._read_one, read.run)
        except asyncio.CancelledError:
            read.abandon(self._loop)
            raise

    def _read_one(self, operation: Operation[T]) -> T:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        try:
            if connection is None:
                connection = _connect(self._path)
                connection.execute(f"PRAGMA mmap_size = {_READ_MAPPED}")
                self._local.connection = connection
            return operation(connection)
        except sqlite3.OperationalError as error:
            raise Unavailable("The store cannot be read.", "STORE_UNAVAILABLE") from error

    def _write(self) -> None:
        """The writing thread. Whatever ends it, everybody who waits for it is told."""
        try:
            connection = _connect(self._path)
            _schema_version(connection)  # From here on the log is there, too.
            self._files = {
                path: _identity(path) for path in (self._path, Path(f"{self._path}-wal"))
            }
            self._write_all(connection)
            connection.close()
        except BaseException as error:
            self._loop.call_soon_threadsafe(self._end_writing, error)

    def _write_all(self, connection: sqlite3.Connection) -> None:
        stopping = False
        while not stopping:
            group = self._group = []
            taken = self._pending.get()
            while taken is not None:
                group.append(taken)
                if len(group) == _GROUP:
                    break
                try:
                    taken = self._pending.get_nowait()
                except queue.Empty:
                    break
            stopping = taken is None
            if group:
                try:
                    if _commit(connection, group):
                        self._written_at = time.monotonic()
                except sqlite3.Error as error:
                    _end_after_failed_sync(error)
                    self._failed_at = time.monotonic()
                    for pending in group:
                        pending.error = Unavailable(
                            "The store cannot be written.", "STORE_UNAVAILABLE"
                        )
                        pending.error.__cause__ = error
                for pending in group:
                    if pending.is_outside and pending.error is None:
                        _run_outside(connection, pending)
                self._loop.call_soon_threadsafe(_settle, group)
                if self._log_is_long:
                    self._log_is_long = False
                    with background.each_turn(self._throttled, "log_move"):
                        _move_log(connection)

    def _empty_log(self, connection: sqlite3.Connection) -> None:
        """In no transaction. Waits for readers only so long as no writer minds."""
        connection.execute(f"PRAGMA busy_timeout = {_LOG_PATIENCE_MS}")
        try:
            with self._moving:
                busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
        if busy:
            raise Unavailable("The log of the store is being read.", "STORE_BUSY")

    def _move(self) -> None:
        """The moving thread. A move that fails costs nothing but room: the log keeps all of it."""
        connection: sqlite3.Connection | None = None
        moved_at = self._written_at
        while not self._move_stopped.wait(_MOVED_EVERY):
            if (written_at := self._written_at) == moved_at:
                continue
            with background.each_turn(self._throttled, "log_move"):
                try:
                    connection = connection or _connect(self._path)
                except sqlite3.Error as error:
                    raise Unavailable("The log cannot be moved.", "STORE_UNAVAILABLE") from error
                with self._moving:
                    pages = _move_log(connection)
                    self._sync()
                self._log_is_long = pages >= _LONG_LOG
                moved_at = written_at
        if connection is not None:
            connection.close()

    def _sync(self) -> None:
        """Have the disk keep what was moved. SQLite does so once all of the log is moved."""
        try:
            os.fdatasync(self._file)
        except OSError as error:
            _end_after_failed_sync(error)

    def _end_writing(self, error: BaseException) -> None:
        """Refuse those who wait and those to come, and end the process. In the loop."""
        self._closing = True
        left, self._group = self._group, []
        while not self._pending.empty():
            if pending := self._pending.get_nowait():
                left.append(pending)
        for pending in left:
            pending.error = Unavailable("The store is closed.", "STORE_CLOSED")
        _settle(left)
        background.failed("sqlite-write", error)


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


@contextmanager
def functions(connection: sqlite3.Connection, **named: Callable[..., Any]) -> Iterator[None]:
    """Within the block, SQL knows these functions. What one of them raises, the block raises.

    SQLite by itself says no more than that some function raised something.
    """
    raised: list[Exception] = []
    for name, function in named.items():
        connection.create_function(name, -1, _telling(function, raised))
    try:
        yield
    except sqlite3.OperationalError as error:
        if raised:
            raise raised[0] from error
        raise
    finally:
        for name in named:
            connection.create_function(name, -1, None)


def _telling(function: Callable[..., Any], raised: list[Exception]) -> Callable[..., Any]:
    """A function that adds to `raised` what it raises."""

    def called(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            raised.append(error)
            raise

    return called


def _commit(connection: sqlite3.Connection, group: list[_Pending]) -> bool:
    """Run a group in one transaction; afterwards each has its result or its error.

    Returns whether anything was written: a transaction that changes nothing does not touch
    the disk. Raises sqlite3.Error where all of it failed.
    """
    written = False
    try:
        connection.execute("BEGIN IMMEDIATE")
        for pending in group:
            if pending.is_outside:
                continue
            connection.execute("SAVEPOINT one")
            before = connection.total_changes
            try:
                pending.result = pending.operation(connection)
            except sqlite3.OperationalError:  # The disk, not the operation: all of it failed.
                raise
            except Exception as error:
                pending.error = error
                connection.execute("ROLLBACK TO one")
            else:
                written |= connection.total_changes > before
                written |= pending.operation is _write_nothing
            connection.execute("RELEASE one")
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return written


def _run_outside(connection: sqlite3.Connection, pending: _Pending) -> None:
    try:
        pending.result = pending.operation(connection)
    except Unavailable as error:
        pending.error = error
    except sqlite3.Error as error:
        _end_after_failed_sync(error)
        pending.error = Unavailable("The store cannot be written.", "STORE_UNAVAILABLE")
        pending.error.__cause__ = error


def _end_after_failed_sync(error: sqlite3.Error | OSError) -> None:
    """End the process at once if the error is a failed sync, and else return.

    Linux reports it once and may take the pages for clean: a later sync succeeds without writing
    them, and the log would be overwritten while the file lacks what it held. So nothing may be
    closed or moved any more. The log still has all of it, and the next start moves it anew.
    """
    # Python's own errors, such as that of a closed connection, have no code.
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(error, sqlite3.Error) and code not in _FAILED_SYNCS:
        return
    log.critical("store_sync_failed", error=str(error))
    sys.stderr.flush()
    os._exit(1)


def _move_log(connection: sqlite3.Connection) -> int:
    """Move what can be moved without waiting for anybody; returns how many pages the log has.

    Raises Unavailable.
    """
    try:
        _, pages, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    except sqlite3.Error as error:
        _end_after_failed_sync(error)
        raise Unavailable("The log cannot be moved.", "STORE_UNAVAILABLE") from error
    return int(pages)


def _schema_version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _write_nothing(connection: sqlite3.Connection) -> None:
    """Write the schema's version as it is: that makes a commit, and changes nothing."""
    connection.execute(f"PRAGMA user_version = {_schema_version(connection)}")


def _identity(path: Path) -> tuple[int, int]:
    """The device and inode of the file of this name; zeros where there is none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return 0, 0
    return found.st_dev, found.st_ino


def _settle(group: list[_Pending]) -> None:
    for pending in group:
        if pending.future.done():  # Its caller gave up.
            continue
        if pending.error is not None:
            pending.future.set_exception(pending.error)
        else:
            pending.future.set_result(pending.result)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path,
        isolation_level=None,
        timeout=_PATIENCE_MS / 1000,
        check_same_thread=False,
        cached_statements=256,
    )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    # What is deleted is overwritten, in the pages that are written anyway.
    connection.execute("PRAGMA secure_delete = FAST")
    connection.execute("PRAGMA cache_size = -65536")  # 64 MiB
    connection.execute(f"PRAGMA wal_autocheckpoint = {_LONGEST_LOG}")
    return connection


def _migrate(path: Path, migrations: Sequence[Migration]) -> None:
    connection = _connect(path)
    try:
        version = _schema_version(connection)
        if version > len(migrations):
            raise SchemaTooNew(str(path), version, len(migrations))
        if 0 < version < len(migrations):  # A file that is new takes no time.
            log.info("schema_upgrading", version=version, to=len(migrations))
            ready.ask_for_patience(str(path))
        for number in range(version, len(migrations)):
            migration = migrations[number]
            if isinstance(migration, str):  # A script commits whatever was begun before it.
                connection.executescript(f"BEGIN IMMEDIATE; {migration}")
            else:
                connection.execute("BEGIN IMMEDIATE")
                migration(connection)
            connection.execute(f"PRAGMA user_version = {number + 1}")
            connection.execute("COMMIT")
    finally:
        connection.close()
