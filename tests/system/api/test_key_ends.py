"""A key that ends stops on every gateway within five seconds, although all had verified it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.api_client import ApiClient
from tests.support.waiting import PROPAGATION_SECONDS, wait_until
from tests.system.several_gateways import GATEWAYS, SeveralGateways
from tests.system.several_gateways import gateways as gateways


def revoke(api: ApiClient) -> None:
    api.gateway.data("revokeKey", {"token": api.token, "id": api.key_id})


def remove_account(api: ApiClient) -> None:
    api.gateway.data("removeAccount", {"token": api.token, "password": "Camino-42"})


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
