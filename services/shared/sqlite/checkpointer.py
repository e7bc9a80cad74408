"""Checkpoints: moves commits from the write-ahead log into the file, off the commit path.

By default, SQLite makes a checkpoint inside a commit, and all writers wait for it, 50 to 230 ms
each time. Here a thread of its own does it. The log restarts with a commit that finds all of it in
the file. Under load that never happens, since other commits are always newer than the checkpoint.
So once the log is long, the writer's thread moves the rest of it between two commits (`finish`), in
2 to 10 ms.
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
"""Time between two checkpoints, if there were commits."""
LONG_LOG_PAGES = 16384
"""64 MiB, the length at which the log should restart."""
_READER_TIMEOUT_MS = 100
"""How long to wait for readers while truncating the log, during which nobody can write."""


class Checkpointer:
    """The checkpointing thread. `written_at` returns the `time.monotonic` of the last commit."""

    def __init__(self, path: Path, written_at: Callable[[], float]) -> None:
        self._path = path
        self._written_at = written_at
        self._checkpointing = threading.Lock()
        self._stopping = threading.Event()
        self._log_is_long = False
        self._throttled = logs.Throttled(__name__)
        # Closing it releases the locks of all connections to the file, so it must be closed last.
        self._file = os.open(path, os.O_RDONLY)
        self._thread = threading.Thread(target=self._run, name="sqlite-checkpoint", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and wait for its end."""
        self._stopping.set()
        self._thread.join()

    def close(self) -> None:
        """Close the file. All connections to it must be closed before."""
        os.close(self._file)

    def finish(self, connection: sqlite3.Connection) -> None:
        """Checkpoint the rest of a long log. Call it in the writer's thread, between commits."""
        if self._log_is_long:
            self._log_is_long = False
            with background.log_errors(self._throttled, "checkpoint"):
                _checkpoint(connection)

    def empty_log(self, connection: sqlite3.Connection) -> None:
        """Move all of the log into the file and truncate it. Call it in the writer's thread.

        Raises Unavailable if a reader, such as a backup, prevents it.
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
        """Checkpoint periodically. A failed checkpoint loses nothing: the log keeps the commits."""
        connection: sqlite3.Connection | None = None
        checkpointed_at = self._written_at()
        while not self._stopping.wait(INTERVAL_SECONDS):
            if (written_at := self._written_at()) == checkpointed_at:
                continue
            with background.log_errors(self._throttled, "checkpoint"):
                try:
                    connection = connection or connect(self._path)
                except sqlite3.Error as error:
                    raise Unavailable("The log cannot be moved.", "STORE_UNAVAILABLE") from error
                with self._checkpointing:
                    pages = _checkpoint(connection)
                    self._sync()
                self._log_is_long = pages >= LONG_LOG_PAGES
                checkpointed_at = written_at
        if connection is not None:
            connection.close()

    def _sync(self) -> None:
        """Sync the file. SQLite does so itself only after moving all of the log."""
        try:
            os.fdatasync(self._file)
        except OSError as error:
            end_after_failed_sync(error)


def _checkpoint(connection: sqlite3.Connection) -> int:
    """Move the part of the log that no reader needs; return the length of the log in pages.

    Raises Unavailable.
    """
    try:
        _, pages, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    except sqlite3.Error as error:
        end_after_failed_sync(error)
        raise Unavailable("The log cannot be moved.", "STORE_UNAVAILABLE") from error
    return int(pages)
