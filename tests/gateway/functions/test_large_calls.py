"""Calls that are too many are refused before their body is read, and large ones run side by side
only in bounded numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from gateway.support import rate_limits
from gateway.support.rate_limits import LARGE_CALLS
from tests.support.api_client import ApiClient
from tests.support.bodiless_calls import BodilessCall
from tests.support.in_process_gateway import InProcessGateway
from tests.support.waiting import wait_until

TRUSTED = "127.0.0.0/8,::1/128"
OTHER = "203.0.113.7"
CHECK, BULK = "/checkImport", "/api/v1/links/bulk"
ROWS = [{"row": 1, "code": "abcdefgh", "url": "https://example.com/"}]


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[InProcessGateway]:
    """A gateway behind a trusted proxy."""
    with InProcessGateway(tmp_path, trusted_proxies=TRUSTED) as gateway:
        yield gateway


def status_of(gateway: InProcessGateway, address: str, token: str | None = None) -> int:
    """Return the status of a small call of checkImport."""
    body = {"data": {"token": token, "rows": ROWS}}
    response = gateway.http.post(
        gateway.url + CHECK, json=body, headers={"x-forwarded-for": address}
    )
    return response.status_code


def test_a_call_above_the_rate_is_refused_before_its_body_is_read(tmp_path: Path) -> None:
    limits = {"limit_reads": "1/hour"}
    with InProcessGateway(tmp_path, trusted_proxies=TRUSTED, **limits) as gateway:
        assert status_of(gateway, OTHER) == 200
        with BodilessCall(gateway.url, CHECK, OTHER) as call:
            status, headers = call.answer()
    assert status == 429
    assert 0 < int(headers["retry-after"]) <= 3600


@pytest.mark.parametrize("path", [CHECK, BULK])
def test_large_calls_of_one_client_and_of_all_are_bounded(
    gateway: InProcessGateway, path: str
) -> None:
    keys = [ApiClient(gateway).key for _ in range(5)] if path == BULK else [""] * 5
    by_client = LARGE_CALLS.by_network[0]
    with ExitStack() as under_way:
        for client in range(LARGE_CALLS.total // by_client):
            address = f"198.51.100.{client}"
            for _ in range(by_client):
                call = BodilessCall(gateway.url, path, address, keys[client])
                assert under_way.enter_context(call).answer()[0] == 100
            if client == 0:
                with BodilessCall(gateway.url, path, address, keys[4]) as call:
                    status, headers = call.answer()
                assert (status, headers["retry-after"]) == (429, "1")
                assert status_of(gateway, OTHER) == 200
        with BodilessCall(gateway.url, path, OTHER, keys[4]) as call:
            status, headers = call.answer()
        assert (status, headers["retry-after"]) == (429, "1")
        assert status_of(gateway, OTHER) == 429
        assert gateway.call("accessLink", {"code": "abcdefgh"}).status_code == 200
    wait_until(lambda: status_of(gateway, OTHER) == 200)


def test_large_calls_of_one_account_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it makes them by functions or by the REST API, and from any addresses."""
    monkeypatch.setattr(rate_limits, "MAX_LARGE_CALLS_BY_ACCOUNT", 1)
    with InProcessGateway(tmp_path, trusted_proxies=TRUSTED) as gateway:
        mine = ApiClient(gateway)
        other = gateway.log_in(gateway.register())
        with BodilessCall(gateway.url, BULK, "198.51.100.1", mine.key) as first:
            assert first.answer()[0] == 100
            assert status_of(gateway, OTHER, mine.token) == 429
            assert status_of(gateway, OTHER, other) == 200
            with BodilessCall(gateway.url, BULK, OTHER, mine.key) as call:
                assert call.answer()[0] == 429
        wait_until(lambda: status_of(gateway, OTHER, mine.token) == 200)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {**ROWS[0], "tags": [1] * 170_000},
            "Missing, unknown or of a wrong type: "
            f"{', '.join(f'data.rows.0.tags.{number}' for number in range(5))}.",
        ),
        (
            {**ROWS[0], **{f"{number:x}": 1 for number in range(3_000)}},
            'The body must be JSON of the form {"data": ...}.',
        ),
    ],
    ids=["tags", "keys"],
)
def test_not_every_fault_of_a_body_is_listed(
    gateway: InProcessGateway, row: dict[str, object], message: str
) -> None:
    """Listing 250,000 takes over a second, in which nobody else is served."""
    body = json.dumps({"data": {"import_id": "a" * 22, "rows": [row]}}, separators=(",", ":"))
    refused = gateway.http.post(
        f"{gateway.url}/importLinks", content=body, headers={"content-type": "application/json"}
    )
    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == message


def test_tags_of_an_imported_row_beyond_the_hundredth_are_dropped(
    gateway: InProcessGateway,
) -> None:
    token = gateway.log_in(gateway.register())
    row = {**ROWS[0], "tags": [*[""] * 99, "kept", "dropped"]}
    payload = {"token": token, "import_id": "a" * 22, "rows": [row]}
    assert gateway.data("importLinks", payload)["results"][0]["verdict"] == "new"
    [link] = gateway.data("showLinks", {"token": token})["links"]
    assert link["tags"] == ["kept"]
