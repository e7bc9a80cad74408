"""Operations on links, on a gateway in this process."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.api_client import ApiClient, problem_of
from tests.support.gateway_client import BROWSER, new_code
from tests.support.in_process_gateway import InProcessGateway
from tests.support.waiting import wait_until

LINK_KEYS = {
    *("code", "short_link", "long_link", "title", "tags", "state", "reason", "created_at"),
    *("changed_at", "expires_at", "ended_url", "public_statistics", "views", "bots", "short_url"),
    "domain",
}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    with InProcessGateway(tmp_path_factory.mktemp("api")) as gateway:
        yield gateway


@pytest.fixture
def api(gateway: InProcessGateway) -> ApiClient:
    """A client with a new account."""
    return ApiClient(gateway)


@pytest.mark.parametrize(
    ("expires_at", "stored", "state"),
    [
        ("0001-01-01T00:00:00+04:00", "0001-01-01T00:00:00.000Z", "expired"),
        ("9999-12-31T23:59:59-04:00", "9999-12-31T23:59:59.000Z", "active"),
    ],
)
def test_an_expiry_outside_the_calendar_in_utc_is_the_nearest_inside(
    api: ApiClient, expires_at: str, stored: str, state: str
) -> None:
    link = api.create(expires_at=expires_at)
    assert (link["expires_at"], link["state"]) == (stored, state)


def test_a_created_link_is_returned_with_its_location_and_works_at_once(api: ApiClient) -> None:
    code = new_code()
    fields = {
        "url": "example.com/a",
        "code": code,
        "title": " Título ",
        "tags": ["b", "a", "b"],
        "expires_at": "2086-07-01T09:30:00.999+02:00",
        "ended_url": "https://example.com/ended",
    }
    created = api.send("POST", "/links", fields)
    assert created.status_code == 201
    assert created.headers["location"] == f"/api/v1/links/{code}"
    assert api.gateway.visit(code).headers["location"] == "http://example.com/a"
    link = created.json()
    followed = api.gateway.http.get(link["short_url"])
    assert followed.headers["location"] == "http://example.com/a"
    assert set(link) == LINK_KEYS
    assert datetime.now(UTC) - datetime.fromisoformat(link.pop("created_at")) < timedelta(minutes=1)
    assert link == {
        "code": code,
        "short_link": code,
        "short_url": f"{api.gateway.url}/{code}",
        "long_link": "http://example.com/a",
        "title": "Título",
        "tags": ["b", "a"],
        "state": "active",
        "reason": None,
        "changed_at": None,
        "expires_at": "2086-07-01T07:30:00.000Z",
        "ended_url": "https://example.com/ended",
        "public_statistics": False,
        "views": 0,
        "bots": 0,
        "domain": api.gateway.url.removeprefix("http://"),
    }


def test_a_link_without_a_code_gets_a_random_one(api: ApiClient) -> None:
    first, second = api.create(), api.create()
    assert first["code"] != second["code"]
    assert api.send("GET", f"/links/{first['code']}").json() == first


def test_the_page_of_the_owner_has_links_of_the_api(api: ApiClient) -> None:
    link = api.create()
    shown = api.gateway.data("showLink", {"token": api.token, "code": link["code"]})
    assert shown["link"] == link


def test_a_link_has_its_views(api: ApiClient) -> None:
    code = api.create()["code"]
    api.gateway.http.get(f"{api.gateway.url}/{code}", headers={"user-agent": BROWSER})

    def views() -> Any:
        return api.send("GET", f"/links/{code}").json()["views"]

    wait_until(lambda: views() == 1)


def test_changes_are_returned_and_apply_at_once(api: ApiClient) -> None:
    code = api.create(expires_at="2086-01-01T00:00:00Z")["code"]
    changes = {"url": "https://example.com/b", "expires_at": None, "public_statistics": True}
    changed = api.send("PATCH", f"/links/{code}", changes)
    assert changed.status_code == 200
    assert api.gateway.visit(code).headers["location"] == "https://example.com/b"
    assert changed.json() == api.send("GET", f"/links/{code}").json()
    assert changed.json()["public_statistics"] is True
    assert changed.json()["expires_at"] is None
    assert changed.json()["changed_at"] is not None


def test_a_removal_may_be_repeated_and_undone(api: ApiClient) -> None:
    code = api.create()["code"]
    for _ in range(2):
        removed = api.send("DELETE", f"/links/{code}")
        assert (removed.status_code, removed.content) == (204, b"")
        assert api.gateway.visit(code).status_code == 410
    assert api.send("GET", f"/links/{code}").json()["state"] == "removed"
    for _ in range(2):
        restored = api.send("POST", f"/links/{code}/restore")
        assert (restored.status_code, restored.json()["state"]) == (200, "active")
    assert api.gateway.visit(code).status_code == 302


def test_links_are_listed_page_by_page(api: ApiClient) -> None:
    codes = [api.create(title=f"number {number}")["code"] for number in range(3)]
    first = api.send("GET", "/links?limit=2&order=oldest").json()
    assert first.keys() == {"items", "total", "cursor"}
    assert [link["code"] for link in first["items"]] == codes[:2]
    assert first["total"] == 3
    second = api.send("GET", f"/links?limit=2&order=oldest&cursor={first['cursor']}").json()
    assert [link["code"] for link in second["items"]] == codes[2:]
    assert second["cursor"] is None
    found = api.send("GET", "/links?query=NUMBER%201").json()["items"]
    assert [link["code"] for link in found] == codes[1:2]
    api.send("DELETE", f"/links/{codes[0]}")
    removed = api.send("GET", "/links?state=removed").json()["items"]
    assert [link["code"] for link in removed] == codes[:1]
    newest = api.send("GET", "/links").json()["items"]
    assert [link["code"] for link in newest] == codes[:0:-1]


def test_links_of_others_do_not_exist(gateway: InProcessGateway, api: ApiClient) -> None:
    code = ApiClient(gateway).create()["code"]
    for method, path, body in (
        ("GET", f"/links/{code}", None),
        ("PATCH", f"/links/{code}", {"title": "mine"}),
        ("DELETE", f"/links/{code}", None),
        ("POST", f"/links/{code}/restore", None),
        ("GET", f"/links/{code}/statistics", None),
        ("GET", f"/links/{new_code()}", None),
        ("GET", "/links/abc", None),
        ("GET", "/links/%00%ff", None),
    ):
        assert problem_of(api.send(method, path, body)) == (404, "not_found"), (method, path)


def test_bulk_creations_have_an_outcome_each_in_order(
    gateway: InProcessGateway, api: ApiClient
) -> None:
    taken, code = ApiClient(gateway).create()["code"], new_code()
    links = [
        {"url": "https://example.com/1", "code": code},
        {"url": "https://example.com/2", "code": taken},
        {"url": "https://example.com/3", "code": "Login"},
        {"url": "ftp://example.com/4"},
        {"url": "https://example.com/5", "title": "five"},
    ]
    response = api.send("POST", "/links/bulk", {"links": links})
    assert response.status_code == 200
    results = response.json()["results"]
    assert [result["status"] for result in results] == [201, 409, 422, 422, 201]
    assert results[0]["link"]["code"] == code
    problems = [result["problem"] for result in results if "problem" in result]
    assert [one["code"] for one in problems] == ["code_taken", "code_reserved", "invalid_url"]
    assert [one["status"] for one in problems] == [409, 422, 422]
    for created in (results[0]["link"], results[4]["link"]):
        assert api.send("GET", f"/links/{created['code']}").json() == created
        assert gateway.visit(created["code"]).status_code == 302


def test_a_hundred_links_are_created_at_once(api: ApiClient) -> None:
    links = [{"url": f"https://example.com/{number}"} for number in range(100)]
    results = api.send("POST", "/links/bulk", {"links": links}).json()["results"]
    assert [one["link"]["long_link"] for one in results] == [one["url"] for one in links]
    assert api.send("GET", "/account").json()["links"] == 100


def test_the_account_has_its_name_its_links_and_the_key(gateway: InProcessGateway) -> None:
    api = ApiClient(gateway, ["statistics:read"])
    assert api.send("GET", "/account").json() == {
        "username": "walker",
        "links": 0,
        "key": {"name": "tests", "scopes": ["statistics:read"], "expires_at": None},
    }


def test_statistics_are_those_of_the_pages(api: ApiClient) -> None:
    code = api.create()["code"]
    for path, wanted in ((f"/links/{code}/statistics", code), ("/statistics", None)):
        for query, period in (
            ("?timezone=Europe/Madrid", "30 days"),
            ("?timezone=Europe/Madrid&range=all", "all"),
            (
                "?timezone=Europe/Madrid&from=2026-01-01&to=2026-01-31",
                {"from": "2026-01-01", "to": "2026-01-31"},
            ),
        ):
            shown = api.gateway.data(
                "showStatistics",
                {"token": api.token, "code": wanted, "range": period, "timezone": "Europe/Madrid"},
            )
            del shown["success"]
            response = api.send("GET", path + query)
            assert response.json() == shown, (path, query)


def test_public_statistics_of_others_can_be_read(gateway: InProcessGateway, api: ApiClient) -> None:
    other = ApiClient(gateway)
    code = other.create()["code"]
    other.send("PATCH", f"/links/{code}", {"public_statistics": True})
    assert api.send("GET", f"/links/{code}/statistics").status_code == 200
