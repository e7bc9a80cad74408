"""What one client address stores in a day is limited, whichever accounts and doors it uses."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.api_client import ApiClient, problem_of
from tests.support.gateway_client import new_code
from tests.support.in_process_gateway import InProcessGateway

URL = "https://example.com/"
CREATIONS, ROWS, SHORT_CODES, EDITS = 7, 5, 3, 12
_addresses = (f"198.51.100.{number}" for number in range(255))


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    """A gateway behind a trusted proxy."""
    with InProcessGateway(
        tmp_path_factory.mktemp("volume"),
        limit_creations=f"{CREATIONS}/hour",
        limit_import_rows=f"{ROWS}/day",
        limit_edits=f"{EDITS}/hour",
        limit_short_codes=f"{SHORT_CODES}/day",
        trusted_proxies="127.0.0.0/8,::1/128",
    ) as gateway:
        yield gateway


@pytest.fixture
def address() -> str:
    """An IP address that no other test uses."""
    return next(_addresses)


def short_code() -> str:
    return secrets.token_urlsafe(3)


def new_account(gateway: InProcessGateway) -> str:
    return gateway.log_in(gateway.register())


def call(gateway: InProcessGateway, name: str, data: object, address: str) -> httpx.Response:
    return gateway.http.post(
        f"{gateway.url}/{name}", json={"data": data}, headers={"x-forwarded-for": address}
    )


def import_rows(
    gateway: InProcessGateway, token: str, address: str, *codes: str, **more: Any
) -> httpx.Response:
    rows = [{"row": row, "code": code, "url": URL} for row, code in enumerate(codes)]
    data = {"token": token, "import_id": secrets.token_urlsafe(16), "rows": rows, **more}
    return call(gateway, "importLinks", data, address)


def reason_of(response: httpx.Response) -> tuple[int, str]:
    assert 1 <= int(response.headers["retry-after"]) <= 86_400
    return response.status_code, response.json()["error"]["details"]["reason"]


def test_links_of_the_api_count_as_creations(gateway: InProcessGateway, address: str) -> None:
    """Those of all accounts, and together with those of createShortLink."""

    def bulk(number: int) -> httpx.Response:
        links = [{"url": URL}] * number
        return ApiClient(gateway).send(
            "POST", "/links/bulk", {"links": links}, x_forwarded_for=address
        )

    assert bulk(3).status_code == 200
    single = ApiClient(gateway).send("POST", "/links", {"url": URL}, x_forwarded_for=address)
    assert single.status_code == 201
    creation = {"code": new_code(), "url": URL}
    assert call(gateway, "createShortLink", creation, address).status_code == 200
    refused = bulk(3)
    assert problem_of(refused) == (429, "rate_limited")
    assert 1 <= int(refused.headers["retry-after"]) <= 3600
    assert bulk(2).status_code == 200
    assert reason_of(call(gateway, "createShortLink", creation, address))[0] == 429


def test_a_refused_call_counts_nothing(gateway: InProcessGateway, address: str) -> None:
    """Neither for its address nor, beyond the request itself, for its account."""
    api = ApiClient(gateway)

    def bulk(codes: list[str | None]) -> httpx.Response:
        links = [{"url": URL} | ({"code": code} if code else {}) for code in codes]
        return api.send("POST", "/links/bulk", {"links": links}, x_forwarded_for=address)

    def left(response: httpx.Response) -> int:
        return int(response.headers["ratelimit"].split(";")[1].removeprefix("r="))

    before = left(api.send("GET", "/account", x_forwarded_for=address))
    refused = bulk([short_code() for _ in range(SHORT_CODES + 1)])
    assert problem_of(refused) == (429, "rate_limited")
    assert left(refused) == before - 1
    assert bulk([None] * CREATIONS).status_code == 200


def test_a_repetition_with_the_idempotency_key_counts_nothing(
    gateway: InProcessGateway, address: str
) -> None:
    """Neither for the creations nor for the short endings, be the first outcome a link or not."""
    api = ApiClient(gateway)
    taken = ApiClient(gateway).create(URL)["code"]

    def create(key: str, path: str, body: object) -> int:
        headers = {"idempotency_key": key, "x_forwarded_for": address}
        return api.send("POST", path, body, **headers).status_code

    bulk = {"links": [{"url": URL, "code": short_code()}, {"url": URL}, {"url": URL}]}
    refused = {"url": URL, "code": taken}
    for _ in range(CREATIONS):
        assert create("links", "/links/bulk", bulk) == 200
        assert create("refused", "/links", refused) == 409
    short = [{"url": URL, "code": short_code()} for _ in range(SHORT_CODES - 1)]
    assert create("short", "/links/bulk", {"links": short}) == 200
    assert create("short-429", "/links", short[0] | {"code": short_code()}) == 429
    assert create("third", "/links", {"url": URL}) == 201
    assert create("fourth", "/links", {"url": URL}) == 429


def test_rows_of_imports_count_by_address(gateway: InProcessGateway, address: str) -> None:
    """Those of all accounts. Rows that are sent again do not count, nor do calls that fail."""
    token = new_account(gateway)
    codes = [new_code() for _ in range(ROWS - 1)]
    import_id = secrets.token_urlsafe(16)
    for _ in range(3):
        sent = import_rows(gateway, token, address, *codes, import_id=import_id)
        assert sent.status_code == 200
        assert import_rows(gateway, token, address, "abcdefgh", rows=[]).status_code == 400
    other = new_account(gateway)
    refused = import_rows(gateway, other, address, new_code(), new_code())
    assert reason_of(refused) == (429, "TOO_MANY_ROWS")
    gateway.links.away = True
    try:
        assert import_rows(gateway, other, address, new_code()).status_code == 503
    finally:
        gateway.links.away = False
    assert import_rows(gateway, other, address, new_code()).status_code == 200
    assert reason_of(import_rows(gateway, other, address, new_code()))[0] == 429
    assert import_rows(gateway, other, next(_addresses), new_code()).status_code == 200


def test_changes_count_by_address(gateway: InProcessGateway, address: str) -> None:
    """Those of all accounts, by changeLink and the REST API together. Each keeps a former URL."""

    def edit(api: ApiClient, method: str, path: str, body: object = None) -> httpx.Response:
        return api.send(method, f"/links/{path}", body, x_forwarded_for=address)

    change = {"url": f"{URL}other"}
    api, other = ApiClient(gateway), ApiClient(gateway)
    first, second = api.create(URL)["code"], other.create(URL)["code"]
    assert edit(api, "PATCH", first, change).status_code == 200
    assert edit(api, "DELETE", first).status_code == 204
    assert edit(api, "POST", f"{first}/restore").status_code == 200
    assert edit(ApiClient(gateway, ["links:read"]), "DELETE", first).status_code == 403
    changed = {"token": other.token, "code": second, "changes": change}
    for _ in range(EDITS - 3):
        assert call(gateway, "changeLink", changed, address).status_code == 200
    refused = edit(other, "PATCH", second, {"url": URL})
    assert problem_of(refused) == (429, "rate_limited")
    assert 1 <= int(refused.headers["retry-after"]) <= 3600
    assert edit(other, "DELETE", second).status_code == 429
    assert edit(other, "POST", f"{second}/restore").status_code == 429
    assert reason_of(call(gateway, "changeLink", changed, address))[0] == 429
    assert other.send("PATCH", f"/links/{second}", {"url": URL}).status_code == 200


def test_endings_of_four_characters_count_by_address(
    gateway: InProcessGateway, address: str
) -> None:
    """Of createShortLink, the REST API and imports together. An ending that is taken or refused
    does not count."""
    token, taken = new_account(gateway), short_code()
    creation = {"token": token, "code": taken, "url": URL}
    assert call(gateway, "createShortLink", creation, address).status_code == 200
    rows = import_rows(gateway, token, address, taken, short_code())
    assert [row["verdict"] for row in rows.json()["data"]["results"]] == ["exists", "new"]
    api = ApiClient(gateway)

    def post(code: str) -> httpx.Response:
        return api.send("POST", "/links", {"url": URL, "code": code}, x_forwarded_for=address)

    other = {**creation, "url": f"{URL}other"}
    assert call(gateway, "createShortLink", other, address).status_code == 409
    invalid = {**creation, "code": short_code(), "url": "ftp://example.com/"}
    assert call(gateway, "createShortLink", invalid, address).status_code == 400
    assert post(taken).status_code == 409
    assert post(short_code()).status_code == 201
    refused = post(short_code())
    assert problem_of(refused) == (429, "rate_limited")
    assert "4 characters" in refused.json()["detail"]
    for short in (
        call(gateway, "createShortLink", {**creation, "code": short_code()}, address),
        import_rows(gateway, token, address, short_code()),
    ):
        assert reason_of(short) == (429, "TOO_MANY_SHORT_CODES")
    assert post("12345" + short_code()).status_code == 201
    assert import_rows(gateway, token, address, new_code()).status_code == 200
