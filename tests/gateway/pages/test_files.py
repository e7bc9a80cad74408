"""Pages and files as the gateway serves them: documents, compression, caching."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest

from gateway.pages import languages
from gateway.redirects.resolution import LinkState, Resolution
from gateway.support.edge import Edge
from tests.support.gateway_client import new_code
from tests.support.in_process_gateway import InProcessGateway
from tests.support.processes import ROOT

EDGE = Edge.load()
SCRIPT = b"console.log('atajo');\n" * 40
CONTACT = 'it\'s <"us"> & co@example.com'
FILES = {
    "assets/app-1a2b3c.js": SCRIPT,
    "assets/app-1a2b3c.js.gz": gzip.compress(SCRIPT),
    "assets/app-1a2b3c.js.br": b"as the build has compressed it",
    "assets/face-1a2b3c.woff2": b"wOF2",
    "icon.svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "manifest.webmanifest": b"{}",
    "sw.js": b"self.skipWaiting();",
    "sw-off.js": b"",
}
ON_EVERY_ANSWER = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "strict-origin-when-cross-origin",
}
ON_PAGES = {
    "content-security-policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; "
        "form-action 'self'; img-src 'self' data: blob:"
    ),
    "cross-origin-opener-policy": "same-origin",
}


@pytest.fixture(scope="module")
def web_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small build with the real document, and a secret file outside of it."""
    folder = tmp_path_factory.mktemp("web")
    (folder / "secret.txt").write_text("not to be had")
    dist = folder / "dist"
    (dist / "assets").mkdir(parents=True)
    (dist / "index.html").write_bytes((ROOT / "web" / "index.html").read_bytes())
    (dist / "api.html").write_bytes((ROOT / "web" / "api.html").read_bytes())
    spanish = (ROOT / "web" / "index.html").read_text().replace('lang="en"', 'lang="es"')
    (dist / "index.es.html").write_text(spanish)
    for name, content in FILES.items():
        (dist / name).write_bytes(content)
    return dist


@pytest.fixture(scope="module")
def site(web_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    with InProcessGateway(
        tmp_path_factory.mktemp("site"), web_dir=web_dir, contact=CONTACT
    ) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def known_code(site: InProcessGateway) -> str:
    """Return the code of a link."""
    return site.shorten("https://example.com/")


def get(site: InProcessGateway, path: str, method: str = "GET", **headers: str) -> httpx.Response:
    """Send a request with exactly this path and these headers."""
    url = httpx.URL(f"{site.url}/").copy_with(raw_path=path.encode())
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return site.http.request(method, url, headers={"accept-encoding": "identity", **names})


def metadata_of(document: str) -> dict[str, str]:
    """Return the metadata of the document by name."""
    found = re.findall(
        r'<(?:meta|link)\s+(?:name|property|rel)="([^"]+)"\s+\w+="([^"]*)"', document
    )
    return dict(found)


@pytest.mark.parametrize("path", sorted(set(EDGE.pages) - EDGE.link_pages))
def test_every_route_has_a_document_with_its_url(site: InProcessGateway, path: str) -> None:
    response = get(site, path.replace(":code", new_code()))
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache"
    head = metadata_of(response.text)
    if path != "/api":
        assert head["atajo-public-url"] == site.url
    assert head["og:image"] == f"{site.url}/icon-512.png"
    unlisted = (
        *("/my-account", "/my-account/settings", "/my-account/import"),
        *("/links/:code", "/admin", "/oidc/callback"),
    )
    if path in (*unlisted, "/reset-password", "/share", "/not-found"):
        assert head["robots"] == "noindex"
        assert "canonical" not in head
        assert "og:url" not in head
    else:
        assert "robots" not in head
        assert head["canonical"] == head["og:url"] == f"{site.url}{path}"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_well_known_path_leads_to_the_settings(site: InProcessGateway, method: str) -> None:
    response = get(site, "/.well-known/change-password", method)
    assert response.status_code == 302
    assert response.headers["location"] == "/my-account/settings#password"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert get(site, "/.well-known/other", method).status_code == 404


def test_the_description_of_the_search_engine_has_the_public_url(site: InProcessGateway) -> None:
    described = ElementTree.fromstring(get(site, "/opensearch.xml").content)
    (url,) = described.iter("{http://a9.com/-/spec/opensearch/1.1/}Url")
    assert url.attrib == {
        "type": "text/html",
        "template": f"{site.url}/share?url={{searchTerms}}",
    }


@pytest.mark.parametrize("length", [4, 8, 32])
def test_the_page_of_a_link_exists_for_every_code(site: InProcessGateway, length: int) -> None:
    assert get(site, f"/links/{(new_code() * 4)[:length]}").status_code == 200


@pytest.mark.parametrize("suffix", ["+", "%2B", "%2b", "+?a=b"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("state", LinkState)
def test_a_preview_exists_for_every_current_or_former_link(
    site: InProcessGateway, state: LinkState, method: str, suffix: str
) -> None:
    code = site.shorten("https://example.com/")
    site.links.answer(code, Resolution(state, "https://example.com/"))
    response = get(site, f"/{code}{suffix}", method)
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    if method == "GET":
        head = metadata_of(response.text)
        assert head["robots"] == "noindex"
        assert not {"canonical", "og:url"} & set(head)
    assert site.analytics.visits == []
    assert site.metric("atajo_redirects_total", result="found") == 0


def test_a_preview_whose_look_up_fails_has_retry_after(
    site: InProcessGateway,
) -> None:
    site.links.away = True
    try:
        response = get(site, f"/{new_code()}+")
    finally:
        site.links.away = False
    assert response.status_code == 503
    assert response.headers["retry-after"] == str(EDGE.retry_after)
    assert response.headers["cache-control"] == "private, no-store"


def test_settings_are_escaped_in_the_document(site: InProcessGateway) -> None:
    text = get(site, "/").text
    escaped = "it&#x27;s &lt;&quot;us&quot;&gt; &amp; co@example.com"
    assert f'<meta name="atajo-contact" content="{escaped}"' in text
    assert CONTACT not in text


@pytest.mark.parametrize(
    "path",
    [
        # Unknown pages.
        *("/nothing-here", "/Login", "/login/", "/my-account/", "/my-account/{known}"),
        *(
            "/links",
            "/links/",
            "/links/abc",
            f"/links/{'a' * 33}",
            "/links/{known}/",
            "/Links/{known}",
        ),
        *("/links/{known}/a", "/links/k7Qm2_x%C3%B1", "/links/{known}%0a", "/links/:code"),
        *("//links/{known}", f"/{'a' * 3000}", "/%ff%fe"),
        # Previews of codes that never had a link.
        *("/{new}+", "/{new}%2B", "/abc+", "/register+", f"/{'a' * 33}+", "/+", "/:code+"),
        *("/{known}++", "/{known}+/", "/{known}+%0a", "/{known}%252B", "/links/{known}+"),
        # Files that do not exist or are not served under that name.
        *("/index.html", "/assets/", "/assets/app-000000.js", "/assets/app-1a2b3c.js.gz"),
        *("/../secret.txt", "/assets/../../secret.txt", "/%2e%2e/secret.txt", "//secret.txt"),
        *("/assets/..%2f..%2fsecret.txt", "/assets/%2e%2e%5c%2e%2e%5csecret.txt"),
        "/secret.txt%00.js",
    ],
)
def test_unknown_paths_are_404_with_the_document(
    site: InProcessGateway, known_code: str, path: str
) -> None:
    path = path.replace("{known}", known_code).replace("{new}", new_code())
    response = get(site, path)
    assert response.status_code == get(site, path, "HEAD").status_code == 404
    assert "not to be had" not in response.text
    assert '<div id="root">' in response.text
    assert metadata_of(response.text)["robots"] == "noindex"
    assert response.headers["cache-control"] == "private, no-store"
    assert "etag" not in response.headers


@pytest.mark.parametrize(
    ("path", "content_type", "cache"),
    [
        ("/assets/app-1a2b3c.js", "text/javascript; charset=utf-8", EDGE.cache_hashed),
        ("/assets/face-1a2b3c.woff2", "font/woff2", EDGE.cache_hashed),
        ("/icon.svg", "image/svg+xml", EDGE.cache_files),
        ("/manifest.webmanifest", "application/manifest+json", EDGE.cache_files),
        ("/sw.js?lang=es", "text/javascript; charset=utf-8", b"no-cache"),
        ("/robots.txt", "text/plain; charset=utf-8", EDGE.cache_files),
        ("/sitemap.xml", "application/xml", EDGE.cache_files),
        ("/opensearch.xml", "application/opensearchdescription+xml", EDGE.cache_files),
    ],
)
def test_types_and_caching_of_files(
    site: InProcessGateway, path: str, content_type: str, cache: bytes
) -> None:
    response = get(site, path)
    assert response.status_code == 200
    assert response.headers["content-type"] == content_type
    assert response.headers["cache-control"] == cache.decode()


def test_a_hashed_file_is_cached_for_a_year() -> None:
    assert EDGE.cache_hashed == b"public, max-age=31536000, immutable"


CODINGS = json.loads(Path(__file__).with_name("codings.json").read_text(encoding="utf-8"))
"""The content coding that is sent, by Accept-Encoding."""


@pytest.mark.parametrize(("accepted", "coding"), [*CODINGS.items(), ("gzip" + ", x" * 300, None)])
def test_a_compressed_file_is_sent_if_accepted(
    site: InProcessGateway, accepted: str, coding: str | None
) -> None:
    url = f"{site.url}/assets/app-1a2b3c.js"
    with site.http.stream("GET", url, headers={"accept-encoding": accepted}) as response:
        sent = b"".join(response.iter_raw())
    assert response.headers.get("content-encoding") == coding
    assert response.headers["vary"] == "accept-encoding"
    suffix = {"br": ".br", "gzip": ".gz", None: ""}[coding]
    assert sent == FILES[f"assets/app-1a2b3c.js{suffix}"]
    assert response.headers["content-length"] == str(len(sent))


def test_the_beginning_of_accept_language_is_read() -> None:
    for length, language in ((8190, "es"), (8191, "en"), (60_000, "en")):
        assert languages.choose("", f"{' ' * length}es", ["en", "es"]).language == language


LANGUAGES = json.loads(Path(__file__).with_name("languages.json").read_text(encoding="utf-8"))
"""The language of the document, by query and Accept-Language."""


@pytest.mark.parametrize(("query", "accepted", "language"), LANGUAGES)
@pytest.mark.parametrize("path", ["/", "/login", "/nothing-here"])
def test_the_document_is_in_the_language_that_is_asked_for(
    site: InProcessGateway, path: str, query: str, accepted: str, language: str
) -> None:
    response = get(site, f"{path}{query}", accept_language=accepted)
    assert f'<html lang="{language}">' in response.text
    assert response.headers["vary"] == "accept-encoding, accept-language"


@pytest.mark.parametrize("accepted", ["en", "es"])
@pytest.mark.parametrize(
    ("query", "own_query"),
    [
        ("", ""),
        ("?lang=en", "?lang=en"),
        ("?lang=es", "?lang=es"),
        ("?a=b&lang=es-MX", "?lang=es"),
        ("?lang=fr", ""),
    ],
)
def test_a_listed_page_names_its_url_in_each_language(
    site: InProcessGateway, query: str, own_query: str, accepted: str
) -> None:
    document = get(site, f"/login{query}", accept_language=accepted).text
    url = f"{site.url}/login"
    head = metadata_of(document)
    assert head["canonical"] == head["og:url"] == f"{url}{own_query}"
    links = re.findall(r'<link rel="alternate" hreflang="([^"]+)" href="([^"]+)"', document)
    # A URL without `lang` answers in the visitor's language.
    assert dict(links) == {"en": f"{url}?lang=en", "es": f"{url}?lang=es", "x-default": url}
    assert "hreflang" not in get(site, f"/share{query}", accept_language=accepted).text


def test_the_document_is_compressed_too(site: InProcessGateway) -> None:
    packed = get(site, "/login", accept_encoding="gzip")
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.text == get(site, "/login").text


@pytest.mark.parametrize("path", ["/", "/assets/app-1a2b3c.js", "/icon.svg", "/sitemap.xml"])
def test_a_file_that_the_client_has_is_304(site: InProcessGateway, path: str) -> None:
    full = get(site, path)
    etag = full.headers["etag"]
    for known_code in (etag, etag.removeprefix("W/"), f'"other", {etag}', "*"):
        again = get(site, path, if_none_match=known_code)
        assert again.status_code == 304, known_code
        assert again.content == b""
        for name in ("etag", "cache-control", "vary"):
            assert again.headers[name] == full.headers[name]
    assert get(site, path, if_none_match='"other"').status_code == 200


def test_documents_of_two_routes_have_different_etags(site: InProcessGateway) -> None:
    home, login = get(site, "/"), get(site, "/login")
    assert home.headers["etag"] != login.headers["etag"]


@pytest.mark.parametrize("path", ["/", "/icon.svg", "/nothing-here", "/robots.txt"])
def test_head_has_the_same_headers_without_a_body(site: InProcessGateway, path: str) -> None:
    got, headed = get(site, path), get(site, path, "HEAD")
    assert headed.status_code == got.status_code
    assert headed.content == b""
    varying = {"date", "x-request-id"}
    assert {name: value for name, value in headed.headers.items() if name not in varying} == {
        name: value for name, value in got.headers.items() if name not in varying
    }


def test_robots_and_sitemap_have_the_public_url(site: InProcessGateway) -> None:
    robots = get(site, "/robots.txt").text.splitlines()
    assert robots[:2] == ["User-agent: *", "Disallow:"]
    assert f"Sitemap: {site.url}/sitemap.xml" in robots
    tree = ElementTree.fromstring(get(site, "/sitemap.xml").content)
    space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    assert tree.tag == f"{space}urlset"
    addresses = [element.text for element in tree.iter(f"{space}loc")]
    assert addresses == [f"{site.url}{path}" for path in EDGE.listed]
    assert f"{site.url}/" in addresses
    assert f"{site.url}/my-account" not in addresses


def test_every_response_has_security_headers(site: InProcessGateway) -> None:
    code = site.shorten("https://example.com/")
    pages = [get(site, path) for path in ("/", "/assets/app-1a2b3c.js", "/nothing", "/robots.txt")]
    pages.append(get(site, f"/{new_code()}"))
    pages.append(get(site, "/", if_none_match=pages[0].headers["etag"]))
    others = [
        site.visit(code),
        site.call("accessLink", {"code": code}),
        site.call("accessLink", {"code": 8}),
        site.call("noSuchFunction", {}),
        site.http.put(f"{site.url}/accessLink"),
    ]
    for response in [*pages, *others]:
        for name, value in ON_EVERY_ANSWER.items():
            assert response.headers.get(name) == value, (response.request.url, name)
        assert "server" not in response.headers
    for response in pages:
        for name, value in ON_PAGES.items():
            assert response.headers.get(name) == value, (response.request.url, name)
    assert "unsafe-inline" not in ON_PAGES["content-security-policy"]


def test_errors_of_codes_are_not_cacheable(
    site: InProcessGateway,
) -> None:
    absent = get(site, f"/{new_code()}")
    site.links.away = True
    failing = get(site, f"/{new_code()}")
    site.links.away = False
    for response, status in ((absent, 404), (failing, 503)):
        assert response.status_code == status
        assert response.headers["cache-control"] == "private, no-store"
        assert '<div id="root">' in response.text
    assert failing.headers["retry-after"] == "2"
    assert "retry-after" not in absent.headers
