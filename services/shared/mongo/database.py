"""A MongoDB database as an asynchronous store, through motor.

Every operation has a deadline, and what was acknowledged is in the journal of a majority. A server
that is away makes operations Unavailable until it is back; the driver finds it again by itself.

Before a database is used, its schema is brought up to date: its indexes are made, however long that
takes, and its document `_id: "version"` in the collection `schema` says so. Until then every
operation is refused at once, so that no duplicate comes in ahead of a unique index.

Nothing of the URL gets into a message or a log: it may carry a password.

motor is named here alone, pymongo here and in the adapters. PyMongo's own client has the same
methods: to move to it is to change these files.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pymongo
from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorDatabase
from pymongo import MongoClient, ReadPreference
from pymongo.database import Database as PyMongoDatabase
from pymongo.errors import (
    BulkWriteError,
    DuplicateKeyError,
    OperationFailure,
    PyMongoError,
)
from pymongo.read_concern import ReadConcern

from services.shared import background, supervision
from services.shared.errors import Unavailable
from services.shared.mongo import migrations
from services.shared.mongo.migrations import SchemaUpgrade, UnsuitableServer
from services.shared.mongo.transactions import APPLICATION, Transaction, Transactions
from services.shared.observability import logs, metrics
from services.shared.observability.store_size import StoreSize
from services.shared.schema_version import SchemaTooNew

log = logs.get(__name__)
# At the level `debug` the driver would write down every document.
logging.getLogger("pymongo").setLevel(logging.WARNING)

T = TypeVar("T")
Document = dict[str, Any]
Documents = AsyncIOMotorDatabase[Document]
"""The collections of a database, by name."""
Operation = Callable[[Documents], Awaitable[T]]
"""What is asked of a database, such as `lambda db: db.links.find_one({"_id": code})`."""
Schema = migrations.Schema


DUPLICATE = 11000
"""The code of an error that says: a unique index holds this key already."""

_SECONDS = 2.0
"""Most an operation may take; the callers of a service wait longer."""
_THREAD_SECONDS = _SECONDS + 0.6
"""How long the end of work in a thread is waited for. Its own deadline is 2 s, which PyMongo may
notice half a second late, as it pauses before it repeats a transaction."""
_PROBE_SECONDS = 0.5
"""Most a server that was away may take to say that it is back."""
_LOOK_SECONDS = 0.4
"""How long a look waits for a write for a try: with the ping less than `health` has for one."""
_SOON_SECONDS = 2.0
"""How long a schema may be in the making before anybody is told of it: a small one takes less."""
_HELD_PAUSES = (0.02, 0.1, 0.5, 0.0)
"""Seconds for which what holds a key may wait for its majority, look by look."""
_WAITING = 4096
"""Most operations that may wait; one more is refused."""
_LOGIN_REFUSED = frozenset({13, 18, 8000})
# A URL may say otherwise of these.
_OPTIONS: Mapping[str, Any] = {
    "appName": APPLICATION,
    "connectTimeoutMS": 1000,
    "maxPoolSize": 32,
    "serverSelectionTimeoutMS": 1000,
    "socketTimeoutMS": 2000,
    "timeoutMS": int(_SECONDS * 1000),
}
_OF_SECONDARIES = frozenset({"readpreferencetags", "maxstalenessseconds"})
"""Options of a URL that choose among secondaries."""
_DATABASE = re.compile(r"[A-Za-z0-9_-]{1,63}")


class Database:
    """One database. Made by `opened`."""

    def __init__(
        self, client: AsyncIOMotorClient[Document], name: str, upgrade: SchemaUpgrade
    ) -> None:
        self._client = client
        self._upgrade = upgrade
        self._documents = client[name]
        self._by_majority = self._documents.with_options(read_concern=ReadConcern("majority"))
        self._name = name
        self._upgrading: asyncio.Task[None] | None = None
        self._outdated = False
        """Whether the schema that was there at the start is older than the program."""
        # PyMongo's own client: motor would take another thread for each operation.
        self._transactions = Transactions(client.delegate, name, _SECONDS)
        self._waiting = 0
        self._away = False
        self._probing: asyncio.Task[None] | None = None
        self._trying: asyncio.Task[None] | None = None
        self._unwritable: Exception | None = None
        """Why the last write for a try failed; None where it did not."""
        self._told = False
        self._throttled = logs.Throttled(__name__)

    async def read(self, name: str, operation: Operation[T]) -> T:
        """Run an operation that changes nothing. Raises Unavailable."""
        return await self._run(name, operation)

    async def read_majority(self, name: str, operation: Operation[T]) -> T:
        """Run an operation that changes nothing over what a majority has: no failover undoes it.

        Raises Unavailable.
        """
        return await self._run(name, lambda _: operation(self._by_majority))

    async def read_held(self, name: str, find: Operation[Document | None]) -> Document:
        """Find what a unique key was held by, as a majority has it.

        Before, a failover could still undo it: then nothing holds the key. Raises Unavailable,
        also where nothing is found in time.
        """
        for pause in _HELD_PAUSES:
            held = await self.read_majority(name, find)
            if held is not None:
                return held
            await asyncio.sleep(pause)
        raise Unavailable("The store changed meanwhile.", "STORE_UNAVAILABLE")

    async def write(self, name: str, operation: Operation[T]) -> T:
        """Run an operation of one command, acknowledged once a majority has it on disk.

        Raises Unavailable, after which it may have been applied or not, and DuplicateKeyError
        or BulkWriteError where a unique index, and nothing else, was against it.
        """
        return await self._run(name, operation)

    async def transaction(self, name: str, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a transaction; return its result once a majority has the commit on disk.

        `work` runs in a thread and sees one snapshot of the database. A conflict with another
        transaction runs it again, so it must have no effect outside the transaction. An exception
        that it raises rolls the transaction back. Raises Unavailable, after which the transaction
        may have been committed or not.
        """
        return await self._run(name, lambda _: self._transactions.run(work), _THREAD_SECONDS)

    async def read_in_thread(self, name: str, work: Callable[[PyMongoDatabase[Document]], T]) -> T:
        """Run `work`, which changes nothing, in a thread with PyMongo. Raises Unavailable.

        It may take several commands, which share the deadline of an operation, and reads what a
        majority has.
        """
        db: PyMongoDatabase[Document] = self._by_majority.delegate

        def run() -> T:
            with pymongo.timeout(_SECONDS):
                return work(db)

        return await self._run(name, lambda _: asyncio.to_thread(run), _THREAD_SECONDS)

    async def close(self) -> None:
        """Leave the server."""
        for task in (self._upgrading, self._probing, self._trying):
            if task:
                task.cancel()
        await self._transactions.close()
        await asyncio.to_thread(self._client.close)

    async def prepare(self) -> None:
        """Begin to bring the schema up to date, and wait for that for two seconds at most.

        Raises SystemExit when the server refuses the log-in or is unsuitable, or a later version of
        the program was there; a server that is away may come back.
        """
        soon = 0.0
        try:
            async with asyncio.timeout(_SECONDS):
                self._outdated = await self._upgrade.is_outdated(self._documents)
            soon = _SOON_SECONDS
        except UnsuitableServer as error:
            raise SystemExit(str(error)) from None
        except SchemaTooNew as error:
            raise SystemExit(f"Cannot use the store. {error}") from None
        except OperationFailure as error:
            if error.code in _LOGIN_REFUSED:
                raise SystemExit("The MongoDB of ATAJO_STORE refuses the log-in.") from None
            self._fail(error)
        except (PyMongoError, TimeoutError) as error:
            self._fail(error)
        self._upgrading = background.run(self._upgrade.run(self._documents, self._fail), "schema")
        await asyncio.wait([self._upgrading], timeout=soon)

    async def prepared(self) -> None:
        """Wait until the schema is up to date, if it was found to be older than the program.

        If the server was away at the start, nobody knows its schema, and nothing is waited for.
        """
        if self._outdated and self._upgrading and not self._upgrading.done():
            supervision.ask_for_patience(f"the database {self._name}")
            await asyncio.wait([self._upgrading])

    async def check(self) -> None:
        """Raises Unavailable where the store cannot be read and written. Not in the metrics.

        A ping is not enough: a secondary answers it, and so does a primary that lost its majority.
        So the schema's version is written once more, as it is. That may take as long as any write;
        until it has ended, the outcome of the write before it counts.
        """
        try:
            await self._back()
        except (PyMongoError, TimeoutError) as error:
            raise Unavailable("The store is away.", "STORE_UNAVAILABLE") from error
        if self._upgrade.unready:
            raise Unavailable("The store is not ready.", self._upgrade.unready)
        if self._trying is None or self._trying.done():
            self._trying = background.run(self._try(), "store-try")
        await asyncio.wait([self._trying], timeout=_LOOK_SECONDS)
        if self._unwritable:
            raise Unavailable(
                "The store cannot be written.", "STORE_UNWRITABLE"
            ) from self._unwritable

    async def size(self) -> StoreSize:
        """Return the bytes of data and indexes, and what the server's disk has free.

        Raises Unavailable. Not in the metrics.
        """
        try:
            async with asyncio.timeout(_SECONDS):
                stats = await self._documents.command("dbStats")
        except (PyMongoError, TimeoutError) as error:
            raise Unavailable("The size of the store is unknown.", "STORE_UNAVAILABLE") from error
        free = None
        if "fsTotalSize" in stats:
            free = int(stats["fsTotalSize"] - stats["fsUsedSize"])
        return StoreSize(int(stats["storageSize"] + stats["indexSize"]), free)

    async def _try(self) -> None:
        """Write what is there already."""
        try:
            async with asyncio.timeout(_SECONDS):
                await self._upgrade.write_version(self._documents)
        except (PyMongoError, TimeoutError) as error:
            self._unwritable = error
        else:
            self._unwritable = None

    async def _run(self, name: str, operation: Operation[T], seconds: float = _SECONDS) -> T:
        if self._waiting >= _WAITING:
            raise Unavailable("The store is overloaded.", "STORE_OVERLOADED")
        self._waiting += 1
        try:
            with metrics.store_operation(name, _is_duplicate):
                if self._upgrade.unready:
                    raise Unavailable("The store is not ready.", self._upgrade.unready)
                if self._away:
                    await self._back()
                # The driver's own deadline begins when a thread takes the operation up.
                async with asyncio.timeout(seconds):
                    result = await operation(self._documents)
        except (PyMongoError, TimeoutError) as error:
            if _is_duplicate(error):
                raise
            self._fail(error)
            raise Unavailable("The store is away.", "STORE_UNAVAILABLE") from error
        finally:
            self._waiting -= 1
        if self._told:
            self._told = False
            log.info("store_back")
        return result

    async def _back(self) -> None:
        """Raise unless the server is back. One short ping tells everybody who waits."""
        if self._probing is None or self._probing.done():
            self._probing = asyncio.create_task(self._probe())
            self._probing.add_done_callback(_probed)
        await asyncio.shield(self._probing)

    async def _probe(self) -> None:
        async with asyncio.timeout(_PROBE_SECONDS):
            await self._client.admin.command("ping")
        self._away = False

    def _fail(self, error: Exception) -> None:
        """Log that the server is away, without the driver's text."""
        self._away = True
        code = error.code if isinstance(error, OperationFailure) else None
        self._told |= self._throttled.warning("store_away", error=type(error).__name__, code=code)


@asynccontextmanager
async def opened(store: str, default: str, schema: Schema) -> AsyncIterator[Database]:
    """The database that a `mongodb://` or `mongodb+srv://` setting names, else `default`.

    It need not answer yet, and `schema` may still be in the making. Raises SystemExit with one line
    for a setting that cannot be right, a login that is refused and a schema that is newer.
    """
    given = {part.partition("=")[0].lower() for part in re.split("[&;?]", store)}
    options = {name: value for name, value in _OPTIONS.items() if name.lower() not in given}
    if given & _OF_SECONDARIES:
        raise _reads_of_secondaries()
    try:
        # Whatever the URL says of these.
        options |= {"w": "majority", "journal": True, "readConcernLevel": "local"}
        client = AsyncIOMotorClient[Document](store, **options)
        preference = client.read_preference
        name = client.get_default_database(default).name
    except (PyMongoError, OSError, ValueError):  # A file that the URL names is among them.
        raise SystemExit("ATAJO_STORE is not a MongoDB URL that can be used.") from None
    if preference != ReadPreference.PRIMARY:
        raise _reads_of_secondaries()
    if not _DATABASE.fullmatch(name):
        raise SystemExit("ATAJO_STORE names a database MongoDB cannot have.")
    # Whoever waits for an index waits as long as it takes.
    patience = {**options, "timeoutMS": None, "socketTimeoutMS": None}
    upgrade = SchemaUpgrade(name, schema, lambda: MongoClient(store, **patience))
    database = Database(client, name, upgrade)
    try:
        await database.prepare()
        yield database
    finally:
        await database.close()


def _reads_of_secondaries() -> SystemExit:
    return SystemExit(
        "ATAJO_STORE must not have a readPreference other than primary: a secondary may not know "
        "yet what was acknowledged."
    )


def _probed(task: asyncio.Task[None]) -> None:
    """End the process where a probe met an error that nobody foresaw.

    Those who waited for the probe would raise it, but all of them may have given up.
    """
    error = None if task.cancelled() else task.exception()
    if error and not isinstance(error, PyMongoError | TimeoutError):
        background.failed("store-probe", error)


def _is_duplicate(error: Exception) -> bool:
    """Whether an error says nothing but that a unique index already holds a key."""
    if isinstance(error, BulkWriteError):
        faults = error.details.get("writeErrors", [])
        unsure = error.details.get("writeConcernErrors")
        return bool(faults) and not unsure and all(one["code"] == DUPLICATE for one in faults)
    return isinstance(error, DuplicateKeyError)
