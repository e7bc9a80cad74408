"""Redirects, and the visits that they record."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

import pytest

from gateway.redirects.resolution import BlockReason, LinkState, Resolution
from tests.support.gateway_client import BROWSER, GatewayClient, new_code
from tests.support.in_process_gateway import InProcessGateway
from tests.support.processes import ROOT
from tests.support.product import Product
from tests.support.waiting import PROPAGATION_SECONDS, wait_until

SHORT_URLS = json.loads((ROOT / "tests/shared/short_url_cases.json").read_text(encoding="utf-8"))


def look_ups(product: Product, outcome: str = "OK") -> float:
    """Return the number of lookup calls of the gateway."""
    series = (
        f'grpc_client_handling_seconds_count{{grpc_code="{outcome}",grpc_method="ResolveLinks"'
        ',grpc_service="atajo.links.v1.LinksService"}'
    )
    try:
        return product.metric(series)
    except StopIteration:  # No call yet.
        return 0.0


def test_a_known_code_redirects_with_the_specified_headers(product: Product) -> None:
    code = product.shorten("https://example.com/a%20b?c=d#e")
    response = product.visit(code)
    assert response.status_code == 302
    assert response.headers["location"] == "https://example.com/a%20b?c=d#e"
    assert response.headers["cache-control"] == "private, no-store"
    assert response.headers["x-robots-tag"] == "noindex"
    assert response.headers["referrer-policy"] == "strict-origin-when-cross-origin"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "server" not in response.headers
    assert response.text == "Redirecting..."


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("example.com", "http://example.com"),
        ("https://ñandú.example/ñ?q=ü#é", "https://xn--and-6ma2c.example/%C3%B1?q=%C3%BC#%C3%A9"),
        ("https://example.com/a b", "https://example.com/a%20b"),
        ("https://example.com/?q=%F1%zz", "https://example.com/?q=%F1%zz"),
        ("HTTPS://EXAMPLE.com/../x", "HTTPS://EXAMPLE.com/../x"),
    ],
)
def test_the_location_is_the_url_in_ascii(product: Product, url: str, location: str) -> None:
    assert product.visit(product.shorten(url)).headers["location"] == location


def test_head_has_the_same_response_and_records_no_visit(product: Product) -> None:
    token = product.log_in(product.register())
    code = product.shorten("https://example.com/", token)
    got, headed = product.visit(code), product.http.head(f"{product.url}/{code}")
    assert headed.status_code == got.status_code
    assert headed.content == b""
    ignored = ("date",)
    assert {k: v for k, v in headed.headers.items() if k not in ignored} == {
        k: v for k, v in got.headers.items() if k not in ignored
    }
    product.visit(code)
    product.await_views(token, {code: 2})


@pytest.mark.alone
def test_every_visit_of_a_person_is_counted_within_two_seconds(product: Product) -> None:
    token = product.log_in(product.register())
    code = product.shorten("https://example.com/", token)
    for _ in range(25):
        assert product.visit(code).status_code == 302
    wait_until(lambda: product.views(token) == {code: 25}, 2.0)


def test_bots_and_prefetches_are_not_people(product: Product) -> None:
    token = product.log_in(product.register())
    code = product.shorten("https://example.com/", token)
    bots = product.metric('atajo_visits_total{kind="bot"}')
    looking_ahead = [("sec-purpose", "prefetch;prerender"), ("purpose", "prefetch")]
    for name, value in (("user-agent", "curl/8.5.0"), ("user-agent", ""), *looking_ahead):
        assert product.visit(code, {name: value}).status_code == 302
    assert product.visit(code, {"referer": "https://news.example/today"}).status_code == 302
    product.await_views(token, {code: 1})
    assert product.metric('atajo_visits_total{kind="bot"}') == bots + 2


AGENT = f"host: x\r\nuser-agent: {BROWSER}\r\n"


def plain_get(path: str) -> str:
    """A request that the fast path may answer."""
    return f"GET /{path} HTTP/1.1\r\n{AGENT}\r\n"


def exchange(product: Product, *requests: str) -> list[tuple[str, dict[str, str]]]:
    """Send requests on one connection; return status line and headers without the date."""
    port = int(product.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall("".join(requests).encode("latin-1"))
        text = ""
        while text.count("Redirecting...") < len(requests):
            received = connection.recv(65_536).decode("latin-1")
            assert received, text
            text += received
    responses = []
    for response in text.split("Redirecting...")[:-1]:
        status, *lines = response.strip().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        responses.append((status, {k: v for k, v in headers.items() if k not in OF_THE_MOMENT}))
    return responses


OF_THE_MOMENT = ("date", "connection")


def test_the_fast_path_answers_as_the_application_does(product: Product) -> None:
    """The application answers requests that close, have a body or are HTTP/1.0."""
    token = product.log_in(product.register())
    code = product.shorten("https://example.com/ñ?a=b#c", token)
    start = f"GET /{code} HTTP/1.1\r\n{AGENT}"
    others = [
        f"{start}connection: close\r\n\r\n",
        f"{start}content-length: 5\r\n\r\nhello",
        f"{start}transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        f"{start}connection: upgrade\r\nupgrade: h2c\r\n\r\n",
        f"GET /{code} HTTP/1.0\r\n{AGENT}\r\n",
        plain_get(f"{code}?utm=1"),
        plain_get(f"%{ord(code[0]):02X}{code[1:]}"),
    ]
    [at_once] = exchange(product, plain_get(code))
    status, headers = at_once
    assert status == "HTTP/1.1 302 Found"
    assert headers["location"] == "https://example.com/%C3%B1?a=b#c"
    for other in others:
        assert exchange(product, other) == [at_once], other
    product.await_views(token, {code: 1 + len(others)})


@pytest.fixture(scope="module")
def caching_one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with Product(tmp_path_factory.mktemp("one"), {"ATAJO_CACHE_BYTES": "700"}) as started:
        started.start()
        yield started


@pytest.fixture
def uncached(caching_one: Product) -> Iterator[Product]:
    """A product whose gateway caches one link, so that any other is looked up.

    A test may stop the gateway.
    """
    yield caching_one
    caching_one.revive()


@pytest.mark.parametrize("looked_up", [False, True])
def test_pipelined_requests_are_answered_in_order_and_each_counted(
    product_with_pages: Product, uncached: Product, looked_up: bool
) -> None:
    product = uncached if looked_up else product_with_pages
    token = product.log_in(product.register())
    codes = [product.shorten(f"https://example.com/{n}", token) for n in range(3)]
    asked = [codes[(n // 2) % 3] for n in range(60)]
    # Requests of the fast path mixed with requests of the application.
    requests = [plain_get(f"{code}." if n % 5 == 0 else code) for n, code in enumerate(asked)]
    responses = exchange(product, *requests)
    assert [headers["location"] for _, headers in responses] == [
        f"https://example.com/{codes.index(code)}" for code in asked
    ]
    product.await_views(token, dict.fromkeys(codes, 20))


def test_a_looked_up_link_is_answered_as_the_application_does(uncached: Product) -> None:
    token = uncached.log_in(uncached.register())
    code, other = (uncached.shorten(f"https://example.com/{n}", token) for n in range(2))
    responses = []
    for address in (code, f"{code}?utm=1", f"{code}."):
        before = look_ups(uncached)
        responses += exchange(uncached, plain_get(address))
        assert look_ups(uncached) == before + 1
        assert uncached.visit(other).status_code == 302
    assert responses[0] == responses[1] == responses[2]
    uncached.await_views(token, {code: 3, other: 3})


def send_request(product: Product, code: str) -> socket.socket:
    """Return a connection with a request that waits for its lookup."""
    misses = 'atajo_cache_lookups_total{result="miss"}'
    before = product.metric(misses)
    port = int(product.url.rpartition(":")[2])
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection.sendall(plain_get(code).encode())
    wait_until(lambda: product.metric(misses) > before)
    return connection


def test_a_failed_look_up_is_made_once(uncached: Product) -> None:
    before = look_ups(uncached, "DEADLINE_EXCEEDED")
    with uncached.suspended("links"):
        assert uncached.visit(new_code()).status_code == 503
    assert look_ups(uncached, "DEADLINE_EXCEEDED") == before + 1


def test_a_client_that_disconnects_before_the_response(uncached: Product) -> None:
    token = uncached.log_in(uncached.register())
    code, other = (uncached.shorten(f"https://example.com/{n}", token) for n in range(2))
    with uncached.suspended("links"):
        send_request(uncached, code).close()
    uncached.await_views(token, {code: 1, other: 0})
    assert [line for line in uncached.logs().splitlines() if "Traceback" in line] == []


def is_closed(product: Product) -> bool:
    """Whether the gateway accepts no more connections."""
    try:
        socket.create_connection(("127.0.0.1", int(product.url.rpartition(":")[2]))).close()
    except ConnectionError:
        return True
    return False


def test_a_waiting_client_is_answered_and_disconnected_while_the_gateway_stops(
    uncached: Product,
) -> None:
    code, _ = (uncached.shorten(f"https://example.com/{n}") for n in range(2))
    with uncached.suspended("links"):
        connection = send_request(uncached, code)
        os.kill(uncached.pid("gateway"), signal.SIGTERM)
        wait_until(lambda: is_closed(uncached))
    with connection:
        response = b"".join(iter(lambda: connection.recv(65_536), b""))
    # The latter if closing takes longer than the timeout of a lookup.
    assert response.startswith((b"HTTP/1.1 302 Found\r\n", b"HTTP/1.1 503 Service Unavailable\r\n"))
    assert b"connection: close\r\n" in response
    assert uncached.stop("gateway") == 0


def test_the_look_up_of_a_disconnected_client_ends_before_the_gateway(uncached: Product) -> None:
    """Its visit would be written to a closed journal."""
    code, _ = (uncached.shorten(f"https://example.com/{n}") for n in range(2))
    before = len(uncached.logs("gateway").splitlines())
    with uncached.suspended("links"):
        send_request(uncached, code).close()
        assert uncached.stop("gateway") == 0
    lines = [json.loads(line) for line in uncached.logs("gateway").splitlines()[before:]]
    failed = [line["reason"] for line in lines if line["event"] == "redirect_failed"]
    assert failed == ["DEADLINE_EXCEEDED"]


def test_a_request_after_one_of_the_fast_path_has_its_full_time(product: Product) -> None:
    """Longer than the keep-alive timeout of 5 s."""
    code = product.shorten("https://example.com/")
    port = int(product.url.rpartition(":")[2])
    body = json.dumps({"data": {"code": code}})
    requests = (
        f"GET /{code} HTTP/1.1\r\nhost: x\r\n\r\n"
        "POST /accessLink HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=6) as connection:
        connection.sendall(requests.encode())
        assert connection.recv(65_536).startswith(b"HTTP/1.1 302 Found\r\n")
        with pytest.raises(TimeoutError):
            connection.recv(65_536)
        connection.sendall(body.encode())
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")


def resident_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found
    return int(found[1]) / 1024


def test_long_distinct_headers_do_not_fill_memory(uncached: Product) -> None:
    code = uncached.shorten("https://example.com/")
    for _ in range(100):
        uncached.visit(code)
    before = resident_megabytes(uncached.pid("gateway"))
    port = int(uncached.url.rpartition(":")[2])
    with (
        socket.create_connection(("127.0.0.1", port), timeout=10) as connection,
        connection.makefile("rb") as responses,
    ):
        for n in range(8192):
            more = b"%d " % n + b"x" * 28_000
            connection.sendall(
                b"GET /%s HTTP/1.1\r\nhost: x\r\nuser-agent: Mozilla/5.0 %s\r\n"
                b"referer: https://h%d.example/%s\r\n\r\n" % (code.encode(), more, n, more)
            )
            head = b"".join(iter(responses.readline, b"\r\n"))
            assert head.startswith(b"HTTP/1.1 302 "), head
            responses.read(len(b"Redirecting..."))
    assert resident_megabytes(uncached.pid("gateway")) - before < 30


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    """A gateway alone, over links that the test controls."""
    with InProcessGateway(tmp_path_factory.mktemp("alone")) as gateway:
        yield gateway


LEADS_ON = "https://example.com/ñ"
ENDED = {
    "expired": (Resolution(LinkState.EXPIRED), 410, {"state": "expired"}),
    "expired since": (
        Resolution(LinkState.ACTIVE, "https://example.com/", datetime(2026, 1, 1, tzinfo=UTC)),
        410,
        {"state": "expired"},
    ),
    "expired, and leads on": (
        Resolution(LinkState.EXPIRED, ended_url=LEADS_ON),
        302,
        {"state": "expired"},
    ),
    "removed": (Resolution(LinkState.REMOVED), 410, {"state": "removed"}),
    "blocked": (
        Resolution(LinkState.BLOCKED, reason=BlockReason.PHISHING),
        451,
        {"state": "blocked", "reason": "phishing"},
    ),
}
"""Links by state, with the status of their short URL and the answer of accessLink."""


@pytest.mark.parametrize(("resolution", "status", "said"), ENDED.values(), ids=ENDED)
def test_an_inactive_link_shows_its_state_and_records_no_visit(
    single: InProcessGateway, resolution: Resolution, status: int, said: dict[str, str]
) -> None:
    code = new_code()
    single.links.answer(code, resolution)
    counted = [
        ("atajo_visits_total", {"kind": "person"}),
        ("atajo_visits_total", {"kind": "bot"}),
        ("atajo_redirects_total", {"result": "ended"}),
        ("atajo_redirects_total", {"result": "not_found"}),
    ]
    people, bots, ended, not_found = (single.metric(name, **labels) for name, labels in counted)
    # A miss, two hits, and three requests of the application.
    paths = (code, code, f"{code}?a=b", f"{code}.", f"{code}%E3%80%82?a=b", f"/{code}")
    for method, path in [(method, path) for path in paths for method in ("GET", "HEAD")]:
        response = single.http.request(
            method, f"{single.url}/{path}", headers={"user-agent": BROWSER}
        )
        assert response.status_code == status, (method, path)
        assert response.headers["cache-control"] == "private, no-store"
        assert response.headers["x-content-type-options"] == "nosniff"
        if status == 302:
            assert response.headers["location"] == "https://example.com/%C3%B1"
            assert response.text == ("Redirecting..." if method == "GET" else "")
        else:
            assert "location" not in response.headers
            missing = single.http.request(method, f"{single.url}/{new_code()}")
            assert response.content == missing.content
            left_out = ("date", "x-request-id")
            assert {k: v for k, v in response.headers.items() if k not in left_out} == {
                k: v for k, v in missing.headers.items() if k not in left_out
            }
    told = single.data("accessLink", {"code": code})
    target = [{"long_link": LEADS_ON}] if status == 302 else []
    assert told == {"success": True, "longUrl": target, **said}
    asked_for_nothing = 0 if status == 302 else 12
    assert [single.metric(name, **labels) for name, labels in counted] == [
        people,
        bots,
        ended + 12,
        not_found + asked_for_nothing,
    ]


def has_status(gateway: GatewayClient, code: str, status: int) -> bool:
    return gateway.visit(code).status_code == status


def test_a_change_applies_to_a_cached_link_within_seconds(
    single: InProcessGateway,
) -> None:
    code = single.shorten("https://example.com/")
    assert single.visit(code).status_code == 302
    looked_up = single.links.calls["resolve"]
    for resolution, status in (
        (Resolution(LinkState.BLOCKED, reason=BlockReason.SPAM), 451),
        (Resolution.active("https://example.com/"), 302),
        (None, 404),
    ):
        single.links.answer(code, resolution)
        wait_until(partial(has_status, single, code, status), PROPAGATION_SECONDS)
    assert single.links.calls["resolve"] == looked_up, "the change feed has it"


def test_a_change_applies_within_seconds_while_only_the_change_feed_fails(
    single: InProcessGateway,
) -> None:
    code, other = (single.shorten("https://example.com/") for _ in range(2))
    assert single.visit(code).status_code == single.visit(other).status_code == 302
    single.links.failing.add("changes")
    try:
        for resolution, status in (
            (Resolution(LinkState.BLOCKED, reason=BlockReason.SPAM), 451),
            (Resolution.active("https://example.com/"), 302),
            (Resolution(LinkState.REMOVED), 410),
        ):
            single.links.answer(code, resolution)
            wait_until(partial(has_status, single, code, status), PROPAGATION_SECONDS)
        single.links.away = True
        assert single.visit(other).status_code == 302, "nothing of links answers any more"
        assert single.visit(code).status_code == 410
        single.links.answer(other, Resolution(LinkState.REMOVED))
    finally:
        single.links.away = False
        single.links.failing.clear()
    wait_until(partial(has_status, single, other, 410), PROPAGATION_SECONDS)
    wait_until(lambda: single.metric("atajo_changes_age_seconds") < 2, PROPAGATION_SECONDS)


@pytest.mark.parametrize("code", ["abcd", "ABCD-_09" * 4])
def test_codes_of_every_length_redirect(single: InProcessGateway, code: str) -> None:
    single.links.answer(code, Resolution.active("https://example.com/"))
    hits = single.metric("atajo_cache_lookups_total", result="hit")
    for _ in range(3):
        assert single.visit(code).headers["location"] == "https://example.com/"
    assert single.metric("atajo_cache_lookups_total", result="hit") == hits + 2


@pytest.mark.parametrize("path", ["abc", "a" * 33, "abc+", "status", "login", "accessLink"])
def test_invalid_codes_and_routes_are_never_looked_up(single: InProcessGateway, path: str) -> None:
    before = single.links.calls["resolve"]
    for method in ("GET", "HEAD"):
        assert single.http.request(method, f"{single.url}/{path}").status_code in (200, 400, 404)
    assert single.links.calls["resolve"] == before


def status_of(single: InProcessGateway, method: str, path: str) -> tuple[int, str | None]:
    """Return status and Location for a path that is sent exactly as given."""
    _, _, port = single.url.rpartition(":")
    connection = HTTPConnection("127.0.0.1", int(port), timeout=10)
    with closing(connection):
        connection.putrequest(method, path, skip_accept_encoding=True)
        connection.putheader("user-agent", BROWSER)
        connection.endheaders()
        response = connection.getresponse()
        return response.status, response.getheader("location")


@pytest.mark.parametrize("path", SHORT_URLS["followed"])
def test_punctuation_after_a_code_is_ignored_and_the_visit_counts_once(
    single: InProcessGateway, path: str
) -> None:
    code = SHORT_URLS["code"]
    single.links.answer(code, Resolution.active("https://example.com/"))
    people = single.metric("atajo_visits_total", kind="person")
    for method, counted in (("GET", 1), ("HEAD", 1), ("GET", 2)):
        response = status_of(single, method, path.replace("{code}", code))
        assert response == (302, "https://example.com/")
        assert single.metric("atajo_visits_total", kind="person") == people + counted


@pytest.mark.parametrize("path", SHORT_URLS["not_followed"])
def test_any_other_text_after_a_code_is_not_found(single: InProcessGateway, path: str) -> None:
    code = SHORT_URLS["code"]
    single.links.answer(code, Resolution.active("https://example.com/"))
    looked_up = single.links.calls["resolve"]
    for method in ("GET", "HEAD"):
        status, location = status_of(single, method, path.replace("{code}", code))
        assert (status, location) == (404, None)
    assert single.links.calls["resolve"] == looked_up


def test_punctuation_after_a_scan_code_counts_as_a_scan(product: Product) -> None:
    token = product.log_in(product.register())
    code = product.shorten("https://example.com/", token)
    scan_code = product.data("createScanCode", {"token": token, "code": code})["scan_code"]
    for trailing in ("", ".", "%E2%80%8B", "?utm_source=poster", ".?a=b"):
        assert product.visit(f"{scan_code}{trailing}").status_code == 302
    product.await_views(token, {code: 5})


def test_punctuation_after_a_code_whose_look_up_fails_has_retry_after(
    single: InProcessGateway,
) -> None:
    single.links.away = True
    try:
        response = single.http.get(f"{single.url}/{new_code()}.")
    finally:
        single.links.away = False
    assert (response.status_code, response.headers["retry-after"]) == (503, "2")
