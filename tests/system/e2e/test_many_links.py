"""Accounts with very many links, in a real browser."""

from __future__ import annotations

import sqlite3
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.support.product import Product
from tests.system.e2e.visitor_actions import keep_token, sideways, until

LINKS = 10_000
LOADED = 1_000
"""Links to scroll through: ten pages of the list."""
_COPIES = """
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
    INSERT INTO links (code, url, creator, created_at)
    SELECT printf('%s%07d', ?, n), printf('https://example.com/%d/of/many', n),
        creator, created_at + n
    FROM numbers, links WHERE code = ?
"""

HITCH = 0.4
"""Seconds of the page's own work that count as a stall."""
STEPS = 60
# Links load a hundred at a time while scrolling. Visible ones become rows once loaded.
_STEP = """
    async (share) => {
        const frame = () => new Promise(requestAnimationFrame);
        const isRow = () => {
            const middle = innerHeight / 2;
            const table = document.querySelector('[role=table]');
            const {top, bottom} = table.getBoundingClientRect();
            const inside = top < middle && middle < bottom;
            const there = document.elementFromPoint(innerWidth / 2, middle);
            return !inside || there?.closest('[role=row]') != null;
        };
        scrollTo(0, document.documentElement.scrollHeight * share);
        await frame();
        do await frame();
        while (!isRow());
    }
"""
"""Scrolls to a fraction of the page, and waits until a row is visible there."""


@pytest.fixture(scope="module")
def site(product_with_pages: Product) -> Product:
    return product_with_pages


def owner_of(site: Product, links: int, letter: str) -> str:
    """Return the token of a new account with one link created normally and the others in the store.

    The codes of these begin with the letter, and end with their number from 1 on.
    """
    token = site.log_in(site.register())
    first = site.shorten("https://example.com/the/first", token)
    connection = sqlite3.connect(site.folder / "links.sqlite3", timeout=10)
    with connection:
        connection.execute(_COPIES, (links - 1, letter, first))
    connection.close()
    return token


@pytest.fixture(scope="module")
def owner(site: Product) -> str:
    """Return the token of an account with ten thousand links."""
    return owner_of(site, LINKS, "L")


@pytest.fixture
def account(page: Page, owner: str) -> Page:
    page.goto("/terms-of-use")
    keep_token(page, owner, 3600)
    page.goto("/my-account")
    # Not in the live region, which is updated a little later.
    count = page.get_by_role("main").get_by_text("10,000 links", exact=True)
    expect(count).to_be_visible()
    return page


def test_only_visible_rows_are_in_the_document(account: Page) -> None:
    expect(account.get_by_role("table")).to_have_attribute("aria-rowcount", str(LINKS + 1))
    expect(account.get_by_role("row").nth(1)).to_contain_text("L0009999")
    assert account.get_by_role("row").count() < 80
    assert sideways(account) == 0


@pytest.mark.timeout(300)
def test_scrolling_shows_rows_without_a_stall(account: Page) -> None:
    session = account.context.new_cdp_session(account)
    # CPU time of the page's thread, so that other load does not count.
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def worked() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")

    marks = [worked()]
    for step in range(1, STEPS):
        account.evaluate(_STEP, step / STEPS)
        marks.append(worked())
    assert max(after - before for before, after in pairwise(marks)) < HITCH


def test_scrolling_reaches_the_last_link(page: Page, site: Product) -> None:
    page.goto("/terms-of-use")
    keep_token(page, owner_of(site, LOADED, "M"), 3600)
    page.goto("/my-account")
    expect(page.get_by_role("table")).to_have_attribute("aria-rowcount", str(LOADED + 1))
    last = page.get_by_role("row").filter(has_text="https://example.com/the/first")

    def is_at_the_end() -> bool:
        page.keyboard.press("End")  # Rows are measured as they load, so the end moves slightly.
        return last.is_visible()

    until(is_at_the_end)
    expect(page.get_by_role("contentinfo")).to_be_visible()


def test_a_search_after_scrolling_shows_its_results(account: Page) -> None:
    account.keyboard.press("End")
    account.get_by_label("Search").fill("/12/of")
    expect(account.get_by_role("row").last).to_be_in_viewport()
