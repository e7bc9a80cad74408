"""Brings the schema of a MongoDB database up to date before the database is used.

A schema is made of indexes. The document `_id: "version"` in the collection `schema` says which
version is there. Replicas upgrade it at once: MongoDB makes no index twice, and waits for one that
is being made. Making one may take hours.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pymongo
from pymongo.errors import DuplicateKeyError, OperationFailure, PyMongoError

from services.shared.observability import logs
from services.shared.schema_version import SchemaTooNew

log = logs.get(__name__)

Indexes = Mapping[str, Sequence[pymongo.IndexModel]]
"""Some of those an adapter needs, by collection."""
Schema = Sequence[Indexes]
"""What each version of a schema adds to the one before: version n is made of the first n."""

RETRY_SECONDS = 1.0
"""Pause after which a server that went away is asked again."""
REFUSED_SECONDS = 10.0
"""Pause after which one that refused to make an index is asked again."""
_CHECK_SECONDS = 2.0
_VERSION = {"_id": "version"}
_MIN_WIRE_VERSION = 17
"""That of MongoDB 6.0."""
_STANDALONE = (
    "The MongoDB of ATAJO_STORE is no replica set. Start mongod with --replSet rs0 and run once, "
    "with the host and port by which Atajo reaches it: mongosh --eval "
    """'rs.initiate({_id: "rs0", members: [{_id: 0, host: "localhost:27017"}]})'"""
)


class UnsuitableServer(Exception):
    """The server cannot run transactions, or is older than the supported versions."""


class SchemaUpgrade:
    """The upgrade of one database. `db` is the database by motor, `connect` a client by PyMongo
    that has no deadlines."""

    def __init__(
        self, name: str, schema: Schema, connect: Callable[[], pymongo.MongoClient[Any]]
    ) -> None:
        self.unready = "STORE_UNAVAILABLE"
        """Why nothing can be done before the schema is up to date; empty once it is."""
        self._name = name
        self._schema = schema
        self._connect = connect
        # Leaves a higher version alone.
        self._at_least = {"$max": {"version": len(schema)}}
        self._throttled = logs.Throttled(__name__)

    async def is_outdated(self, db: Any) -> bool:
        """Whether the schema that is there is older than the program, or there is none.

        Raises SchemaTooNew and UnsuitableServer.
        """
        return await self._version(db) < len(self._schema)

    async def run(self, db: Any, report_away: Callable[[Exception], None]) -> None:
        """Upgrade, however long that takes and however often the connection breaks.

        Raises SchemaTooNew and UnsuitableServer.
        """
        while True:
            try:
                async with asyncio.timeout(_CHECK_SECONDS):
                    version = await self._version(db)
                if version < len(self._schema):
                    log.info("schema_upgrading", version=version, to=len(self._schema))
                self.unready = "SCHEMA_UPGRADING"
                await _in_daemon_thread(self._make)
                break
            except SchemaTooNew:
                self.unready = "SCHEMA_TOO_NEW"
                raise
            except OperationFailure as error:
                self.unready = "SCHEMA_FAILED"
                self._throttled.warning(
                    "schema_failed", error=type(error).__name__, code=error.code
                )
                await asyncio.sleep(REFUSED_SECONDS)
            except (PyMongoError, TimeoutError) as error:
                self.unready = "STORE_UNAVAILABLE"
                report_away(error)
                await asyncio.sleep(RETRY_SECONDS)
        self.unready = ""
        if version < len(self._schema):
            log.info("schema_upgraded", version=len(self._schema))

    async def write_version(self, db: Any) -> None:
        """Write the version once more, as it is."""
        await db.schema.update_one(_VERSION, self._at_least)

    async def _version(self, db: Any) -> int:
        """The version of the schema that is there; 0 where none says."""
        hello = await db.client.admin.command("hello")
        # `isreplicaset` is what a member says that was not initiated yet.
        if not ({"setName", "isreplicaset"} & hello.keys() or hello.get("msg") == "isdbgrid"):
            raise UnsuitableServer(_STANDALONE)
        if hello["maxWireVersion"] < _MIN_WIRE_VERSION:
            raise UnsuitableServer("The MongoDB of ATAJO_STORE is older than 6.0.")
        found = await db.schema.find_one(_VERSION)
        version: int = found["version"] if found else 0
        if version > len(self._schema):
            raise SchemaTooNew(f"The database {self._name}", version, len(self._schema))
        return version

    def _make(self) -> None:
        """Make the indexes that are not there, and then write the version."""
        with self._connect() as client:
            db = client[self._name]
            for indexes in self._schema:
                for collection, models in indexes.items():
                    db[collection].create_indexes(list(models))
            try:
                db.schema.update_one(_VERSION, self._at_least, upsert=True)
            except DuplicateKeyError:  # Another replica was faster.
                db.schema.update_one(_VERSION, self._at_least)


def _in_daemon_thread(work: Callable[[], None]) -> asyncio.Future[None]:
    """Run what may take hours in a thread that does not hold up the process's end."""
    future: concurrent.futures.Future[None] = concurrent.futures.Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            work()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(None)

    threading.Thread(target=run, name="schema", daemon=True).start()
    return asyncio.wrap_future(future)
