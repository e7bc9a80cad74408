"""The pages without a network, and the service worker that opens them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Error, Page, expect

from tests.support.product import Product
from tests.support.waiting import PROPAGATION_SECONDS, wait_until
from tests.system.e2e.conftest import Visitors
from tests.system.e2e.stage import built_product
from tests.system.e2e.visitor_actions import (
    PASSWORD,
    has_session_ended,
    link_field,
    log_in,
    plates,
    shorten,
    stored_token,
    submit,
    until,
)

OFFLINE = "You are offline. This page may be out of date."
KEPT = (
    "async () => (await Promise.all((await caches.keys()).map(async (name) =>"
    " (await (await caches.open(name)).keys()).map(({url}) => new URL(url).pathname)))).flat()"
)
"""Script that returns the paths of all cached responses."""


@pytest.fixture
def expected(expected: list[str]) -> list[str]:
    """Failed requests are expected offline."""
    return [*expected, "ERR_INTERNET_DISCONNECTED", "Failed", "Failure: ", "503"]


def with_worker(visitor: Visitors, **options: str) -> Page:
    """Return a new visitor's tab whose service worker is ready."""
    page = visitor(service_workers="allow", **options).new_page()
    page.goto("/")
    page.evaluate("navigator.serviceWorker.ready.then(() => undefined)")
    page.wait_for_function("navigator.serviceWorker.controller?.state === 'activated'")
    return page


def test_pages_that_were_never_opened_open_offline_and_say_so(visitor: Visitors) -> None:
    page = with_worker(visitor)
    page.context.set_offline(True)
    for path, heading in (
        ("/", "Shorten, share and track your links"),
        ("/short-link?from=here", "Shorten a link"),
        ("/privacy-policies#visits", "Privacy policies"),
        ("/login", "Log in"),
        ("/links/k7Qm2_xB", None),
    ):
        page.goto(path)
        if heading:
            expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        expect(page.get_by_text(OFFLINE)).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text(OFFLINE)).to_have_count(0)


def test_a_spanish_browser_is_offline_in_spanish(visitor: Visitors) -> None:
    page = with_worker(visitor, locale="es-ES")
    page.context.set_offline(True)
    page.goto("/custom-qr-generator")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("GENERADOR DE CÓDIGOS QR PERSONALIZADOS")
    expect(page.get_by_text("No tienes conexión.")).to_be_visible()


def test_qr_codes_with_all_options_are_created_offline(visitor: Visitors) -> None:
    page = with_worker(visitor)
    page.context.set_offline(True)
    page.goto("/custom-qr-generator")
    page.get_by_label("URL").fill("https://example.com/offline")
    expect(page.get_by_text("Scans well")).to_be_visible()
    page.get_by_role("button", name="More options").click()
    page.get_by_role("radio", name="Dots", exact=True).first.click()
    with page.expect_download() as png:
        page.get_by_role("button", name="DOWNLOAD QR").click()
    assert png.value.suggested_filename == "my-qr-code.png"
    with page.expect_download() as pdf:
        page.get_by_role("button", name="PDF", exact=True).click()
    assert Path(pdf.value.path()).read_bytes().startswith(b"%PDF")
    page.get_by_role("radio", name="Wi-Fi").click()
    expect(page.get_by_label("Network name")).to_be_visible()


def test_a_link_that_is_asked_for_offline_is_created_once(
    visitor: Visitors, site: Product, target: str
) -> None:
    page = with_worker(visitor)
    shorten(page, f"{target}/before")
    context = page.context
    context.set_offline(True)
    submit(page, f"{target}/offline")
    expect(page.get_by_role("img", name="Waiting for a connection")).to_be_visible()
    page.close()
    page = context.new_page()
    page.goto("/short-link")
    expect(page.get_by_role("img", name="Waiting for a connection")).to_be_visible()
    before = site.metric("atajo_links_created_total")
    context.set_offline(False)
    expect(plates(page).get_by_text(f"{target}/offline")).to_be_visible()
    after = site.metric("atajo_links_created_total")
    assert after == before + 1
    page.reload()
    expect(page.get_by_role("img", name="Waiting for a connection")).to_have_count(0)


def test_a_session_that_is_logged_out_offline_ends_on_the_server_later(
    visitor: Visitors, site: Product
) -> None:
    page = with_worker(visitor)
    log_in(page, site.register(password=PASSWORD))
    page.goto("/my-account")
    stored = stored_token(page)
    context = page.context
    context.set_offline(True)
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(re.compile("/$"))
    assert stored_token(page) is None
    assert not has_session_ended(site, stored)
    page.close()
    context.set_offline(False)
    context.new_page().goto("/")
    wait_until(lambda: has_session_ended(site, stored), PROPAGATION_SECONDS)


def test_short_urls_previews_functions_and_the_api_are_never_kept(
    visitor: Visitors, site: Product, target: str
) -> None:
    page = with_worker(visitor)
    code = site.shorten(f"{target}/")
    for path in (f"/{code}", f"/{code}+", "/api", "/status"):
        page.goto(path)
    page.goto("/")
    shorten(page, f"{target}/2")
    kept: list[str] = page.evaluate(KEPT)
    assert {path for path in kept if not path.startswith("/assets/")} == {"/not-found"}
    page.context.set_offline(True)
    for path in (f"/{code}", f"/{code}+", f"/{code}.", "/api", "/status", "/api/v1/links"):
        with pytest.raises(Error, match="ERR_INTERNET_DISCONNECTED"):
            page.goto(path)


@pytest.fixture
def restarted(tmp_path: Path) -> Iterator[Product]:
    """A product of its own, which the test starts again with other settings."""
    with built_product(tmp_path) as product:
        product.start()
        yield product


def test_the_operator_removes_the_worker_from_every_browser(
    visitor: Visitors, restarted: Product
) -> None:
    page = with_worker(visitor, base_url=restarted.url)
    assert page.evaluate(KEPT) != []
    restarted.stop("gateway")
    restarted.settings["ATAJO_SERVICE_WORKER"] = "off"
    restarted.start("gateway")

    # The server's script takes the place of the worker, and keeps nothing.
    page.goto("/login")
    page.evaluate("navigator.serviceWorker.getRegistration().then((known) => known?.update())")
    until(lambda: page.evaluate(KEPT) == [])
    # An open page removes it.
    registered = "navigator.serviceWorker.getRegistration().then((known) => known !== undefined)"
    until(lambda: not page.evaluate(registered))
    page.goto("/")
    expect(link_field(page)).to_be_visible()
    expect(page).to_have_title(re.compile("Atajo"))
