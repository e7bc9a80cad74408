"""Late code and styles of a page, and network failures while they load."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Page, Request, expect

from tests.support.product import Product
from tests.system.e2e.visitor_actions import link_field, plates, spinner, submit, toast

LATE = 45_000
"""Milliseconds for a few attempts with their pauses."""
LEFT_OPEN = "performance.now = () => 61_000"
"""Makes a document look as if it was loaded more than a minute ago."""


@pytest.fixture(autouse=True)
def away(expected: list[str]) -> None:
    """Tests in which something fails to load, which the console reports."""
    expected += ["net::ERR_", "Failed to fetch", "NotLoaded", "did not load", "load: ", "Outdated"]


@pytest.mark.parametrize(
    ("name", "heading", "files"),
    [("Login", "Log in", "*.js"), ("Register", "Register", "NewPasswordField-*.css")],
)
def test_a_page_that_failed_to_load_appears_when_the_network_is_back(
    page: Page, name: str, heading: str, files: str
) -> None:
    """In the same document, automatically, and with each module imported once."""
    page.goto("/")
    page.wait_for_load_state("networkidle")
    page.evaluate("window.stays = true")
    imported: list[str] = []

    def note(request: Request) -> None:
        if request.resource_type == "script" and f"/{name}Page-" in request.url:
            imported.append(request.url)

    page.on("request", note)
    page.route(f"**/assets/{files}", lambda route: route.abort())
    title = page.get_by_role("heading", level=1)
    page.get_by_role("link", name=name.upper()).click()
    expect(title).to_have_text("This page did not load")
    expect(title).to_be_focused()
    again = page.get_by_role("button", name="Reload")
    again.click()
    expect(again).to_be_focused()
    # Browsers may remember a failed import, so none may have failed.
    assert imported == []

    page.unroute_all()
    expect(title).to_have_text(heading, timeout=LATE)
    expect(title).to_be_focused()
    assert page.evaluate("window.stays")
    assert len(imported) == 1
    if name == "Register":
        rules = page.get_by_role("main").get_by_role("list")
        expect(rules).to_have_css("list-style-type", "none")


def test_a_call_works_once_its_code_loads(page: Page, target: str) -> None:
    page.goto("/")
    page.wait_for_load_state("networkidle")
    imported: list[str] = []
    page.on(
        "request",
        lambda request: imported.append(request.url) if request.resource_type == "script" else None,
    )
    page.route("**/assets/*.js", lambda route: route.abort())
    submit(page, f"{target}/late")
    expect(spinner(page, "Shortening")).to_be_visible()
    with page.expect_console_message(lambda message: "load: failed" in message.text):
        pass
    assert imported == []
    page.unroute_all()
    expect(plates(page)).to_have_count(1, timeout=LATE)
    assert len([url for url in imported if "/functions-" in url]) == 1


def test_toasts_work_after_failing_to_load_once(page: Page) -> None:
    page.goto("/login")
    page.get_by_role("heading", level=1).wait_for()
    for ending in ("js", "css"):
        page.route(f"**/assets/ToastHost-*.{ending}", lambda route: route.abort())
    page.get_by_label("Email").fill("nobody@example.com")
    page.get_by_label("Password", exact=True).fill("Nothing-1")
    button = page.get_by_role("button", name="LOGIN")
    words = "No accound found with this email"
    with page.expect_console_message(lambda message: words in message.text):
        button.click()
    # The field shows the error anyway.
    expect(page.get_by_label("Email")).to_have_accessible_description(words)
    page.unroute_all()
    button.click()
    expect(toast(page, words)).to_be_visible()


def test_missing_code_reloads_the_newer_document(page: Page, target: str) -> None:
    """As in an open tab after an upgrade. Typed text is kept."""
    page.goto("/")
    page.wait_for_load_state("networkidle")
    page.evaluate(LEFT_OPEN)
    page.route("**/assets/functions-*.js", lambda route: route.fulfill(status=404))
    with page.expect_event("load"):
        submit(page, f"{target}/kept")
    expect(link_field(page)).to_have_value(f"{target}/kept")
    # The newer document does not reload immediately.
    page.evaluate("window.stays = true")
    page.get_by_role("button", name="Shorten", exact=True).click()
    with page.expect_console_message(lambda message: "load: outdated" in message.text):
        pass
    assert page.evaluate("window.stays")
    expect(spinner(page, "Shortening")).to_be_visible()
    page.unroute_all()
    expect(plates(page)).to_have_count(1, timeout=LATE)


def test_a_fetched_module_is_imported_from_the_browsers_cache(
    context: BrowserContext, site: Product
) -> None:
    """Nothing is transferred twice."""
    page = context.new_page()
    page.goto("/")
    page.wait_for_load_state("networkidle")
    page.get_by_role("link", name="LOGIN").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    page.wait_for_load_state("networkidle")
    sizes = page.evaluate(
        "performance.getEntriesByType('resource').filter(e => /LoginPage.*js/.test(e.name))"
        ".map(e => e.transferSize)"
    )
    assert len([size for size in sizes if size > 400]) == 1, sizes


@pytest.mark.parametrize(
    ("path", "name"),
    [("/login", "Login"), ("/custom-qr-generator", "Qr"), ("/links/abcdefgh", "Link")],
)
def test_the_files_of_a_page_load_in_parallel(page: Page, path: str, name: str) -> None:
    """A page's files load while those of the frame, which import them, are still loading."""
    page.route("**/assets/index-*.js", lambda route: None)
    with page.expect_response(re.compile(rf"/assets/{name}Page-[^/]*[.]js$")):
        page.goto(path, wait_until="commit")
    page.unroute_all()
