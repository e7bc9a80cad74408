"""A MongoDB database as an asynchronous store, through motor.

Every operation has a deadline, and what was acknowledged is in the journal of a majority. A server
that is away makes operations Unavailable until it is back; the driver finds it again by itself.
Nothing of the URL gets into a message or a log: it may carry a password.

motor is named here alone, pymongo here and in the adapters. PyMongo's own client has the same
methods: to move to it is to change these files.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pymongo
from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorDatabase
from pymongo.errors import (
    BulkWriteError,
    DuplicateKeyError,
    OperationFailure,
    PyMongoError,
)

from services.runtime import logs, metrics
from services.runtime.errors import Unavailable

log = logs.get(__name__)
# At the level `debug` the driver would write down every document.
logging.getLogger("pymongo").setLevel(logging.WARNING)

T = TypeVar("T")
Document = dict[str, Any]
Documents = AsyncIOMotorDatabase[Document]
"""The collections of a database, by name."""
Operation = Callable[[Documents], Awaitable[T]]
Indexes = Mapping[str, Sequence[pymongo.IndexModel]]
"""Those an adapter needs, by collection."""

SCHEMES = ("mongodb://", "mongodb+srv://")
DUPLICATE = 11000
"""The code of an error that says: a unique index holds this key already."""

_SECONDS = 2.0
"""Most an operation may take; the callers of a service wait longer."""
_PROBE_SECONDS = 0.5
"""Most a server that was away may take to say that it is back."""
_INDEX_SECONDS = 60.0
"""Most the making of indexes may take; where they are there it takes no time."""
_WAITING = 4096
"""Most operations that may wait; one more is refused."""
_LOGIN_REFUSED = frozenset({13, 18, 8000})
_TELL_EVERY = 60.0
# A URL may say otherwise of these.
_OPTIONS: Mapping[str, Any] = {
    "appName": "atajo",
    "connectTimeoutMS": 1000,
    "maxPoolSize": 32,
    "serverSelectionTimeoutMS": 1000,
    "socketTimeoutMS": 2000,
    "timeoutMS": int(_SECONDS * 1000),
}
_DATABASE = re.compile(r"[A-Za-z0-9_-]{1,63}")


class Database:
    """One database. Made by `opened`."""

    def __init__(self, client: AsyncIOMotorClient[Document], name: str, indexes: Indexes) -> None:
        self._client = client
        self._documents = client[name]
        self._indexes = indexes
        self._indexing: asyncio.Task[None] | None = None
        self._waiting = 0
        self._away = False
        self._probing: asyncio.Task[None] | None = None
        self._told = False
        self._told_at = -_TELL_EVERY

    async def read(self, name: str, operation: Operation[T]) -> T:
        """Run an operation that changes nothing. Raises Unavailable."""
        return await self._run(name, operation)

    async def write(self, name: str, operation: Operation[T]) -> T:
        """Run an operation of one command, acknowledged once a majority has it on disk.

        Raises Unavailable, after which it may have been applied or not, and DuplicateKeyError
        or BulkWriteError where a unique index, and nothing else, was against it.
        """
        return await self._run(name, operation)

    async def close(self) -> None:
        """Leave the server."""
        for task in (self._indexing, self._probing):
            if task:
                task.cancel()
        await asyncio.to_thread(self._client.close)

    async def check(self) -> None:
        """Raises SystemExit when the server refuses the log-in; one that is away may come back."""
        try:
            async with asyncio.timeout(_SECONDS):
                await self._client.admin.command("ping")
        except OperationFailure as error:
            if error.code in _LOGIN_REFUSED:
                raise SystemExit("The MongoDB of ATAJO_STORE refuses the log-in.") from None
            self._fail(error)
        except (PyMongoError, TimeoutError) as error:
            self._fail(error)

    async def answers(self) -> None:
        """Ask the server for a sign, unmeasured. Raises Unavailable."""
        try:
            await self._back()
        except (PyMongoError, TimeoutError) as error:
            raise Unavailable("The store is away.", "STORE_UNAVAILABLE") from error

    async def _run(self, name: str, operation: Operation[T]) -> T:
        if self._waiting >= _WAITING:
            raise Unavailable("The store is overloaded.", "STORE_OVERLOADED")
        self._waiting += 1
        try:
            with metrics.store_operation(name, _is_duplicate):
                if self._away:
                    await self._back()
                # The driver's own deadline begins when a thread takes the operation up.
                async with asyncio.timeout(_SECONDS):
                    await self._indexed()
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
        """Find out whether the server is back: once for all who ask, and sooner than they would."""
        if self._probing is None or self._probing.done():
            self._probing = _quiet(asyncio.create_task(self._probe()))
        await asyncio.shield(self._probing)

    async def _probe(self) -> None:
        async with asyncio.timeout(_PROBE_SECONDS):
            await self._client.admin.command("ping")
        self._away = False

    async def _indexed(self) -> None:
        """Wait until the indexes are there: before, a duplicate could slip in."""
        task = self._indexing
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._indexing = _quiet(asyncio.create_task(self._make_indexes()))
        if not task.done():
            await asyncio.shield(task)

    async def _make_indexes(self) -> None:
        # Asking for what is there changes nothing, and replicas may ask at once.
        with pymongo.timeout(_INDEX_SECONDS):
            for collection, models in self._indexes.items():
                await self._documents[collection].create_indexes(list(models))

    def _fail(self, error: Exception) -> None:
        """Log a trouble that lasts once a minute, without the driver's text."""
        self._away = True
        now = time.monotonic()
        if now - self._told_at >= _TELL_EVERY:
            self._told, self._told_at = True, now
            code = error.code if isinstance(error, OperationFailure) else None
            log.warning("store_away", error=type(error).__name__, code=code)


@asynccontextmanager
async def opened(store: str, default: str, indexes: Indexes) -> AsyncIterator[Database]:
    """The database that a `mongodb://` or `mongodb+srv://` setting names, else `default`.

    It need not answer yet. Raises SystemExit with one line for a setting that cannot be right and
    for a login that is refused.
    """
    given = {part.partition("=")[0].lower() for part in re.split("[&;?]", store)}
    options = {name: value for name, value in _OPTIONS.items() if name.lower() not in given}
    try:
        client = AsyncIOMotorClient[Document](store, w="majority", journal=True, **options)
        name = client.get_default_database(default).name
    except (PyMongoError, ValueError):
        raise SystemExit("ATAJO_STORE is not a MongoDB URL that can be used.") from None
    if not _DATABASE.fullmatch(name):
        raise SystemExit("ATAJO_STORE names a database MongoDB cannot have.")
    database = Database(client, name, indexes)
    try:
        await database.check()
        yield database
    finally:
        await database.close()


def _quiet(task: asyncio.Task[None]) -> asyncio.Task[None]:
    """The task; where all who waited gave up, asyncio must not complain of its error."""
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task


def _is_duplicate(error: Exception) -> bool:
    """Whether every fault in it is a key that a unique index holds already."""
    if isinstance(error, BulkWriteError):
        faults = error.details.get("writeErrors", [])
        unsure = error.details.get("writeConcernErrors")
        return bool(faults) and not unsure and all(one["code"] == DUPLICATE for one in faults)
    return isinstance(error, DuplicateKeyError)
