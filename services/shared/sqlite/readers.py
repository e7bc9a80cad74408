"""Runs reads of an SQLite file in threads, and interrupts them if their caller gives up."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Generic

from services.shared.errors import Unavailable
from services.shared.sqlite.connection import Operation, T, connect

_INTERRUPT_INTERVAL = 0.05
"""Seconds after which a read that continues is interrupted again."""
_MAPPED_BYTES = 2**30
"""Bytes of the file that readers map into memory. Reading a mapped page takes no system call, which
makes uncached redirects over a million links a tenth faster. The pages count as memory of the
process, but the system can reclaim them. If the disk fails to read a mapped page, the process ends;
so the writer, whose errors are reported, maps nothing."""


class Readers:
    """A pool of threads, each with its own connection."""

    def __init__(self, path: Path, threads: int, name: str) -> None:
        self._path = path
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._local = threading.local()

    async def run(self, operation: Operation[T]) -> T:
        """Run an operation in a thread. SQLite interrupts it if the caller is cancelled.

        Raises Unavailable if the file cannot be read.
        """
        loop = asyncio.get_running_loop()
        read = _Read(operation)
        try:
            return await loop.run_in_executor(self._pool, self._run, read)
        except asyncio.CancelledError:
            read.abandon(loop)
            raise

    async def close(self) -> None:
        await asyncio.to_thread(self._pool.shutdown)

    def _run(self, read: _Read[T]) -> T:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        try:
            if connection is None:
                connection = connect(self._path)
                connection.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}")
                self._local.connection = connection
            return read.run(connection)
        except sqlite3.OperationalError as error:
            raise Unavailable("The store cannot be read.", "STORE_UNAVAILABLE") from error


class _Read(Generic[T]):
    """A read in a thread, which another thread can abandon."""

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
        """Interrupt the read repeatedly until it ends: a running statement fails.

        SQLite ignores an interrupt between two statements.
        """
        with self._lock:
            self._is_abandoned = True
            if self._connection is None:
                return
            self._connection.interrupt()
        loop.call_later(_INTERRUPT_INTERVAL, self.abandon, loop)
