"""The main use case with the pages in nginx."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.product import Product
from tests.system.e2e.stage import behind_nginx
from tests.system.e2e.test_main_job import (  # noqa: F401  # The same tests, over this module's site.
    test_an_account_sees_the_views_of_its_links,
    test_an_unknown_code_goes_to_not_found_and_home,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with behind_nginx(tmp_path_factory.mktemp("site")) as product:
        product.start()
        yield product
