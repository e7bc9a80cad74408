"""The operations on a MongoDB database that services use.

Every operation has a deadline. An acknowledged write is in the journal of a majority. While the
server is away, operations raise Unavailable; the driver reconnects by itself.

Until the schema is up to date (see `migrations`), every operation is refused at once, so that no
duplicate is written before a unique index exists.

The URL may contain a password: only its hosts and the name of its replica set get into a message
or a log (see `causes`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pymongo
from pymongo.database import Database as PyMongoDatabase
from pymongo.errors import (
    BulkWriteError,
    ConfigurationError,
    DuplicateKeyError,
    OperationFailure,
    PyMongoError,
)

from services.shared import background, supervisor
from services.shared.errors import Unavailable, UnsupportedSchemaVersion
from services.shared.mongo.aliases import Document, Operation, T, ThreadWork
from services.shared.mongo.availability import Availability
from services.shared.mongo.causes import AUTHENTICATION_ERRORS
from services.shared.mongo.client import Client
from services.shared.mongo.migrations import SERVER, SchemaUpgrade, UnsuitableServer
from services.shared.mongo.transactions import Transaction, abort_orphans, run_transaction
from services.shared.observability import metrics
from services.shared.observability.store_size import StoreSize

# At level `debug`, the driver would log every document.
logging.getLogger("pymongo").setLevel(logging.WARNING)

DUPLICATE_KEY = 11000
"""Error code: a unique index already contains this key."""
TIMEOUT_SECONDS = 2.0
"""Deadline of an operation. The callers of a service wait longer."""
THREAD_TIMEOUT_SECONDS = TIMEOUT_SECONDS + 0.6
"""How long an operation in a thread is awaited. PyMongo may notice its own deadline half a second
late, since it pauses before it retries a transaction."""
_UPGRADE_WAIT_SECONDS = 2.0
"""How long opening waits for the schema upgrade. The upgrade of a small database is faster."""
_KEY_HOLDER_PAUSES = (0.02, 0.1, 0.5, 0.0)
"""Seconds between attempts to read the document that holds a key."""
_MAX_WAITING = 4096
"""Maximum concurrent operations; further ones are refused."""
_TRANSACTION_THREADS = 16
"""Maximum concurrent transactions. Each takes a thread and a connection."""
_THREADS = 10
"""Number of threads for `read_in_thread` and `write_in_thread`, as many as motor has."""
_FEED_THREADS = 6
"""Number of threads for `read_feed`. Every gateway reads once a second, mostly in 2 ms."""


class Database:
    """One database. Opened by `open_database`."""

    def __init__(self, client: Client, upgrade: SchemaUpgrade) -> None:
        self._client = client
        self._upgrade = upgrade
        self._upgrading: asyncio.Task[None] | None = None
        self._is_outdated = False
        """Whether the schema at the start was older than the program."""
        self._transaction_threads = ThreadPoolExecutor(_TRANSACTION_THREADS, "mongo-tx")
        self._threads = ThreadPoolExecutor(_THREADS, "mongo")
        self._feed_threads = ThreadPoolExecutor(_FEED_THREADS, "mongo-feed")
        self._waiting = 0
        self._availability = Availability(
            lambda: client.motor.admin.command("ping"),
            lambda: upgrade.write_version(client.documents),
            client.describe,
        )

    async def read(self, name: str, operation: Operation[T]) -> T:
        """Run a read-only operation. Raises Unavailable."""
        return await self._run(name, operation, TIMEOUT_SECONDS)

    async def read_majority(self, name: str, operation: Operation[T]) -> T:
        """Run a read-only operation on data that a majority has, which no failover can roll back.

        Raises Unavailable.
        """
        return await self._run(name, lambda _: operation(self._client.majority), TIMEOUT_SECONDS)

    async def read_key_holder(self, name: str, find: Operation[Document | None]) -> Document:
        """Read the document that holds a unique key, once a majority has it.

        Before that, a failover could roll the document back, and the key would be free. Raises
        Unavailable, also if no document is found in time.
        """
        for pause in _KEY_HOLDER_PAUSES:
            holder = await self.read_majority(name, find)
            if holder is not None:
                return holder
            await asyncio.sleep(pause)
        raise Unavailable("The store changed meanwhile.", "STORE_UNAVAILABLE")

    async def write(self, name: str, operation: Operation[T]) -> T:
        """Run an operation of one command, which returns once a majority has it on disk.

        Raises Unavailable, after which the write may have been applied or not. Raises
        DuplicateKeyError or BulkWriteError if only a unique index prevented the write.
        """
        try:
            return await self._run(name, operation, TIMEOUT_SECONDS)
        except Unavailable as error:
            if _is_timeout(error.__cause__):
                await self._abort_orphans()
            raise

    async def transaction(self, name: str, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a transaction; return its result once a majority has the commit on disk.

        `work` runs in a thread and sees one snapshot of the database. It runs again after a
        conflict with another transaction, so it must have no other effects. An exception that it
        raises rolls the transaction back. Raises Unavailable, after which the transaction may have
        been committed or not.
        """
        return await self._run(
            name,
            # PyMongo's own client: motor would take another thread for each operation.
            lambda db: asyncio.get_running_loop().run_in_executor(
                self._transaction_threads, run_transaction, db.delegate, work, TIMEOUT_SECONDS
            ),
            THREAD_TIMEOUT_SECONDS,
        )

    async def read_in_thread(self, name: str, work: ThreadWork[T]) -> T:
        """Run read-only `work` with PyMongo in a thread. Raises Unavailable.

        `work` may run several commands, which share the deadline of one operation. It reads data
        that a majority has.
        """
        return await self._run_in_thread(self._threads, name, self._client.majority.delegate, work)

    async def read_feed(self, name: str, work: ThreadWork[T]) -> T:
        """Do what `read_in_thread` does, in threads that no other method uses.

        For change feeds: a late one lets gateways serve outdated links. Raises Unavailable.
        """
        return await self._run_in_thread(
            self._feed_threads, name, self._client.majority.delegate, work
        )

    async def write_in_thread(self, name: str, work: ThreadWork[T]) -> T:
        """Do what `write` does with PyMongo in a thread. Raises the same."""
        return await self._run_in_thread(self._threads, name, self._client.documents.delegate, work)

    async def close(self) -> None:
        """Disconnect from the server."""
        if self._upgrading:
            self._upgrading.cancel()
        self._availability.close()
        for threads in (self._transaction_threads, self._threads, self._feed_threads):
            await asyncio.to_thread(threads.shutdown)
        await self._client.close()

    async def start_upgrade(self) -> None:
        """Start the schema upgrade in the background, and wait for it for two seconds at most.

        Raises SystemExit if the server refuses the log-in or is unsuitable, or the schema is newer
        than the program. A server that is away may come back. This waits for it if the supervisor
        asks for that.
        """
        away = await self._read_version()
        while away and supervisor.awaits_store():
            # The driver refuses old servers. Other such errors have a cause, such as a name that
            # cannot be looked up.
            if isinstance(away, ConfigurationError) and away.__cause__ is None:
                raise SystemExit(f"{SERVER} is older than 6.0.")
            await supervisor.await_store(SERVER, self._client.describe(away))
            away = await self._read_version()
        if away:
            self._availability.report_away(away)
        self._upgrading = background.start_task(
            self._upgrade.run(lambda: self._client.documents, self._availability.report_away),
            "schema",
        )
        await asyncio.wait([self._upgrading], timeout=0.0 if away else _UPGRADE_WAIT_SECONDS)

    async def _read_version(self) -> Exception | None:
        """Find out whether the schema is outdated. Return the error of a server that is away.

        Raises SystemExit with one line if the server or the schema cannot be used.
        """
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                self._is_outdated = await self._upgrade.is_outdated(self._client.documents)
        except UnsuitableServer as error:
            raise SystemExit(str(error)) from None
        except UnsupportedSchemaVersion as error:
            raise SystemExit(f"Cannot use the store. {error}") from None
        except (PyMongoError, TimeoutError) as error:
            if isinstance(error, OperationFailure) and error.code in AUTHENTICATION_ERRORS:
                raise SystemExit(f"{SERVER} refuses the log-in.") from None
            return error
        return None

    async def wait_for_schema(self) -> None:
        """Wait until the schema is up to date, if it was found to be older than the program.

        If the server was away at the start, its schema is unknown, and this returns at once.
        """
        if self._is_outdated and self._upgrading and not self._upgrading.done():
            supervisor.report_upgrading(f"the database {self._client.documents.name}")
            await asyncio.wait([self._upgrading])

    async def check(self) -> None:
        """Raise Unavailable if the database cannot be read and written. Not in the metrics.

        A ping is not enough: a secondary answers it, and so does a primary that has lost its
        majority. So a check also rewrites the schema version, unchanged.
        """
        try:
            await self._availability.ping()
        except (PyMongoError, TimeoutError) as error:
            raise Unavailable("The store is away.", "STORE_UNAVAILABLE") from error
        if self._upgrade.unready:
            raise Unavailable("The store is not ready.", self._upgrade.unready)
        await self._availability.check_writable()

    async def size(self) -> StoreSize:
        """Return the bytes of data and indexes, and the free space on the server's disk.

        Raises Unavailable. Not in the metrics.
        """
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                stats = await self._client.documents.command("dbStats")
        except (PyMongoError, TimeoutError) as error:
            raise Unavailable("The size of the store is unknown.", "STORE_UNAVAILABLE") from error
        free = None
        if "fsTotalSize" in stats:
            free = int(stats["fsTotalSize"] - stats["fsUsedSize"])
        return StoreSize(int(stats["storageSize"] + stats["indexSize"]), free)

    async def _abort_orphans(self) -> None:
        """Abort the transactions of killed processes, which block writes, if the server is there.

        Takes at most a second.
        """
        with contextlib.suppress(PyMongoError, TimeoutError):
            await self._availability.ping()
            await asyncio.to_thread(abort_orphans, self._client.documents.delegate.client)

    async def _run_in_thread(
        self,
        threads: ThreadPoolExecutor,
        name: str,
        db: PyMongoDatabase[Document],
        work: ThreadWork[T],
    ) -> T:
        def run() -> T:
            with pymongo.timeout(TIMEOUT_SECONDS):
                return work(db)

        return await self._run(
            name,
            lambda _: asyncio.get_running_loop().run_in_executor(threads, run),
            THREAD_TIMEOUT_SECONDS,
        )

    async def _run(self, name: str, operation: Operation[T], seconds: float) -> T:
        if self._waiting >= _MAX_WAITING:
            raise Unavailable("The store is overloaded.", "STORE_OVERLOADED")
        self._waiting += 1
        used = self._client.motor
        try:
            with metrics.store_operation(name, _is_duplicate):
                if self._upgrade.unready:
                    raise Unavailable("The store is not ready.", self._upgrade.unready)
                await self._availability.ensure_back()
                # The driver's own deadline starts when a thread starts the operation.
                async with asyncio.timeout(seconds):
                    result = await operation(self._client.documents)
        except (PyMongoError, TimeoutError) as error:
            if _is_duplicate(error):
                raise
            if isinstance(error, ConfigurationError):  # A connection without sessions.
                self._client.replace_after_error(used)
            self._availability.report_away(error)
            raise Unavailable("The store is away.", "STORE_UNAVAILABLE") from error
        finally:
            self._waiting -= 1
        self._availability.report_success()
        return result


def _is_timeout(error: BaseException | None) -> bool:
    """Return whether an operation took longer than its deadline."""
    return isinstance(error, TimeoutError) or (isinstance(error, PyMongoError) and error.timeout)


def _is_duplicate(error: Exception) -> bool:
    """Return whether the only cause of an error is that a unique index already contains a key."""
    if isinstance(error, BulkWriteError):
        codes = {fault["code"] for fault in error.details.get("writeErrors", [])}
        return codes == {DUPLICATE_KEY} and not error.details.get("writeConcernErrors")
    return isinstance(error, DuplicateKeyError)
