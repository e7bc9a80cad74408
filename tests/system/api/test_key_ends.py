"""A key that ends stops on every gateway within five seconds, although all had verified it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest

from tests.conftest import store_of_product
from tests.support.api_client import ApiClient
from tests.support.nginx import start_gateway
from tests.support.product import Product
from tests.support.waiting import PROPAGATION_SECONDS, wait_until

GATEWAYS = 3


class Fleet:
    """A product with several gateways."""

    def __init__(self, product: Product, urls: list[str]) -> None:
        self.product = product
        self.urls = urls

    def statuses(self, key: str) -> list[int]:
        """Return the status of a request with a key on each gateway."""
        headers = {"authorization": f"Bearer {key}"}
        return [
            self.product.http.get(f"{url}/api/v1/account", headers=headers).status_code
            for url in self.urls
        ]


@pytest.fixture(scope="module", params=["sqlite", "mongodb"])
def fleet(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("keys")
    with store_of_product(request) as store, Product(folder, store=store) as product:
        product.start()
        with ExitStack() as stack:
            others = [
                stack.enter_context(start_gateway(product, folder / f"gateway-{number}"))
                for number in range(1, GATEWAYS)
            ]
            urls = [f"http://{gateway.addresses['http']}" for gateway in others]
            yield Fleet(product, [product.url, *urls])


def revoke(api: ApiClient) -> None:
    api.gateway.data("revokeKey", {"token": api.token, "id": api.key_id})


def remove_account(api: ApiClient) -> None:
    api.gateway.data("removeAccount", {"token": api.token, "password": "Camino-42"})


@pytest.mark.parametrize("end", [revoke, remove_account])
def test_a_key_that_is_ended_stops(fleet: Fleet, end: Callable[[ApiClient], None]) -> None:
    api = ApiClient(fleet.product)
    assert fleet.statuses(api.key) == [200] * GATEWAYS
    end(api)
    wait_until(lambda: fleet.statuses(api.key) == [401] * GATEWAYS, PROPAGATION_SECONDS)


def test_a_key_that_expires_stops(fleet: Fleet) -> None:
    api = ApiClient(fleet.product)
    expires_at = datetime.now(UTC) + timedelta(seconds=5)
    created = api.gateway.data(
        "createKey",
        {
            "token": api.token,
            "name": "short",
            "scopes": ["links:read"],
            "expires_at": expires_at.isoformat(),
        },
    )
    assert fleet.statuses(created["key"]) == [200] * GATEWAYS
    left = (expires_at - datetime.now(UTC)).total_seconds()
    wait_until(
        lambda: fleet.statuses(created["key"]) == [401] * GATEWAYS, left + PROPAGATION_SECONDS
    )


def test_a_use_on_any_gateway_is_the_last_use(fleet: Fleet) -> None:
    api = ApiClient(fleet.product)

    def last_used() -> datetime | None:
        [key] = api.gateway.data("listKeys", {"token": api.token})["keys"]
        text = key["last_used_at"]
        return datetime.fromisoformat(text) if text else None

    before = datetime.now(UTC).replace(second=0, microsecond=0)
    assert fleet.statuses(api.key) == [200] * GATEWAYS
    wait_until(lambda: last_used() is not None, PROPAGATION_SECONDS)
    at = last_used()
    assert at is not None
    assert before <= at <= datetime.now(UTC)
