"""What is told of a link to whoever wants to know it before following it: the function."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from services.links import domain as links
from services.links.blocks import BlockReason
from services.links.edits import block, removal
from tests.in_process import InProcess
from tests.product import new_code

URL = "https://user:pass@xn--80ak6aa92e.com:8443/login?session=abc#top"
HOST = "xn--80ak6aa92e.com"
KEYS = ["code", "long_link", "host", "state", "reason", "created_at", "changed_at", "title"]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    with InProcess(tmp_path_factory.mktemp("previews")) as gateway:
        yield gateway


def preview(gateway: InProcess, code: str) -> dict[str, Any] | None:
    reply = gateway.data("previewLink", {"code": code})
    assert list(reply) == ["success", "preview"]
    assert reply["success"] is True
    found: dict[str, Any] | None = reply["preview"]
    return found


def there(gateway: InProcess, code: str) -> dict[str, Any]:
    found = preview(gateway, code)
    assert found is not None
    return found


def test_a_blocked_link_has_its_host_alone(gateway: InProcess) -> None:
    code = gateway.shorten(URL)
    gateway.links.do(code, block(BlockReason.PHISHING))
    blocked = there(gateway, code)
    assert list(blocked) == [*(key for key in KEYS if key != "long_link"), "warnings"]
    assert (blocked["host"], blocked["state"], blocked["reason"]) == (HOST, "blocked", "phishing")
    assert "session" not in str(blocked)


def test_there_is_no_preview_of_what_never_was_or_is_gone_for_good(gateway: InProcess) -> None:
    code = gateway.shorten("https://example.com/")
    gateway.links.do(code, removal(datetime.now(UTC) - links.RESTORABLE_FOR))
    for gone in (code, new_code(), "", "no code", "abc", "ñ" * 8):
        assert preview(gateway, gone) is None


def test_a_preview_counts_nothing_and_follows_nothing(gateway: InProcess) -> None:
    code = gateway.shorten("https://example.com/")
    before = gateway.metric("atajo_visits_pending")
    for _ in range(3):
        there(gateway, code)
    assert gateway.metric("atajo_visits_pending") == before
    assert code not in {visit.code for visit in gateway.analytics.visits}


@pytest.mark.parametrize(
    "whose", [{"token": None}, {"token": "bad"}, {"guest": ""}, {"token": "", "guest": None}]
)
def test_nobody_has_to_say_who_they_are(gateway: InProcess, whose: dict[str, str | None]) -> None:
    code = gateway.shorten("https://example.com/")
    reply = gateway.data("previewLink", {**whose, "code": code})
    assert reply["preview"]["code"] == code


@pytest.mark.parametrize(
    "payload",
    [
        *({}, {"code": None}, {"code": 1}, {"code": "a\0"}, {"code": "abcdefgh", "more": 1}),
        {"code": "abcdefgh", "guest": "no key"},
    ],
)
def test_a_malformed_call_is_an_invalid_argument(
    gateway: InProcess, payload: dict[str, object]
) -> None:
    response = gateway.call("previewLink", payload)
    assert response.status_code == 400
    assert response.json()["error"]["status"] == "INVALID_ARGUMENT"


def test_what_cannot_be_looked_up_is_unavailable(gateway: InProcess) -> None:
    gateway.links.away = True
    try:
        response = gateway.call("previewLink", {"code": new_code()})
    finally:
        gateway.links.away = False
    assert response.status_code == 503
    assert response.json()["error"]["status"] == "UNAVAILABLE"
