"""Fixtures with new, empty stores of either kind, for contract tests of both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import pytest

from services.links.__main__ import STORE_FACTORIES
from services.links.application.ports import LinkStore
from services.links.domain.link import Link
from services.shared import stores
from services.shared.mongo import connection, database, feed
from tests.support import stored_fields
from tests.support.mongo import server

Stores = TypeVar("Stores")
NewStore = Callable[[], AbstractContextManager[str]]


@contextmanager
def _new_file() -> Iterator[str]:
    with TemporaryDirectory() as folder:
        yield f"sqlite:///{Path(folder) / 'store.sqlite3'}"


@contextmanager
def _checked(new: AbstractContextManager[str]) -> Iterator[str]:
    """Check at the end that the store contains only data that the privacy page documents."""
    with new as setting:
        yield setting
        assert stored_fields.undocumented(stored_fields.read_fields(setting)) == []


@pytest.fixture
def new_sqlite() -> NewStore:
    """Return a factory of `ATAJO_STORE` settings for new SQLite files."""
    return lambda: _checked(_new_file())


@pytest.fixture(scope="module")
def mongo_pool(mongo_server: str) -> Iterator[NewStore]:
    """Return a factory of databases. Reuses emptied ones of the module, which is faster."""
    free: list[str] = []
    with ExitStack() as made:

        @contextmanager
        def database() -> Iterator[str]:
            url = free.pop() if free else made.enter_context(server.database(mongo_server))
            yield url
            server.empty(url)
            free.append(url)

        yield database


@pytest.fixture
def longer_deadlines() -> Iterator[None]:
    """Give operations of MongoDB in this process ten times the product's deadline.

    On a busy machine, conflicting transactions last longer than that, and a caller would repeat
    them.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in (connection, database):
            patch.setattr(module, "THREAD_TIMEOUT_SECONDS", 10 * database.THREAD_TIMEOUT_SECONDS)
        patch.setattr(database, "TIMEOUT_SECONDS", 10 * database.TIMEOUT_SECONDS)
        patch.setattr(feed, "_TIMEOUT_SECONDS", 10 * feed._TIMEOUT_SECONDS)
        options = connection._DEFAULT_OPTIONS
        longer = {name: 10 * options[name] for name in ("timeoutMS", "socketTimeoutMS")}
        patch.setattr(connection, "_DEFAULT_OPTIONS", {**options, **longer})
        yield


@pytest.fixture
def new_mongodb(mongo_pool: NewStore, longer_deadlines: None) -> NewStore:
    """Return a factory of `ATAJO_STORE` settings for empty MongoDB databases."""
    return lambda: _checked(mongo_pool())


@pytest.fixture(params=["sqlite", "mongodb"])
def new_store(request: pytest.FixtureRequest) -> NewStore:
    """Return a factory of `ATAJO_STORE` settings for one of the two kinds."""
    new: NewStore = request.getfixturevalue(f"new_{request.param}")
    return new


@asynccontextmanager
async def open_stores_at(
    setting: str, service: str, adapters: stores.StoreFactories[Stores]
) -> AsyncIterator[Stores]:
    """Open a service's stores as the service does."""
    async with stores.open_stores(setting, service, adapters) as (opened, database):
        await database.wait_for_schema()
        yield opened


@asynccontextmanager
async def open_new_stores(
    new_store: NewStore, service: str, adapters: stores.StoreFactories[Stores]
) -> AsyncIterator[Stores]:
    """Open a service's stores in a new file or database."""
    with new_store() as setting:
        async with open_stores_at(setting, service, adapters) as opened:
            yield opened


@pytest.fixture
async def store(new_store: NewStore) -> AsyncIterator[LinkStore]:
    """A new, empty store of links."""
    async with open_new_stores(new_store, "links", STORE_FACTORIES) as opened:
        yield opened


@pytest.fixture
async def sqlite_store(new_sqlite: NewStore) -> AsyncIterator[LinkStore]:
    """A new, empty store of links on SQLite, for tests that do not depend on the kind."""
    async with open_new_stores(new_sqlite, "links", STORE_FACTORIES) as opened:
        yield opened


async def add_all(store: LinkStore, links: Sequence[Link]) -> None:
    """Add links, 50 at a time: the deadline of a write, two seconds, includes its queueing."""
    for start in range(0, len(links), 50):
        await asyncio.gather(*(store.links.add(link) for link in links[start : start + 50]))
