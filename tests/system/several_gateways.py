"""A product with several gateways, on either store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.conftest import store_of_product
from tests.support.nginx import start_gateway
from tests.support.product import Product

GATEWAYS = 3


class SeveralGateways:
    """A product with several gateways."""

    def __init__(self, product: Product, urls: list[str]) -> None:
        self.product = product
        self.urls = urls

    def statuses(self, key: str) -> list[int]:
        """Return the status of a request with an API key on each gateway."""
        headers = {"authorization": f"Bearer {key}"}
        return [
            self.product.http.get(f"{url}/api/v1/account", headers=headers).status_code
            for url in self.urls
        ]

    def accepts(self, token: str) -> list[bool | None]:
        """Return whether each gateway accepts a session token. None if it cannot tell."""
        payload = {"data": {"token": token}}
        responses = [self.product.http.post(f"{url}/listKeys", json=payload) for url in self.urls]
        return [response.json().get("data", {}).get("success") for response in responses]


@pytest.fixture(scope="module", params=["sqlite", "mongodb"])
def gateways(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SeveralGateways]:
    folder = tmp_path_factory.mktemp("keys")
    with store_of_product(request) as store, Product(folder, store=store) as product:
        product.start()
        with ExitStack() as stack:
            others = [
                stack.enter_context(start_gateway(product, folder / f"gateway-{number}"))
                for number in range(1, GATEWAYS)
            ]
            urls = [f"http://{gateway.addresses['http']}" for gateway in others]
            yield SeveralGateways(product, [product.url, *urls])
