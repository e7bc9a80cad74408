"""Moves what was committed from the write-ahead log into the file, off the commit path.

SQLite would checkpoint inside a commit, and everybody who writes would wait for it, 50 to 230 ms
each time. A thread of its own does it instead. A log begins anew with a commit that finds all of it
in the file. Under load none does, as others commit meanwhile: once the log is long, the writing
thread moves the rest of it between two commits (`finish`), in 2 to 10 ms.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

from services.shared import background
from services.shared.errors import Unavailable
from services.shared.observability import logs
from services.shared.sqlite.connection import BUSY_TIMEOUT_MS, connect, end_after_failed_sync

INTERVAL_SECONDS = 2.0
"""Time from one checkpoint to the next, where anything was committed."""
LONG_LOG_PAGES = 16384
"""64 MiB, from which on a log is to begin anew."""
_READER_TIMEOUT_MS = 100
"""How long readers are waited for while the log is emptied and nobody writes."""


class Checkpointer:
    """The thread. `written_at` says when the last commit ended, by `time.monotonic`."""

    def __init__(self, path: Path, written_at: Callable[[], float]) -> None:
        self._path = path
        self._written_at = written_at
        self._checkpointing = threading.Lock()
        self._stopping = threading.Event()
        self._log_is_long = False
        self._throttled = logs.Throttled(__name__)
        # To close it takes away the locks of all connections to the file: the last thing to close.
        self._file = os.open(path, os.O_RDONLY)
        self._thread = threading.Thread(target=self._run, name="sqlite-move", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread, and wait for that."""
        self._stopping.set()
        self._thread.join()

    def close(self) -> None:
        """Close the file, once all connections to it are closed."""
        os.close(self._file)

    def finish(self, connection: sqlite3.Connection) -> None:
        """Checkpoint what is left of a long log. For the writing thread, between two commits."""
        if self._log_is_long:
            self._log_is_long = False
            with background.each_turn(self._throttled, "log_move"):
                _checkpoint(connection)

    def empty_log(self, connection: sqlite3.Connection) -> None:
        """Move all of the log into the file and empty it. For the writing thread.

        Raises Unavailable where a reader, such as a backup, is in the way.
        """
        connection.execute(f"PRAGMA busy_timeout = {_READER_TIMEOUT_MS}")
        try:
            with self._checkpointing:
                busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        if busy:
            raise Unavailable("The log of the store is being read.", "STORE_BUSY")

    def _run(self) -> None:
        """A checkpoint that fails costs nothing but room: the log keeps all of it."""
        connection: sqlite3.Connection | None = None
        moved_at = self._written_at()
        while not self._stopping.wait(INTERVAL_SECONDS):
            if (written_at := self._written_at()) == moved_at:
                continue
            with background.each_turn(self._throttled, "log_move"):
                try:
                    connection = connection or connect(self._path)
                except sqlite3.Error as error:
                    raise Unavailable("The log cannot be moved.", "STORE_UNAVAILABLE") from error
                with self._checkpointing:
                    pages = _checkpoint(connection)
                    self._sync()
                self._log_is_long = pages >= LONG_LOG_PAGES
                moved_at = written_at
        if connection is not None:
            connection.close()

    def _sync(self) -> None:
        """Have the disk keep what was moved. SQLite does so once all of the log is moved."""
        try:
            os.fdatasync(self._file)
        except OSError as error:
            end_after_failed_sync(error)


def _checkpoint(connection: sqlite3.Connection) -> int:
    """Move what can be moved without waiting for anybody; return how many pages the log has.

    Raises Unavailable.
    """
    try:
        _, pages, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    except sqlite3.Error as error:
        end_after_failed_sync(error)
        raise Unavailable("The log cannot be moved.", "STORE_UNAVAILABLE") from error
    return int(pages)
