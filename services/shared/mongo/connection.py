"""Opens the MongoDB database that a URL names."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import MongoClient, ReadPreference
from pymongo.errors import PyMongoError

from services.shared.mongo.aliases import Document
from services.shared.mongo.client import Client
from services.shared.mongo.database import THREAD_TIMEOUT_SECONDS, TIMEOUT_SECONDS, Database
from services.shared.mongo.migrations import Schema, SchemaUpgrade
from services.shared.mongo.transactions import APPLICATION

_DEFAULT_OPTIONS: Mapping[str, Any] = {
    "appName": APPLICATION,
    "connectTimeoutMS": 1000,
    "maxPoolSize": 42,  # The threads of motor, of transactions, records and change feeds.
    "serverSelectionTimeoutMS": 1000,
    "socketTimeoutMS": 2000,
    "timeoutMS": int(TIMEOUT_SECONDS * 1000),
}
"""Options that a URL may override."""
_FIXED_OPTIONS: Mapping[str, Any] = {"w": "majority", "journal": True, "readConcernLevel": "local"}
"""Options that override a URL."""
_SECONDARY_OPTIONS = frozenset({"readpreferencetags", "maxstalenessseconds"})
"""Options of a URL that select secondaries."""
_DATABASE_NAME = re.compile(r"[A-Za-z0-9_-]{1,63}")


@asynccontextmanager
async def open_database(store: str, default: str, schema: Schema) -> AsyncIterator[Database]:
    """Open the database that a `mongodb://` or `mongodb+srv://` URL names, or the one of `default`.

    The server need not answer yet, unless the supervisor asks to wait for it, and the upgrade to
    `schema` may still run. Raises SystemExit with one line for an invalid URL, a refused log-in and
    a newer schema.
    """
    given = {part.partition("=")[0].lower() for part in re.split("[&;?]", store)}
    options = {name: value for name, value in _DEFAULT_OPTIONS.items() if name.lower() not in given}
    if given & _SECONDARY_OPTIONS:
        raise _reads_from_secondaries()
    options |= _FIXED_OPTIONS
    try:
        connect = partial(AsyncIOMotorClient[Document], store, **options)
        client = Client(connect, default, THREAD_TIMEOUT_SECONDS)
        preference = client.motor.read_preference
        name = client.documents.name
    except (PyMongoError, OSError, ValueError):  # OSError: a file that the URL names.
        raise SystemExit("ATAJO_STORE is not a MongoDB URL that can be used.") from None
    if preference != ReadPreference.PRIMARY:
        raise _reads_from_secondaries()
    if not _DATABASE_NAME.fullmatch(name):
        raise SystemExit("ATAJO_STORE names a database MongoDB cannot have.")
    # Building an index may take hours.
    without_timeouts = {**options, "timeoutMS": None, "socketTimeoutMS": None}
    upgrade = SchemaUpgrade(name, schema, lambda: MongoClient(store, **without_timeouts))
    database = Database(client, upgrade)
    try:
        await database.start_upgrade()
        yield database
    finally:
        await database.close()


def _reads_from_secondaries() -> SystemExit:
    return SystemExit(
        "ATAJO_STORE must not have a readPreference other than primary: a secondary may not know "
        "yet what was acknowledged."
    )
