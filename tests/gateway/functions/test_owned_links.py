"""The functions of an owner's links and of the own account, on a gateway in this process."""

from __future__ import annotations

import asyncio
import json
import math
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from services.links.domain.block import BlockReason
from services.links.domain.edit import block, removal
from services.links.domain.link import RESTORABLE_FOR
from services.shared.errors import Unavailable
from tests.support.gateway_client import BROWSER, new_code, registration
from tests.support.in_process_gateway import InProcessGateway
from tests.support.waiting import RECOVERY_SECONDS, wait_until

LINK_KEYS = {
    *("code", "short_link", "long_link", "title", "tags", "state", "reason", "created_at"),
    *("changed_at", "expires_at", "ended_url", "public_statistics", "views", "bots", "short_url"),
    "domain",
}
NO_LOGGED = {"success": False, "error": "no logged"}
INVALID_TOKEN = {"success": False, "error": "invalid token"}
NO_EXIST = {"success": False, "error": "no exist"}
EXAMPLE = "https://example.com/"


Owner = dict[str, str | None]


def new_guest() -> str:
    """Return a guest key as a page creates it."""
    return secrets.token_urlsafe(32)


def new_owner() -> Owner:
    return {"token": None, "guest": new_guest()}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    with InProcessGateway(tmp_path_factory.mktemp("owned")) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def session(gateway: InProcessGateway) -> str:
    """The token of an account that no test may change."""
    return gateway.log_in(gateway.register())


@pytest.fixture(params=["account", "guest"])
def owner(request: pytest.FixtureRequest, gateway: InProcessGateway) -> Owner:
    """An owner without links, as in payloads."""
    if request.param == "guest":
        return new_owner()
    return {"token": gateway.log_in(gateway.register()), "guest": None}


def create_link(gateway: InProcessGateway, owner: Owner, url: str = EXAMPLE) -> str:
    code = new_code()
    created = gateway.data("createShortLink", {**owner, "code": code, "url": url})
    assert created == {"success": True, "code": code, "short_link": code}
    return code


def show_link(gateway: InProcessGateway, owner: Owner, code: str) -> dict[str, Any]:
    reply = gateway.data("showLink", {**owner, "code": code})
    assert reply["success"], reply
    link: dict[str, Any] = reply["link"]
    return link


def list_codes(gateway: InProcessGateway, owner: Owner, **query: object) -> list[str]:
    reply = gateway.data("showLinks", {**owner, **query})
    assert reply["success"], reply
    return [link["code"] for link in reply["links"]]


def reason_of(response: httpx.Response) -> str:
    """Return the reason of an invalid argument. Fails for any other response."""
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert error["status"] == "INVALID_ARGUMENT"
    assert error["message"]
    reason: str = error["details"]["reason"]
    return reason


def test_a_link_has_these_keys_and_null_for_missing_values(gateway: InProcessGateway) -> None:
    owner, before = new_owner(), datetime.now(UTC)
    code = create_link(gateway, owner)
    reply = gateway.data("showLink", {**owner, "code": code})
    assert list(reply) == ["success", "link", "history"]
    link = reply["link"]
    assert set(link) == LINK_KEYS
    created = link.pop("created_at")
    assert link == {
        "code": code,
        "short_link": code,
        "short_url": f"{gateway.url}/{code}",
        "long_link": EXAMPLE,
        "title": "",
        "tags": [],
        "state": "active",
        "reason": None,
        "changed_at": None,
        "expires_at": None,
        "ended_url": None,
        "public_statistics": False,
        "views": 0,
        "bots": 0,
        "domain": gateway.url.removeprefix("http://"),
    }
    assert created.endswith("Z")
    assert timedelta(seconds=-1) < datetime.fromisoformat(created) - before < timedelta(seconds=30)
    assert reply["history"] == []
    page = gateway.data("showLinks", owner)
    assert page == {
        "success": True,
        "links": [{**link, "created_at": created}],
        "total": 1,
        "cursor": None,
    }


def test_a_change_is_returned_and_applies_here_at_once(
    gateway: InProcessGateway, owner: Owner
) -> None:
    code = create_link(gateway, owner)
    assert gateway.visit(code).headers["location"] == EXAMPLE
    changes = {
        "url": "b.example",
        "title": "Título",
        "tags": ["b", "a"],
        "expires_at": "2086-07-01T09:30:00.999+02:00",
        "ended_url": "ended.example",
        "public_statistics": True,
    }
    reply = gateway.data("changeLink", {**owner, "code": code, "changes": changes})
    assert gateway.visit(code).headers["location"] == "http://b.example"
    assert list(reply) == ["success", "link"]
    link = reply["link"]
    assert set(link) == LINK_KEYS
    assert {key: link[key] for key in changes if key != "url"} == {
        **{key: changes[key] for key in changes if key != "url"},
        "expires_at": "2086-07-01T07:30:00.000Z",
        "ended_url": "http://ended.example",
    }
    reply = gateway.data("showLink", {**owner, "code": code})
    # The visits above may have been counted meanwhile.
    assert {**reply["link"], "views": None} == {**link, "views": None}
    assert reply["history"] == [{"long_link": EXAMPLE, "until": link["changed_at"]}]

    removed_values: dict[str, object] = {
        "expires_at": None,
        "ended_url": None,
        "tags": [],
        "title": "",
    }
    link = gateway.data("changeLink", {**owner, "code": code, "changes": removed_values})["link"]
    assert {key: link[key] for key in removed_values} == removed_values
    change = {**owner, "code": code, "changes": {"expires_at": "2020-01-01T00:00Z"}}
    link = gateway.data("changeLink", change)["link"]
    assert (link["state"], link["expires_at"]) == ("expired", "2020-01-01T00:00:00.000Z")
    assert gateway.visit(code).status_code == 410


def test_removal_and_restoration_apply_here_at_once_and_are_idempotent(
    gateway: InProcessGateway, owner: Owner
) -> None:
    codes = [create_link(gateway, owner) for _ in range(3)]
    for code in codes:
        assert gateway.visit(code).status_code == 302
    some = {**owner, "codes": codes[:2]}
    for _ in range(2):
        assert gateway.data("removeLinks", some) == {"success": True, "removed": codes[:2]}
        assert [gateway.visit(code).status_code for code in codes] == [410, 410, 302]
        assert list_codes(gateway, owner) == codes[2:]
        assert list_codes(gateway, owner, state="removed") == codes[1::-1]
        assert show_link(gateway, owner, codes[0])["state"] == "removed"
    twice = {**owner, "codes": [*codes, codes[0]]}
    for _ in range(2):
        assert gateway.data("restoreLinks", twice) == {"success": True, "restored": codes}
        assert [gateway.visit(code).status_code for code in codes] == [302] * 3
        assert list_codes(gateway, owner) == codes[::-1]


def test_a_repeated_creation_redirects_as_the_link_is_now(gateway: InProcessGateway) -> None:
    owner = new_owner()
    code = create_link(gateway, owner)
    change = {**owner, "code": code, "changes": {"url": "https://b.example/"}}
    assert gateway.data("changeLink", change)["success"]
    again = {**owner, "code": code, "url": EXAMPLE}
    assert gateway.data("createShortLink", again)["success"]
    assert gateway.visit(code).headers["location"] == "https://b.example/"
    gateway.data("removeLinks", {**owner, "codes": [code]})
    removed_values = gateway.call("createShortLink", again)
    assert (removed_values.status_code, removed_values.json()["error"]["details"]["reason"]) == (
        409,
        "CODE_TAKEN",
    )
    assert gateway.visit(code).status_code == 410


def test_a_blocked_link_has_its_reason(gateway: InProcessGateway) -> None:
    owner = new_owner()
    code = create_link(gateway, owner)
    gateway.links.do(code, block(BlockReason.SPAM))
    link = show_link(gateway, owner, code)
    assert (link["state"], link["reason"]) == ("blocked", "spam")
    gateway.data("removeLinks", {**owner, "codes": [code]})
    assert show_link(gateway, owner, code)["state"] == "blocked"
    assert list_codes(gateway, owner) == list_codes(gateway, owner, state="blocked") == []


def test_views_are_shown_if_known(gateway: InProcessGateway) -> None:
    owner = new_owner()
    visited, quiet = create_link(gateway, owner), create_link(gateway, owner)
    for _ in range(3):
        gateway.visit(visited)
    gateway.visit(visited, {"user-agent": "curl/8"})

    def counted() -> list[tuple[int | None, int | None]]:
        """Return views and bots of the visited link, from the list and from showLink."""
        [_, list_codes] = gateway.data("showLinks", owner)["links"]
        both = list_codes, show_link(gateway, owner, visited)
        return [(one["views"], one["bots"]) for one in both]

    def recent() -> dict[str, list[int] | None]:
        links = gateway.data("showLinks", {**owner, "recent": True})["links"]
        return {link["code"]: link["recent"] for link in links}

    wait_until(lambda: counted() == [(3, 1)] * 2, RECOVERY_SECONDS)
    days = recent()
    assert days[quiet] == [0] * 30
    assert len(days[visited] or []) == 30
    # The UTC day may change between the visits and the list.
    assert sum((days[visited] or [])[-2:]) == 3
    for options in ({}, {"recent": False}, {"recent": None}):
        [link, _] = gateway.data("showLinks", {**owner, **options})["links"]
        assert set(link) == LINK_KEYS
    assert gateway.call("showLinks", {**owner, "recent": "yes"}).status_code == 400
    gateway.analytics.away = True
    try:
        assert counted() == [(None, None)] * 2
        assert recent() == {visited: None, quiet: None}
        change = {**owner, "code": visited, "changes": {"title": "changed"}}
        link = gateway.data("changeLink", change)["link"]
        assert (link["title"], link["views"], link["bots"]) == ("changed", None, None)
    finally:
        gateway.analytics.away = False


def scan_code_of(gateway: InProcessGateway, owner: Owner, code: str) -> str:
    reply = gateway.data("createScanCode", {**owner, "code": code})
    scan_code: str = reply["scan_code"]
    assert reply == {"success": True, "scan_code": scan_code}
    return scan_code


def test_a_scan_code_redirects_like_its_link(gateway: InProcessGateway) -> None:
    owner = new_owner()
    code = create_link(gateway, owner)
    gateway.visit(scan_code := scan_code_of(gateway, owner, code))
    both = (code, scan_code)

    def followed() -> list[tuple[int, str | None]]:
        answers = [gateway.visit(one) for one in both]
        return [(one.status_code, one.headers.get("location")) for one in answers]

    assert followed() == [(302, EXAMPLE)] * 2
    change = {**owner, "code": code, "changes": {"url": "https://b.example/"}}
    gateway.data("changeLink", change)
    assert followed() == [(302, "https://b.example/")] * 2, "at once, since this gateway handled it"
    gateway.data("removeLinks", {**owner, "codes": [code]})
    wait_until(lambda: followed() == [(410, None)] * 2, RECOVERY_SECONDS)
    gateway.data("restoreLinks", {**owner, "codes": [code]})
    wait_until(lambda: followed() == [(302, "https://b.example/")] * 2, RECOVERY_SECONDS)
    gateway.links.do(code, block(BlockReason.SPAM))
    wait_until(lambda: followed() == [(451, None)] * 2, RECOVERY_SECONDS)
    blocked = {"success": True, "longUrl": [], "state": "blocked", "reason": "spam"}
    assert gateway.data("accessLink", {"code": scan_code}) == blocked


def test_a_visit_by_the_scan_code_counts_for_the_link_with_source_qr(
    gateway: InProcessGateway,
) -> None:
    owner = new_owner()
    code = create_link(gateway, owner)
    scan_code = scan_code_of(gateway, owner, code)
    gateway.visit(code)
    for _ in range(3):  # Looked up, and from the cache.
        gateway.visit(scan_code)
    gateway.visit(scan_code, {"connection": "close"})  # Through the application.
    page = {"user-agent": BROWSER}
    called = {"data": {"code": scan_code}}
    assert gateway.http.post(f"{gateway.url}/accessLink", json=called, headers=page).is_success
    gateway.visit(scan_code, {"user-agent": "curl/8"})

    def counted() -> tuple[dict[str, int], int, int]:
        reply = gateway.data("showStatistics", {**owner, "code": code, "range": "24 hours"})
        sources = {one["name"]: one["people"] for one in reply["breakdowns"]["source"]}
        return sources, reply["totals"]["people"], reply["totals"]["bots"]

    wait_until(lambda: counted() == ({"qr": 5, "link": 1}, 6, 1), RECOVERY_SECONDS)
    assert not any(visit.code == scan_code for visit in gateway.analytics.visits)


def test_a_list_has_pages_of_fifty_or_as_requested(gateway: InProcessGateway) -> None:
    owner = new_owner()
    codes = [create_link(gateway, owner) for _ in range(51)][::-1]
    first = gateway.data("showLinks", owner)
    assert [link["code"] for link in first["links"]] == codes[:50]
    assert first["total"] == 51
    assert isinstance(first["cursor"], str)
    last = gateway.data("showLinks", {**owner, "cursor": first["cursor"]})
    assert [link["code"] for link in last["links"]] == codes[50:]
    assert (last["total"], last["cursor"]) == (51, None)
    nothing_said = dict.fromkeys(("query", "state", "order", "limit", "cursor", "token"))
    assert gateway.data("showLinks", {**owner, **nothing_said}) == first
    options = {**owner, "order": "oldest", "limit": 20, "query": "EXAMPLE"}
    page = gateway.data("showLinks", {**options, "cursor": None})
    page = gateway.data("showLinks", {**options, "cursor": page["cursor"]})
    assert [link["code"] for link in page["links"]] == codes[::-1][20:40]


# Owners

CALLS: dict[str, dict[str, Any]] = {
    "showLink": {"code": "abcdefgh"},
    "showLinks": {},
    "changeLink": {"code": "abcdefgh", "changes": {"title": "a"}},
    "removeLinks": {"codes": ["abcdefgh"]},
    "restoreLinks": {"codes": ["abcdefgh"]},
    "createScanCode": {"code": "abcdefgh"},
}


@pytest.mark.parametrize("function", CALLS)
def test_a_call_without_token_and_guest_is_not_logged_in(
    gateway: InProcessGateway, function: str
) -> None:
    for nobody in ({}, {"token": None}, {"guest": None}, {"token": "", "guest": ""}):
        assert gateway.data(function, {**CALLS[function], **nobody}) == NO_LOGGED


@pytest.mark.parametrize("function", [*CALLS, "createShortLink", "claimLinks"])
def test_an_invalid_token_is_reported_unless_the_guest_is_malformed(
    gateway: InProcessGateway, function: str
) -> None:
    payload = CALLS.get(function, {})
    if function == "createShortLink":
        payload = {"code": new_code(), "url": EXAMPLE}
    bad = {**payload, "token": "no.session.token"}
    assert gateway.data(function, {**bad, "guest": new_guest()}) == INVALID_TOKEN
    response = gateway.call(function, {**bad, "guest": "a" * 42})
    assert reason_of(response) == "INVALID_ARGUMENT"
    assert "guest" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    "guest",
    [
        *("a" * 42, "a" * 44, "a" * 42 + "+", "a" * 42 + "/", "a" * 42 + "=", "a" * 43 + "\n"),
        *("ñ" * 43, " " + "a" * 42, "\uff41" * 43, "a" * 42 + "\0"),
        *(7, True, 1.5, [], {}, ["a" * 43]),
    ],
)
def test_a_malformed_guest_is_rejected(gateway: InProcessGateway, guest: object) -> None:
    assert reason_of(gateway.call("showLinks", {"guest": guest})) == "INVALID_ARGUMENT"


def test_the_token_takes_precedence(gateway: InProcessGateway) -> None:
    token, guest = gateway.log_in(gateway.register()), new_guest()
    both: Owner = {"token": token, "guest": guest}
    code = create_link(gateway, both)
    assert list_codes(gateway, {"guest": guest}) == []
    assert list_codes(gateway, {"token": token}) == list_codes(gateway, both) == [code]
    assert list_codes(gateway, {"token": token, "guest": ""}) == [code]
    assert gateway.data("showLink", {"guest": guest, "code": code}) == NO_EXIST


@pytest.mark.parametrize("function", [name for name, call in CALLS.items() if call])
def test_links_of_others_do_not_exist_for_an_owner(
    gateway: InProcessGateway, function: str
) -> None:
    owner = new_owner()
    mine, theirs = create_link(gateway, owner), create_link(gateway, new_owner())
    for code in (theirs, new_code(), "ñ", "", "a" * 5000):
        names = {"codes": [mine, code]} if "codes" in CALLS[function] else {"code": code}
        assert gateway.data(function, {**owner, **CALLS[function], **names}) == NO_EXIST, code[:50]


# Invalid input


def payloads_with(name: str, *values: object) -> list[dict[str, object]]:
    """Return payloads with these values of one field."""
    return [{name: value} for value in values]


NUL, HALF_A_CHARACTER = "\0", "\ud800"
UNKNOWN: list[dict[str, object]] = [{"unknown": None}]
CHANGES = [
    *payloads_with(
        "changes", None, [], "title", {}, {"code": "abcdefgh"}, {"title": "a", "views": 7}
    ),
    *[
        {"changes": change}
        for change in (
            *payloads_with("url", None, 7, f"http://example.com/{NUL}"),
            *payloads_with("title", None, 7, NUL, HALF_A_CHARACTER),
            *payloads_with("tags", None, "a", [1], [None], ["a\0"]),
            *payloads_with("ended_url", "", 7, f"http://a.example/{NUL}"),
            *payloads_with("public_statistics", None, 1, "true"),
            *payloads_with(
                "expires_at", 7, True, [], "", "2086-01-01T00:00:00", "2086-01-01T00:00:00Z\0"
            ),
            {"title": "good", "tags": ["good"], "url": "javascript:alert(1)"},
        )
    ],
]
BAD: dict[str, list[dict[str, object]]] = {
    "showLink": [
        *UNKNOWN,
        *payloads_with("token", 7, ["a"], NUL, HALF_A_CHARACTER),
        *payloads_with("code", None, 7, True, ["abcdefgh"], "abc\0efgh", "abc\ud800efgh"),
    ],
    "showLinks": [
        *UNKNOWN,
        *payloads_with("query", 7, True, [], NUL, HALF_A_CHARACTER),
        *payloads_with("state", "gone", "Active", "", 1, ["active"]),
        *payloads_with("order", "best", "", 0),
        *payloads_with("limit", 101, True, 1.5, 10.0, "10", 2**31, -(2**31) - 1, 10**400, math.nan),
        *payloads_with("cursor", "", "nonsense", 1, NUL),
    ],
    "changeLink": [*UNKNOWN, *CHANGES],
    "removeLinks": [
        *UNKNOWN,
        *payloads_with("codes", None, [], "abcdefgh", ["abcdefgh", 7], [None], [["abcdefgh"]]),
        *payloads_with(
            "codes", ["abc\0efgh"], ["abc\ud800efgh"], {"0": "abcdefgh"}, ["abcdefgh"] * 101
        ),
    ],
    "restoreLinks": UNKNOWN,
    "createScanCode": UNKNOWN,
    "previewLink": [
        *UNKNOWN,
        *payloads_with("code", None, 1, "a\0"),
        *payloads_with("guest", "no key"),
    ],
    "reportLink": [
        *UNKNOWN,
        *payloads_with("code", None),
        *payloads_with("reason", "ugly", ""),
        *payloads_with("details", 5),
        *payloads_with("guest", "no key"),
    ],
}


@pytest.mark.parametrize(
    ("function", "wrong"), [(name, wrong) for name, payloads in BAD.items() for wrong in payloads]
)
def test_invalid_input_is_rejected_with_a_reason_and_changes_nothing(
    gateway: InProcessGateway, unchanged: tuple[Owner, str], function: str, wrong: dict[str, object]
) -> None:
    owner, code = unchanged

    def stored() -> dict[str, Any]:
        shown = gateway.data("showLink", {**owner, "code": code})
        counted = ("views", "bots")  # null while analytics is slow
        link = {name: value for name, value in shown["link"].items() if name not in counted}
        return {**shown, "link": link}

    before = stored()
    right = {**CALLS.get(function, {"code": ""})}
    right |= {key: value for key, value in {"code": code, "codes": [code]}.items() if key in right}
    payload = {**owner, **right, **wrong}
    body = json.dumps({"data": payload})  # Only `json` writes such values.
    response = gateway.http.post(
        f"{gateway.url}/{function}", content=body, headers={"content-type": "application/json"}
    )
    assert reason_of(response).isupper()
    assert stored() == before


def test_an_invalid_timestamp_is_explained(
    gateway: InProcessGateway, unchanged: tuple[Owner, str]
) -> None:
    owner, code = unchanged
    change = {**owner, "code": code, "changes": {"expires_at": "2086-02-30T00:00:00Z"}}
    reply = gateway.call("changeLink", change).json()["error"]["message"]
    assert reply == "expires_at: there is no such day, time or offset."


@pytest.fixture(scope="module")
def unchanged(gateway: InProcessGateway) -> tuple[Owner, str]:
    """A guest with one link that no test may change."""
    owner = new_owner()
    code = create_link(gateway, owner)
    changes = {"title": "kept", "tags": ["kept"], "expires_at": "2086-01-01T00:00:00Z"}
    gateway.data("changeLink", {**owner, "code": code, "changes": changes})
    return owner, code


# Previews


def test_a_preview_of_a_blocked_link_has_only_its_host(gateway: InProcessGateway) -> None:
    host = "xn--80ak6aa92e.com"
    code = gateway.shorten(f"https://user:pass@{host}:8443/login?session=abc#top")
    gateway.links.do(code, block(BlockReason.PHISHING))
    blocked = gateway.data("previewLink", {"code": code})["preview"]
    assert blocked.keys() == {
        *("code", "host", "state", "reason", "created_at", "changed_at", "warnings")
    }
    assert (blocked["host"], blocked["state"], blocked["reason"]) == (host, "blocked", "phishing")
    assert "session" not in str(blocked)


@pytest.mark.parametrize("state", ["expired", "removed"])
def test_a_preview_of_an_ended_link_has_nothing_of_its_destination(
    gateway: InProcessGateway, state: str
) -> None:
    owner = new_owner()
    code = create_link(gateway, owner, "https://user@xn--80ak6aa92e.com:8443/secret")
    named = {**owner, "code": code}
    gateway.data("changeLink", {**named, "changes": {"title": "secret", "ended_url": EXAMPLE}})
    if state == "expired":
        past = "2020-01-01T00:00:00Z"
        gateway.data("changeLink", {**named, "changes": {"expires_at": past}})
    else:
        gateway.data("removeLinks", {**owner, "codes": [code]})
    preview = gateway.data("previewLink", named)["preview"]
    del preview["created_at"]
    assert preview == {
        "code": code,
        "state": state,
        "reason": None,
        "changed_at": None,
        "warnings": [],
    }
    if state == "removed":
        gateway.data("restoreLinks", {**owner, "codes": [code]})
        assert gateway.data("previewLink", named)["preview"]["title"] == "secret"


def test_a_preview_is_for_everybody_records_no_visit_and_ends_with_the_link(
    gateway: InProcessGateway,
) -> None:
    code = gateway.shorten("https://example.com/a")
    pending = gateway.metric("atajo_visits_pending")
    for caller in ({}, {"token": None}, {"token": "bad"}, {"guest": ""}):
        show_link = gateway.data("previewLink", {**caller, "code": code})["preview"]
        assert (show_link["state"], show_link["long_link"]) == ("active", "https://example.com/a")
    assert gateway.metric("atajo_visits_pending") == pending
    gateway.links.do(code, removal(datetime.now(UTC) - RESTORABLE_FOR))
    for gone in (code, new_code(), "", "no code", "abc", "ñ" * 8):
        assert gateway.data("previewLink", {"code": gone}) == {"success": True, "preview": None}


# Claims


def test_a_claim_moves_all_links_of_a_guest_in_several_steps(
    gateway: InProcessGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.links.application.commands.MAX_BATCH", 3)
    guest, token = new_guest(), gateway.log_in(gateway.register())
    codes = [create_link(gateway, {"guest": guest}) for _ in range(7)]
    gateway.data("removeLinks", {"guest": guest, "codes": codes[:1]})
    both = {"token": token, "guest": guest}
    assert gateway.data("claimLinks", both) == {"success": True, "claimed": 7}
    assert gateway.data("claimLinks", both) == {"success": True, "claimed": 0}
    assert list_codes(gateway, {"guest": guest}) == []
    assert list_codes(gateway, {"token": token}) == codes[:0:-1]
    assert list_codes(gateway, {"token": token}, state="removed") == codes[:1]


def test_an_interrupted_claim_continues(
    gateway: InProcessGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.links.application.commands.MAX_BATCH", 1)
    guest, token = new_guest(), gateway.log_in(gateway.register())
    codes = [create_link(gateway, {"guest": guest}) for _ in range(3)]
    both = {"token": token, "guest": guest}
    claim, steps = gateway.links.claim, 0

    async def claim_once(*args: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps > 1:
            raise Unavailable("The service is away.")
        return await claim(*args)

    with monkeypatch.context() as context:
        context.setattr(gateway.links, "claim", claim_once)
        response = gateway.call("claimLinks", both)
    assert (response.status_code, response.json()["error"]["status"]) == (503, "UNAVAILABLE")
    assert len(list_codes(gateway, {"token": token})) == 1
    assert gateway.data("claimLinks", both) == {"success": True, "claimed": 2}
    assert sorted(list_codes(gateway, {"token": token})) == sorted(codes)


def test_an_endless_claim_times_out(
    gateway: InProcessGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def claim(*_: Any) -> tuple[int, bool]:
        await asyncio.sleep(0)
        return 0, True

    monkeypatch.setattr("gateway.use_cases.links.CLAIM_SECONDS", 0.05)
    monkeypatch.setattr(gateway.links, "claim", claim)
    both = {"token": gateway.log_in(gateway.register()), "guest": new_guest()}
    response = gateway.call("claimLinks", both)
    assert (response.status_code, response.json()["error"]["status"]) == (504, "DEADLINE_EXCEEDED")


@pytest.mark.parametrize("missing", ["token", "guest"])
def test_a_claim_needs_token_and_guest(
    gateway: InProcessGateway, session: str, missing: str
) -> None:
    both: Owner = {"token": session, "guest": new_guest()}
    for value in (None, ""):
        assert reason_of(gateway.call("claimLinks", {**both, missing: value})) == "INVALID_ARGUMENT"
    del both[missing]
    assert reason_of(gateway.call("claimLinks", both)) == "INVALID_ARGUMENT"


# The own account


def new_password(password: str) -> dict[str, str]:
    """Return the fields of a new password, hashed as the page does."""
    created = registration("", password)
    return {"new_password": created["password"], "new_salt": created["salt"]}


ACCOUNT_CALLS: dict[str, dict[str, str]] = {
    "changePassword": new_password("Camino-43"),
    "removeAccount": {},
}


@pytest.mark.parametrize("function", ACCOUNT_CALLS)
def test_the_own_account_needs_its_session_and_its_password(
    gateway: InProcessGateway, session: str, function: str
) -> None:
    right = {**ACCOUNT_CALLS[function], "token": session, "password": "Camino-42"}
    for wrong in ("Camino-43", "ñ" * 37):
        reply = gateway.data(function, {**right, "password": wrong})
        assert reply == {"success": False, "error": "incorrect"}
    for nobody in (None, ""):
        assert gateway.data(function, {**right, "token": nobody}) == NO_LOGGED
    assert gateway.data(function, {**right, "token": "no.session"}) == INVALID_TOKEN
    del right["token"]
    assert gateway.data(function, right) == NO_LOGGED
    assert gateway.data("showLinks", {"token": session})["success"]


@pytest.mark.parametrize(
    ("function", "wrong", "reason"),
    [
        *[
            (function, wrong, "INVALID_ARGUMENT")
            for function in ACCOUNT_CALLS
            for wrong in ({"password": None}, {"password": "\0"}, {"password": ""}, {"guest": None})
        ],
        ("changePassword", {"token": 7}, "INVALID_ARGUMENT"),
        ("changePassword", {"new_password": None}, "INVALID_ARGUMENT"),
        ("changePassword", {"new_salt": 7}, "INVALID_ARGUMENT"),
        ("changePassword", {"new_password": "Camino-43"}, "INVALID_PASSWORD_HASH"),
    ],
)
def test_invalid_input_for_the_own_account_changes_nothing(
    gateway: InProcessGateway, session: str, function: str, wrong: dict[str, object], reason: str
) -> None:
    right = {**ACCOUNT_CALLS[function], "token": session, "password": "Camino-42"}
    assert reason_of(gateway.call(function, {**right, **wrong})) == reason
    assert gateway.data("showLinks", {"token": session})["success"]


# Outages


@pytest.mark.parametrize("function", ["showLink", "changeLink", "claimLinks", "previewLink"])
def test_an_outage_of_links_is_an_error_and_cached_links_redirect(
    gateway: InProcessGateway, session: str, function: str
) -> None:
    owner = new_owner()
    code = create_link(gateway, owner)
    payload = {**owner, "token": session}
    if function != "claimLinks":
        payload = {**CALLS.get(function, {}), **owner, "code": code}
    assert gateway.visit(code).status_code == 302
    gateway.links.away = True
    try:
        response = gateway.call(function, payload)
        assert (response.status_code, response.json()["error"]["status"]) == (503, "UNAVAILABLE")
        assert gateway.visit(code).status_code == 302, "cached links redirect"
    finally:
        gateway.links.away = False
    assert gateway.data(function, payload)["success"]
