"""nginx with a gateway behind it gives the same responses as a gateway with the pages."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from gateway.support.edge import Edge
from tests.support.api_client import ApiClient
from tests.support.bodiless_calls import BodilessCall
from tests.support.gateway_client import new_code
from tests.support.nginx import BUILT, Nginx, start_gateway
from tests.support.ports import free_port
from tests.support.processes import NO_TLS, ROOT, TIMEOUT_SECONDS
from tests.support.product import Product
from tests.support.waiting import PROPAGATION_SECONDS, wait_until

EDGE = Edge.load()
_CASES = json.loads((ROOT / "tests/shared/short_url_cases.json").read_text(encoding="utf-8"))
_SHORT_URLS = (*_CASES["followed"], *_CASES["not_followed"])
CONTACT = "hello@atajo.example"
FURTHER = ("https://go.example", "http://other.example:8443")
JSON = {"content-type": "application/json"}
ASSETS = {path.suffix: path.name for path in (BUILT / "assets").glob("index-*")}
SCRIPT, STYLE = (f"/assets/{ASSETS.get(suffix)}" for suffix in (".js", ".css"))
OWN = {"date", "server", "connection", "x-request-id", "etag", "ratelimit"}
"""Headers that may differ."""


@dataclass(frozen=True)
class Pair:
    """A gateway with the pages, and nginx in front of a gateway without."""

    gateway: str
    web: Nginx
    known: str

    def ask(self, method: str, path: str, **more: Any) -> tuple[httpx.Response, httpx.Response]:
        """Return the responses of both to the same request, with its path sent unchanged."""
        path = path.replace("{known}", self.known).replace("{unknown}", new_code())
        return ask(self.gateway, method, path, **more), ask(self.web.url, method, path, **more)


METHODS = ("GET", "HEAD")


def ask(origin: str, method: str, path: str, **more: Any) -> httpx.Response:
    url = httpx.URL(f"{origin}/").copy_with(raw_path=path.encode())
    with httpx.Client(trust_env=False, verify=NO_TLS, timeout=30) as client:
        return client.request(method, url, **more)


@pytest.fixture(scope="module")
def pair(product: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair")
    settings = {"ATAJO_CONTACT": CONTACT, "ATAJO_DOMAINS": ",".join(FURTHER)}
    pages = {"ATAJO_WEB_DIR": str(BUILT), **settings}
    with (
        start_gateway(product, folder / "with", pages) as with_pages,
        start_gateway(product, folder / "without", settings) as without,
        Nginx(folder, without.addresses["http"], product.url, settings=settings) as web,
    ):
        known = product.shorten("https://example.com/a?b=c#d")
        yield Pair(f"http://{with_pages.addresses['http']}", web, known)


def compared_headers(response: httpx.Response) -> dict[str, str]:
    """Return the headers that must be equal and occur once."""
    items = response.headers.multi_items()
    names = [name for name, _ in items]
    assert len(names) == len(set(names)), names
    # Two programs compress a document to different lengths.
    left_out = OWN | ({"content-length"} if "content-encoding" in names else set())
    return {name: value for name, value in items if name not in left_out}


def test_a_request_of_http_1_0_needs_no_host(pair: Pair) -> None:
    for origin in (pair.gateway, pair.web.url):
        port = int(origin.rpartition(":")[2])
        for host in (b"", b"host: atajo.example\r\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
                connection.sendall(b"GET /%s HTTP/1.0\r\n%s\r\n" % (pair.known.encode(), host))
                answer = b"".join(iter(lambda: connection.recv(65_536), b""))
            assert re.match(rb"HTTP/1.. 302 ", answer), (origin, host)


PAGES = [path.replace(":code", "{known}") for path in EDGE.pages]
GETS = (
    *("/{known}%2B", "/{known}+?a=b", "/{unknown}+", "/abc+", "/{known}++", "/{known}+/"),
    *("/register+", "/{known}+%0a", "/%6bnown-%63o", "/{known}?a=b", "/{known}%0a"),
    *("/sw.js", "/sw.js?lang=es", "/sw-off.js"),
    *(SCRIPT, STYLE, "/icon.svg", "/icon-192.png", "/manifest.webmanifest", "/favicon.ico"),
    *("/nothing-here", "/Login", "/login/", "/login%0a", "/login?a=b", "//", "//login", "/%ff%fe"),
    *("/index.html", "/unlisted.html", "/documents/index.html", "/.documents/login.html"),
    *(
        "/.call",
        "/.gateway",
        "/.further",
        "/further.html",
        "/.documents/",
        "/.documents",
        "/@missing",
    ),
    *("/assets", "/assets/", "/assets/none.js", f"{SCRIPT}.gz", "/icon.svg.br"),
    *("/links", "/links/", "/links/abc", "/links/{known}/", "/links/{known}%0a", "/links/:code"),
    *("/Links/{known}", "/my-account/", "/my-account/{known}"),
    *("/metrics", "/livez", f"/{'a' * 3000}"),
    *(path.replace("{code}", "{known}") for path in _SHORT_URLS),
    *EDGE.gateway,
)
BOTH = (*PAGES, *EDGE.functions, "/{known}", "/{unknown}", "/nothing")
POSTS = [
    *[("/accessLink", body) for body in (b'{"data":{"code":"none-yet"}}', b"no", b"a" * 65_536)],
    ("/showProfile", b'{"data":{"token":null}}'),
    *[(path, b'{"data":{"guest":null}}') for path in EDGE.functions],
]
PREFLIGHT = {"origin": "https://a.example", "access-control-request-method": "POST"}
LANGUAGES = json.loads(
    (ROOT / "tests" / "gateway" / "pages" / "languages.json").read_text(encoding="utf-8")
)
"""Query, Accept-Language and the language of the document."""
REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    *[("GET", path, {}) for path in (*GETS, *BOTH)],
    *[("HEAD", path, {}) for path in BOTH],
    *[("POST", path, {"content": body, "headers": JSON}) for path, body in POSTS],
    *[
        (method, path, {})
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "POST")
        for path in ("/", "/accessLink", "/nothing", "/{known}")
    ],
    *[
        ("GET", f"{path}{query}", {"headers": {"accept-language": accepted}})
        for path in ("/", "/{known}+", "/nothing")
        for query, accepted, _ in LANGUAGES
    ],
    ("OPTIONS", "/accessLink", {"headers": PREFLIGHT}),
    *[("GET", f"{EDGE.api}{path}", {}) for path in ("", "/", "/links", "/nothing", "/%ff?a=b")],
    *[("HEAD", f"{EDGE.api}{path}", {}) for path in ("", "/", "/links", "/openapi.json")],
    *[("POST", f"{EDGE.api}{path}", {}) for path in ("", "/", "/nothing")],
    ("GET", f"{EDGE.api}/openapi.json", {}),
    *[(method, f"{EDGE.api}/links/{{known}}", {}) for method in ("HEAD", "PATCH", "DELETE", "PUT")],
    ("OPTIONS", f"{EDGE.api}/links", {"headers": PREFLIGHT}),
    *[
        ("POST", f"{EDGE.api}{path}", {"content": b"a" * size, "headers": JSON})
        for path in ("", "/links")
        for size in (10, 70_000, 600_000)
    ],
]
AT_FURTHER = {"headers": {"host": "go.example"}}
REQUESTS += [
    *[("GET", path, AT_FURTHER) for path in (*GETS, *BOTH, "/{known}+?a=b&c", "/%c3%b1?%26")],
    *[("HEAD", path, AT_FURTHER) for path in BOTH],
    *[
        (method, path, AT_FURTHER)
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "POST")
        for path in ("/", "/accessLink", "/nothing", "/{known}", f"{EDGE.api}/links")
    ],
    *[("POST", "/accessLink", {"content": b"a" * size, **AT_FURTHER}) for size in (60_000, 70_000)],
    *[
        ("GET", path, {"headers": {"host": host}})
        for path in ("/", "/{known}", "/{unknown}")
        for host in (
            *("GO.EXAMPLE", "go.example:80", "go.example:443", "other.example:8443"),
            *("go.example:8080", "other.example", "www.go.example"),
        )
    ],
]
NEGOTIATED = ("/", "/login", "/links/{known}", "/{known}+", "/{known}", "/{unknown}", SCRIPT, STYLE)
"""Paths that are requested in every coding. The others only compressed."""


@pytest.mark.parametrize(
    ("method", "path", "more"), REQUESTS, ids=[f"{m} {p[:30]}" for m, p, _ in REQUESTS]
)
def test_both_answer_alike(pair: Pair, method: str, path: str, more: dict[str, Any]) -> None:
    codings = ("gzip", "gzip;q=0, identity", "identity") if path in NEGOTIATED else ("gzip",)
    for coding in codings:
        headers = {**more.get("headers", {}), "accept-encoding": coding}
        by_gateway, by_nginx = pair.ask(method, path, **{**more, "headers": headers})
        assert by_nginx.status_code == by_gateway.status_code, coding
        assert by_nginx.content == by_gateway.content, coding
        assert compared_headers(by_nginx) == compared_headers(by_gateway), coding
        assert ("etag" in by_nginx.headers) == ("etag" in by_gateway.headers), coding
        assert by_nginx.headers["server"] == "nginx"


@pytest.mark.parametrize("size", [65_537, 524_289, 2_000_000])
def test_both_count_requests_whose_body_is_too_large(
    product: Product, pair: Pair, size: int
) -> None:
    headers = {**JSON, "authorization": f"Bearer {ApiClient(product).key}"}
    more = {"content": b"a" * size, "headers": headers}
    for response in pair.ask("POST", f"{EDGE.api}/links", **more):
        assert response.status_code == 413
        assert response.json()["code"] == "body_too_large"
        assert response.headers["ratelimit"] == '"default";r=1999;t=1'
        assert response.headers["access-control-allow-origin"] == "*"


def test_both_follow_a_scan_code_at_a_host_in_capitals(product: Product, pair: Pair) -> None:
    """URLs in QR symbols are in capitals, because of the alphanumeric mode."""
    owner = {"guest": "g" * 43}
    code = new_code()
    product.data("createShortLink", {**owner, "code": code, "url": "https://example.com/q"})
    scan_code = product.data("createScanCode", {**owner, "code": code})["scan_code"]
    host = {"host": "ATAJO.EXAMPLE"}
    for answer in pair.ask("GET", f"/{scan_code}", headers=host):
        assert answer.status_code == 302
        assert answer.headers["location"] == "https://example.com/q"


def test_both_agree_on_every_character_that_may_follow_a_code(pair: Pair) -> None:
    """Covers Latin-1, punctuation of several scripts, and one character of each property."""
    points = (
        *range(1, 0x100),
        *range(0x2000, 0x2070),
        *range(0x3000, 0x3020),
        *range(0xFF01, 0xFF20),
    )
    others = "\u037e\u0589\u060c\u061f\u0964\u1362\u180e\ufe0f\ufe52\U000110be\U000e0001\U000e0100"
    for text in (*map(chr, points), *others):
        encoded = "".join(f"%{byte:02x}" for byte in text.encode())
        for spelling in {encoded, encoded.upper()}:
            by_gateway, by_nginx = pair.ask("HEAD", f"/{pair.known}{spelling}")
            assert by_nginx.status_code == by_gateway.status_code, spelling
        if text.isprintable() and not text.isascii():
            for origin in (pair.gateway, pair.web.url):
                statuses = {
                    status_of_raw(origin, method, f"/{pair.known}{text}") for method in METHODS
                }
                assert statuses == {by_gateway.status_code}, text


def status_of_raw(origin: str, method: str, path: str, headers: str = "") -> int:
    """Return the status for a path that is sent in UTF-8, as clients other than browsers may."""
    port = int(origin.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        request = f"{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n"
        connection.sendall(request.encode())
        with connection.makefile("rb") as answer:
            return int(answer.readline().split()[1])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        *(("/{known}\u3002", 302), ("/{known}\u2026.", 302), ("/{known}\u200b/", 302)),
        *(("//{known}\uff01\uff09", 302), ("/{known}?utm_campaign=ni\u00f1o", 302)),
        *(("/{known}\u00f1", 404), ("/\u00f1", 404), ("/login\u3002", 404)),
    ],
)
def test_both_answer_a_path_that_is_sent_unencoded(pair: Pair, path: str, status: int) -> None:
    path = path.replace("{known}", pair.known)
    for origin in (pair.gateway, pair.web.url):
        for method in METHODS:
            assert status_of_raw(origin, method, path) == status


@pytest.mark.parametrize(
    "name", ["authorization", "content-type", "if-none-match", "host", "if-range"]
)
def test_both_refuse_a_second_value_of_a_header_that_has_one(pair: Pair, name: str) -> None:
    for path in (f"/{pair.known}", f"{EDGE.api}/links", "/robots.txt"):
        for origin in (pair.gateway, pair.web.url):
            assert status_of_raw(origin, "GET", path, f"{name}: a\r\n" * 2) == 400


OVER = {"expires_at": "2020-01-01T00:00:00Z", "ended_url": "https://ended.example/ñ"}
EDITS: dict[str, tuple[tuple[tuple[str, dict[str, Any]], ...], int, str | None]] = {
    "changed": (
        (("changeLink", {"changes": {"url": "https://b.example/ñ"}}),),
        *(302, "https://b.example/%C3%B1"),
    ),
    "expired, and leads on": (
        (("changeLink", {"changes": OVER}),),
        *(302, "https://ended.example/%C3%B1"),
    ),
    "removed": ((("removeLinks", {}),), 410, None),
    "restored": ((("removeLinks", {}), ("restoreLinks", {})), 302, "https://a.example/"),
    "blocked": ((("block", {}),), 451, None),
}
"""Actions on a link to https://a.example/, and the responses to its short URL."""


def block(product: Product, code: str) -> None:
    """Block a link as the operator."""
    request = pb.BlockLinkRequest(code=code, reason=pb.BLOCK_REASON_MALWARE)
    with grpc.insecure_channel(product.admin_address("links")) as channel:
        pb_grpc.ModerationServiceStub(channel).BlockLink(request, timeout=TIMEOUT_SECONDS)


def edit(product: Product, guest: str, code: str, edits: Sequence[tuple[str, Any]]) -> None:
    for function, given in edits:
        if function == "block":
            block(product, code)
        else:
            named = {"code": code} if function == "changeLink" else {"codes": [code]}
            assert product.data(function, {"guest": guest, **named, **given})["success"]


@pytest.mark.parametrize(("edits", "status", "location"), EDITS.values(), ids=EDITS)
def test_both_answer_for_a_link_as_it_is_now_whatever_they_had_in_memory(
    product: Product,
    pair: Pair,
    edits: Sequence[tuple[str, Any]],
    status: int,
    location: str | None,
) -> None:
    guest, code = "g" * 43, new_code()
    made = {"guest": guest, "code": code, "url": "https://a.example/"}
    assert product.data("createShortLink", made)["success"]
    for answer in pair.ask("GET", f"/{code}"):
        assert (answer.status_code, answer.headers["location"]) == (302, "https://a.example/")

    edit(product, guest, code, edits)

    def answers(one: str) -> bool:
        found = ask(one, "HEAD", f"/{code}")
        return (found.status_code, found.headers.get("location")) == (status, location)

    for one in (pair.gateway, pair.web.url):
        wait_until(partial(answers, one), PROPAGATION_SECONDS)
    for method in METHODS:
        by_gateway, by_nginx = pair.ask(method, f"/{code}", **AT_FURTHER)
        assert (by_nginx.status_code, by_gateway.status_code) == (status, status)
        assert by_nginx.headers.get("location") == by_gateway.headers.get("location") == location
        assert by_nginx.content == by_gateway.content
        assert compared_headers(by_nginx) == compared_headers(by_gateway)
        if location is None and method == "GET":
            assert f'<a href="{product.url}/">GO HOME</a>' in by_nginx.text
    requests = [(method, path) for method in METHODS for path in (f"/{code}", f"//{code}%EF%BC%89")]
    for method, path in requests:
        by_gateway, by_nginx = pair.ask(method, path, headers={"accept-encoding": "identity"})
        assert (by_nginx.status_code, by_gateway.status_code) == (status, status)
        assert by_nginx.headers.get("location") == by_gateway.headers.get("location") == location
        assert by_nginx.headers["cache-control"] == "private, no-store"
        assert by_nginx.content == by_gateway.content
        assert compared_headers(by_nginx) == compared_headers(by_gateway)
        if location is None:
            never = ask(pair.web.url, method, f"/{new_code()}")
            assert (never.status_code, never.content) == (404, by_nginx.content)
            assert (b"noindex" in by_nginx.content) == (method == "GET")
        else:
            assert by_nginx.headers["x-robots-tag"] == "noindex"
        by_gateway, by_nginx = pair.ask(
            method, f"/{code}+", headers={"accept-encoding": "identity"}
        )
        assert (by_nginx.status_code, by_gateway.status_code) == (200, 200)
        assert by_nginx.headers["cache-control"] == "no-cache"
        assert by_nginx.content == by_gateway.content
        assert compared_headers(by_nginx) == compared_headers(by_gateway)
        assert (b"noindex" in by_nginx.content) == (method == "GET")


@pytest.mark.parametrize("path", ["/", "/login", SCRIPT, "/icon.svg", "/icon-192.png"])
@pytest.mark.parametrize("coding", ["gzip", "identity"])
def test_an_unchanged_resource_is_304(pair: Pair, path: str, coding: str) -> None:
    accept = {"accept-encoding": coding}
    full = ask(pair.web.url, "GET", path, headers=accept)
    etag = full.headers["etag"]
    for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = ask(pair.web.url, "GET", path, headers={**accept, "if-none-match": known})
        assert again.status_code == 304, known
        assert again.content == b""
        for name in ("etag", "cache-control", "vary", "content-security-policy"):
            assert again.headers[name] == full.headers[name]
    other = ask(pair.web.url, "GET", path, headers={**accept, "if-none-match": '"other"'})
    assert other.status_code == 200


def test_a_compressed_file_reaches_clients_behind_a_proxy(pair: Pair) -> None:
    headers = {"accept-encoding": "gzip", "via": "1.1 proxy"}
    packed = ask(pair.web.url, "GET", SCRIPT, headers=headers)
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == (BUILT / SCRIPT[1:]).read_bytes()


def test_a_request_keeps_its_id(pair: Pair) -> None:
    headers = {"x-request-id": "of-the-client"}
    assert ask(pair.web.url, "POST", "/none", headers=headers).headers["x-request-id"] == (
        "of-the-client"
    )
    assert re.fullmatch("[0-9a-f]{16}", ask(pair.web.url, "POST", "/none").headers["x-request-id"])


@pytest.mark.parametrize("content", [b"a" * 65_537, [b"a" * 65_536, b"a"]], ids=["known", "found"])
def test_a_body_over_the_limit_is_refused_in_the_same_words(
    pair: Pair, content: bytes | list[bytes]
) -> None:
    by_gateway, by_nginx = pair.ask("POST", "/accessLink", content=content, headers=JSON)
    assert by_nginx.status_code == by_gateway.status_code == 400
    assert by_nginx.content == by_gateway.content
    # nginx does not vary by origin.
    assert compared_headers(by_nginx) == {
        k: v for k, v in compared_headers(by_gateway).items() if k != "vary"
    }


@pytest.mark.parametrize("path", ["/importLinks", "/checkImport"])
@pytest.mark.parametrize("size", [65_537, 524_288, 524_289])
def test_calls_with_rows_of_imports_may_have_larger_bodies(
    pair: Pair, path: str, size: int
) -> None:
    frame = len('{"data":{"rows":[{"row":1,"url":""}]}}')
    body = b'{"data":{"rows":[{"row":1,"url":"%s"}]}}' % (b"a" * (size - frame))
    for content in (body, [body[:-1], body[-1:]]):
        by_gateway, by_nginx = pair.ask("POST", path, content=content, headers=JSON)
        is_too_large = size > 524_288
        assert ("The body has more than 524288 bytes." in by_gateway.text) == is_too_large
        assert by_nginx.status_code == by_gateway.status_code
        assert by_nginx.content == by_gateway.content


@pytest.mark.parametrize("path", ["/importLinks", f"{EDGE.api}/links/bulk"])
def test_both_refuse_concurrent_large_bodies_in_the_same_words(
    product: Product, pair: Pair, path: str
) -> None:
    key = ApiClient(product).key
    with ExitStack() as arriving:
        for origin, limit in ((pair.gateway, 8), (pair.web.url, 64)):
            for _ in range(limit):
                call = arriving.enter_context(BodilessCall(origin, path, key=key))
                assert call.answer()[0] == 100
        headers = {**JSON, "authorization": f"Bearer {key}"}
        by_gateway, by_nginx = pair.ask("POST", path, content=b"a" * 400_000, headers=headers)
    assert by_nginx.status_code == by_gateway.status_code == 429
    assert by_nginx.content == by_gateway.content
    # Only the gateway knows the state of a rate limit. nginx does not vary by origin.
    assert compared_headers(by_nginx) == {
        name: value
        for name, value in compared_headers(by_gateway).items()
        if name not in ("ratelimit-policy", "vary")
    }


@pytest.mark.parametrize(
    "path", ["/a%00b", "/%2e%2e/%2e%2e/secret.txt", "/..%2fsecret.txt", f"/{'a' * 9000}"]
)
def test_what_nginx_refuses_at_sight_has_the_headers_too(pair: Pair, path: str) -> None:
    refused = ask(pair.web.url, "GET", path)
    assert 400 <= refused.status_code < 500
    for name, value in EDGE.page_headers:
        assert refused.headers.get_list(name.decode()) == [value.decode()]
    assert not re.search(r"nginx/\d", refused.text + refused.headers["server"])


def test_it_serves_its_health_and_metrics_on_another_port(pair: Pair) -> None:
    for path in ("/livez", "/readyz"):
        assert ask(pair.web.metrics_url, "GET", path).status_code == 200
    metrics = ask(pair.web.metrics_url, "GET", "/metrics")
    assert metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    samples = {
        sample.name: sample.value
        for family in text_string_to_metric_families(metrics.text)
        for sample in family.samples
        if family.type == "gauge"
    }
    assert set(samples) == {
        f"nginx_connections_{state}" for state in ("active", "reading", "writing", "waiting")
    }
    assert samples["nginx_connections_writing"] >= 1
    assert ask(pair.web.metrics_url, "GET", "/").status_code == 404


def test_both_turn_off_the_service_worker_and_the_page_for_administrators(
    product: Product, tmp_path: Path
) -> None:
    off = {"ATAJO_SERVICE_WORKER": "off", "ATAJO_ADMIN_PAGES": "off"}
    pages = {"ATAJO_WEB_DIR": str(BUILT), **off}
    with (
        start_gateway(product, tmp_path / "with", pages) as gateway,
        Nginx(tmp_path, gateway.addresses["http"], product.url, settings=off) as web,
    ):
        for origin in (f"http://{gateway.addresses['http']}", web.url):
            script = ask(origin, "GET", "/sw.js?lang=es")
            assert script.content == (BUILT / "sw-off.js").read_bytes()
            assert script.headers["cache-control"] == "no-cache"
            assert script.headers["content-type"] == "text/javascript; charset=utf-8"
            document = ask(origin, "GET", "/").text
            assert '<meta name="atajo-service-worker" content="off"' in document
            hidden, missing = (ask(origin, "GET", path) for path in (EDGE.admin, "/no/page"))
            assert hidden.status_code == missing.status_code == 404
            assert hidden.content == missing.content
            assert compared_headers(hidden) == compared_headers(missing)


@pytest.mark.parametrize(("accepted", "language"), [("es", "es"), ("en", "en"), ("fr", "en")])
def test_a_further_origin_says_that_the_gateway_is_away(
    tmp_path: Path, accepted: str, language: str
) -> None:
    settings = {"ATAJO_DOMAINS": FURTHER[0]}
    with Nginx(
        tmp_path, f"127.0.0.1:{free_port()}", "https://atajo.example", settings=settings
    ) as web:
        headers = {"host": "go.example", "accept-language": accepted}
        answer = ask(web.url, "GET", "/abcdefgh", headers=headers)
    assert answer.status_code == 503
    assert answer.headers["cache-control"] == "private, no-store"
    assert "retry-after" in answer.headers
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert f'<html lang="{language}">' in answer.text
    assert 'href="https://atajo.example/"' in answer.text
