"""The callable protocol over HTTP: invalid calls, and the form of every response."""

from __future__ import annotations

import gc
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from gateway.support.edge import Edge
from gateway.support.json_bodies import MAX_KEYS, TOO_MANY_KEYS
from services.shared.errors import AppError
from tests.support.gateway_client import new_code
from tests.support.in_process_gateway import InProcessGateway
from tests.support.processes import NO_TLS
from tests.support.waiting import wait_until


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    with InProcessGateway(tmp_path_factory.mktemp("wire")) as gateway:
        yield gateway


JSON = {"content-type": "application/json"}


def error_of(response: httpx.Response) -> tuple[int, str]:
    """Return HTTP status and name of a callable error. Fails for any other response."""
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"
    body = response.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"status", "message", "details"}
    assert body["error"]["message"]
    assert "Traceback" not in response.text
    return response.status_code, body["error"]["status"]


BAD_BODIES = {
    **{
        name: body.encode("latin-1")
        for name, body in json.loads(
            Path(__file__).with_name("bad_bodies.json").read_text(encoding="utf-8")
        ).items()
    },
    "list bomb": b"[" * 30_000,
    "closed list bomb": b'{"data":' + b"[" * 15_000 + b"]" * 15_000 + b"}",
    "object bomb": b'{"data":' * 8_000,
    "huge number": b'{"data":' + b"9" * 60_000 + b"}",
    "over 64 KiB": b'{"data":{"code":"' + b"a" * 65_536 + b'"}}',
}
"""Invalid bodies of calls. The file has one character per byte."""


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES)
def test_an_invalid_body_is_an_invalid_argument(gateway: InProcessGateway, body: bytes) -> None:
    response = gateway.http.post(f"{gateway.url}/accessLink", content=body, headers=JSON)
    assert error_of(response) == (400, "INVALID_ARGUMENT")
    assert "<script>" not in response.text


def test_a_body_with_too_many_keys_is_rejected_before_their_faults_are_found(
    gateway: InProcessGateway,
) -> None:
    body = {"data": {"rows": [{f"k{number}": 0 for number in range(MAX_KEYS)}]}}
    response = gateway.http.post(f"{gateway.url}/checkImport", json=body)
    assert error_of(response) == (400, "INVALID_ARGUMENT")
    assert response.json()["error"]["message"] == TOO_MANY_KEYS


@pytest.mark.parametrize("size", [65_537, 1_000_000, 20_000_000])
def test_a_body_over_the_limit_is_rejected_with_and_without_its_length(
    gateway: InProcessGateway, size: int
) -> None:
    def chunks(total: int = size) -> list[bytes]:
        return [b"a" * min(65_536, total - at) for at in range(0, total, 65_536)]

    for content in (b"".join(chunks()), iter(chunks())):
        with httpx.Client(timeout=30, verify=NO_TLS) as client:
            try:
                response = client.post(f"{gateway.url}/accessLink", content=content, headers=JSON)
            except httpx.WriteError:  # The server closed the connection during the request.
                continue
            assert error_of(response) == (400, "INVALID_ARGUMENT")
    assert gateway.data("accessLink", {"code": new_code()}) == {"success": True, "longUrl": []}


def test_a_byte_order_mark_is_no_part_of_the_body(gateway: InProcessGateway) -> None:
    bom, body = b"\xef\xbb\xbf", b'{"data":{"code":"abcdefgh"}}'
    for sent, status in ((bom + body, 200), (bom + bom + body, 400), (bom, 400)):
        response = gateway.http.post(f"{gateway.url}/accessLink", content=sent, headers=JSON)
        assert response.status_code == status


def test_a_body_of_64_kib_is_accepted(gateway: InProcessGateway) -> None:
    frame = len(b'{"data":{"code":""}}')
    body = b'{"data":{"code":"' + b"a" * (65_536 - frame) + b'"}}'
    response = gateway.http.post(f"{gateway.url}/accessLink", content=body, headers=JSON)
    assert response.json() == {"data": {"success": True, "longUrl": []}}


@pytest.mark.parametrize("content_type", ["text/plain", "", "application/x-www-form-urlencoded"])
def test_another_content_type_is_rejected(gateway: InProcessGateway, content_type: str) -> None:
    response = gateway.http.post(
        f"{gateway.url}/accessLink",
        content=b'{"data":{"code":"abcdefgh"}}',
        headers={"content-type": content_type},
    )
    assert error_of(response) == (400, "INVALID_ARGUMENT")


def test_a_charset_is_accepted(gateway: InProcessGateway) -> None:
    response = gateway.http.post(
        f"{gateway.url}/accessLink",
        content=b'{"data":{"code":"abcdefgh"}}',
        headers={"content-type": "application/json; charset=utf-8"},
    )
    assert response.status_code == 200


@pytest.mark.parametrize("name", ["nope", "", "createshortlink", "createShortLink/", "a/b", "%00"])
def test_an_unknown_function_is_not_found(gateway: InProcessGateway, name: str) -> None:
    response = gateway.http.post(f"{gateway.url}/{name}", json={"data": {}})
    assert error_of(response) == (404, "NOT_FOUND")


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("name", ["createShortLink", "showProfile"])
def test_another_method_is_an_invalid_argument(
    gateway: InProcessGateway, method: str, name: str
) -> None:
    response = gateway.http.request(method, f"{gateway.url}/{name}")
    assert error_of(response) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_another_method_on_a_page_or_a_link_is_an_invalid_argument(
    gateway: InProcessGateway, method: str
) -> None:
    for path in ("/", "/login", "/abcdefgh"):
        response = gateway.http.request(method, f"{gateway.url}{path}")
        assert error_of(response) == (400, "INVALID_ARGUMENT")


def test_nul_is_rejected_in_stored_texts(gateway: InProcessGateway) -> None:
    code = new_code()
    for function, payload in (
        ("createShortLink", {"code": code, "url": "http://example.com/\0", "token": None}),
        ("createShortLink", {"code": code, "url": "example.com", "token": "a\0b"}),
        ("verifyUser", {"email": "a\0@b", "password": "x"}),
        ("verifyUser", {"email": "a@b", "password": "\0"}),
        ("registerUser", {"email": "a@b", "password": "\0", "salt": "", "username": "x"}),
        ("showProfile", {"token": "\0"}),
    ):
        assert error_of(gateway.call(function, payload)) == (400, "INVALID_ARGUMENT")
    assert gateway.data("accessLink", {"code": "abc\0efgh"}) == {"success": True, "longUrl": []}


def test_rejected_calls_do_not_fill_memory(tmp_path: Path) -> None:
    def held_bytes() -> int:
        gc.collect()
        return sum(issubclass(type(one), AppError) for one in gc.get_objects())

    before = held_bytes()
    with InProcessGateway(tmp_path) as gateway:
        for wrong in ({"guest": "no key"}, {"code": "\0"}, {"code": 1}, {"code": "-"}):
            for _ in range(10):
                payload = {"code": new_code(), "url": "example.com", "token": None, **wrong}
                response = gateway.call("createShortLink", payload)
                assert error_of(response) == (400, "INVALID_ARGUMENT")
        gateway.http.close()  # A connection holds its last request.
        wait_until(lambda: held_bytes() <= before)


def test_cors_allows_the_own_origin_and_no_other(gateway: InProcessGateway) -> None:
    preflight = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,authorization,firebase-instance-id-token",
    }
    own = gateway.http.options(
        f"{gateway.url}/accessLink", headers={"origin": gateway.url, **preflight}
    )
    assert own.status_code == 200
    assert own.headers["access-control-allow-origin"] == gateway.url
    for origin in ("https://evil.example", "null", gateway.url + ".evil.example"):
        foreign = gateway.http.options(
            f"{gateway.url}/accessLink", headers={"origin": origin, **preflight}
        )
        assert "access-control-allow-origin" not in foreign.headers
        called = gateway.http.post(
            f"{gateway.url}/accessLink", json={"data": {"code": "x"}}, headers={"origin": origin}
        )
        assert "access-control-allow-origin" not in called.headers
        for response in (own, foreign):
            received = {(name.lower(), value) for name, value in response.headers.items()}
            always = Edge.load().function_headers
            assert {(name.decode(), value.decode()) for name, value in always} <= received


def test_the_authorization_header_is_accepted_and_ignored(gateway: InProcessGateway) -> None:
    response = gateway.http.post(
        f"{gateway.url}/showProfile",
        json={"data": {"token": None}},
        headers={"authorization": "Bearer nonsense"},
    )
    assert response.json() == {"data": {"success": False, "error": "no logged"}}


def test_the_request_id_is_accepted_or_created_and_returned(gateway: InProcessGateway) -> None:
    def answered(given: str | None) -> str:
        headers = {"x-request-id": given} if given else {}
        response = gateway.http.post(
            f"{gateway.url}/accessLink", json={"data": {"code": "x"}}, headers=headers
        )
        return response.headers["x-request-id"]

    assert answered("walk-1") == "walk-1"
    created = answered(None)
    assert created
    assert answered(None) != created
    assert answered("white space; and more") not in ("", "white space; and more")
    assert len(answered("a" * 1000)) <= 64


def test_a_long_response_is_compressed_if_accepted(gateway: InProcessGateway) -> None:
    token = gateway.log_in(gateway.register())
    for _ in range(20):
        gateway.shorten("https://example.com/" + "a" * 100, token)
    with gateway.http.stream(
        "POST",
        f"{gateway.url}/showProfile",
        json={"data": {"token": token}},
        headers={"accept-encoding": "gzip"},
    ) as response:
        raw = b"".join(response.iter_raw())
    assert response.headers["content-encoding"] == "gzip"
    assert len(json.loads(gzip.decompress(raw))["data"]["data"]) == 20
    for refused in ("identity", "gzip;q=0", "br, gzip;q=0.000", "*;q=0", "xgzip"):
        plain = gateway.http.post(
            f"{gateway.url}/showProfile",
            json={"data": {"token": token}},
            headers={"accept-encoding": refused},
        )
        assert "content-encoding" not in plain.headers, refused
        assert "accept-encoding" in plain.headers["vary"]
        assert len(plain.json()["data"]["data"]) == 20
