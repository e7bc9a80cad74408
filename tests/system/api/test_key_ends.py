"""A key that ends stops on every gateway within five seconds, although all had verified it."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from tests.support.api_client import ApiClient
from tests.support.processes import NO_TLS
from tests.support.waiting import PROPAGATION_SECONDS, wait_until
from tests.system.several_gateways import GATEWAYS, SeveralGateways
from tests.system.several_gateways import gateways as gateways


def revoke(api: ApiClient) -> None:
    api.gateway.data("revokeKey", {"token": api.token, "id": api.key_id})


def remove_account(api: ApiClient) -> None:
    api.gateway.data("removeAccount", {"token": api.token, "password": "Camino-42"})


def create_until_refused(url: str, api: ApiClient) -> list[str]:
    """Create links by a gateway until the key stops; return their codes."""
    codes: list[str] = []
    with httpx.Client(verify=NO_TLS) as http:
        while True:
            response = http.post(
                f"{url}/api/v1/links",
                json={"url": "https://example.com/"},
                headers={"authorization": f"Bearer {api.key}"},
            )
            if response.status_code == 401:
                return codes
            assert response.status_code == 201, response.text
            codes.append(response.json()["code"])


def test_links_that_a_key_creates_while_its_account_is_removed_stop(
    gateways: SeveralGateways,
) -> None:
    api = ApiClient(gateways.product)
    assert gateways.statuses(api.key) == [200] * GATEWAYS
    with ThreadPoolExecutor(GATEWAYS) as threads:
        creating = [threads.submit(create_until_refused, url, api) for url in gateways.urls]
        remove_account(api)
        removed_at = time.monotonic()
        codes = [code for one in creating for code in one.result()]
    assert codes

    def redirecting() -> list[str]:
        return [
            code
            for url in gateways.urls
            for code in codes[-20:]
            if gateways.product.http.get(f"{url}/{code}").status_code == 302
        ]

    left = removed_at + PROPAGATION_SECONDS - time.monotonic()
    wait_until(lambda: not redirecting(), left)


@pytest.mark.parametrize("end", [revoke, remove_account])
def test_a_key_that_is_ended_stops(
    gateways: SeveralGateways, end: Callable[[ApiClient], None]
) -> None:
    api = ApiClient(gateways.product)
    assert gateways.statuses(api.key) == [200] * GATEWAYS
    end(api)
    wait_until(lambda: gateways.statuses(api.key) == [401] * GATEWAYS, PROPAGATION_SECONDS)


def test_a_key_that_expires_stops(gateways: SeveralGateways) -> None:
    api = ApiClient(gateways.product)
    expires_at = datetime.now(UTC) + timedelta(seconds=5)
    created = api.gateway.data(
        "createKey",
        {
            "token": api.token,
            "password": "Camino-42",
            "name": "short",
            "scopes": ["links:read"],
            "expires_at": expires_at.isoformat(),
        },
    )
    assert gateways.statuses(created["key"]) == [200] * GATEWAYS
    left = (expires_at - datetime.now(UTC)).total_seconds()
    wait_until(
        lambda: gateways.statuses(created["key"]) == [401] * GATEWAYS, left + PROPAGATION_SECONDS
    )


def test_a_use_on_any_gateway_is_the_last_use(gateways: SeveralGateways) -> None:
    api = ApiClient(gateways.product)

    def last_used() -> datetime | None:
        [key] = api.gateway.data("listKeys", {"token": api.token})["keys"]
        text = key["last_used_at"]
        return datetime.fromisoformat(text) if text else None

    before = datetime.now(UTC).replace(second=0, microsecond=0)
    assert gateways.statuses(api.key) == [200] * GATEWAYS
    wait_until(lambda: last_used() is not None, PROPAGATION_SECONDS)
    at = last_used()
    assert at is not None
    assert before <= at <= datetime.now(UTC)
