"""The functions of imports, on a gateway in this process."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from services.links.application import imports as application
from services.shared.errors import Unavailable
from tests.support.gateway_client import new_code
from tests.support.in_process_gateway import InProcessGateway

A, B = "https://a.example/", "https://b.example/"
NO_LOGGED = {"success": False, "error": "no logged"}
INVALID_TOKEN = {"success": False, "error": "invalid token"}
NO_EXIST = {"success": False, "error": "no exist"}
LARGE = 524_288
FUNCTIONS: dict[str, dict[str, Any]] = {
    "checkImport": {"rows": [{"row": 1, "code": "abcdefgh", "url": A}]},
    "importLinks": {"import_id": "a" * 22, "rows": [{"row": 1, "code": "abcdefgh", "url": A}]},
    "undoImport": {"import_id": "a" * 22},
    "listImports": {},
}
"""A valid payload of each, without the token."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    with InProcessGateway(tmp_path_factory.mktemp("imports")) as gateway:
        yield gateway


@pytest.fixture
def token(gateway: InProcessGateway) -> str:
    return gateway.log_in(gateway.register())


def new_import() -> str:
    return secrets.token_urlsafe(16)


def location(gateway: InProcessGateway, code: str) -> str | None:
    response = gateway.visit(code)
    return response.headers["location"] if response.status_code == 302 else None


def test_a_check_has_a_verdict_for_each_row(gateway: InProcessGateway, token: str) -> None:
    mine = gateway.shorten(A, token)
    theirs = gateway.shorten(A)
    rows: list[tuple[object, str, str]] = [
        (new_code(), A, "new"),
        (mine, A, "exists"),
        (theirs, A, "taken"),
        ("LOGIN", A, "reserved"),
        ("abc", A, "not a code"),
        (None, A, "not a code"),
        ("a\0bc", A, "not a code"),
        (mine, "javascript:alert(1)", "not http"),
        (mine, f"{gateway.url}/{mine}", "refused"),
        (mine, A, "duplicate"),
        (mine, "", "unreadable"),
    ]
    sent = [{"row": n, "code": code, "url": url} for n, (code, url, _) in enumerate(rows)]
    assert gateway.data("checkImport", {"token": token, "rows": sent}) == {
        "success": True,
        "verdicts": [{"row": n, "verdict": verdict} for n, (*_, verdict) in enumerate(rows)],
    }


def test_imported_links_have_all_that_their_source_had(
    gateway: InProcessGateway, token: str
) -> None:
    full, bare, future = (new_code() for _ in range(3))
    rows = [
        {
            "row": 1,
            "code": full,
            "url": "a.example",
            "title": "T" * 101,
            "tags": ["b", "a", "a"],
            "created_at": "2019-07-04T10:00:00+0200",
            "expires_at": "2086-01-01T00:00:00.5Z",
        },
        {"row": 2, "code": bare, "url": B, **dict.fromkeys(("title", "tags", "created_at"))},
        {"row": 3, "code": future, "url": B, "created_at": "2086-01-01T00:00:00Z"},
        {"row": 4, "code": None, "url": B},
    ]
    before = datetime.now(UTC) - timedelta(seconds=1)
    call = {"token": token, "import_id": new_import(), "rows": rows}
    expected = {
        "success": True,
        "results": [
            {"row": 1, "verdict": "new", "code": full},
            {"row": 2, "verdict": "new", "code": bare},
            {"row": 3, "verdict": "new", "code": future},
            {"row": 4, "verdict": "not a code", "code": None},
        ],
    }
    assert gateway.data("importLinks", call) == expected
    assert gateway.data("importLinks", call) == expected
    links = {link["code"]: link for link in gateway.data("showLinks", {"token": token})["links"]}
    assert set(links) == {full, bare, future}
    shown = links[full]
    assert (shown["long_link"], shown["title"]) == ("http://a.example", "T" * 100)
    assert (shown["tags"], shown["created_at"]) == (["b", "a"], "2019-07-04T08:00:00.000Z")
    assert shown["expires_at"] == "2086-01-01T00:00:00.000Z"
    for code in (bare, future):
        assert before < datetime.fromisoformat(links[code]["created_at"]) <= datetime.now(UTC)
        assert (links[code]["title"], links[code]["tags"]) == ("", [])
    assert gateway.data("showLinks", {"token": token, "order": "oldest"})["links"][0] == shown


def test_imported_links_redirect_at_once(gateway: InProcessGateway, token: str) -> None:
    """Also if the gateway knew that the code had no link, and while links is down."""
    rows = [{"row": n, "code": new_code(), "url": f"{A}{n}"} for n in range(200)]
    for row in rows:
        assert location(gateway, str(row["code"])) is None
    gateway.data("importLinks", {"token": token, "import_id": new_import(), "rows": rows})
    gateway.links.away = True
    try:
        for row in rows:
            assert location(gateway, str(row["code"])) == row["url"]
    finally:
        gateway.links.away = False


def test_an_undo_removes_unchanged_links(
    gateway: InProcessGateway, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "MAX_BATCH", 2)
    codes = [new_code() for _ in range(5)]
    rows = [{"row": n, "code": code, "url": A} for n, code in enumerate(codes)]
    import_id, other = new_import(), new_import()
    before = datetime.now(UTC) - timedelta(seconds=1)
    gateway.data("importLinks", {"token": token, "import_id": import_id, "rows": rows})
    gateway.data("importLinks", {"token": token, "import_id": other, "rows": rows})
    changed, *unchanged = codes
    changes = {"token": token, "code": changed, "changes": {"title": "Mine"}}
    gateway.data("changeLink", changes)
    call = {"token": token, "import_id": import_id}
    for _ in range(2):
        assert gateway.data("undoImport", call) == {"success": True, "removed": 4}
        assert location(gateway, changed) == A
        assert [location(gateway, code) for code in unchanged] == [None] * 4
    listed = gateway.data("listImports", {"token": token})
    started = [datetime.fromisoformat(one.pop("started_at")) for one in listed["imports"]]
    assert before < started[1] <= started[0] <= datetime.now(UTC)
    assert listed == {
        "success": True,
        "imports": [
            {"import_id": other, "links": 0, "removed": 0},
            {"import_id": import_id, "links": 5, "removed": 4},
        ],
    }
    assert gateway.data("undoImport", {**call, "import_id": new_import()}) == NO_EXIST
    stranger = gateway.log_in(gateway.register())
    assert gateway.data("undoImport", {**call, "token": stranger}) == NO_EXIST
    assert gateway.data("listImports", {"token": stranger}) == {"success": True, "imports": []}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_imports_need_an_account(gateway: InProcessGateway, function: str) -> None:
    payload = FUNCTIONS[function]
    for nobody in ({}, {"token": None}, {"token": ""}):
        assert gateway.data(function, {**payload, **nobody}) == NO_LOGGED
    assert gateway.data(function, {**payload, "token": "nonsense"}) == INVALID_TOKEN
    refused = gateway.call(function, {**payload, "guest": "a" * 43})
    assert refused.status_code == 400


ROW = {"row": 1, "code": "abcdefgh", "url": A}


@pytest.mark.parametrize(
    ("function", "wrong"),
    [
        *(
            (function, {"rows": rows})
            for function in ("checkImport", "importLinks")
            for rows in (
                None,
                [],
                [{"code": "abcdefgh", "url": A}],
                [{"row": 1, "code": "abcdefgh"}],
                [{**ROW, "row": "1"}],
                [{**ROW, "row": 1.5}],
                [{**ROW, "row": -1}],
                [{**ROW, "row": 2**31}],
                [{**ROW, "code": 12345678}],
                [{**ROW, "url": None}],
                [{**ROW, "more": 1}],
            )
        ),
        ("checkImport", {"rows": [ROW] * 501}),
        ("checkImport", {"rows": [{**ROW, "title": "a"}]}),
        ("importLinks", {"rows": [ROW] * 201}),
        ("importLinks", {"rows": [{**ROW, "created_at": "2019-07-04 10:00:00"}]}),
        ("importLinks", {"rows": [{**ROW, "expires_at": 1562234400}]}),
        ("importLinks", {"rows": [{**ROW, "tags": "a"}]}),
        ("importLinks", {"import_id": None}),
        ("importLinks", {"import_id": "a" * 21}),
        ("importLinks", {"import_id": "a" * 22 + "\n"}),
        ("undoImport", {"import_id": "ñ" * 22}),
        ("listImports", {"limit": 1}),
    ],
)
def test_an_invalid_payload_is_refused(
    gateway: InProcessGateway, token: str, function: str, wrong: dict[str, Any]
) -> None:
    response = gateway.call(function, {**FUNCTIONS[function], "token": token, **wrong})
    assert response.status_code == 400
    assert response.json()["error"]["status"] == "INVALID_ARGUMENT"
    assert gateway.data("showLinks", {"token": token})["total"] == 0


@pytest.mark.parametrize("function", ["checkImport", "importLinks"])
def test_512_kib_are_read_and_not_a_byte_more(
    gateway: InProcessGateway, token: str, function: str
) -> None:
    payload = {**FUNCTIONS[function], "token": token}
    frame = len(json.dumps({"data": {**payload, "rows": [{**ROW, "url": ""}]}}))

    def send(size: int) -> httpx.Response:
        rows = [{**ROW, "url": "a" * (size - frame)}]
        body = json.dumps({"data": {**payload, "rows": rows}})
        assert len(body) == size
        headers = {"content-type": "application/json"}
        return gateway.http.post(f"{gateway.url}/{function}", content=body, headers=headers)

    assert "unreadable" in send(LARGE).text
    refused = send(LARGE + 1)
    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == f"The body has more than {LARGE} bytes."


def test_rows_over_the_limit_of_a_day_are_refused(
    gateway: InProcessGateway, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "MAX_ROWS_PER_DAY", 2)
    rows = [{"row": n, "code": new_code(), "url": A} for n in range(3)]
    call = {"token": token, "import_id": new_import(), "rows": rows}
    refused = gateway.call("importLinks", call)
    assert refused.status_code == 429
    error = refused.json()["error"]
    assert error["status"] == "RESOURCE_EXHAUSTED"
    assert error["details"]["reason"] == "TOO_MANY_ROWS"
    assert 0 < error["details"]["retryAfter"] <= 24 * 3600
    assert refused.headers["retry-after"] == str(error["details"]["retryAfter"])
    for _ in range(2):
        done = gateway.data("importLinks", {**call, "rows": rows[:2]})
        assert [one["verdict"] for one in done["results"]] == ["new"] * 2


def test_an_undo_that_broke_off_is_continued(
    gateway: InProcessGateway, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "MAX_BATCH", 1)
    codes = [new_code() for _ in range(3)]
    rows = [{"row": n, "code": code, "url": A} for n, code in enumerate(codes)]
    call = {"token": token, "import_id": new_import()}
    gateway.data("importLinks", {**call, "rows": rows})
    undo = gateway.links.undo_import

    async def fail_late(account: Any, import_id: str, after: int | None) -> Any:
        if after is not None:
            raise Unavailable("links is down.")
        return await undo(account, import_id, after)

    with monkeypatch.context() as patch:
        patch.setattr(gateway.links, "undo_import", fail_late, raising=False)
        assert gateway.call("undoImport", call).status_code == 503
    assert gateway.data("undoImport", call) == {"success": True, "removed": 3}
