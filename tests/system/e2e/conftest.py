"""A real browser on the real product, with its built pages.

Playwright keeps an event loop running while it is open, which prevents asynchronous tests, so the
browser is closed after each module.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response

from tests.conftest import STORES, store_of_product
from tests.deployment.cluster.product import ClusterProduct
from tests.support.browsers import running_chromium
from tests.support.gateway_client import BROWSER
from tests.support.processes import TIMEOUT_SECONDS
from tests.support.product import Product
from tests.system.e2e.stage import behind_nginx, built_product
from tests.system.e2e.visitor_actions import await_scripts
from tests.system.qr.conftest import readers as readers

FLAGS = (
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


CLUSTER = pytest.param("cluster", marks=pytest.mark.cluster)
"""The product on the kind cluster, behind its nginx."""


NGINX = pytest.param("nginx", marks=pytest.mark.slow)
"""nginx with the pages in front. A smoke test on it is not slow."""


@pytest.fixture(scope="session", params=[*STORES, NGINX, CLUSTER])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    """The product with its pages. A test that stops a part restarts it."""
    if request.param == "sqlite":
        yield request.getfixturevalue("product_with_pages")
        return
    folder = tmp_path_factory.mktemp("site")
    if request.param == "cluster":
        with ClusterProduct(folder) as product:
            yield product
        return
    if request.param == "nginx":
        with behind_nginx(folder) as product:
            product.start()
            yield product
        return
    with store_of_product(request) as store, built_product(folder, store=store) as product:
        product.start()
        yield product


class _Target(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<!doctype html><link rel='icon' href='data:,'><h1>The target</h1>"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    """Destination of links in these tests: another site on loopback."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Target) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real browser."""
    with running_chromium(*FLAGS) as launched:
        yield launched


@pytest.fixture
def expected() -> list[str]:
    """Substrings of expected console errors. Tests add their own."""
    # The browser logs a document with status 404, which /<unknown code> must have.
    return ["status of 404"]


Visitors = Callable[..., BrowserContext]


def _with_scripts(page: Page) -> None:
    """Have `goto` and `reload` wait for the scripts of a public page, which start after the text.

    With options, they wait for what these say.
    """

    def waiting(load: Callable[..., Response | None]) -> Callable[..., Response | None]:
        def load_and_wait(*args: Any, **options: Any) -> Response | None:
            response = load(*args, **options)
            if not options:
                await_scripts(page)
            return response

        return load_and_wait

    page.goto = waiting(page.goto)  # type: ignore[method-assign]
    page.reload = waiting(page.reload)  # type: ignore[method-assign]


@pytest.fixture
def visitor(
    browser: Browser, site: Product, target: str, expected: list[str]
) -> Iterator[Visitors]:
    """Creates new visitors. Console errors (including violations of the content security policy)
    and requests to third parties fail the test."""
    troubles: list[str] = []
    contexts: list[BrowserContext] = []

    def watch(message: ConsoleMessage) -> None:
        if message.type == "error" and not any(part in message.text for part in expected):
            troubles.append(f"console: {message.text}")

    def make(*, base_url: str = site.url, **options: Any) -> BrowserContext:
        def watch_request(request: Request) -> None:
            if not request.url.startswith((base_url, target, "data:", "blob:")):
                troubles.append(f"third party: {request.url}")

        # A service worker would fetch all files in the background of every test.
        options.setdefault("service_workers", "block")
        context = browser.new_context(base_url=base_url, user_agent=BROWSER, **options)
        context.set_default_timeout(1000 * TIMEOUT_SECONDS)
        context.on("console", watch)
        context.on("weberror", lambda error: troubles.append(f"page: {error.error}"))
        context.on("request", watch_request)
        context.on("page", _with_scripts)
        contexts.append(context)
        return context

    yield make
    for context in contexts:
        context.close()
    assert not troubles, troubles


@pytest.fixture
def context(visitor: Visitors) -> BrowserContext:
    """A new visitor."""
    return visitor()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A tab of a new visitor."""
    return context.new_page()
