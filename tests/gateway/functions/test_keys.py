"""The functions of API keys, on a gateway in this process."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from services.shared import api_keys
from tests.support.in_process_gateway import InProcessGateway

NO_LOGGED = {"success": False, "error": "no logged"}
INVALID_TOKEN = {"success": False, "error": "invalid token"}
SCOPES = ["links:read", "links:write", "statistics:read"]
FUNCTIONS: dict[str, dict[str, Any]] = {
    "createKey": {
        "password": "Camino-42",
        "name": "Script",
        "scopes": SCOPES[:1],
        "expires_at": None,
    },
    "listKeys": {},
    "revokeKey": {"id": "0123456789abcdef01234567"},
}
"""A valid payload of each, without the token."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    with InProcessGateway(tmp_path_factory.mktemp("keys"), limits="off") as gateway:
        yield gateway


@pytest.fixture
def token(gateway: InProcessGateway) -> str:
    return gateway.log_in(gateway.register())


def create(gateway: InProcessGateway, token: str, **fields: object) -> dict[str, Any]:
    """Create a key that must be accepted; return the response."""
    created = gateway.data("createKey", {**FUNCTIONS["createKey"], "token": token, **fields})
    assert created["success"], created
    return dict(created)


def listed(gateway: InProcessGateway, token: str) -> list[dict[str, Any]]:
    shown = gateway.data("listKeys", {"token": token})
    assert list(shown) == ["success", "keys"]
    return list(shown["keys"])


def reason_of(response: httpx.Response) -> str:
    reason: str = response.json()["error"]["details"]["reason"]
    return reason


def test_a_key_is_shown_only_once(gateway: InProcessGateway, token: str) -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    expires_at = "2086-07-01T09:30:00.25+02:00"
    whole = create(gateway, token, name=" Mi script ", scopes=SCOPES[::-1], expires_at=expires_at)
    bare = create(gateway, token)
    assert list(whole) == ["success", "id", "key"]
    assert api_keys.is_well_formed(whole["key"])

    shown = gateway.call("listKeys", {"token": token})
    assert whole["key"] not in shown.text
    assert bare["key"] not in shown.text
    [second, first] = shown.json()["data"]["keys"]
    [session] = gateway.data("listSessions", {"token": token})["sessions"]
    created = [datetime.fromisoformat(key.pop("created_at")) for key in (first, second)]
    assert before < created[0] <= created[1] <= datetime.now(UTC)
    assert first == {
        "id": whole["id"],
        "name": "Mi script",
        "prefix": whole["key"][:12],
        "scopes": SCOPES,
        "expires_at": "2086-07-01T07:30:00.250Z",
        "last_used_at": None,
        "created_by": {
            "id": session["id"],
            "created_at": session["created_at"],
            "browser": session["browser"],
            "system": session["system"],
        },
    }
    assert second == {
        **first,
        "id": bare["id"],
        "name": "Script",
        "prefix": bare["key"][:12],
        "scopes": SCOPES[:1],
        "expires_at": None,
    }


def test_an_expiry_may_be_left_out(gateway: InProcessGateway, token: str) -> None:
    payload = {"token": token, "password": "Camino-42", "name": "Script", "scopes": SCOPES}
    assert gateway.data("createKey", payload)["success"]
    assert listed(gateway, token)[0]["expires_at"] is None


def test_a_key_needs_the_password(gateway: InProcessGateway, token: str) -> None:
    payload = {**FUNCTIONS["createKey"], "token": token}
    wrong = gateway.data("createKey", {**payload, "password": "Camino-43"})
    assert wrong == {"success": False, "error": "incorrect"}
    assert gateway.call("createKey", {**payload, "password": ""}).status_code == 400
    del payload["password"]
    assert gateway.call("createKey", payload).status_code == 400
    assert listed(gateway, token) == []


def test_a_revoked_key_is_not_listed(gateway: InProcessGateway, token: str) -> None:
    one, other = create(gateway, token), create(gateway, token)
    stranger = gateway.log_in(gateway.register())
    revoke = {"token": token, "id": one["id"]}
    done = {"success": True}
    assert gateway.data("revokeKey", {**revoke, "token": stranger}) == done
    assert {key["id"] for key in listed(gateway, token)} == {one["id"], other["id"]}
    assert listed(gateway, stranger) == []

    for _ in range(2):
        assert gateway.data("revokeKey", revoke) == done
        assert [key["id"] for key in listed(gateway, token)] == [other["id"]]
    assert gateway.data("revokeKey", {**revoke, "id": ""}) == done


@pytest.mark.parametrize("function", FUNCTIONS)
def test_keys_need_a_session(gateway: InProcessGateway, token: str, function: str) -> None:
    payload = FUNCTIONS[function]
    for nobody in ({}, {"token": None}, {"token": ""}):
        assert gateway.data(function, {**payload, **nobody}) == NO_LOGGED
    key = create(gateway, token)["key"]
    for bad in ("nonsense", f"{token}x", key):
        assert gateway.data(function, {**payload, "token": bad}) == INVALID_TOKEN
    refused = gateway.call(function, {**payload, "guest": "a" * 43})
    assert refused.status_code == 400


def test_a_21st_key_is_refused(gateway: InProcessGateway, token: str) -> None:
    first = create(gateway, token)
    for _ in range(19):
        create(gateway, token)
    payload = {**FUNCTIONS["createKey"], "token": token}
    refused = gateway.call("createKey", payload)
    assert refused.status_code == 429
    assert refused.json()["error"]["status"] == "RESOURCE_EXHAUSTED"
    assert reason_of(refused) == "TOO_MANY_KEYS"
    assert "retry-after" not in refused.headers
    assert len(listed(gateway, token)) == 20

    gateway.data("revokeKey", {"token": token, "id": first["id"]})
    create(gateway, token)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"name": ""}, "INVALID_KEY_NAME"),
        ({"name": "\u00a0 "}, "INVALID_KEY_NAME"),
        ({"name": "ñ" * 51}, "INVALID_KEY_NAME"),
        ({"name": "a\tb"}, "INVALID_KEY_NAME"),
        ({"name": "a\0b"}, "INVALID_ARGUMENT"),
        ({"name": None}, "INVALID_ARGUMENT"),
        ({"name": 1}, "INVALID_ARGUMENT"),
        ({"scopes": []}, "INVALID_SCOPES"),
        ({"scopes": None}, "INVALID_ARGUMENT"),
        ({"scopes": "links:read"}, "INVALID_ARGUMENT"),
        ({"scopes": ["links:read", "links:delete"]}, "INVALID_ARGUMENT"),
        ({"scopes": ["LINKS_READ"]}, "INVALID_ARGUMENT"),
        ({"scopes": [1]}, "INVALID_ARGUMENT"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "INVALID_EXPIRY"),
        ({"expires_at": "0001-01-01T00:00:00Z"}, "INVALID_EXPIRY"),
        ({"expires_at": "2086-01-01"}, "INVALID_EXPIRY"),
        ({"expires_at": ""}, "INVALID_EXPIRY"),
        ({"expires_at": 4_000_000_000}, "INVALID_ARGUMENT"),
        ({"more": None}, "INVALID_ARGUMENT"),
    ],
)
def test_an_invalid_key_is_refused(
    gateway: InProcessGateway, token: str, wrong: dict[str, object], reason: str
) -> None:
    refused = gateway.call("createKey", {**FUNCTIONS["createKey"], "token": token, **wrong})
    assert (refused.status_code, reason_of(refused)) == (400, reason)
    assert listed(gateway, token) == []


@pytest.mark.parametrize("name", ["A", "\U0001f600" * 50, "名 前"])
def test_names_of_1_to_50_code_points_are_accepted(
    gateway: InProcessGateway, token: str, name: str
) -> None:
    create(gateway, token, name=name)
    assert listed(gateway, token)[0]["name"] == name


def test_repeated_scopes_count_once(gateway: InProcessGateway, token: str) -> None:
    create(gateway, token, scopes=[SCOPES[1], SCOPES[0], SCOPES[1]])
    assert listed(gateway, token)[0]["scopes"] == SCOPES[:2]


@pytest.mark.parametrize("id_", [None, 1, ["a"]])
def test_an_id_is_a_text(gateway: InProcessGateway, token: str, id_: object) -> None:
    refused = gateway.call("revokeKey", {"token": token, "id": id_})
    assert (refused.status_code, reason_of(refused)) == (400, "INVALID_ARGUMENT")


def test_while_auth_is_away_calls_fail(gateway: InProcessGateway, token: str) -> None:
    gateway.auth.away = True
    try:
        for function, payload in FUNCTIONS.items():
            assert gateway.call(function, {**payload, "token": token}).status_code == 503
    finally:
        gateway.auth.away = False
