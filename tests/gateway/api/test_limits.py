"""Limits of the REST API by account and by client IP address, and the headers of every response."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.api.limits import LOOKUP_FACTOR
from services.shared import api_keys
from tests.support.api_client import ApiClient, problem_of
from tests.support.in_process_gateway import InProcessGateway
from tests.support.waiting import wait_until

BY_ACCOUNT, BY_CLIENT = 40, 12
OTHER = "192.0.2.7"
EXPOSED = {
    *("ratelimit", "ratelimit-policy", "retry-after", "location", "www-authenticate", "allow"),
    "x-request-id",
}
_addresses = (f"198.51.100.{number}" for number in range(255))


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    """A gateway behind a trusted proxy."""
    with InProcessGateway(
        tmp_path_factory.mktemp("limits"),
        limit_api=f"{BY_ACCOUNT}/hour",
        limit_api_unverified=f"{BY_CLIENT}/hour",
        trusted_proxies="127.0.0.0/8,::1/128",
    ) as gateway:
        yield gateway


@pytest.fixture
def address() -> str:
    """An IP address that no other test uses."""
    return next(_addresses)


@pytest.fixture(scope="module")
def api(gateway: InProcessGateway) -> ApiClient:
    return ApiClient(gateway)


def state_of(response: httpx.Response) -> tuple[int, int]:
    """Return the limit and the remaining calls that a response names."""
    policy = re.fullmatch(r'"default";q=(\d+);w=3600', response.headers["ratelimit-policy"])
    state = re.fullmatch(r'"default";r=(\d+);t=(\d+)', response.headers["ratelimit"])
    assert policy, response.headers
    assert state, response.headers
    assert 0 < int(state[2]) <= 3600
    return int(policy[1]), int(state[1])


def test_calls_are_counted_by_account(gateway: InProcessGateway, address: str) -> None:
    first = ApiClient(gateway)
    for number in range(1, 4):
        response = first.send("GET", "/account", x_forwarded_for=address)
        assert state_of(response) == (BY_ACCOUNT, BY_ACCOUNT - number)
    second = ApiClient(gateway, token=first.token)
    response = second.send("GET", "/account", x_forwarded_for=address)
    assert state_of(response) == (BY_ACCOUNT, BY_ACCOUNT - 4)
    response = ApiClient(gateway).send("GET", "/account", x_forwarded_for=address)
    assert state_of(response) == (BY_ACCOUNT, BY_ACCOUNT - 1)


def test_each_link_of_a_bulk_creation_counts(gateway: InProcessGateway, address: str) -> None:
    api = ApiClient(gateway)

    def create(number: int) -> httpx.Response:
        links = [{"url": "https://example.com/"}] * number
        return api.send("POST", "/links/bulk", {"links": links}, x_forwarded_for=address)

    assert state_of(create(30)) == (BY_ACCOUNT, BY_ACCOUNT - 30)
    limited = create(30)
    assert problem_of(limited) == (429, "rate_limited")
    assert state_of(limited) == (BY_ACCOUNT, BY_ACCOUNT - 31)
    assert 1 <= int(limited.headers["retry-after"]) <= 3600
    assert create(9).status_code == 200
    assert problem_of(create(1)) == (429, "rate_limited")


@pytest.mark.parametrize("key", ["", "nonsense", "random"])
def test_calls_without_a_valid_key_are_counted_by_address(
    gateway: InProcessGateway, api: ApiClient, address: str, key: str
) -> None:
    before = gateway.auth.calls["verify_key"]
    for number in range(1, BY_CLIENT + 1):
        sent = api_keys.generate() if key == "random" else key
        response = api.send("GET", "/account", key=sent, x_forwarded_for=address)
        assert response.status_code == 401
        assert state_of(response) == (BY_CLIENT, BY_CLIENT - number)
    looked_up = gateway.auth.calls["verify_key"]
    assert looked_up == before + (BY_CLIENT if key == "random" else 0)
    for sent in ("", "nonsense", api_keys.generate()):
        limited = api.send("GET", "/account", key=sent, x_forwarded_for=address)
        assert problem_of(limited) == (429, "rate_limited")
        assert state_of(limited) == (BY_CLIENT, 0)
    assert api.send("GET", "/account", key="", x_forwarded_for=OTHER).status_code == 401


def test_look_ups_of_unknown_keys_are_limited_by_address(
    gateway: InProcessGateway, api: ApiClient, address: str
) -> None:
    before = gateway.auth.calls["verify_key"]
    for _ in range(BY_CLIENT * LOOKUP_FACTOR + 5):
        api.send("GET", "/account", key=api_keys.generate(), x_forwarded_for=address)
    assert gateway.auth.calls["verify_key"] == before + BY_CLIENT * LOOKUP_FACTOR
    refused = ApiClient(gateway).send("GET", "/account", x_forwarded_for=address)
    assert problem_of(refused) == (429, "rate_limited")


def test_a_valid_key_is_not_blocked_by_its_neighbors(
    gateway: InProcessGateway, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it was valid recently or never seen before."""
    known, new = ApiClient(gateway), ApiClient(gateway)
    assert known.send("GET", "/account", x_forwarded_for=address).status_code == 200
    for _ in range(BY_CLIENT):
        response = known.send("GET", "/account", key=api_keys.generate(), x_forwarded_for=address)
        assert response.status_code == 401  # The valid key did not count.
    monkeypatch.setattr("gateway.api.authentication.FRESH_SECONDS", 0.0)
    before = gateway.auth.calls["verify_key"]
    assert known.send("GET", "/account", x_forwarded_for=address).status_code == 200
    assert gateway.auth.calls["verify_key"] == before + 1
    for _ in range(2 * BY_CLIENT):
        invalid = known.send("GET", "/account", key=api_keys.generate(), x_forwarded_for=address)
        assert invalid.status_code == 429
    assert new.send("GET", "/account", x_forwarded_for=address).status_code == 200


def test_valid_keys_use_up_no_look_ups(tmp_path: Path) -> None:
    with InProcessGateway(tmp_path, limit_api_unverified="1/hour") as gateway:
        token = gateway.log_in(gateway.register())
        for _ in range(LOOKUP_FACTOR + 1):
            api = ApiClient(gateway, token=token)
            assert api.send("GET", "/account").status_code == 200


def test_keys_that_cannot_be_verified_use_up_no_look_ups(
    gateway: InProcessGateway, address: str
) -> None:
    api = ApiClient(gateway)
    gateway.auth.away = True
    try:
        for _ in range(BY_CLIENT * LOOKUP_FACTOR + 1):
            response = api.send("GET", "/account", x_forwarded_for=address)
            assert problem_of(response) == (503, "unavailable")
    finally:
        gateway.auth.away = False
    assert api.send("GET", "/account", x_forwarded_for=address).status_code == 200


def test_a_verified_key_is_looked_up_once_in_some_seconds(gateway: InProcessGateway) -> None:
    api = ApiClient(gateway)
    before = gateway.auth.calls["verify_key"]
    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(lambda _: api.send("GET", "/account").status_code, range(16)))
    assert statuses == [200] * 16
    assert gateway.auth.calls["verify_key"] == before + 1


def test_a_revoked_key_stops_within_five_seconds(gateway: InProcessGateway) -> None:
    api = ApiClient(gateway)
    assert api.send("GET", "/account").status_code == 200
    gateway.data("revokeKey", {"token": api.token, "id": api.key_id})
    revoked = time.monotonic()
    wait_until(lambda: api.send("GET", "/account").status_code == 401)
    assert time.monotonic() - revoked < 5


def test_an_expired_key_stops_at_once(gateway: InProcessGateway) -> None:
    session = ApiClient(gateway).token
    expires_at = datetime.now(UTC) + timedelta(seconds=1.5)
    made = gateway.data(
        "createKey",
        {
            "token": session,
            "password": "Camino-42",
            "name": "short",
            "scopes": ["links:read"],
            "expires_at": expires_at.isoformat(),
        },
    )
    api = ApiClient(gateway, token=session)
    assert api.send("GET", "/account", key=made["key"]).status_code == 200
    while datetime.now(UTC) < expires_at:
        time.sleep(0.05)
    response = api.send("GET", "/account", key=made["key"], x_forwarded_for=OTHER)
    assert problem_of(response) == (401, "invalid_key")


def test_a_key_cannot_be_verified_while_auth_is_away(gateway: InProcessGateway) -> None:
    api = ApiClient(gateway)
    gateway.auth.away = True
    try:
        response = api.send("GET", "/account", x_forwarded_for=OTHER)
        assert problem_of(response) == (503, "unavailable")
    finally:
        gateway.auth.away = False


ANSWERS: list[tuple[str, str, Any, dict[str, str], int]] = [
    ("GET", "/account", None, {}, 200),
    ("GET", "/openapi.json", None, {}, 200),
    ("POST", "/links", {"url": "https://example.com/"}, {}, 201),
    ("POST", "/links", {"url": 1}, {}, 400),
    ("POST", "/links", b"{", {}, 400),
    ("GET", "/account", None, {"key": ""}, 401),
    ("GET", "/account", None, {"key": "x"}, 401),
    ("GET", "/links/none-at-all", None, {}, 404),
    ("GET", "/nothing", None, {}, 404),
    ("PUT", "/links", None, {}, 405),
    ("POST", "/links", b" " * 70_000, {}, 413),
    ("POST", "/links", {"url": "https://example.com/"}, {"content_type": "text/plain"}, 415),
    ("POST", "/links", {"url": "ftp://example.com/"}, {}, 422),
]


@pytest.mark.parametrize(("method", "path", "body", "more", "status"), ANSWERS)
def test_every_response_has_these_headers(
    gateway: InProcessGateway,
    method: str,
    path: str,
    body: Any,
    more: dict[str, str],
    status: int,
) -> None:
    api = ApiClient(gateway)
    for origin in ({}, {"origin": "https://a.example"}):
        response = api.send(method, path, body, **more, **origin, x_forwarded_for=OTHER)
        assert response.status_code == status
        state_of(response)
        headers = response.headers
        assert headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in headers
        exposed = headers["access-control-expose-headers"].lower().split(", ")
        assert set(exposed) == EXPOSED
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert len(headers.get_list("x-request-id")) == 1


def test_a_preflight_request_needs_no_key_and_counts_nothing(
    gateway: InProcessGateway, address: str
) -> None:
    for _ in range(BY_CLIENT + 1):
        response = gateway.http.options(
            f"{gateway.url}/api/v1/links/abcd",
            headers={
                "origin": "https://a.example",
                "access-control-request-method": "PATCH",
                "access-control-request-headers": "authorization,content-type,idempotency-key",
                "x-forwarded-for": address,
            },
        )
        assert response.status_code == 204
        assert state_of(response) == (BY_CLIENT, BY_CLIENT)
        headers = response.headers
        assert headers["access-control-allow-origin"] == "*"
        assert "PATCH" in headers["access-control-allow-methods"].split(", ")
        allowed = headers["access-control-allow-headers"].lower().split(", ")
        assert {"authorization", "content-type", "idempotency-key"} <= set(allowed)
