"""Both stores, for suites that say what each of them promises."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import pytest

from services.links.__main__ import ADAPTERS
from services.links.application.ports import LinkStore
from services.links.domain.link import Link
from services.shared import stores
from tests.support import stored
from tests.support.mongo import server

Stores = TypeVar("Stores")
NewStore = Callable[[], AbstractContextManager[str]]


@contextmanager
def _new_file() -> Iterator[str]:
    with TemporaryDirectory() as folder:
        yield f"sqlite:///{Path(folder) / 'store.sqlite3'}"


@contextmanager
def _looked_at(new: AbstractContextManager[str]) -> Iterator[str]:
    """The same, for a test that leaves nothing in it that the privacy page does not tell of."""
    with new as setting:
        yield setting
        assert stored.untold(stored.fields(setting)) == []


@pytest.fixture
def new_sqlite() -> NewStore:
    """Makes what `ATAJO_STORE` names: an empty file, another one each time."""
    return lambda: _looked_at(_new_file())


@pytest.fixture(scope="module")
def mongo_pool(mongo_server: str) -> Iterator[NewStore]:
    """Makes databases, or empties those that earlier tests of the module used, which is faster."""
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
def new_mongodb(mongo_pool: NewStore) -> NewStore:
    """The same of databases."""
    return lambda: _looked_at(mongo_pool())


@pytest.fixture(params=["sqlite", "mongodb"])
def new_store(request: pytest.FixtureRequest) -> NewStore:
    """Makes either, for suites that say what both promise."""
    new: NewStore = request.getfixturevalue(f"new_{request.param}")
    return new


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


@pytest.fixture
async def store(new_store: NewStore) -> AsyncIterator[LinkStore]:
    """A new, empty store of links."""
    async with opened_anew(new_store, "links", ADAPTERS) as opened:
        yield opened


@pytest.fixture
async def sqlite_store(new_sqlite: NewStore) -> AsyncIterator[LinkStore]:
    """The same on SQLite, for what no store decides."""
    async with opened_anew(new_sqlite, "links", ADAPTERS) as opened:
        yield opened


async def add_all(store: LinkStore, links: Sequence[Link]) -> None:
    """Add links, some at once: a write has two seconds, in which it waits for its turn, too."""
    for start in range(0, len(links), 50):
        await asyncio.gather(*(store.links.add(link) for link in links[start : start + 50]))
