"""Links from other pages and apps, in a real browser."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.support.product import Product
from tests.system.e2e.conftest import Visitors
from tests.system.e2e.visitor_actions import link_field, plates


@pytest.mark.parametrize(
    ("locale", "file", "shortcut"),
    [("en-GB", "manifest.webmanifest", "Shorten"), ("es-MX", "manifest.es.webmanifest", "Acortar")],
)
def test_the_pages_can_be_installed(
    site: Product, visitor: Visitors, locale: str, file: str, shortcut: str
) -> None:
    page = visitor(locale=locale).new_page()
    page.goto("/")
    cdp = page.context.new_cdp_session(page)
    manifest = cdp.send("Page.getAppManifest")
    assert (manifest["url"], manifest["errors"]) == (f"{site.url}/{file}", [])
    assert json.loads(manifest["data"])["shortcuts"][0]["name"] == shortcut
    errors = cdp.send("Page.getInstallabilityErrors")["installabilityErrors"]
    search = page.locator('link[rel="search"]')
    expect(search).to_have_attribute("href", "/opensearch.xml")
    # A window without a profile, as tests have it, never installs.
    assert [error["errorId"] for error in errors if error["errorId"] != "in-incognito"] == []


def test_a_page_of_another_site_is_shared_with_the_bookmarklet(
    site: Product, page: Page, target: str
) -> None:
    page.goto("/short-link")
    bookmark = page.get_by_role("link", name="Shorten with Atajo")
    expect(bookmark).to_have_attribute("href", re.compile("^javascript:"))
    script = bookmark.get_attribute("href") or ""
    page.goto(f"{target}/a?b=c&d=e#f")
    with page.expect_popup() as opened:
        page.evaluate(script.removeprefix("javascript:"))
    shortener = opened.value
    expect(link_field(shortener)).to_have_value(f"{target}/a?b=c&d=e#f")
    expect(shortener).to_have_url(re.compile("/short-link$"))
    expect(plates(shortener)).to_have_count(0)
    shortener.get_by_role("button", name="Shorten", exact=True).click()
    expect(plates(shortener)).to_have_count(1)


@pytest.mark.parametrize(
    ("shared", "link"),
    [
        ("title=A+page&text=&url=https%3A%2F%2Fexample.com%2Fx", "https://example.com/x"),
        ("text=" + quote("Look: https://example.com/y \u202e"), "https://example.com/y"),
        ("text=" + quote("<img src=x onerror=alert(1)>"), ""),
        ("url=" + quote("javascript:alert(document.domain)"), ""),
        ("url=" + "a" * 3000, ""),
    ],
)
def test_what_an_app_shares_is_only_text_in_the_field(page: Page, shared: str, link: str) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    calls: list[str] = []
    page.on("request", lambda request: calls.append(request.method))
    page.goto(f"/share?{shared}")
    expect(page).to_have_url(re.compile("/short-link$"))
    expect(link_field(page)).to_have_value(link)
    assert (dialogs, set(calls)) == ([], {"GET"})
