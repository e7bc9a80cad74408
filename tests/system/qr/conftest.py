"""The QR page of the running product, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Request

from tests.support.browsers import running_chromium
from tests.support.processes import TIMEOUT_SECONDS
from tests.support.product import Product
from tests.system.qr.readers import Readers
from tests.system.qr.studio import Studio


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real browser."""
    with running_chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def readers() -> Iterator[Readers]:
    """Independent decoders."""
    with Readers() as readers:
        yield readers


@pytest.fixture
def context(browser: Browser, product_with_pages: Product) -> Iterator[BrowserContext]:
    """A new visitor. Fails the test for a console error (including violations of the content
    security policy), and for any request except for the product's own files."""
    troubles: list[str] = []
    context = browser.new_context(
        base_url=product_with_pages.url,
        viewport={"width": 1280, "height": 900},
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(1000 * TIMEOUT_SECONDS)

    def watch(message: ConsoleMessage) -> None:
        # Offline, the browser itself logs requests of other parts of the product.
        if message.type == "error" and "ERR_INTERNET_DISCONNECTED" not in message.text:
            troubles.append(f"console: {message.text}")

    def watch_request(request: Request) -> None:
        own = request.url.startswith((product_with_pages.url, "data:", "blob:"))
        if not own or request.method != "GET":
            troubles.append(f"request: {request.method} {request.url[:100]}")

    context.on("console", watch)
    context.on("weberror", lambda error: troubles.append(f"page: {error.error}"))
    context.on("request", watch_request)
    yield context
    context.close()
    assert not troubles, troubles


@pytest.fixture
def studio(context: BrowserContext) -> Studio:
    """The newly opened page."""
    return Studio(context.new_page())
