"""Rate limits of functions by client IP address."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from gateway.settings import GatewaySettings
from gateway.support.rate_limits import Rate
from tests.support.gateway_client import new_code, registration
from tests.support.in_process_gateway import InProcessGateway

LIMITS = {
    "limit_creations": "2/hour",
    "limit_registrations": "1/hour",
    "limit_logins": "3/hour",
    "limit_edits": "10/hour",
    "limit_reads": "9/hour",
    "limit_reports": "6/hour",
}
EDITS = [
    *("changeLink", "removeLinks", "restoreLinks", "claimLinks", "createScanCode"),
    *("importLinks", "undoImport", "revokeKey", "revokeKey", "decide"),
]
READS = [
    *("showLink", "showLinks", "showStatistics", "previewLink", "checkImport", "listImports"),
    *("listKeys", "listReports"),
]
GROUPS = [
    ["createShortLink"] * 2,
    ["registerUser"],
    ["verifyUser"] * 3,
    ["resetPassword"] * 3,
    ["changePassword", "removeAccount", "createKey"],
    EDITS,
    [*READS, "showStatistics"],
    ["reportLink"] * 6,
]
"""Functions that share a limit, with the number of calls that one address may make."""
REGISTRATION = registration("")


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    """A gateway behind a trusted proxy."""
    folder = tmp_path_factory.mktemp("limited")
    with InProcessGateway(folder, **LIMITS, trusted_proxies="127.0.0.0/8,::1/128") as gateway:
        yield gateway


def call(gateway: InProcessGateway, function: str, data: object, address: str) -> httpx.Response:
    return gateway.http.post(
        f"{gateway.url}/{function}", json={"data": data}, headers={"x-forwarded-for": address}
    )


def valid_payload(function: str) -> object:
    """Return a valid payload, whatever its outcome."""
    guest, row = "a" * 43, {"row": 1, "code": "abcdefgh", "url": "https://example.com/"}
    return {
        "createShortLink": {"code": new_code(), "url": "https://example.com/", "token": None},
        "registerUser": {**REGISTRATION, "email": f"{new_code()}@example.com"},
        "verifyUser": {"email": "nobody@example.com", "password": "x"},
        "changePassword": {"password": "x", "new_password": "x", "new_salt": "x"},
        "removeAccount": {"password": "x"},
        "resetPassword": {
            "email": "nobody@example.com",
            "recovery_code": "0000-0000-0000",
            "new_password": REGISTRATION["password"],
            "new_salt": REGISTRATION["salt"],
        },
        "changeLink": {"guest": guest, "code": "abcdefgh", "changes": {"title": "a"}},
        "removeLinks": {"guest": guest, "codes": ["abcdefgh"]},
        "restoreLinks": {"guest": guest, "codes": ["abcdefgh"]},
        "claimLinks": {"guest": guest, "token": "x"},
        "createScanCode": {"guest": guest, "code": "abcdefgh"},
        "importLinks": {"import_id": "a" * 22, "rows": [row]},
        "undoImport": {"import_id": "a" * 22},
        "checkImport": {"rows": [row]},
        "listImports": {},
        "createKey": {"password": "x", "name": "Script", "scopes": ["links:read"]},
        "revokeKey": {"id": "a"},
        "listKeys": {},
        "listReports": {},
        "decide": {"subject": "abcdefgh", "action": "dismiss"},
        "showLink": {"guest": guest, "code": "abcdefgh"},
        "showLinks": {"guest": guest},
        "showStatistics": {"guest": guest, "code": None},
        "previewLink": {"code": "abcdefgh"},
        "reportLink": {"code": "abcdefgh"},
    }[function]


@pytest.mark.parametrize("group", GROUPS, ids=[names[0] for names in GROUPS])
def test_functions_of_the_same_cost_share_a_limit(
    limited: InProcessGateway, group: list[str]
) -> None:
    address = f"198.51.100.{GROUPS.index(group)}"
    for function in group:
        assert call(limited, function, valid_payload(function), address).status_code == 200
    for function in set(group):
        refused = call(limited, function, valid_payload(function), address)
        assert refused.status_code == 429
        error = refused.json()["error"]
        assert error["status"] == "RESOURCE_EXHAUSTED"
        assert error["details"]["reason"] == "TOO_MANY_REQUESTS"
        assert 3500 < error["details"]["retryAfter"] <= 3600
        assert refused.headers["retry-after"] == str(error["details"]["retryAfter"])
    for [function, *_] in GROUPS:
        expected = 429 if function in group else 200
        assert call(limited, function, valid_payload(function), address).status_code == expected
    assert call(limited, group[0], valid_payload(group[0]), "203.0.113.1").status_code == 200


@pytest.mark.parametrize("content_type", ["text/plain", "multipart/form-data; boundary=a", ""])
def test_calls_that_any_page_can_send_do_not_count(
    limited: InProcessGateway, content_type: str
) -> None:
    """A page of another origin could use up the limits of its visitors by them."""
    address = f"203.0.113.{len(content_type) + 2}"
    headers = {"x-forwarded-for": address, "origin": "https://elsewhere.example"}
    headers |= {"content-type": content_type} if content_type else {}
    for [function, *_] in GROUPS:
        for _ in range(10):
            sent = limited.http.post(f"{limited.url}/{function}", content="x", headers=headers)
            assert sent.status_code == 400
        assert call(limited, function, valid_payload(function), address).status_code == 200


def test_the_default_limit_of_reports_is_per_hour() -> None:
    given = {f"{name}_address": "nowhere:1" for name in ("auth", "links", "analytics")}
    for environment, most in (("production", 20), ("local", 100)):
        settings = GatewaySettings.model_validate(
            {
                "environment": environment,
                "public_url": "https://atajo.example",
                "journal_dir": "/journal",
                **given,
            }
        )
        assert settings.limit_reports == Rate(most, 3600)
