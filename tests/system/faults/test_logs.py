"""What the logs say about failures, and that they contain no user data.

At every log level, whatever fails.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from tests.support.gateway_client import new_code, registration
from tests.support.product import PROCESSES, SERVICES, Product

FIELDS = {"time", "level", "service", "event"}
EMAIL, PASSWORD, USERNAME = "somebody.secret@example.com", "Camino-Secreto-42", "Somebody Else"
ADDRESS = "203.0.113.77"
URL = "https://target.example/very/private?with=a-query#and-a-fragment"
MONGO_PASSWORD = "Secreto-De-La-Base"
GUEST, MALFORMED = ("_Guest-Key-" * 4)[:43], "_Guest-Key-" * 5
TITLE, TAG, SOUGHT = "A Private Title", "a-private-tag", "private words sought"
DETAILS = "private words of a reporter"
CLICK = "id-of-a-click"


def lines_of(product: Product) -> list[dict[str, Any]]:
    """Return every logged line, parsed. Asserts that each is JSON and has all fields."""
    lines = [json.loads(line) for line in product.logs().splitlines()]
    for line in lines:
        assert line.keys() >= FIELDS, line
        assert datetime.fromisoformat(line["time"]).tzinfo, line
        assert line["service"] in PROCESSES
    return lines


def stop_all(product: Product) -> None:
    """Stop the processes, so that their last lines are in the log."""
    for name in reversed(PROCESSES):
        product.stop(name)


def break_store(product: Product, name: str) -> None:
    """Remove the database of a running service."""
    with product.suspended(name):  # It would crash if it read a file while that is truncated.
        for path in product.folder.glob(f"{name}.sqlite3*"):
            path.write_bytes(b"no database" * 1000)


def use(product: Product, account: Mapping[str, str], token: str, code: str) -> None:
    """Call every function and short URLs, with valid and invalid input."""
    link = {"code": new_code(), "url": URL, "token": token}
    for data in (link, {**link, "url": f"{URL} \x00"}, {**link, "token": token + "x"}):
        product.call("createShortLink", data)
    product.call("createShortLink", {**link, "code": code, "url": f"{URL}/other"})
    product.call("accessLink", {"code": code})
    for given in (PASSWORD, PASSWORD + "x"):
        product.call("verifyUser", {"email": EMAIL, "password": given})
    product.call("registerUser", {**account, "username": USERNAME})
    product.call("registerUser", {**account, "password": account["salt"]})
    product.call("registerUser", {**account, "password": 5})
    product.call("showProfile", {"token": token})
    product.call("noSuchFunction", {"token": token})
    product.call("createShortLink", {"code": new_code(), "url": URL, "guest": GUEST})
    changes = {"title": TITLE, "tags": [TAG], "url": f"{URL}&changed", "ended_url": URL}
    for owner in ({"guest": GUEST}, {"guest": MALFORMED}, {"token": token, "guest": GUEST}):
        product.call("showLink", {**owner, "code": code})
        product.call("showLinks", {**owner, "query": SOUGHT})
        product.call("showLinks", {**owner, "query": SOUGHT, "cursor": GUEST})
        product.call("changeLink", {**owner, "code": code, "changes": changes})
        product.call("changeLink", {**owner, "code": code, "changes": {**changes, "url": 5}})
        product.call("changeLink", {**owner, "code": code, "changes": {"title": TITLE * 9}})
        product.call("removeLinks", {**owner, "codes": [code]})
        product.call("restoreLinks", {**owner, "codes": [code]})
        product.call("claimLinks", owner)
    report = {"code": code, "details": DETAILS, "contact": EMAIL}
    for payload in (report, {**report, "reason": DETAILS}, {**report, "contact": DETAILS}):
        product.call("reportLink", payload)
    product.call("reportLink", {**report, "details": DETAILS * 99})
    new = {"new_password": account["password"], "new_salt": account["salt"]}
    wrong = {"token": token, "password": PASSWORD + "x"}
    product.call("changePassword", {**wrong, **new})
    product.call("removeAccount", wrong)
    product.http.get(f"{product.url}/login?guest={GUEST}")
    product.http.post(f"{product.url}/verifyUser", content=f'{{"data": {PASSWORD}')
    product.http.get(f"{product.url}/login?email={EMAIL}&password={PASSWORD}")
    product.visit(code, {"referer": "https://referring.example/page"})
    for path in (code, f"{code}.", new_code()):
        product.visit(f"{path}?fbclid={CLICK}")
    product.visit(new_code())


def metrics_of(product: Product, names: Iterable[str]) -> str:
    return "".join(product.http.get(product.metrics_url(name)).text for name in names)


def assert_not_logged(product: Product, secrets: Mapping[str, str]) -> None:
    logs = product.logs()
    for what, text in secrets.items():
        found = [line for line in logs.splitlines() if text in line]
        assert not found, f"{what} logged: {found[0]}"


def test_no_log_contains_secrets(tmp_path: Path) -> None:
    settings = {"ATAJO_LOG_LEVEL": "debug", "ATAJO_TRUSTED_PROXIES": "127.0.0.0/8"}
    with Product(tmp_path, settings) as product:
        product.start()
        product.http.headers["x-forwarded-for"] = ADDRESS
        account = registration(EMAIL, PASSWORD)
        assert product.data("registerUser", account) == {"success": True}
        token = product.log_in(EMAIL, PASSWORD)
        code = product.shorten(URL, token)
        use(product, account, token, code)
        product.kill(*SERVICES)
        use(product, account, token, code)
        product.start(*SERVICES)
        shown = metrics_of(product, PROCESSES)
        # Errors of a failing store are the likeliest to quote data.
        for name in SERVICES:
            break_store(product, name)
        use(product, account, token, code)
        # analytics exits when it cannot delete keys.
        shown += metrics_of(product, set(PROCESSES) - {"analytics"})
        stop_all(product)
        events = {line["event"] for line in lines_of(product)}
        assert events >= {"request_failed", "request_refused", "redirect_failed"}
        assert events >= {"call_refused", "call_failed", "dependency_away"}
        secret = next(tmp_path.glob("*secret")).read_text()
        hashed = hashlib.sha256(GUEST.encode()).digest()
        assert_not_logged(
            product,
            {
                "session token": token,
                "signature": token.rpartition(".")[2],
                "password": PASSWORD,
                "hash": account["password"],
                "salt": account["salt"],
                "e-mail address": EMAIL,
                "part of it": "somebody.secret",
                "user name": USERNAME,
                "client address": ADDRESS,
                "target": "target.example",
                "query of the target": "a-query",
                "referrer": "referring.example",
                "query of the short URL": CLICK,
                "signing secret": secret,
                "guest's key": GUEST[:12],
                "what a reporter wrote": DETAILS,
                "its hash": hashed.hex(),
                "its hash as bytes": repr(hashed)[2:14],
                "title": TITLE,
                "tag": TAG,
                "text of a search": SOUGHT,
            },
        )
        for secret in (token, GUEST[:12], hashed.hex(), EMAIL, TITLE, TAG, "target.example"):
            assert secret not in shown


def test_no_log_contains_the_password_of_a_store(tmp_path: Path) -> None:
    store = f"mongodb://atajo:{MONGO_PASSWORD}@127.0.0.1:1/atajo"
    with Product(tmp_path, {"ATAJO_LOG_LEVEL": "debug"}, store=store) as product:
        product.start()
        account = registration(EMAIL, PASSWORD)
        use(product, account, "no.session.token", new_code())
        stop_all(product)
        lines = lines_of(product)
        assert {line["reason"] for line in lines if line["event"] == "call_failed"} == {
            "STORE_UNAVAILABLE",
            "BLOCKLISTS_UNREAD",
        }
        assert_not_logged(
            product,
            {
                "password": MONGO_PASSWORD,
                "URL": "mongodb://",
                "hash": account["password"],
                "e-mail address": EMAIL,
                "target": "target.example",
            },
        )


def test_a_failed_call_is_one_line_where_it_failed_under_the_id_it_came_with(
    tmp_path: Path,
) -> None:
    with Product(tmp_path) as product:
        product.start()
        code = product.shorten("https://example.com/")
        given = {"x-request-id": "the-id-of-this-one"}

        def failing(function: str, data: object) -> httpx.Response:
            answer = product.http.post(
                f"{product.url}/{function}", json={"data": data}, headers=given
            )
            assert answer.headers["x-request-id"] == given["x-request-id"]
            return answer

        def new_lines() -> list[dict[str, Any]]:
            """Return the new lines about the call, without fields that vary."""
            lines = [line for line in lines_of(product) if line not in seen]
            seen.extend(lines)
            new = [line for line in lines if line.get("request_id") == given["x-request-id"]]
            assert all(line["duration"] >= 0 for line in new)
            return [
                {k: v for k, v in line.items() if k not in ("time", "duration", "request_id")}
                for line in new
            ]

        seen: list[dict[str, Any]] = []
        link = {"code": code, "url": "https://example.com/other", "token": None}
        assert failing("createShortLink", link).status_code == 409
        assert new_lines() == [
            {
                "service": "links",
                "level": "info",
                "event": "call_refused",
                "method": "CreateLink",
                "code": "ALREADY_EXISTS",
                "reason": "CODE_TAKEN",
            }
        ]
        assert failing("createShortLink", {"code": code}).status_code == 400
        assert new_lines() == [
            {
                "service": "gateway",
                "level": "info",
                "event": "request_refused",
                "route": "/createShortLink",
                "status": 400,
                "reason": "INVALID_ARGUMENT",
            }
        ]
        product.kill("links")
        assert failing("createShortLink", link).status_code == 503
        unanswered = {
            "service": "gateway",
            "level": "error",
            "reason": "UNAVAILABLE",
        }
        assert new_lines() == [
            {
                **unanswered,
                "event": "request_failed",
                "route": "/createShortLink",
                "status": 503,
                "call": "atajo.links.v1.LinksService/CreateLink",
            }
        ]
        missed = product.visit(new_code(), given)
        assert (missed.status_code, missed.headers["x-request-id"]) == (503, "the-id-of-this-one")
        assert new_lines() == [
            {
                **unanswered,
                "event": "redirect_failed",
                "call": "atajo.links.v1.LinksService/ResolveLinks",
            }
        ]
        # Successes are not logged, so a redirect returns no id.
        for address in (code, f"{code}?a=b", f"{code}."):
            redirect = product.http.get(f"{product.url}/{address}", headers=given)
            assert (redirect.status_code, redirect.headers.get("x-request-id")) == (302, None)
        assert product.call("accessLink", {"code": code}).status_code == 200
        assert new_lines() == []


def test_a_lookup_has_the_id_of_a_waiting_visitor(tmp_path: Path) -> None:
    with Product(tmp_path) as product:
        product.start()
        break_store(product, "links")
        product.visit(new_code(), {"x-request-id": "who-waits"})
        failed = [line for line in lines_of(product) if line.get("request_id") == "who-waits"]
        assert [(line["service"], line["event"]) for line in failed] == [
            ("gateway", "redirect_failed"),
            ("links", "call_failed"),
        ]
