"""What an instance answers at its further origins (`ATAJO_DOMAINS`)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from gateway.pages.further import TEXTS
from gateway.pages.languages import DEFAULT
from gateway.redirects.resolution import BlockReason, LinkState, Resolution
from services.shared.origins import Origins
from tests.support.gateway_client import BROWSER, new_code
from tests.support.in_process_gateway import InProcessGateway
from tests.support.processes import ROOT

PUBLIC = "https://atajo.example"
FURTHER = "go.example"
NO_STORE = "private, no-store"
ENDED = [
    (Resolution(LinkState.EXPIRED), 410, "This link has expired."),
    (Resolution(LinkState.REMOVED), 410, "This link was removed by its owner."),
    (
        Resolution(LinkState.BLOCKED, reason=BlockReason.SPAM),
        451,
        "This link was blocked: spam.",
    ),
]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    folder = tmp_path_factory.mktemp("further")
    domains = f"https://{FURTHER},http://other.example:8443"
    with InProcessGateway(folder, public_url=PUBLIC, domains=domains) as gateway:
        yield gateway


def ask(
    gateway: InProcessGateway, path: str, host: str = FURTHER, method: str = "GET", **headers: str
) -> httpx.Response:
    sent = {"host": host, "user-agent": BROWSER, **headers}
    return gateway.http.request(method, f"{gateway.url}{path}", headers=sent)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "host", [FURTHER, "GO.example", f"{FURTHER}:443", f"{FURTHER}:80", "other.example:8443"]
)
@pytest.mark.parametrize("suffix", ["", "?utm_source=print", ".", "%29"])
def test_active_links_redirect_at_every_origin(
    gateway: InProcessGateway, method: str, host: str, suffix: str
) -> None:
    code = gateway.shorten("https://example.com/a")
    for _ in range(2):  # From a lookup, and from the cache.
        answer = ask(gateway, f"/{code}{suffix}", host, method)
        assert answer.status_code == 302
        assert answer.headers["location"] == "https://example.com/a"


def test_scan_codes_and_expired_links_redirect_at_every_origin(gateway: InProcessGateway) -> None:
    token = gateway.log_in(gateway.register())
    code = gateway.shorten("https://example.com/a", token)
    scan_code = gateway.data("createScanCode", {"token": token, "code": code})["scan_code"]
    assert ask(gateway, f"/{scan_code}").headers["location"] == "https://example.com/a"
    changes = {
        "expires_at": (datetime.now(UTC) - timedelta(days=1)).isoformat(),
        "ended_url": "https://example.com/over",
    }
    assert gateway.data("changeLink", {"token": token, "code": code, "changes": changes})["success"]
    for path in (code, scan_code):
        answer = ask(gateway, f"/{path}")
        assert (answer.status_code, answer.headers["location"]) == (302, changes["ended_url"])


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "path",
    [
        *("/", "/login", "/my-account?a=b", "/assets/x.js", "/robots.txt", "/status", "/sw.js"),
        *("/api/v1/links?limit=3", "/createShortLink", "/.well-known/change-password", "//", "/a"),
        *("/%C3%B1%20b?c=%26&d", "/abcdefgh+", "/abcdefgh+?x", "/NoSuchCd", "/NoSuchCd?x=y#z"),
        *("//NoSuchCd.", "/NoSuchCd%E2%80%A6"),
    ],
)
def test_other_paths_redirect_to_the_public_url(
    gateway: InProcessGateway, method: str, path: str
) -> None:
    answer = ask(gateway, path, method=method)
    assert answer.status_code == 301
    assert answer.headers["location"] == f"{PUBLIC}{path.partition('#')[0]}"
    assert answer.headers["cache-control"] == NO_STORE
    assert answer.content == b""


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/createShortLink", "/api/v1/links", "/NoSuchCd"])
def test_calls_redirect_and_do_nothing(gateway: InProcessGateway, method: str, path: str) -> None:
    creations = gateway.links.calls["create"]
    answer = ask(gateway, path, method=method, **{"content-type": "application/json"})
    assert (answer.status_code, answer.headers["location"]) == (301, f"{PUBLIC}{path}")
    assert gateway.links.calls["create"] == creations


def test_the_preview_of_a_link_is_at_the_public_url(gateway: InProcessGateway) -> None:
    code = gateway.shorten("https://example.com/a")
    answer = ask(gateway, f"/{code}+?x=y")
    assert (answer.status_code, answer.headers["location"]) == (301, f"{PUBLIC}/{code}+?x=y")


@pytest.mark.parametrize(("resolution", "status", "text"), ENDED)
def test_a_link_that_ended_says_so_without_files(
    gateway: InProcessGateway, resolution: Resolution, status: int, text: str
) -> None:
    code = new_code()
    gateway.links.answer(code, resolution)
    answer = ask(gateway, f"/{code}")
    assert answer.status_code == status
    assert answer.headers["cache-control"] == NO_STORE
    assert text in answer.text
    assert f'<a href="{PUBLIC}/">GO HOME</a>' in answer.text
    assert ("contact@atajo.example" in answer.text) == (status == 451)
    assert "src=" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    headed = ask(gateway, f"/{code}", method="HEAD")
    assert (headed.status_code, headed.content) == (status, b"")
    assert 'lang="es"' in ask(gateway, f"/{code}", **{"accept-language": "es-ES,en;q=0.5"}).text
    public = ask(gateway, f"/{code}", "atajo.example")
    assert public.status_code == status
    assert text not in public.text


def test_a_failed_lookup_says_so_without_files(gateway: InProcessGateway) -> None:
    gateway.links.failing.add("resolve")
    answer = ask(gateway, f"/{new_code()}")
    gateway.links.failing.clear()
    assert answer.status_code == 503
    assert "retry-after" in answer.headers
    assert "cannot be opened right now" in answer.text


@pytest.mark.parametrize("host", ["atajo.example", "www.go.example", "go.example:8080", "a:1"])
def test_other_hosts_are_served_as_the_public_one(gateway: InProcessGateway, host: str) -> None:
    assert ask(gateway, "/login", host).status_code == 200
    assert ask(gateway, "/NoSuchCd", host).status_code == 404


def test_the_public_host_on_another_port_is_a_further_origin() -> None:
    origins = Origins("http://localhost:8080", ("http://localhost:9090", "https://[::1]"))
    assert origins.further_hosts == {b"localhost:9090", b"[::1]", b"[::1]:80", b"[::1]:443"}


def test_every_language_of_the_pages_has_the_texts() -> None:
    folders = {path.name for path in (ROOT / "web/src/languages").iterdir() if path.is_dir()}
    assert TEXTS.keys() == {DEFAULT, *folders}
    for texts in TEXTS.values():
        assert texts.blocked.keys() == {reason.value for reason in BlockReason}


def test_what_is_no_path_does_not_become_part_of_the_host(gateway: InProcessGateway) -> None:
    request = gateway.http.build_request("OPTIONS", gateway.url, headers={"host": FURTHER})
    request.extensions["target"] = b"*"
    answer = gateway.http.send(request)
    assert (answer.status_code, answer.headers["location"]) == (301, f"{PUBLIC}/")
