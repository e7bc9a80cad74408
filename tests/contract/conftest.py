"""Both stores, for suites that say what each of them promises."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import pytest

from services.runtime import stores
from tests.mongo import server

Stores = TypeVar("Stores")
NewStore = Callable[[], AbstractContextManager[str]]


@contextmanager
def _new_file() -> Iterator[str]:
    with TemporaryDirectory() as folder:
        yield f"sqlite:///{Path(folder) / 'store.sqlite3'}"


@pytest.fixture(params=["sqlite", "mongodb"])
def new_store(request: pytest.FixtureRequest) -> NewStore:
    """Makes what `ATAJO_STORE` names: an empty file or database, another one each time."""
    if request.param == "sqlite":
        return _new_file
    url = request.getfixturevalue("mongo_server")
    return lambda: server.database(url)


@asynccontextmanager
async def opened_at(
    setting: str, service: str, adapters: stores.Adapters[Stores]
) -> AsyncIterator[Stores]:
    """A service's stores where `ATAJO_STORE` says, as the service opens them."""
    async with stores.opened(setting, service, adapters) as (opened, database):
        await database.prepared()
        yield opened


@asynccontextmanager
async def opened_anew(
    new_store: NewStore, service: str, adapters: stores.Adapters[Stores]
) -> AsyncIterator[Stores]:
    """The same over a file or database of its own."""
    with new_store() as setting:
        async with opened_at(setting, service, adapters) as opened:
            yield opened
