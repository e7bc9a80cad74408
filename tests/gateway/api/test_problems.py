"""Every error of the REST API, as Problem Details."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.api.problems import KINDS
from gateway.support.json_bodies import MAX_KEYS, TOO_MANY_KEYS
from services.links.domain.link import MAX_ACCOUNT_LINKS
from services.shared import api_keys
from services.shared.errors import DeadlineExceeded
from tests.support.api_client import SCOPES, ApiClient, faults_of, problem_of
from tests.support.in_process_gateway import InProcessGateway
from tests.support.processes import ROOT
from tests.support.waiting import wait_until

URL = "https://example.com/"
WRITES = {"POST /links", "PATCH /links/{code}", "DELETE /links/{code}", "POST /links/bulk"}
OPERATIONS = [
    ("GET", "/links", "links:read"),
    ("POST", "/links", "links:write"),
    ("POST", "/links/bulk", "links:write"),
    ("GET", "/links/abcd", "links:read"),
    ("PATCH", "/links/abcd", "links:write"),
    ("DELETE", "/links/abcd", "links:write"),
    ("POST", "/links/abcd/restore", "links:write"),
    ("GET", "/links/abcd/statistics", "statistics:read"),
    ("GET", "/statistics", "statistics:read"),
]
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "/links"): {"url": URL},
    ("POST", "/links/bulk"): {"links": [{"url": URL}]},
    ("PATCH", "/links/abcd"): {"title": "a"},
}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    with InProcessGateway(tmp_path_factory.mktemp("problems")) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def api(gateway: InProcessGateway) -> ApiClient:
    return ApiClient(gateway)


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, [("#/url", "missing")]),
        ([], [("#", "type")]),
        ("text", [("#", "type")]),
        (None, [("#", "type")]),
        ({"url": 7}, [("#/url", "type")]),
        ({"url": None}, [("#/url", "type")]),
        ({"url": "ab"}, [("#/url", "too_short")]),
        ({"url": "a" * 1000}, [("#/url", "too_long")]),
        ({"url": f"{URL}\0"}, [("#/url", "value")]),
        ({"url": URL, "code": "abc"}, [("#/code", "value")]),
        ({"url": URL, "code": "ab/d"}, [("#/code", "value")]),
        ({"url": URL, "title": "a" * 101}, [("#/title", "too_long")]),
        ({"url": URL, "tags": ["a"] * 11}, [("#/tags", "too_long")]),
        ({"url": URL, "tags": ["a", "", 7]}, [("#/tags/1", "too_short"), ("#/tags/2", "type")]),
        ({"url": URL, "expires_at": "tomorrow"}, [("#/expires_at", "value")]),
        ({"url": URL, "expires_at": "2026-02-30T00:00:00Z"}, [("#/expires_at", "value")]),
        ({"url": URL, "expires_at": 1e300}, [("#/expires_at", "type")]),
        ({"url": URL, "ended_url": ""}, [("#/ended_url", "too_short")]),
        ({"url": URL, "a/b~c d": 1}, [("#/a~1b~0c%20d", "unknown")]),
        ({"url": URL, "title": 10**400}, [("#/title", "type")]),
    ],
)
def test_faults_of_a_body_have_pointers(
    api: ApiClient, body: Any, faults: list[tuple[str, str]]
) -> None:
    sent = b"null" if body is None else body
    assert faults_of(api.send("POST", "/links", sent)) == faults


def test_faults_of_bulk_creations_have_pointers(api: ApiClient) -> None:
    links = [{"url": URL}, {"url": 1}, {"title": "a"}]
    assert faults_of(api.send("POST", "/links/bulk", {"links": links})) == [
        ("#/links/1/url", "type"),
        ("#/links/2/url", "missing"),
    ]
    for number, code in ((0, "too_short"), (101, "too_long")):
        response = api.send("POST", "/links/bulk", {"links": [{"url": URL}] * number})
        assert faults_of(response) == [("#/links", code)]


def test_a_body_with_too_many_keys_has_one_fault(api: ApiClient) -> None:
    links = [{"url": URL, **{f"k{number}": 0 for number in range(MAX_KEYS)}}]
    response = api.send("POST", "/links/bulk", {"links": links})
    assert faults_of(response) == [("#", "unknown")]
    assert response.json()["detail"] == TOO_MANY_KEYS


def test_a_change_of_nothing_is_a_fault(api: ApiClient) -> None:
    assert faults_of(api.send("PATCH", "/links/abcd", {})) == [("#", "too_short")]


@pytest.mark.parametrize(
    ("query", "faults"),
    [
        ("limit=0", [("#/query/limit", "out_of_range")]),
        ("limit=101", [("#/query/limit", "out_of_range")]),
        ("limit=many", [("#/query/limit", "value")]),
        ("limit=" + "9" * 5000, [("#/query/limit", "value")]),
        ("state=gone", [("#/query/state", "value")]),
        ("order=random", [("#/query/order", "value")]),
        ("cursor=", [("#/query/cursor", "too_short")]),
        ("query=%00", [("#/query/query", "value")]),
        ("page=2", [("#/query/page", "unknown")]),
    ],
)
def test_faults_of_a_query_have_pointers(
    api: ApiClient, query: str, faults: list[tuple[str, str]]
) -> None:
    assert faults_of(api.send("GET", f"/links?{query}")) == faults


@pytest.mark.parametrize(
    ("query", "faults"),
    [
        ("from=2026-02-30&to=2026-03-01", [("#/query/from", "value")]),
        ("from=yesterday&to=2026-03-01", [("#/query/from", "value")]),
        ("range=forever", [("#/query/range", "value")]),
        ("timezone=", [("#/query/timezone", "too_short")]),
    ],
)
def test_faults_of_a_period_have_pointers(
    api: ApiClient, query: str, faults: list[tuple[str, str]]
) -> None:
    assert faults_of(api.send("GET", f"/statistics?{query}")) == faults


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{'url': 1}",
        b'{"url": NaN}',
        b'{"url": Infinity}',
        b'{"url": "\xff"}',
        b'{"url": "\\ud800"}',
        b"\xff\xfe{\x00",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf\xef\xbb\xbf{}",
        b"[" * 20_000,
        b'{"a":' * 10_000,
        b'{"url": 1' + b"0" * 5_000 + b"}{",
    ],
)
def test_what_is_no_json_in_utf_8_is_refused(api: ApiClient, body: bytes) -> None:
    assert problem_of(api.send("POST", "/links", body)) == (400, "invalid_json")


@pytest.mark.parametrize(
    "body",
    [
        b'{"url": "ab", "url": "https://example.com/"}',
        b'\n {"url":"https://example.com/"} ',
        b'\xef\xbb\xbf{"url":"https://example.com/"}',
    ],
)
def test_unusual_json_is_read(api: ApiClient, body: bytes) -> None:
    assert api.send("POST", "/links", body).status_code == 201


def test_a_huge_number_is_a_fault(api: ApiClient) -> None:
    body = b'{"url": 1' + b"0" * 20_000 + b"}"
    assert api.send("POST", "/links", body).status_code == 400


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1", ""],
)
def test_other_media_types_are_refused(api: ApiClient, content_type: str) -> None:
    response = api.send("POST", "/links", {"url": URL}, content_type=content_type)
    assert problem_of(response) == (415, "unsupported_media_type")


def test_utf_8_may_be_named(api: ApiClient) -> None:
    named = "application/json; charset=UTF-8"
    assert api.send("POST", "/links", {"url": URL}, content_type=named).status_code == 201


@pytest.mark.parametrize(("path", "limit"), [("/links", 65_536), ("/links/bulk", 524_288)])
def test_large_bodies_are_refused(api: ApiClient, path: str, limit: int) -> None:
    assert problem_of(api.send("POST", path, b" " * limit)) == (400, "invalid_json")
    assert problem_of(api.send("POST", path, b" " * (limit + 1))) == (413, "body_too_large")


def test_a_body_that_nginx_left_out_is_too_large(api: ApiClient) -> None:
    assert problem_of(api.send("POST", "/links", b"", x_body_too_large="1")) == (
        413,
        "body_too_large",
    )


@pytest.mark.parametrize(("method", "path", "scope"), OPERATIONS)
def test_each_operation_needs_its_scope(
    gateway: InProcessGateway, api: ApiClient, method: str, path: str, scope: str
) -> None:
    others = [other for other in SCOPES if other != scope]
    lacking = ApiClient(gateway, others, api.token)
    body = BODIES.get((method, path))
    response = lacking.send(method, path, body)
    assert problem_of(response) == (403, "insufficient_scope")
    challenge = f'Bearer error="insufficient_scope", scope="{scope}"'
    assert response.headers["www-authenticate"] == challenge
    having = ApiClient(gateway, [scope], api.token)
    assert having.send(method, path, body).status_code in (200, 201, 204, 404)


@pytest.mark.parametrize(
    ("method", "path"), [*((m, p) for m, p, _ in OPERATIONS), ("GET", "/account")]
)
def test_each_operation_needs_a_key(api: ApiClient, method: str, path: str) -> None:
    response = api.send(method, path, key="")
    assert problem_of(response) == (401, "key_required")
    assert response.headers["www-authenticate"] == "Bearer"
    for key in (api_keys.generate(), "atajo_", "no key", secrets.token_urlsafe(2000)):
        response = api.send(method, path, key=key)
        assert problem_of(response) == (401, "invalid_key")
        assert response.headers["www-authenticate"] == 'Bearer error="invalid_token"'


@pytest.mark.parametrize("authorization", ["Basic YTpi", "Bearer", "{key}", "Token {key}"])
def test_other_credentials_are_none(api: ApiClient, authorization: str) -> None:
    given = authorization.format(key=api.key)
    response = api.send("GET", "/account", authorization=given)
    assert problem_of(response) == (401, "key_required")


def test_the_scheme_may_be_written_in_any_case(api: ApiClient) -> None:
    given = f"bEARER  {api.key}"
    assert api.send("GET", "/account", authorization=given).status_code == 200


def test_a_mistyped_key_is_not_looked_up(api: ApiClient, gateway: InProcessGateway) -> None:
    before = gateway.auth.calls["verify_key"]
    mistyped = f"{api.key[:-1]}{'a' if api.key[-1] != 'a' else 'b'}"
    assert problem_of(api.send("GET", "/account", key=mistyped)) == (401, "invalid_key")
    assert gateway.auth.calls["verify_key"] == before


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/links", "GET, HEAD, POST"),
        ("GET", "/links/abcd/restore", "POST"),
        ("POST", "/links/abcd", "GET, HEAD, PATCH, DELETE"),
        ("DELETE", "/account", "GET, HEAD"),
        ("POST", "/openapi.json", "GET, HEAD"),
        ("HEAD", "/links/abcd/restore", "POST"),
    ],
)
def test_other_methods_are_refused(api: ApiClient, method: str, path: str, allowed: str) -> None:
    response = api.send(method, path)
    if method != "HEAD":
        assert problem_of(response) == (405, "method_not_allowed")
    assert response.status_code == 405
    assert response.headers["allow"] == allowed


@pytest.mark.parametrize(
    "path", ["", "/", "/nothing", "/links/", "/account/", "/links/abcd/x", "/%ff"]
)
def test_other_paths_do_not_exist(api: ApiClient, path: str) -> None:
    for method in ("GET", "POST"):
        assert problem_of(api.send(method, path)) == (404, "not_found")
    response = api.send("GET", path, key="")
    assert problem_of(response) == (404, "not_found")
    assert "See /api." in response.json()["detail"]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"url": "ftp://example.com/"}, "invalid_url"),
        ({"url": "https://"}, "invalid_url"),
        ({"url": URL, "ended_url": "ftp://example.com/"}, "invalid_ended_url"),
        ({"url": URL, "domain": "other.example"}, "invalid_domain"),
        ({"url": URL, "title": "a\u0007"}, "invalid_title"),
        ({"url": URL, "tags": ["   "]}, "invalid_tags"),
        ({"url": URL, "code": "login"}, "code_reserved"),
    ],
)
def test_what_links_refuses_is_unprocessable(
    api: ApiClient, fields: dict[str, Any], code: str
) -> None:
    assert problem_of(api.send("POST", "/links", fields)) == (422, code)


def test_a_taken_code_is_a_conflict(gateway: InProcessGateway, api: ApiClient) -> None:
    taken = ApiClient(gateway).create()["code"]
    response = api.send("POST", "/links", {"url": URL, "code": taken})
    assert problem_of(response) == (409, "code_taken")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/links?cursor=abc", "invalid_cursor"),
        ("/links?query=%07", "invalid_query"),
        ("/statistics?from=2026-02-01&to=2026-01-01", "invalid_range"),
        ("/statistics?from=2026-02-01", "invalid_range"),
        ("/statistics?range=all&to=2026-02-01", "invalid_range"),
        ("/statistics?timezone=Nowhere/At", "invalid_timezone"),
    ],
)
def test_what_a_read_refuses_is_unprocessable(api: ApiClient, path: str, code: str) -> None:
    assert problem_of(api.send("GET", path)) == (422, code)


def test_a_service_that_is_away_can_be_asked_again(
    gateway: InProcessGateway, api: ApiClient
) -> None:
    code = api.create()["code"]
    gateway.links.away = True
    try:
        for method, path in (
            ("GET", "/links"),
            ("GET", f"/links/{code}"),
            ("DELETE", f"/links/{code}"),
        ):
            with capture_logs() as lines:
                response = api.send(method, path)
                assert problem_of(response) == (503, "unavailable")
                assert int(response.headers["retry-after"]) >= 1
                wait_until(lambda: any(line["event"] == "request_failed" for line in lines))
            [line] = [one for one in lines if one["event"] == "request_failed"]
            assert (line["reason"], line["route"]) == ("UNAVAILABLE", "/api/v1/")
    finally:
        gateway.links.away = False


def test_views_are_null_while_analytics_is_away(gateway: InProcessGateway, api: ApiClient) -> None:
    code = api.create()["code"]
    gateway.analytics.away = True
    try:
        link = api.send("GET", f"/links/{code}").json()
        assert (link["views"], link["bots"]) == (None, None)
        response = api.send("GET", f"/links/{code}/statistics")
        assert problem_of(response) == (503, "unavailable")
    finally:
        gateway.analytics.away = False


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (DeadlineExceeded("Late."), (504, "timeout")),
        (RuntimeError("a secret"), (500, "internal")),
    ],
)
def test_failures_of_services_are_problems(
    gateway: InProcessGateway,
    api: ApiClient,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    problem: tuple[int, str],
) -> None:
    async def fail(*_args: Any) -> None:
        raise error

    monkeypatch.setattr(gateway.links, "query", fail, raising=False)
    with capture_logs():
        response = api.send("GET", "/links")
    assert problem_of(response) == problem
    assert "secret" not in response.text
    assert "access-control-allow-origin" in response.headers
    assert "ratelimit" in response.headers


def test_the_description_is_served_to_anybody(api: ApiClient) -> None:
    served = api.send("GET", "/openapi.json", key="")
    assert served.status_code == 200
    assert served.headers["content-type"] == "application/json"
    committed = (ROOT / "docs" / "reference" / "openapi.json").read_text(encoding="utf-8")
    assert served.json() == json.loads(committed)


def test_codes_are_stable() -> None:
    assert {code: kind.status for code, kind in KINDS.items()} == {
        "invalid_input": 400,
        "invalid_json": 400,
        "key_required": 401,
        "invalid_key": 401,
        "insufficient_scope": 403,
        "not_found": 404,
        "method_not_allowed": 405,
        "code_taken": 409,
        "in_progress": 409,
        "body_too_large": 413,
        "unsupported_media_type": 415,
        "url_refused": 422,
        "code_reserved": 422,
        "account_full": 422,
        "invalid_url": 422,
        "invalid_ended_url": 422,
        "invalid_domain": 422,
        "invalid_title": 422,
        "invalid_tags": 422,
        "invalid_expiry": 422,
        "invalid_query": 422,
        "invalid_cursor": 422,
        "invalid_range": 422,
        "invalid_timezone": 422,
        "too_many_links": 422,
        "too_many_urls": 422,
        "idempotency_mismatch": 422,
        "rate_limited": 429,
        "internal": 500,
        "overloaded": 503,
        "unavailable": 503,
        "timeout": 504,
    }


def test_the_example_of_a_full_account_names_the_limit() -> None:
    assert KINDS["account_full"].detail == f"An account has at most {MAX_ACCOUNT_LINKS:,} links."
