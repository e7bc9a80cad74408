"""Every function called by an unmodified Firebase Functions client, on the five processes.

Outcomes are data, and errors have the client's codes. tests/gateway and the services' tests cover
all cases of each function.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.administrators import log_in_administrator
from tests.support.firebase_client import FirebaseClient
from tests.support.gateway_client import new_code, registration
from tests.support.product import Product
from tests.support.waiting import RECOVERY_SECONDS, wait_until

INVALID = "functions/invalid-argument"
NO_EXIST = {"success": False, "error": "no exist"}
INCORRECT = {"success": False, "error": "incorrect"}
NO_LOGGED = {"success": False, "error": "no logged"}
INVALID_TOKEN = {"success": False, "error": "invalid token"}
LINK_KEYS = {
    *("code", "short_link", "long_link", "title", "tags", "state", "reason", "created_at"),
    *("changed_at", "expires_at", "ended_url", "public_statistics", "views", "bots", "short_url"),
    "domain",
}
Owner = dict[str, str | None]


@pytest.fixture(scope="module")
def client(product: Product) -> Iterator[FirebaseClient]:
    with FirebaseClient(product.url) as driven:
        yield driven


@pytest.fixture
def owner() -> Owner:
    """A guest key without links."""
    return {"token": None, "guest": secrets.token_urlsafe(32)}


def data(client: FirebaseClient, name: str, payload: object) -> Any:
    reply = client.call(name, payload)
    assert reply["ok"], reply
    return reply["data"]


def error(client: FirebaseClient, name: str, payload: object) -> tuple[str, str]:
    """Return the client's code and our reason."""
    reply = client.call(name, payload)
    assert not reply["ok"], reply
    assert reply["message"]
    return reply["code"], reply["details"]["reason"]


def made(client: FirebaseClient, owner: Owner, url: str = "https://example.com/a") -> str:
    code = new_code()
    reply = data(client, "createShortLink", {**owner, "code": code, "url": url})
    assert reply == {"success": True, "code": code, "short_link": code}
    return code


def codes_of(client: FirebaseClient, owner: Owner, **query: object) -> list[str]:
    reply = data(client, "showLinks", {**owner, **query})
    assert set(reply) == {"success", "links", "total", "cursor"}
    return [link["code"] for link in reply["links"]]


def test_create_and_access(client: FirebaseClient) -> None:
    code = new_code()
    link = {"code": code, "url": "https://example.com/a?b=%20c#d", "token": ""}
    expected = {"success": True, "code": code, "short_link": code}
    for nobody in ("", None):
        assert data(client, "createShortLink", {**link, "token": nobody}) == expected
    assert data(client, "accessLink", {"code": code}) == {
        "success": True,
        "longUrl": [{"long_link": "https://example.com/a?b=%20c#d"}],
    }
    for unknown in (code.swapcase(), "no code"):
        assert data(client, "accessLink", {"code": unknown}) == {"success": True, "longUrl": []}


@pytest.mark.parametrize(
    ("function", "wrong", "expected"),
    [
        ("createShortLink", {"url": "example.com/2"}, ("functions/aborted", "CODE_TAKEN")),
        ("createShortLink", {"code": "register"}, ("functions/aborted", "CODE_TAKEN")),
        ("createShortLink", {"code": "abcde"}, (INVALID, "INVALID_CODE")),
        ("createShortLink", {"url": "javascript:alert(1)"}, (INVALID, "INVALID_URL")),
        ("createShortLink", {"token": 7}, (INVALID, "INVALID_ARGUMENT")),
        ("registerUser", {"email": "no-at-sign"}, (INVALID, "INVALID_EMAIL")),
        ("registerUser", {"username": "ñ" * 31}, (INVALID, "INVALID_USERNAME")),
        ("registerUser", {"password": "Camino-42"}, (INVALID, "INVALID_PASSWORD_HASH")),
        ("noSuchFunction", {}, ("functions/not-found", "NOT_FOUND")),
    ],
)
def test_an_error_has_the_code_of_the_client(
    client: FirebaseClient, function: str, wrong: dict[str, object], expected: tuple[str, str]
) -> None:
    right: dict[str, object] = {}
    if function == "createShortLink":
        right = {"code": made(client, {}), "url": "https://example.com/a", "token": None}
    elif function == "registerUser":
        right = {**registration(f"{new_code()}@example.com")}
    assert error(client, function, {**right, **wrong}) == expected


def test_register_and_log_in(client: FirebaseClient) -> None:
    email = f"{new_code()}@Example.com"
    fields = registration(email)
    assert data(client, "registerUser", fields) == {"success": True}
    assert data(client, "registerUser", registration(email)) == {"success": False, "error": "exist"}
    before = time.time()
    right = {"email": f" {email.swapcase()} ", "password": "Camino-42"}
    reply = data(client, "verifyUser", right)
    assert set(reply) == {"success", "token", "expirationTimestamp", "username"}
    assert (reply["success"], reply["username"]) == (True, "walker")
    assert abs(reply["expirationTimestamp"] / 1000 - before - 4 * 3600) < 10
    assert set(data(client, "verifyUser", {**right, "device": None})) == {*reply, "device"}
    assert data(client, "verifyUser", {**right, "password": "camino-42"}) == INCORRECT
    assert data(client, "verifyUser", {**right, "email": "nobody@example.com"}) == NO_EXIST
    for empty in ({"email": ""}, {"password": ""}):
        assert error(client, "verifyUser", {**right, **empty})[0] == INVALID


def test_administration(product: Product, client: FirebaseClient) -> None:
    session = {"token": log_in_administrator(product)}
    code = made(client, {})
    report = data(client, "reportLink", {"code": code, "reason": "spam"})["report"]
    rows = data(client, "listReports", session)["reports"]
    assert code in {row["code"] for row in rows}
    shown = data(client, "showReports", {**session, "code": code})
    assert [row["id"] for row in shown["reports"]] == [report]
    block = {"subject": f"{product.url}/{code}", "action": "block", "class": "spam"}
    decision = data(client, "decide", {**session, **block})["decision"]
    assert data(client, "explainBlock", {**session, "subject": code})["by"] == "decision"
    decisions = data(client, "listDecisions", {**session, "query": code})["decisions"]
    assert [(one["id"], one["action"]) for one in decisions] == [(decision, "block")]
    [account] = data(client, "listAccounts", {**session, "query": decisions[0]["by"]})["accounts"]
    myself = {**session, "id": account["id"]}
    changes = {"suspended": False}
    changed = data(client, "changeAccount", {**myself, "changes": changes})
    assert changed == {"success": True, "account": account}
    blocked = data(client, "blockAccountLinks", {**myself, "class": "other"})
    assert blocked == {"success": True, "blocked": 0}
    assert data(client, "createResetLink", myself)["url"].startswith(product.url)
    invitation = data(client, "createInvitation", {**session, "email": None, "role": None})
    listed = data(client, "listInvitations", session)["invitations"]
    assert invitation["id"] in {one["id"] for one in listed}
    assert data(client, "revokeInvitation", {**session, "id": invitation["id"]})["success"]
    assert data(client, "showInstance", session)["success"]
    assert data(client, "endAccountSessions", myself) == {"success": True}
    assert data(client, "listReports", session) == INVALID_TOKEN
    member = {"token": product.log_in(product.register())}
    assert data(client, "listReports", member) == {"success": False, "error": "not allowed"}
    assert data(client, "listReports", {}) == NO_LOGGED
    assert error(client, "decide", {**member, "subject": code, "action": "erase"})[0] == INVALID


def test_profile(product: Product, client: FirebaseClient) -> None:
    token = product.log_in(product.register())
    assert data(client, "showProfile", {"token": token}) == {"success": True, "data": []}
    before = datetime.now(UTC)
    codes = [product.shorten(f"example.com/{n}", token) for n in range(2)]
    removed = product.shorten("example.com/removed", token)
    data(client, "removeLinks", {"token": token, "codes": [removed]})
    links = data(client, "showProfile", {"token": token})["data"]
    assert [link.pop("short_link") for link in links] == codes[::-1], "newest first"
    for number, link in enumerate(reversed(links)):
        age = datetime.fromisoformat(link.pop("created_at")) - before
        assert timedelta(seconds=-1) < age < timedelta(seconds=30)
        assert link == {"long_link": f"http://example.com/{number}", "views": 0}
    for nobody in (None, ""):
        assert data(client, "showProfile", {"token": nobody}) == NO_LOGGED
    header, payload, signature = token.split(".")
    for bad in ("nonsense", f"{header}.{payload}.{signature[::-1]}"):
        assert data(client, "showProfile", {"token": bad}) == INVALID_TOKEN
        link = {"code": new_code(), "url": "example.com", "token": bad}
        assert data(client, "createShortLink", link) == INVALID_TOKEN


@pytest.mark.parametrize("kind", ["account", "guest"])
def test_an_owner_manages_a_link(
    product: Product, client: FirebaseClient, owner: Owner, kind: str
) -> None:
    if kind == "account":
        owner = {"token": product.log_in(product.register()), "guest": None}
    other, code = made(client, owner), made(client, owner)
    shown = data(client, "showLink", {**owner, "code": code})
    assert set(shown) == {"success", "link", "history"}
    assert set(shown["link"]) == LINK_KEYS
    changes = {
        "url": "https://example.com/b",
        "title": " A title ",
        "tags": ["b", "a", "b"],
        "expires_at": "2086-07-01T09:30:00.999+02:00",
        "ended_url": "ended.example",
        "public_statistics": True,
    }
    reply = data(client, "changeLink", {**owner, "code": code, "changes": changes})
    assert set(reply) == {"success", "link"}
    assert reply["link"] == {
        **shown["link"],
        "long_link": "https://example.com/b",
        "title": "A title",
        "tags": ["b", "a"],
        "changed_at": reply["link"]["changed_at"],
        "expires_at": "2086-07-01T07:30:00.000Z",
        "ended_url": "http://ended.example",
        "public_statistics": True,
    }
    told = data(client, "showLink", {**owner, "code": code})
    assert told["link"] == reply["link"]
    assert [former["long_link"] for former in told["history"]] == ["https://example.com/a"]
    no_changes: dict[str, object] = {**owner, "code": code, "changes": {}}
    assert error(client, "changeLink", no_changes) == (INVALID, "NO_CHANGES")
    stranger = {"guest": secrets.token_urlsafe(32)}
    assert data(client, "showLink", {**stranger, "code": code}) == NO_EXIST
    assert data(client, "showLink", {"code": code}) == NO_LOGGED

    named = {**owner, "codes": [code, code]}
    assert data(client, "removeLinks", named) == {"success": True, "removed": [code]}
    removed = {"success": True, "longUrl": [], "state": "removed"}
    assert data(client, "accessLink", {"code": code}) == removed
    assert codes_of(client, owner) == [other]
    assert codes_of(client, owner, state="removed") == [code]
    assert data(client, "restoreLinks", named) == {"success": True, "restored": [code]}
    assert codes_of(client, owner, order="oldest", query="EXAMPLE") == [other, code]
    page = data(client, "showLinks", {**owner, "limit": 1})
    assert page["total"] == 2
    assert codes_of(client, owner, limit=1, cursor=page["cursor"]) == [other]
    wrong = {**owner, "limit": 1, "cursor": "nonsense"}
    assert error(client, "showLinks", wrong) == (INVALID, "INVALID_CURSOR")

    change = {**owner, "code": code, "changes": {"expires_at": "2020-01-01T00:00:00Z"}}
    assert data(client, "changeLink", change)["link"]["state"] == "expired"
    target = [{"long_link": "http://ended.example"}]
    expired = {"success": True, "longUrl": target, "state": "expired"}
    assert data(client, "accessLink", {"code": code}) == expired


def test_a_claim(product: Product, client: FirebaseClient) -> None:
    guest = secrets.token_urlsafe(32)
    codes = [made(client, {"guest": guest}) for _ in range(3)]
    token = product.log_in(product.register())
    both: Owner = {"token": token, "guest": guest}
    assert data(client, "claimLinks", both) == {"success": True, "claimed": 3}
    assert codes_of(client, {"token": token}) == codes[::-1]
    assert codes_of(client, {"guest": guest}) == []
    assert error(client, "claimLinks", {"token": token}) == (INVALID, "INVALID_ARGUMENT")


def test_a_scan_code(client: FirebaseClient, owner: Owner) -> None:
    code = made(client, owner)
    reply = data(client, "createScanCode", {**owner, "code": code})
    scan_code = reply["scan_code"]
    assert reply == {"success": True, "scan_code": scan_code}
    assert data(client, "createScanCode", {**owner, "code": code}) == reply
    assert data(client, "showLink", {**owner, "code": code})["link"]["scan_code"] == scan_code
    followed = data(client, "accessLink", {"code": scan_code})
    assert followed == data(client, "accessLink", {"code": code})
    taken = {**owner, "code": scan_code, "url": "https://example.com"}
    assert error(client, "createShortLink", taken) == ("functions/aborted", "CODE_TAKEN")


def test_statistics_of_a_link_and_of_all_links(
    product: Product, client: FirebaseClient, owner: Owner
) -> None:
    code, other = made(client, owner), made(client, owner)
    for _ in range(3):
        product.visit(code)
    product.visit(code, {"user-agent": "curl/8"})
    product.visit(other)

    def visits(asked: str | None) -> tuple[int, int]:
        totals = data(client, "showStatistics", {**owner, "code": asked})["totals"]
        return totals["people"], totals["bots"]

    wait_until(lambda: (visits(code), visits(None)) == ((3, 1), (4, 1)), RECOVERY_SECONDS)
    shown = data(client, "showStatistics", {**owner, "code": code})
    assert set(shown) == {"success", "range", "totals", "previous", "series", "breakdowns"}
    assert (shown["range"]["step"], shown["range"]["timezone"]) == ("day", "UTC")
    assert set(shown["totals"]) == set(shown["previous"]) == {"people", "bots", "visitors"}
    assert len(shown["series"]) == 30
    assert set(shown["series"][0]) == {"start", "people", "bots", "visitors"}
    assert len(shown["breakdowns"]) == 7
    for names in shown["breakdowns"].values():
        assert sum(one["people"] for one in names) == 3
    everything = data(client, "showStatistics", {**owner, "code": None, "range": "all"})
    assert everything["top"] == [{"code": code, "people": 3}, {"code": other, "people": 1}]
    assert data(client, "showStatistics", {"code": code}) == NO_LOGGED
    wrong = {**owner, "code": code, "timezone": "Nowhere"}
    assert error(client, "showStatistics", wrong) == (INVALID, "INVALID_TIMEZONE")


def test_changing_the_password_and_removing_the_account(
    product: Product, client: FirebaseClient
) -> None:
    email = product.register()
    token = product.log_in(email)
    made_new = registration(email, "Camino-43")
    new = {"new_password": made_new["password"], "new_salt": made_new["salt"]}
    change = {"token": token, "password": "Camino-42", **new}
    assert data(client, "changePassword", {**change, "password": "Camino-44"}) == INCORRECT
    reply = data(client, "changePassword", {**change, "revoke": True})
    assert set(reply) == {"success", "token", "expirationTimestamp"}
    assert abs(reply["expirationTimestamp"] / 1000 - time.time() - 4 * 3600) < 10
    assert data(client, "showLinks", {"token": token}) == INVALID_TOKEN
    own = {"token": reply["token"], "password": "Camino-43"}
    assert data(client, "removeAccount", {**own, "token": None}) == NO_LOGGED
    assert data(client, "removeAccount", {**own, "password": "Camino-42"}) == INCORRECT
    assert data(client, "removeAccount", own) == {"success": True}
    assert data(client, "removeAccount", own) == INVALID_TOKEN
    assert data(client, "verifyUser", {"email": email, "password": "Camino-43"}) == NO_EXIST


def test_an_import(product: Product, client: FirebaseClient) -> None:
    account: Owner = {"token": product.log_in(product.register())}
    code, url = new_code(), "https://example.com/a"
    rows: list[dict[str, object]] = [
        {"row": 1, "code": code, "url": url},
        {"row": 2, "code": None, "url": url},
    ]
    assert data(client, "checkImport", {**account, "rows": rows}) == {
        "success": True,
        "verdicts": [{"row": 1, "verdict": "new"}, {"row": 2, "verdict": "not a code"}],
    }
    named = {**account, "import_id": secrets.token_urlsafe(16)}
    results = [
        {"row": 1, "verdict": "new", "code": code},
        {"row": 2, "verdict": "not a code", "code": None},
    ]
    whole: dict[str, object] = {"title": "Title", "tags": ["a"], "expires_at": None}
    whole["created_at"] = "2019-07-04T10:00:00Z"
    imported = {**named, "rows": [{**row, **whole} for row in rows]}
    for _ in range(2):
        assert data(client, "importLinks", imported) == {"success": True, "results": results}
    link = data(client, "showLink", {**account, "code": code})["link"]
    assert (link["long_link"], link["title"], link["tags"]) == (url, "Title", ["a"])
    assert link["created_at"] == "2019-07-04T10:00:00.000Z"
    assert data(client, "undoImport", named) == {"success": True, "removed": 1}
    listed = data(client, "listImports", account)
    assert set(listed["imports"][0]) == {"import_id", "started_at", "links", "removed"}
    assert data(client, "undoImport", {**named, "import_id": "a" * 22}) == NO_EXIST
    assert data(client, "listImports", {}) == NO_LOGGED
    assert error(client, "importLinks", {**imported, "rows": []}) == (INVALID, "INVALID_ARGUMENT")


def test_api_keys(product: Product, client: FirebaseClient) -> None:
    account: Owner = {"token": product.log_in(product.register())}
    fields: dict[str, object] = {
        **account,
        "password": "Camino-42",
        "name": "Script",
        "scopes": ["links:read"],
    }
    expires_at = "2086-01-01T00:00:00.000Z"
    created = data(client, "createKey", {**fields, "expires_at": expires_at})
    assert set(created) == {"success", "id", "key"}
    [key] = data(client, "listKeys", account)["keys"]
    assert key == {
        "id": created["id"],
        "name": "Script",
        "prefix": created["key"][:12],
        "scopes": ["links:read"],
        "created_at": key["created_at"],
        "expires_at": expires_at,
        "last_used_at": None,
        "created_by": key["created_by"],
    }
    assert set(key["created_by"]) == {"id", "created_at", "browser", "system"}
    assert data(client, "createKey", {**fields, "password": "Camino-43"}) == INCORRECT
    revoke: dict[str, object] = {**account, "id": created["id"]}
    assert data(client, "revokeKey", revoke) == {"success": True}
    assert data(client, "listKeys", account) == {"success": True, "keys": []}
    assert data(client, "listKeys", {}) == NO_LOGGED
    assert data(client, "revokeKey", {**revoke, "token": "nonsense"}) == INVALID_TOKEN
    assert error(client, "createKey", {**fields, "scopes": []}) == (INVALID, "INVALID_SCOPES")


def test_a_preview_and_a_report(client: FirebaseClient, owner: Owner) -> None:
    url = "https://user@xn--80ak6aa92e.com:8443/a?b=%20c#d"
    code = made(client, owner, url)
    link = data(client, "showLink", {**owner, "code": code})["link"]
    assert data(client, "previewLink", {"code": code}) == {
        "success": True,
        "preview": {
            "code": code,
            "long_link": url,
            "host": "xn--80ak6aa92e.com",
            "state": "active",
            "reason": None,
            "created_at": link["created_at"],
            "changed_at": None,
            "title": "",
            "warnings": [
                "look-alike host",
                "punycode host",
                "user info in address",
                "unusual port",
            ],
        },
    }
    assert data(client, "previewLink", {"code": new_code()}) == {"success": True, "preview": None}
    first = data(client, "reportLink", {"code": code})
    assert first.keys() == {"success", "report"}
    report = {"reason": None, "details": "ñ" * 1000, "contact": "ana@b.example"}
    assert data(client, "reportLink", {"code": code, **report, **owner}) == first
    assert data(client, "reportLink", {"code": code, "reason": "spam"}) != first
    assert data(client, "reportLink", {"code": new_code()}) == NO_EXIST
    bad = {"code": code, "contact": "nobody"}
    assert error(client, "reportLink", bad) == (INVALID, "INVALID_CONTACT")
