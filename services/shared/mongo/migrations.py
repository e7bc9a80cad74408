"""Upgrades the schema of a MongoDB database before the database is used.

A schema consists of indexes. The document `_id: "version"` in the collection `schema` contains its
version. Several replicas may upgrade it at the same time: MongoDB does not build an index twice,
and waits for a build in progress. A build may take hours.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pymongo
from pymongo.errors import DuplicateKeyError, NotPrimaryError, OperationFailure, PyMongoError

from services.shared.errors import UnsupportedSchemaVersion
from services.shared.observability import logs

log = logs.get(__name__)

Indexes = Mapping[str, Sequence[pymongo.IndexModel]]
"""Indexes by collection."""
Schema = Sequence[Indexes]
"""The indexes that each version adds to the previous one: version n has the first n elements."""

RETRY_SECONDS = 1.0
"""Pause before a retry after a lost connection."""
REFUSED_RETRY_SECONDS = 10.0
"""Pause before a retry after the server refused to build an index."""
_CHECK_SECONDS = 2.0
_VERSION = {"_id": "version"}
_MIN_WIRE_VERSION = 17
"""MongoDB 6.0."""
SERVER = "The MongoDB of ATAJO_STORE"
"""What messages call the server: its URL may contain a password."""
_STANDALONE = (
    f"{SERVER} is no replica set. Start mongod with --replSet rs0 and run once, "
    "with the host and port by which Atajo reaches it: mongosh --eval "
    """'rs.initiate({_id: "rs0", members: [{_id: 0, host: "localhost:27017"}]})'"""
)


class UnsuitableServer(Exception):
    """The server cannot run transactions, or is older than the supported versions."""


class SchemaUpgrade:
    """Upgrades one database. `connect` returns a PyMongo client without timeouts.

    The parameter `db` of the other methods is motor's database.
    """

    def __init__(
        self, name: str, schema: Schema, connect: Callable[[], pymongo.MongoClient[Any]]
    ) -> None:
        self.unready = "STORE_UNAVAILABLE"
        """The reason why the database cannot be used yet; empty once the schema is up to date."""
        self._name = name
        self._schema = schema
        self._connect = connect
        # Does not lower a higher version.
        self._raise_version = {"$max": {"version": len(schema)}}
        self._throttled = logs.Throttled(__name__)

    async def is_outdated(self, db: Any) -> bool:
        """Return whether the existing schema is older than the program, or there is none.

        Raises UnsupportedSchemaVersion and UnsuitableServer, and PyMongoError without a primary.
        """
        return await self._version(db) < len(self._schema)

    async def run(self, db: Callable[[], Any], report_away: Callable[[Exception], None]) -> None:
        """Upgrade, however long it takes, and retry after each lost connection.

        `db` returns motor's database, whose client may be replaced meanwhile. Raises
        UnsupportedSchemaVersion and UnsuitableServer.
        """
        while True:
            try:
                async with asyncio.timeout(_CHECK_SECONDS):
                    version = await self._version(db())
                if version < len(self._schema):
                    log.info("schema_upgrading", version=version, to=len(self._schema))
                self.unready = "SCHEMA_UPGRADING"
                await _in_daemon_thread(self._build_indexes)
                break
            except UnsupportedSchemaVersion:
                self.unready = "SCHEMA_TOO_NEW"
                raise
            except OperationFailure as error:
                self.unready = "SCHEMA_FAILED"
                self._throttled.warning(
                    "schema_failed", error=type(error).__name__, code=error.code
                )
                await asyncio.sleep(REFUSED_RETRY_SECONDS)
            except (PyMongoError, TimeoutError) as error:
                self.unready = "STORE_UNAVAILABLE"
                report_away(error)
                await asyncio.sleep(RETRY_SECONDS)
        self.unready = ""
        if version < len(self._schema):
            log.info("schema_upgraded", version=len(self._schema))

    async def write_version(self, db: Any) -> None:
        """Rewrite the version, unchanged."""
        await db.schema.update_one(_VERSION, self._raise_version)

    async def _version(self, db: Any) -> int:
        """Return the version of the existing schema, or 0 if there is none."""
        hello = await db.client.admin.command("hello")
        # A member that is not initiated yet has `isreplicaset`.
        if not ({"setName", "isreplicaset"} & hello.keys() or hello.get("msg") == "isdbgrid"):
            raise UnsuitableServer(_STANDALONE)
        if hello["maxWireVersion"] < _MIN_WIRE_VERSION:
            raise UnsuitableServer(f"{SERVER} is older than 6.0.")
        # A client that connects directly reads from a secondary, too.
        if hello.get("isWritablePrimary") is False:
            raise NotPrimaryError("not primary")
        found = await db.schema.find_one(_VERSION)
        version: int = found["version"] if found else 0
        if version > len(self._schema):
            raise UnsupportedSchemaVersion(f"The database {self._name}", version, len(self._schema))
        return version

    def _build_indexes(self) -> None:
        """Build the missing indexes, then write the version."""
        with self._connect() as client:
            db = client[self._name]
            for indexes in self._schema:
                for collection, models in indexes.items():
                    db[collection].create_indexes(list(models))
            try:
                db.schema.update_one(_VERSION, self._raise_version, upsert=True)
            except DuplicateKeyError:  # Another replica was faster.
                db.schema.update_one(_VERSION, self._raise_version)


def _in_daemon_thread(work: Callable[[], None]) -> asyncio.Future[None]:
    """Run long work in a thread that does not delay the end of the process."""
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
