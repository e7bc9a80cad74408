"""The product, started once for all tests that leave it running."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.product import Product


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The whole product on SQLite, for tests that do not stop a part of it."""
    with Product(tmp_path_factory.mktemp("product")) as started:
        started.start()
        yield started
