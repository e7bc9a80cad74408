"""The product, started once for all tests that leave it running."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.mongo import server
from tests.product import Product


@pytest.fixture(scope="session")
def mongo_server() -> Iterator[str]:
    """The URL of a MongoDB server. A test that asks for it fails where there is none."""
    try:
        with server.running() as url:
            yield url
    except server.NoServer as missing:
        pytest.fail(str(missing), pytrace=False)


@pytest.fixture
def mongo_url(mongo_server: str) -> Iterator[str]:
    """The URL of a MongoDB database of the test's own."""
    with server.database(mongo_server) as url:
        yield url


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The whole product on SQLite, for tests that do not stop a part of it."""
    with Product(tmp_path_factory.mktemp("product")) as started:
        started.start()
        yield started
