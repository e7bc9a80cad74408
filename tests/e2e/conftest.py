"""A real browser on the real product, with its built pages.

Playwright keeps a loop running while it is open, and asynchronous tests cannot run beside it: what
is here ends with each module.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    sync_playwright,
)

from tests.e2e.stage import built_product, chromium
from tests.product import BROWSER, Product

_FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The whole product with its pages."""
    with built_product(tmp_path_factory.mktemp("site")) as product:
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
        """Stay quiet."""


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    """Where links of these tests lead: another site, on loopback too."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Target) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium of the PATH, else Playwright's own."""
    with sync_playwright() as playwright:
        flags = [*_FLAGS, "--no-sandbox"] if os.geteuid() == 0 else list(_FLAGS)
        launched = playwright.chromium.launch(executable_path=chromium(), args=flags)
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Browser, site: Product, target: str) -> Iterator[BrowserContext]:
    """A fresh visitor. Fails the test for a console error or a request to a third party."""
    troubles: list[str] = []
    context = browser.new_context(user_agent=BROWSER, base_url=site.url)
    context.set_default_timeout(15_000)

    def watch(message: ConsoleMessage) -> None:
        # The browser itself notes a document that answered 404, which /<unknown code> must.
        if message.type == "error" and "status of 404" not in message.text:
            troubles.append(f"console: {message.text}")

    context.on("console", watch)
    context.on("weberror", lambda error: troubles.append(f"page: {error.error}"))
    context.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((site.url, target, "data:", "blob:"))
            else troubles.append(f"third party: {request.url}")
        ),
    )
    yield context
    context.close()
    assert not troubles, troubles


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A tab of the fresh visitor."""
    return context.new_page()
