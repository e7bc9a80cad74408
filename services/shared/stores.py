"""Opens the database that `ATAJO_STORE` names, SQLite or MongoDB, for any service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from services.shared import sqlite
from services.shared.observability.store_size import StoreSize

_MONGO_SCHEMES = ("mongodb://", "mongodb+srv://")

Stores = TypeVar("Stores")

if TYPE_CHECKING:
    from services.shared import mongo

    MongoFactory = tuple[Callable[[mongo.Database], Stores], mongo.Schema]


class Store(Protocol):
    """An open database, as the process that serves over it sees it."""

    async def check(self) -> None:
        """Raise Unavailable if the database cannot be read and written."""

    async def wait_for_schema(self) -> None:
        """Wait until the schema is up to date, however long that takes.

        If the server is away, this returns at once.
        """

    async def size(self) -> StoreSize:
        """Return the size of the database. Raises Unavailable."""


@dataclass(frozen=True)
class StoreFactories(Generic[Stores]):
    """Builds a service's stores over either database, and prepares the schema of each.

    `load_mongo` imports the MongoDB stores and returns their factory and schema. The driver takes
    15 MB and as long to import as half of a service, which a process over SQLite does not need.
    """

    on_sqlite: Callable[[sqlite.Database], Stores]
    migrations: Sequence[sqlite.Migration]
    load_mongo: Callable[[], MongoFactory[Stores]]


@asynccontextmanager
async def open_stores(
    setting: str, service: str, factories: StoreFactories[Stores]
) -> AsyncIterator[tuple[Stores, Store]]:
    """Open the database that `ATAJO_STORE` names; yield a service's stores and the database.

    Raises SystemExit with one line if the setting or the database cannot be used.
    """
    if setting.startswith(_MONGO_SCHEMES):
        from services.shared import mongo

        on_mongo, schema = factories.load_mongo()
        async with mongo.open_database(setting, f"atajo_{service}", schema) as documents:
            yield on_mongo(documents), documents
    elif setting.startswith(sqlite.SCHEME):
        async with sqlite.open_database(setting, factories.migrations) as file:
            yield factories.on_sqlite(file), file
    else:
        raise SystemExit(
            "ATAJO_STORE must have the form mongodb://…, mongodb+srv://… or sqlite:///path/to/file"
        )
