"""Limits by address, as a caller meets them."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from gateway.settings import GatewaySettings
from tests.in_process import InProcess
from tests.product import new_code, registration

LIMITS = {
    "limit_creations": "2/hour",
    "limit_registrations": "1/hour",
    "limit_logins": "3/hour",
}


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    """A gateway behind a proxy that is trusted."""
    folder = tmp_path_factory.mktemp("limited")
    with InProcess(folder, **LIMITS, trusted_proxies="127.0.0.0/8,::1/128") as gateway:
        yield gateway


def call(gateway: InProcess, function: str, data: object, address: str) -> httpx.Response:
    return gateway.http.post(
        f"{gateway.url}/{function}", json={"data": data}, headers={"x-forwarded-for": address}
    )


@pytest.mark.parametrize(
    ("function", "most"), [("createShortLink", 2), ("registerUser", 1), ("verifyUser", 3)]
)
def test_each_of_what_costs_has_a_limit_of_its_own(
    limited: InProcess, function: str, most: int
) -> None:
    address, other = "203.0.113.1", "203.0.113.2"

    def data() -> object:
        return {
            "createShortLink": {"code": new_code(), "url": "https://example.com/", "token": None},
            "registerUser": registration(f"{new_code()}@example.com"),
            "verifyUser": {"email": "nobody@example.com", "password": "x"},
        }[function]

    answers = [call(limited, function, data(), address) for _ in range(most + 1)]
    assert [answer.status_code for answer in answers] == [200] * most + [429]
    error = answers[-1].json()["error"]
    assert error["status"] == "RESOURCE_EXHAUSTED"
    assert error["details"]["reason"] == "TOO_MANY_REQUESTS"
    assert 3500 < error["details"]["retryAfter"] <= 3600
    assert answers[-1].headers["retry-after"] == str(error["details"]["retryAfter"])
    assert call(limited, function, data(), other).status_code == 200


def test_a_network_of_ipv6_has_its_share_and_no_more(limited: InProcess) -> None:
    nobody = {"email": "nobody@example.com", "password": "x"}
    statuses = [
        call(limited, "verifyUser", nobody, f"2001:db8:1:{n:x}::1").status_code for n in range(60)
    ]
    assert statuses == [200] * 48 + [429] * 12
    assert call(limited, "verifyUser", nobody, "2001:db8:2::1").status_code == 200


@pytest.mark.parametrize("rate", ["300", "0/minute", "many/minute", "300/moment"])
def test_a_limit_that_is_none_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, rate: str
) -> None:
    for name, value in {
        **{f"{name}_ADDRESS": "127.0.0.1:1" for name in ("AUTH", "LINKS", "ANALYTICS")},
        "PUBLIC_URL": "http://localhost:1",
        "JOURNAL_DIR": "/journal",
        "LIMIT_LOGINS": rate,
    }.items():
        monkeypatch.setenv(f"ATAJO_{name}", value)
    with pytest.raises(SystemExit) as refused:
        GatewaySettings.load()
    line = str(refused.value)
    assert "\n" not in line
    assert line.startswith("Settings refused. ATAJO_LIMIT_LOGINS: ")
    assert "300/minute" in line
