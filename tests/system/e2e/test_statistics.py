"""Statistics in a real browser: private, public, live, by keyboard, as a file and printed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.product import Product
from tests.support.waiting import RECOVERY_SECONDS, wait_until
from tests.system.e2e.visitor_actions import keep_token, sideways

BOT = "Googlebot/2.1 (+http://www.google.com/bot.html)"


@pytest.fixture(scope="module")
def site(product_with_pages: Product) -> Product:
    return product_with_pages


@pytest.fixture
def owner(site: Product) -> str:
    """Return the token of an account without links."""
    return site.log_in(site.register())


@pytest.fixture
def account(page: Page, owner: str) -> Page:
    page.goto("/terms-of-use")
    keep_token(page, owner, 3600)
    return page


def _statistics(page: Page) -> Locator:
    return page.get_by_role("region", name="Statistics", exact=True)


def _figure(page: Page, name: str) -> Locator:
    """Return the value of a figure."""
    return _statistics(page).locator("dl > div", has_text=name).locator("dd").first


def _chart(page: Page) -> Locator:
    return page.get_by_role("slider", name=re.compile("^People by"))


def _visited(site: Product, token: str, people: int = 2) -> str:
    """Return the code of a link with counted visits of people and one bot."""
    code = site.shorten("https://example.org/visited", token)
    for _ in range(people):
        site.visit(code, {"referer": "https://news.example/today"})
    site.visit(code, {"user-agent": BOT})
    wait_until(lambda: site.views(token)[code] == people, RECOVERY_SECONDS)
    return code


def test_the_owner_sees_new_visits_without_a_reload(
    account: Page, site: Product, owner: str
) -> None:
    code = site.shorten("https://example.org/live", owner)
    account.goto(f"/links/{code}")
    expect(_statistics(account)).to_contain_text("No visits in this period.")
    account.evaluate("window.sameDocument = true")
    site.visit(code, {"referer": "https://news.example/today"})
    site.visit(code, {"user-agent": BOT})
    expect(_figure(account, "People")).to_have_text("1")
    expect(_figure(account, "Bots (not included)")).to_have_text("1")
    expect(account.get_by_role("region", name="Referrers")).to_contain_text("news.example")
    assert account.evaluate("window.sameDocument")


def test_print_has_the_figures_and_no_controls(account: Page, site: Product, owner: str) -> None:
    code = _visited(site, owner)
    account.emulate_media(color_scheme="dark")
    account.goto(f"/links/{code}")
    expect(_chart(account)).to_be_visible()
    account.emulate_media(media="print", color_scheme="dark")
    expect(_figure(account, "People")).to_be_visible()
    expect(_chart(account)).to_be_visible()
    expect(account.get_by_role("group", name="Period")).to_be_hidden()
    expect(account.get_by_role("button", name="CSV")).to_be_hidden()
    expect(account.get_by_role("term").filter(has_text="Expires")).to_be_visible()
    # It has no controls.
    expect(account.get_by_role("term").filter(has_text="Title")).to_be_hidden()
    # The dark theme prints on white.
    assert account.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(245, 246, 242)"
    )


def test_bars_and_the_legend_are_visible_in_forced_colors(
    account: Page, site: Product, owner: str
) -> None:
    code = _visited(site, owner)
    account.emulate_media(forced_colors="active", color_scheme="dark")
    account.goto(f"/links/{code}")
    expect(_chart(account)).to_be_visible()
    ground = account.evaluate("getComputedStyle(document.body).backgroundColor")
    region = _statistics(account)
    for mark in (region.locator("ol span[style]").first, region.locator("figcaption > span").first):
        expect(mark).not_to_have_css("background-color", ground)


@pytest.mark.parametrize("width", [320, 390, 1440])
def test_nothing_overflows(account: Page, site: Product, owner: str, width: int) -> None:
    code = _visited(site, owner)
    account.set_viewport_size({"width": width, "height": 800})
    account.goto(f"/links/{code}")
    expect(_chart(account)).to_be_visible()
    account.get_by_role("button", name="Show as a table").click()
    account.get_by_role("radio", name="Dates").check()
    expect(account.get_by_label("First day")).to_be_visible()
    assert sideways(account) == 0
    account.goto("/my-account")
    account.get_by_role("button", name="Statistics of all links").click()
    expect(_chart(account)).to_be_visible()
    assert sideways(account) == 0
