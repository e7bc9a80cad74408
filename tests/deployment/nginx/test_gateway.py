"""nginx and the gateway behind it: kept connections, the client's address, and failures."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
import pytest

from services.shared import ip_addresses
from tests.support.api_client import problem_of
from tests.support.gateway_client import BROWSER, new_code
from tests.support.name_server import NameServer, name_server
from tests.support.nginx import Nginx, edited, start_gateway
from tests.support.ports import free_port
from tests.support.processes import NO_TLS, ROOT, TIMEOUT_SECONDS
from tests.support.product import Product
from tests.support.waiting import RECOVERY_SECONDS, wait_until

CLIENT_IPS = json.loads(
    (ROOT / "tests/gateway/support/client_ip_cases.json").read_text(encoding="utf-8")
)
"""The client of a request, by trusted proxies. test_client_ip.py tests the gateway."""

LINK = {"data": {"code": "k7Qm2_xB", "url": "https://example.com/", "token": None}}


class _Upstream(ThreadingHTTPServer):
    """A fake gateway that responds with the X-Forwarded-For it received."""

    daemon_threads = True

    def __init__(self, answers: int, host: str, status: int, headers: Mapping[str, str]) -> None:
        # Free on 127.0.0.1 whatever the host: nobody must answer there in its place.
        super().__init__((host, free_port()), _Handler)
        self.answers = answers
        self.status = status
        self.headers = headers
        self.connections = 0
        self.requests = 0
        self.held = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # An answer leaves at once.
    server: _Upstream

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1
        self.answered = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.requests += 1
        if not self.server.answers:
            self.server.held.wait()
        self.answered += 1
        if self.answered > self.server.answers:
            self.close_connection = True
            return
        body = ", ".join(self.headers.get_all("x-forwarded-for", ())).encode()
        self.send_response(self.server.status)
        for header in self.server.headers.items():
            self.send_header(*header)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST  # noqa: N815

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Log nothing."""


@contextmanager
def upstream(
    answers: int = 1_000_000,
    host: str = "127.0.0.1",
    *,
    status: int = 200,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[_Upstream]:
    """A server that answers a number of requests per connection and closes it at the next."""
    with _Upstream(answers, host, status, headers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.held.set()
        server.shutdown()


def before(server: _Upstream, folder: Path, **settings: str) -> Nginx:
    return Nginx(folder, f"127.0.0.1:{server.server_port}", "http://localhost", settings=settings)


@pytest.fixture
def names() -> Iterator[NameServer]:
    with name_server("127.0.0.1") as server:
        yield server


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False, timeout=30, verify=NO_TLS) as client:
        yield client


def test_connections_to_the_gateway_are_kept(tmp_path: Path, http: httpx.Client) -> None:
    with upstream() as server, before(server, tmp_path) as web:
        for _ in range(100):
            assert http.get(f"{web.url}/{new_code()}").status_code == 200
            assert http.post(f"{web.url}/accessLink", json=LINK).status_code == 200
        assert server.requests == 200
        assert server.connections <= 2  # One per worker.


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_broken_kept_connection_fails_no_request(
    tmp_path: Path, http: httpx.Client, method: str
) -> None:
    with upstream(answers=1) as server, before(server, tmp_path) as web:
        for _ in range(4):
            assert http.request(method, f"{web.url}/{new_code()}").status_code == 200


@pytest.mark.parametrize(
    "group", CLIENT_IPS, ids=[f"{g['trusted_proxies']} {g['trusted_hops']}" for g in CLIENT_IPS]
)
def test_the_gateway_receives_the_clients_address_and_no_claimed_one(
    tmp_path: Path, http: httpx.Client, group: dict[str, Any]
) -> None:
    settings = {
        "ATAJO_TRUSTED_PROXIES": group["trusted_proxies"],
        "ATAJO_TRUSTED_HOPS": str(group["trusted_hops"]),
    }
    with upstream() as server, before(server, tmp_path, **settings) as web:
        for case in group["cases"]:
            sent = case["forwarded"]
            headers = {} if sent is None else {"x-forwarded-for": sent}
            for told in (
                http.get(f"{web.url}/{new_code()}", headers=headers),
                http.post(f"{web.url}/accessLink", json=LINK, headers=headers),
            ):
                assert str(ip_addresses.parse(told.text)) == case["client"], case


def test_that_and_the_longest_redirect_hold_where_the_gateway_is_looked_up_anew(
    tmp_path: Path, http: httpx.Client, names: NameServer
) -> None:
    names.address = "127.0.0.2"
    settings = {"ATAJO_RESOLVER": names.listens, "ATAJO_TRUSTED_PROXIES": "192.0.2.0/24"}
    location = "https://example.com/" + "%F0%9F%98%80" * 979
    with upstream(host=names.address) as server:
        gateway = f"localhost:{server.server_port}"
        with Nginx(tmp_path, gateway, "http://localhost", settings=settings) as web:
            told = http.get(f"{web.url}/{new_code()}", headers={"x-forwarded-for": "203.0.113.9"})
            server.status, server.headers = 302, {"location": location}
            answer = http.get(f"{web.url}/{new_code()}")
    assert told.text == "127.0.0.1"
    assert (answer.status_code, answer.headers["location"]) == (302, location)
    assert names.asked > 0


def create(http: httpx.Client, web: Nginx, claimed: str) -> int:
    link = {"data": {"code": new_code(), "url": "https://example.com/", "token": None}}
    headers = {"x-forwarded-for": claimed}
    return http.post(f"{web.url}/createShortLink", json=link, headers=headers).status_code


def test_claiming_another_address_does_not_evade_a_rate_limit(
    product: Product, tmp_path: Path, http: httpx.Client
) -> None:
    limit = {"ATAJO_LIMIT_CREATIONS": "2/hour"}
    trust = {"ATAJO_TRUSTED_PROXIES": "127.0.0.1"}
    with start_gateway(product, tmp_path, limit) as gateway:
        address = gateway.addresses["http"]
        for name in ("direct", "proxied"):
            (tmp_path / name).mkdir()
        with (
            Nginx(tmp_path / "direct", address, product.url) as direct,
            Nginx(tmp_path / "proxied", address, product.url, settings=trust) as proxied,
        ):
            claims = [f"203.0.113.{n}" for n in range(4)]
            assert [create(http, direct, claim) for claim in claims] == [200, 200, 429, 429]
            # Through a trusted proxy they are four clients.
            assert [create(http, proxied, claim) for claim in claims] == [200] * 4


def without_date(response: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name != "date"}


def test_what_the_gateway_says_of_a_code_is_passed_on_or_told_with_the_document(
    tmp_path: Path, http: httpx.Client
) -> None:
    headers = {"cache-control": "private, no-store", "x-of-the-gateway": "yes"}
    with upstream(headers=headers) as server, before(server, tmp_path) as web:
        for method in ("GET", "HEAD"):
            missing = http.request(method, f"{web.url}/no/short/address")
            assert missing.status_code == 404
            for status in (404, 410, 451):
                server.status = status
                ended = http.request(method, f"{web.url}/{new_code()}")
                assert (ended.status_code, ended.content) == (status, missing.content)
                assert ('<div id="root">' in ended.text) == (method == "GET")
                assert without_date(ended) == without_date(missing)
                assert ended.headers["cache-control"] == "private, no-store"
        assert server.requests == 6

        server.status = 302
        server.headers = {**headers, "location": "https://example.com/ended"}
        answer = http.get(f"{web.url}/{new_code()}")
        assert answer.status_code == 302
        others = {"server", "date", "content-length", "connection"}
        assert set(answer.headers) == server.headers.keys() | others
        assert server.headers.items() <= dict(answer.headers).items()


def test_every_code_is_asked_for_and_nothing_else(tmp_path: Path, http: httpx.Client) -> None:
    with upstream(status=410) as server, before(server, tmp_path) as web:
        for length in (4, 8, 32):
            code = (new_code() * 5)[:length]
            before_these = server.requests
            for path in (code[:3], code * 9, f"{code}&", f"{code}.x", f"a/{code}"):
                assert http.get(f"{web.url}/{path}").status_code == 404
            for path in ("login", "register"):
                assert http.get(f"{web.url}/{path}").status_code == 200
            assert server.requests == before_these
            for path in (code, f"{code}?a=b", f"%{ord(code[0]):x}{code[1:]}", "Login", "dashboard"):
                assert http.get(f"{web.url}/{path}").status_code == 410
            for path in (f"{code}.", f"{code}/", f"{code}%E2%80%9D?a=b", f"{code}{'.' * 6000}"):
                assert http.get(f"{web.url}/{path}").status_code == 410


def assert_away(http: httpx.Client, web: Nginx) -> None:
    """Return what clients see without a gateway."""
    for method in ("GET", "HEAD"):
        redirect = http.request(method, f"{web.url}/{new_code()}")
        assert redirect.status_code == 503
        assert redirect.headers["retry-after"] == "2"
        assert redirect.headers["cache-control"] == "private, no-store"
        assert redirect.headers["content-type"] == "text/html; charset=utf-8"
        assert ('<div id="root">' in redirect.text) == (method == "GET")
    robots = http.get(f"{web.url}/robots.txt")
    assert (robots.status_code, robots.headers["retry-after"]) == (503, "2")
    call = http.post(f"{web.url}/createShortLink", json=LINK)
    assert call.status_code == 503
    assert call.json()["error"]["status"] == "UNAVAILABLE"
    assert call.headers["content-type"] == "application/json"
    assert call.headers["cache-control"] == "no-store"
    for method in ("GET", "POST", "DELETE"):
        api = http.request(method, f"{web.url}/api/v1/links", json=LINK)
        assert problem_of(api) == (503, "unavailable")
        assert api.headers["retry-after"] == "2"
        assert api.headers["cache-control"] == "no-store"
        assert api.headers["access-control-allow-origin"] == "*"
    for response in (redirect, robots, call, api):
        assert response.headers.get_list("x-content-type-options") == ["nosniff"]
        assert len(response.headers.get_list("cache-control")) == 1
    assert "retry-after" not in call.headers
    assert http.get(f"{web.url}/login").status_code == 200
    assert http.get(f"{web.url}/no/thing").status_code == 404


def await_status(http: httpx.Client, url: str, wanted: int) -> float:
    """Wait for a response and return the seconds it took."""
    started = time.monotonic()
    while (status := http.get(url).status_code) != wanted:
        assert time.monotonic() - started < TIMEOUT_SECONDS, status
    return time.monotonic() - started


def test_a_gateway_that_dies_and_comes_back_is_missed_no_longer_than_it_is_away(
    product: Product, tmp_path: Path, http: httpx.Client
) -> None:
    code = product.shorten("https://example.com/")
    here = {"ATAJO_LISTEN": f"127.0.0.1:{free_port()}"}
    web = Nginx(tmp_path, here["ATAJO_LISTEN"], product.url)
    with web:  # Before the gateway exists.
        assert_away(http, web)
        with start_gateway(product, tmp_path, here):
            assert http.get(f"{web.url}/{code}").status_code == 302
        assert_away(http, web)
        with start_gateway(product, tmp_path, here):
            assert http.get(f"{web.url}/{code}").status_code == 302
        assert_away(http, web)
        # No data of visitors: no address, no path.
        assert web.stop() == ""


def test_an_answer_that_does_not_come_is_deadline_exceeded(
    tmp_path: Path, http: httpx.Client
) -> None:
    with upstream(answers=0) as server:
        web = before(server, tmp_path)
        short = (
            ("read_timeout 75s", "read_timeout 1s"),
            ("stream_timeout 5s", "stream_timeout 500ms"),
        )
        web.script = edited(tmp_path, *short)
        with web:
            call = http.post(f"{web.url}/createShortLink", json=LINK)
            redirect = http.get(f"{web.url}/{new_code()}")
        assert server.requests == 2  # Slow requests are not repeated.
    assert (call.status_code, call.json()["error"]["status"]) == (504, "DEADLINE_EXCEEDED")
    assert (redirect.status_code, redirect.headers["retry-after"]) == (503, "2")


def test_a_gateway_that_comes_back_at_another_address_is_found_by_its_name(
    product: Product, tmp_path: Path, http: httpx.Client, names: NameServer
) -> None:
    code = product.shorten("https://example.com/")
    port = free_port()
    settings = {"ATAJO_RESOLVER": names.listens}
    with Nginx(tmp_path, f"localhost:{port}", product.url, settings=settings) as web:
        with start_gateway(product, tmp_path, {"ATAJO_LISTEN": f"127.0.0.1:{port}"}):
            assert http.get(f"{web.url}/{code}").status_code == 302
            assert names.asked == 0  # The upstream that keeps connections.
        assert_away(http, web)
        names.address = "127.0.0.2"
        with start_gateway(product, tmp_path, {"ATAJO_LISTEN": f"127.0.0.2:{port}"}):
            # The TTL of the name server's answer.
            assert await_status(http, f"{web.url}/{code}", 302) < 10
            for _ in range(20):
                assert http.get(f"{web.url}/{code}").status_code == 302
                call = http.post(f"{web.url}/accessLink", json={"data": {"code": code}})
                assert call.status_code == 200
        assert_away(http, web)


def test_a_gateway_that_stops_fails_no_request_while_another_runs(
    product: Product, tmp_path: Path, names: NameServer
) -> None:
    token = product.log_in(product.register())
    code = product.shorten("https://example.com/", token)
    port = free_port()
    names.address = "127.0.0.2"
    settings = {"ATAJO_RESOLVER": names.listens}
    failed: list[int] = []
    followed = [0, 0, 0, 0]
    enough = threading.Event()

    def visitor(number: int) -> None:
        with httpx.Client(
            trust_env=False, headers={"user-agent": BROWSER}, timeout=30, verify=NO_TLS
        ) as http:
            while not enough.is_set():
                statuses = [http.get(f"{web.url}/{code}").status_code, create(http, web, "")]
                followed[number] += statuses[0] == 302
                failed.extend(status for status in statuses if status not in (200, 302))

    def await_followed(more: int) -> None:
        wanted = sum(followed) + more
        wait_until(lambda: sum(followed) >= wanted)

    first, second = ({"ATAJO_LISTEN": f"127.0.0.{n}:{port}"} for n in (1, 2))
    with (
        start_gateway(product, tmp_path / "first", first) as ending,
        start_gateway(product, tmp_path / "second", second),
        Nginx(tmp_path, f"localhost:{port}", product.url, settings=settings) as web,
    ):
        threads = [threading.Thread(target=visitor, args=(n,)) for n in range(len(followed))]
        for thread in threads:
            thread.start()
        try:
            await_followed(100)
            assert names.asked == 0
            assert ending.stop() == 0
            await_followed(100)
        finally:
            enough.set()
            for thread in threads:
                thread.join()
        assert names.asked > 0
        assert failed == []
        wait_until(lambda: product.views(token)[code] == sum(followed), RECOVERY_SECONDS)
