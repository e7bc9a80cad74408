"""Which store a service runs on: its setting decides, here and nowhere else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from services.runtime import mongo, sqlite

Stores = TypeVar("Stores")


class Store(Protocol):
    """An open database, as the process that serves over it sees it."""

    async def check(self) -> None:
        """Raises Unavailable where it cannot be read and written."""

    async def prepared(self) -> None:
        """Wait until the schema is up to date, however long that takes.

        If the server is away, this returns at once.
        """


@dataclass(frozen=True)
class Adapters(Generic[Stores]):
    """A service's stores over either database, and what each must be prepared with."""

    on_sqlite: Callable[[sqlite.Database], Stores]
    migrations: Sequence[sqlite.Migration]
    on_mongo: Callable[[mongo.Database], Stores]
    schema: mongo.Schema


@asynccontextmanager
async def opened(
    setting: str, service: str, adapters: Adapters[Stores]
) -> AsyncIterator[tuple[Stores, Store]]:
    """The stores over the database that `ATAJO_STORE` names, and the database, closed at the end.

    Raises SystemExit with one line for a setting of another form or a store that refuses.
    """
    if setting.startswith(mongo.SCHEMES):
        async with mongo.opened(setting, f"atajo_{service}", adapters.schema) as documents:
            yield adapters.on_mongo(documents), documents
    elif setting.startswith(sqlite.SCHEME):
        async with sqlite.opened(setting, adapters.migrations) as file:
            yield adapters.on_sqlite(file), file
    else:
        raise SystemExit(
            "ATAJO_STORE must have the form mongodb://…, mongodb+srv://… or sqlite:///path/to/file"
        )
