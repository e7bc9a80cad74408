"""Guests' links, claiming them, the end of a session, and the account's settings."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.support.gateway_client import new_code
from tests.support.product import Product
from tests.system.e2e.visitor_actions import (
    PASSWORD,
    log_in,
    register,
    shorten,
    stored_token,
    until,
)

HOME = re.compile(":[0-9]+/$")


def earlier(page: Page) -> Locator:
    """The rows of links that this browser created earlier."""
    return page.get_by_role("region", name="Created in this browser").get_by_role("listitem")


def offer(page: Page) -> Locator:
    """The offer to claim a guest's links."""
    return page.get_by_role("region", name="Links created in this browser")


def stored_key(page: Page) -> str | None:
    """Return the browser's guest key."""
    key: str | None = page.evaluate("localStorage.getItem('guestKey')")
    return key


def codes_of(site: Product, token: str) -> set[str]:
    """Return the codes of an account."""
    return set(site.views(token))


def test_a_guest_keeps_links_and_claims_them(site: Product, page: Page, target: str) -> None:
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.goto("/")
    assert stored_key(page) is None
    codes = [shorten(page, f"{target}/{name}")[-8:] for name in ("one", "two", "three")]
    key = stored_key(page)
    assert key is not None
    assert re.fullmatch(r"[\w-]{43}", key)

    assert site.visit(codes[1]).status_code == 302
    page.reload()
    expect(earlier(page)).to_contain_text([f"{target}/{name}" for name in ("three", "two", "one")])
    until(lambda: _views_after_reload(page, codes[1]) == "1 view")

    email = f"{new_code()}@example.com"
    register(page, email)
    log_in(page, email)
    expect(offer(page)).to_contain_text(
        "3 links created in this browser are not in your account yet."
    )
    page.get_by_role("link", name="QR CODE").click()
    expect(offer(page)).to_be_visible()
    page.get_by_role("button", name="Add them to my account").click()
    expect(offer(page)).to_have_count(0)
    assert stored_key(page) is None
    assert codes_of(site, site.log_in(email, PASSWORD)) == set(codes)
    page.get_by_role("link", name="MY ACCOUNT").click()
    for name in ("one", "two", "three"):
        expect(page.get_by_text(f"{target}/{name}").first).to_be_visible()
    assert not [url for url in urls if key in url]


def _views_after_reload(page: Page, code: str) -> str:
    page.reload()
    row = earlier(page).filter(has_text=code)
    expect(row).to_be_visible()
    words = row.get_by_role("link", name=re.compile("views?.* of ")).inner_text()
    return " ".join(words.split()[:2])


def test_earlier_links_load_without_layout_shift(page: Page, target: str) -> None:
    page.goto("/")
    for name in ("a", "b", "c"):
        shorten(page, f"{target}/{name}")
    page.reload()
    expect(earlier(page)).to_have_count(3)
    page.add_init_script(
        "window.shifts = 0; new PerformanceObserver(list => { for (const entry of"
        " list.getEntries()) if (!entry.hadRecentInput) window.shifts += entry.value })"
        ".observe({ type: 'layout-shift', buffered: true })"
    )
    page.reload()
    expect(earlier(page)).to_have_count(3)
    assert page.evaluate("window.shifts") < 0.01


def test_the_settings_of_an_account(site: Product, page: Page, target: str, tmp_path: Path) -> None:
    email = site.register(password=PASSWORD)
    log_in(page, email)
    old = json.loads(stored_token(page) or "")["token"]
    code = shorten(page, f"{target}/mine")[-8:]
    page.get_by_role("link", name="MY ACCOUNT").click()
    page.get_by_role("link", name="Settings").click()

    with page.expect_download() as download:
        page.get_by_role("button", name="Download my links as CSV").click()
    saved = tmp_path / "links.csv"
    download.value.save_as(saved)
    rows = list(csv.DictReader(io.StringIO(saved.read_text("utf-8-sig"))))
    assert [row["long_link"] for row in rows] == [f"{target}/mine"]

    page.get_by_label("Current password").fill("wrong")
    page.get_by_label("New password").fill("Sendero-77")
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("Incorrect password", exact=True)).to_be_visible()
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("Your password was changed.")).to_be_visible()
    assert site.data("showLinks", {"token": old}) == {"success": False, "error": "invalid token"}
    assert json.loads(stored_token(page) or "")["token"] != old

    page.get_by_role("button", name="Delete account").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Password", exact=True).fill("Sendero-77")
    dialog.get_by_role("button", name="Delete permanently").click()
    expect(page).to_have_url(HOME)
    expect(page.get_by_text("Your account was deleted.").first).to_be_visible()
    assert stored_token(page) is None
    until(lambda: site.visit(code).status_code != 302)
