"""Fixtures with both auth stores."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from services.auth.__main__ import STORE_FACTORIES
from services.auth.application.stores import Stores
from tests.support.store_fixtures import NewStore, open_stores_at

Opening = Callable[[], AbstractAsyncContextManager[Stores]]


@pytest.fixture
def opening(new_store: NewStore) -> Iterator[Opening]:
    """Opens the same stores each time."""
    with new_store() as setting:

        @asynccontextmanager
        async def opened() -> AsyncIterator[Stores]:
            async with open_stores_at(setting, "auth", STORE_FACTORIES) as opened:
                yield opened

        yield opened


@pytest.fixture
async def stores(opening: Opening) -> AsyncIterator[Stores]:
    async with opening() as opened:
        yield opened
