"""Device tokens."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest

from services.auth.application.device_tokens import DeviceTokens
from services.auth.application.session_tokens import SessionTokens
from services.auth.domain.errors import InvalidToken

SECRET = "a signing secret of the tests, more than 32 bytes"
START = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


def devices_at(moment: datetime, secret: str = SECRET) -> DeviceTokens:
    return DeviceTokens(secret, lambda: moment)


def claims_of(device_token: str) -> dict[str, Any]:
    claims: dict[str, Any] = jwt.decode(device_token, options={"verify_signature": False})
    return claims


def test_a_device_token_identifies_its_browser_for_a_year() -> None:
    device_token = devices_at(START).issue("ana", "")
    browser = devices_at(START).find_browser(device_token, "ana")

    last = START + timedelta(days=365) - timedelta(seconds=1)
    assert browser
    assert devices_at(last).find_browser(device_token, "ana") == browser
    assert devices_at(last + timedelta(seconds=1)).find_browser(device_token, "ana") is None
    assert devices_at(START).find_browser(device_token, "bea") is None
    assert devices_at(START).find_browser(devices_at(START).issue("ana", ""), "ana") != browser


@pytest.mark.parametrize("ahead", [timedelta(seconds=61), timedelta(days=1), timedelta(days=3650)])
def test_a_device_token_signed_by_a_clock_ahead_is_not_valid(ahead: timedelta) -> None:
    later = START + ahead
    device_token = devices_at(later).issue("ana", "")

    assert devices_at(START).find_browser(device_token, "ana") is None
    assert devices_at(later).find_browser(device_token, "ana")


def test_each_account_of_a_browser_has_its_own_year() -> None:
    later = START + timedelta(days=100)
    first = devices_at(START).issue("ana", "")
    both = devices_at(later).issue("bea", first)

    browser = devices_at(START).find_browser(first, "ana")
    assert devices_at(later).find_browser(both, "ana") == browser
    assert devices_at(later).find_browser(both, "bea") == browser
    assert devices_at(later).find_browser(first, "bea") is None
    after = START + timedelta(days=365)
    assert devices_at(after).find_browser(both, "ana") is None
    assert devices_at(after).find_browser(both, "bea") == browser
    again = devices_at(later).issue("ana", both)
    assert devices_at(after).find_browser(again, "ana") == browser


def test_a_device_token_is_short_and_knows_the_five_last_accounts() -> None:
    device_token = ""
    accounts = [f"{number:024x}" for number in range(20)]
    for number, account in enumerate(accounts):
        device_token = devices_at(START + timedelta(seconds=number)).issue(account, device_token)

    known = [
        account for account in accounts if devices_at(START).find_browser(device_token, account)
    ]
    assert known == accounts[-5:]
    assert len(device_token) <= 1000


def test_a_device_token_does_not_reveal_its_accounts() -> None:
    tokens = [devices_at(START).issue("ana", "") for _ in range(2)]
    assert "ana" not in json.dumps([claims_of(device_token) for device_token in tokens])
    assert len({tag for device_token in tokens for tag in claims_of(device_token)["known"]}) == 2


def test_device_tokens_and_session_tokens_are_not_interchangeable() -> None:
    session_tokens = SessionTokens(SECRET, lambda: START)
    device_token = devices_at(START).issue("ana", "")
    claims = {**claims_of(device_token), "iss": "atajo", "sub": "ana"}
    for other in (device_token, jwt.encode(claims, _signing_key(devices_at(START)), "HS256")):
        with pytest.raises(InvalidToken):
            session_tokens.read(other)
    token, _ = session_tokens.issue("ana", 0, "0123")
    resigned = jwt.encode(claims_of(device_token), SECRET, "HS256")
    for other in (token, resigned):
        assert devices_at(START).find_browser(other, "ana") is None


def _signing_key(tokens: DeviceTokens) -> bytes:
    key = tokens._signer._key
    assert isinstance(key, bytes)
    return key


@pytest.mark.parametrize(
    "device_token",
    ["", "garbage", "a.b.c", "\0", "\ud800", "x" * 1_000_000, "W10.W10.eA"],
)
def test_invalid_device_tokens_are_ignored(device_token: str) -> None:
    assert devices_at(START).find_browser(device_token, "ana") is None
    issued = devices_at(START).issue("ana", device_token)
    assert devices_at(START).find_browser(issued, "ana")


def test_a_device_token_of_another_secret_is_ignored() -> None:
    device_token = devices_at(START, "another secret, which is as long as it has to be").issue(
        "ana", ""
    )
    assert devices_at(START).find_browser(device_token, "ana") is None
    browser = devices_at(START).find_browser(devices_at(START).issue("ana", device_token), "ana")
    assert browser != claims_of(device_token)["jti"]
