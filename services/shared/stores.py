"""Which store a service runs on: its setting decides, here and nowhere else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from services.shared import sqlite
from services.shared.observability.store_size import StoreSize

if TYPE_CHECKING:
    from services.shared import mongo

_MONGO_SCHEMES = ("mongodb://", "mongodb+srv://")

Stores = TypeVar("Stores")


class Store(Protocol):
    """An open database, as the process that serves over it sees it."""

    async def check(self) -> None:
        """Raises Unavailable where it cannot be read and written."""

    async def prepared(self) -> None:
        """Wait until the schema is up to date, however long that takes.

        If the server is away, this returns at once.
        """

    async def size(self) -> StoreSize:
        """Return how much room the store takes. Raises Unavailable."""


@dataclass(frozen=True)
class Adapters(Generic[Stores]):
    """A service's stores over either database, and what each must be prepared with.

    `mongo` imports those of MongoDB: its driver takes 15 MB and as long to load as half of a
    service, which nobody over SQLite waits for.
    """

    on_sqlite: Callable[[sqlite.Database], Stores]
    migrations: Sequence[sqlite.Migration]
    mongo: Callable[[], tuple[Callable[[mongo.Database], Stores], mongo.Schema]]


@asynccontextmanager
async def opened(
    setting: str, service: str, adapters: Adapters[Stores]
) -> AsyncIterator[tuple[Stores, Store]]:
    """The stores over the database that `ATAJO_STORE` names, and the database, closed at the end.

    Raises SystemExit with one line for a setting of another form or a store that refuses.
    """
    if setting.startswith(_MONGO_SCHEMES):
        from services.shared import mongo

        on_mongo, schema = adapters.mongo()
        async with mongo.opened(setting, f"atajo_{service}", schema) as documents:
            yield on_mongo(documents), documents
    elif setting.startswith(sqlite.SCHEME):
        async with sqlite.opened(setting, adapters.migrations) as file:
            yield adapters.on_sqlite(file), file
    else:
        raise SystemExit(
            "ATAJO_STORE must have the form mongodb://…, mongodb+srv://… or sqlite:///path/to/file"
        )
