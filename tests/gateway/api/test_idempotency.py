"""Idempotency-Key: a repeated request returns the first answer and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from gateway.api.idempotency import unquoted
from services.shared.errors import AlreadyExists
from tests.support.api_client import ApiClient, faults_of, problem_of
from tests.support.gateway_client import new_code
from tests.support.in_process_gateway import InProcessGateway

LINK = {"url": "https://example.com/", "title": "once"}
BODIES = {"/links": LINK, "/links/bulk": {"links": [LINK, {"url": "ftp://no.example"}, LINK]}}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    with InProcessGateway(tmp_path_factory.mktemp("idempotency")) as gateway:
        yield gateway


@pytest.fixture
def api(gateway: InProcessGateway) -> ApiClient:
    return ApiClient(gateway)


def create(
    api: ApiClient, key: str | None, path: str = "/links", body: Any = None
) -> httpx.Response:
    headers = {} if key is None else {"idempotency_key": key}
    return api.send("POST", path, BODIES[path] if body is None else body, **headers)


def number_of_links(api: ApiClient) -> int:
    total: int = api.send("GET", "/account").json()["links"]
    return total


@pytest.mark.parametrize(("path", "created"), [("/links", 1), ("/links/bulk", 2)])
def test_a_repeated_request_returns_the_first_answer(
    api: ApiClient, path: str, created: int
) -> None:
    first = create(api, "order-4711", path)
    link = first.json() if path == "/links" else first.json()["results"][0]["link"]
    api.send("PATCH", f"/links/{link['code']}", {"title": "changed"})
    again = create(api, "order-4711", path)
    assert again.status_code == first.status_code
    assert again.content == first.content
    assert again.headers.get("location") == first.headers.get("location")
    assert number_of_links(api) == created


def test_a_refusal_is_repeated_too(api: ApiClient) -> None:
    code = new_code()
    body = {"url": "https://example.com/", "code": code}
    ApiClient(api.gateway).create(code=code)
    first = create(api, "k", body=body)
    assert problem_of(first) == (409, "code_taken")
    assert create(api, "k", body=body).content == first.content


def test_quotes_are_not_part_of_the_key(api: ApiClient) -> None:
    assert create(api, "a-b").content == create(api, '"a-b"').content
    assert number_of_links(api) == 1


def test_without_a_key_each_request_creates_a_link(api: ApiClient) -> None:
    create(api, None)
    create(api, None)
    assert number_of_links(api) == 2


def test_another_body_with_the_key_is_a_mismatch(api: ApiClient) -> None:
    assert create(api, "k").status_code == 201
    for path, body in (("/links", {"url": "https://example.com/"}), ("/links/bulk", None)):
        assert problem_of(create(api, "k", path, body)) == (422, "idempotency_mismatch")
    assert number_of_links(api) == 1


def test_keys_of_accounts_are_apart(gateway: InProcessGateway, api: ApiClient) -> None:
    other = ApiClient(gateway)
    assert create(api, "k").json()["code"] != create(other, "k").json()["code"]


@pytest.mark.parametrize(
    "key",
    ["", '""', "a" * 65, f'"{"a" * 65}"', "a b", '"a b"', '"a', '"a"b"', '"a\\b"', "ä", '"a";b=1'],
)
def test_other_keys_are_faults(api: ApiClient, key: str) -> None:
    response = api.gateway.http.post(
        f"{api.gateway.url}/api/v1/links",
        json=LINK,
        headers=[
            (b"authorization", f"Bearer {api.key}".encode()),
            (b"idempotency-key", key.encode()),
        ],
    )
    assert faults_of(response)[0][0] == "#/header/Idempotency-Key"


def test_two_keys_are_a_fault(api: ApiClient) -> None:
    response = api.gateway.http.post(
        f"{api.gateway.url}/api/v1/links",
        json=LINK,
        headers=[
            ("authorization", f"Bearer {api.key}"),
            ("idempotency-key", "a"),
            ("idempotency-key", "b"),
        ],
    )
    assert faults_of(response) == [("#/header/Idempotency-Key", "value")]


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("a", b"a"),
        ("!~", b"!~"),
        ("a" * 64, b"a" * 64),
        (f'"{"a" * 64}"', b"a" * 64),
        ('"a\\"b\\\\c"', b'a"b\\c'),
        ('a"b', b'a"b'),
    ],
)
def test_the_key_of_a_header(api: ApiClient, value: str, key: bytes) -> None:
    assert unquoted(value) == key
    assert create(api, value).status_code == 201


def test_a_request_in_progress_is_a_conflict(
    gateway: InProcessGateway, api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_args: Any) -> None:
        raise AlreadyExists("Another call with this idempotency key runs.", "IN_PROGRESS")

    monkeypatch.setattr(gateway.links, "create_all", fail, raising=False)
    assert problem_of(create(api, "k")) == (409, "in_progress")


def test_concurrent_repetitions_create_one_link(api: ApiClient) -> None:
    with ThreadPoolExecutor(8) as threads:
        responses = list(threads.map(lambda _: create(api, "same"), range(16)))
    assert {one.status_code for one in responses} <= {201, 409}
    assert len({one.content for one in responses if one.status_code == 201}) == 1
    assert number_of_links(api) == 1
