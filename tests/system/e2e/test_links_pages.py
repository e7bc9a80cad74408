"""An owner's links in a real browser: created, changed, removed and restored."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.product import Product
from tests.system.e2e.visitor_actions import answer_to, keep_token, sideways, until, until_held


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


def test_a_removed_link_is_restored_at_its_position(
    account: Page, site: Product, owner: str
) -> None:
    codes = [site.shorten(f"https://example.org/{name}", owner) for name in ("a", "b", "c")]
    account.goto("/my-account")
    row = account.get_by_role("row").nth(2)
    expect(row).to_contain_text(codes[1])
    row.get_by_role("button", name="More actions for").click()
    account.get_by_role("menuitem", name="Remove").click()
    expect(row).to_contain_text("was removed.")
    expect(row.get_by_role("button", name="Undo")).to_be_focused()
    # The page shows it before the server confirms.
    until(lambda: site.visit(codes[1]).status_code == 410)
    # The row shows before the server confirms, which does it although the page is closed.
    account.keyboard.press("Enter")
    expect(row.get_by_role("checkbox")).to_be_visible()
    account.goto("/terms-of-use")
    until(lambda: site.visit(codes[1]).status_code == 302)
    account.goto("/my-account")
    expect(account.get_by_role("row").nth(2)).to_contain_text(codes[1])


def test_queued_changes_are_sent_when_the_page_is_closed(
    account: Page, site: Product, owner: str
) -> None:
    code = site.shorten("https://example.org/a", owner)
    held: list[Route] = []

    def do_and_hold(route: Route) -> None:
        answer_to(route)
        held.append(route)

    account.route("**/removeLinks", do_and_hold)
    account.goto("/my-account")
    row = account.get_by_role("row").nth(1)
    row.get_by_role("button", name="More actions for").click()
    account.get_by_role("menuitem", name="Remove").click()
    until_held(account, held)
    until(lambda: site.visit(code).status_code == 410)
    # It is sent after the removal, which is not confirmed yet.
    row.get_by_role("button", name="Undo").click()
    expect(row.get_by_role("checkbox")).to_be_visible()
    account.goto("/terms-of-use")
    until(lambda: site.visit(code).status_code == 302)


def test_a_link_gets_a_new_destination_and_an_expiry_date_and_keeps_its_history(
    account: Page, site: Product, owner: str
) -> None:
    code = site.shorten("https://example.org/first", owner)
    account.goto("/my-account")
    account.get_by_role("link", name="0 views of").click()
    expect(account.get_by_role("heading", level=1)).to_contain_text(code)
    account.get_by_role("button", name="Change the destination").click()
    account.get_by_role("textbox", name="Destination").fill("https://example.org/second")
    account.get_by_role("button", name="Save").click()
    expect(account.get_by_role("listitem")).to_contain_text(["https://example.org/first"])
    assert site.visit(code).headers["location"] == "https://example.org/second"
    account.get_by_role("button", name="Set an expiry date").click()
    account.get_by_label("Expires at").fill("2020-01-01T12:00")
    expect(account.get_by_text("This time has passed. The link expires at once.")).to_be_visible()
    account.get_by_role("button", name="Save").click()
    expect(account.get_by_text("This link has expired.")).to_be_visible()
    assert site.visit(code).status_code == 410


@pytest.mark.parametrize("width", [320, 390, 1440])
def test_long_hosts_codes_urls_and_tags_do_not_overflow(
    account: Page, site: Product, owner: str, width: int
) -> None:
    """An installation may have any host name."""
    host = "short-links.of-a-company.example.com"
    code = f"a-rather-long-ending-of-32-{width:05}"

    def rename(route: Route) -> None:
        response = answer_to(route)
        own = f'name="atajo-public-url" content="{site.url}"'
        named = response.text().replace(own, own.replace(site.url, f"https://{host}"))
        route.fulfill(response=response, body=named)

    site.shorten("https://example.org/" + "a-long-way/" * 80, owner, code)
    changes = {"title": "W" * 100, "tags": ["w" * 30, "tag"]}
    site.data("changeLink", {"token": owner, "code": code, "changes": changes})
    account.route(lambda url: url in (f"{site.url}/my-account", f"{site.url}/links/{code}"), rename)
    account.set_viewport_size({"width": width, "height": 800})
    account.goto("/my-account")
    expect(account.get_by_role("row").nth(1)).to_contain_text(f"{host}/{code}")
    assert sideways(account) == 0
    account.goto(f"/links/{code}")
    expect(account.get_by_role("heading", level=1)).to_contain_text(f"{host}/{code}")
    expect(account.get_by_text("Created", exact=True)).to_be_visible()
    assert sideways(account) == 0
