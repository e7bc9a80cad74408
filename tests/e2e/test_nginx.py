"""The main job with the pages in nginx."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.stage import behind_nginx
from tests.e2e.test_main_job import (  # noqa: F401  # The same tests, over this module's site.
    test_a_visitor_shortens_a_link_and_follows_it,
    test_an_account_sees_the_views_of_its_links,
    test_an_unknown_code_goes_to_not_found_and_home,
    test_the_route_of_a_code_shows_redirecting_and_goes_there,
)
from tests.product import Product


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with behind_nginx(tmp_path_factory.mktemp("site")) as product:
        product.start()
        yield product
