"""Group commit: a thread that commits all waiting operations in one transaction.

It runs each operation in a savepoint and commits once, so that operations share the cost of the
disk.
"""

from __future__ import annotations

import asyncio
import math
import queue
import sqlite3
import threading
import time
from dataclasses import dataclass
from typing import Any

from services.shared import background
from services.shared.errors import Unavailable
from services.shared.sqlite.connection import Operation, T, end_after_failed_sync

_MAX_GROUP = 256
"""Maximum operations in one commit."""
_MAX_WAITING = 4096
"""Maximum waiting operations; further ones are refused."""


@dataclass
class _Pending:
    operation: Operation[Any]
    future: asyncio.Future[Any]
    is_outside: bool
    """Whether it runs outside a transaction, after that of its group."""
    result: Any = None
    error: BaseException | None = None


class Writer:
    """The writing thread and its connection. `between_commits` runs in it after each commit."""

    def __init__(self, connection: sqlite3.Connection, between_commits: Operation[None]) -> None:
        self.written_at = self.failed_at = -math.inf
        """When the last commit that wrote something ended, and the last one that failed, by
        `time.monotonic`."""
        self._connection = connection
        self._between_commits = between_commits
        self._loop = asyncio.get_running_loop()
        self._pending: queue.Queue[_Pending | None] = queue.Queue(_MAX_WAITING)
        self._group: list[_Pending] = []
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="sqlite-write", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def submit(self, operation: Operation[T], *, is_outside: bool = False) -> asyncio.Future[T]:
        """Queue an operation. The future gets its result once the commit is on disk.

        An exception that the operation raises rolls back only this operation. Raises Unavailable if
        the queue is full or closed; the future raises it if the file cannot be written.
        """
        if self._closing:
            raise Unavailable("The store is closed.", "STORE_CLOSED")
        future: asyncio.Future[T] = self._loop.create_future()
        try:
            self._pending.put_nowait(_Pending(operation, future, is_outside))
        except queue.Full:
            raise Unavailable("The store is overloaded.", "STORE_OVERLOADED") from None
        return future

    async def close(self) -> None:
        """Finish the queued operations. Later ones are refused."""
        self._closing = True
        await asyncio.to_thread(self._pending.put, None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        """Commit groups until closed. If an error ends the thread, all waiting futures fail."""
        try:
            while self._take_group():
                self._commit_group()
            self._commit_group()
            self._connection.close()
        except BaseException as error:
            self._loop.call_soon_threadsafe(self._fail, error)

    def _take_group(self) -> bool:
        """Wait for operations and take all that are queued. Return False after the last one."""
        self._group = []
        pending = self._pending.get()
        while pending is not None:
            self._group.append(pending)
            if len(self._group) == _MAX_GROUP or self._pending.empty():
                return True
            pending = self._pending.get()
        return False

    def _commit_group(self) -> None:
        group = self._group
        if not group:
            return
        try:
            if _commit(self._connection, group):
                self.written_at = time.monotonic()
        except sqlite3.Error as error:
            end_after_failed_sync(error)
            self.failed_at = time.monotonic()
            for pending in group:
                pending.error = _unwritable(error)
        for pending in group:
            if pending.is_outside and pending.error is None:
                _run_outside(self._connection, pending)
        self._loop.call_soon_threadsafe(_settle, group)
        self._between_commits(self._connection)

    def _fail(self, error: BaseException) -> None:
        """Refuse queued and later operations, and end the process. Runs in the event loop."""
        self._closing = True
        left, self._group = self._group, []
        while not self._pending.empty():
            if pending := self._pending.get_nowait():
                left.append(pending)
        for pending in left:
            pending.error = Unavailable("The store is closed.", "STORE_CLOSED")
        _settle(left)
        background.report_failure("sqlite-write", error)


def _commit(connection: sqlite3.Connection, group: list[_Pending]) -> bool:
    """Run a group in one transaction; afterwards each operation has a result or an error.

    Returns whether anything was written: a transaction that changes nothing does not touch the
    disk. Raises sqlite3.Error if the transaction failed as a whole.
    """
    written = False
    try:
        connection.execute("BEGIN IMMEDIATE")
        for pending in group:
            if not pending.is_outside:
                written |= _run_in_savepoint(connection, pending)
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return written


def _run_in_savepoint(connection: sqlite3.Connection, pending: _Pending) -> bool:
    """Run one operation, rolled back by its own exception. Return whether it wrote anything."""
    before = connection.total_changes
    connection.execute("SAVEPOINT one")
    try:
        pending.result = pending.operation(connection)
    except sqlite3.OperationalError:  # The disk failed, not the operation: the group fails.
        raise
    except Exception as error:
        pending.error = error
        connection.execute("ROLLBACK TO one")
    connection.execute("RELEASE one")
    return pending.error is None and connection.total_changes > before


def _run_outside(connection: sqlite3.Connection, pending: _Pending) -> None:
    try:
        pending.result = pending.operation(connection)
    except Unavailable as error:
        pending.error = error
    except sqlite3.Error as error:
        end_after_failed_sync(error)
        pending.error = _unwritable(error)


def _unwritable(cause: sqlite3.Error) -> Unavailable:
    error = Unavailable("The store cannot be written.", "STORE_UNAVAILABLE")
    error.__cause__ = cause
    return error


def _settle(group: list[_Pending]) -> None:
    for pending in group:
        if pending.future.done():  # Its caller gave up.
            continue
        if pending.error is not None:
            pending.future.set_exception(pending.error)
        else:
            pending.future.set_result(pending.result)
