"""The main use case: shorten, follow, register, log in, see the views."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.support.browsers import running_chromium
from tests.support.gateway_client import new_code
from tests.support.product import Product
from tests.system.e2e.conftest import FLAGS
from tests.system.e2e.visitor_actions import PASSWORD, register, shorten, stored_token, until


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The full Chromium instead of the headless shell."""
    with running_chromium(*FLAGS, shell=False) as launched:
        yield launched


def test_a_visitor_shortens_a_link_and_follows_it(
    page: Page, context: BrowserContext, target: str
) -> None:
    page.goto("/")
    address = shorten(page, f"{target}/a/long/way?round=1#here")
    follower = context.new_page()
    follower.goto(address)
    expect(follower).to_have_url(f"{target}/a/long/way?round=1#here")
    expect(follower.get_by_role("heading")).to_have_text("The target")


def test_an_account_sees_the_views_of_its_links(
    page: Page, context: BrowserContext, target: str
) -> None:
    email = f"{new_code()}@example.com"
    register(page, email)
    expect(page.get_by_label("Email")).to_have_value(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="LOGIN").click()
    expect(page).to_have_url(re.compile("/$"))
    expect(page.get_by_role("link", name="MY ACCOUNT")).to_be_visible()
    expect(page.get_by_role("link", name="LOGIN")).to_be_hidden()

    first, second = shorten(page, f"{target}/first"), shorten(page, f"{target}/second")
    for _ in range(5):
        follower = context.new_page()
        follower.goto(second)
        expect(follower).to_have_url(f"{target}/second")
        follower.close()

    def views_of(address: str) -> str:
        code = address.rpartition("/")[2]
        row = page.get_by_role("row").filter(has_text=code)
        views = row.get_by_role("link", name=re.compile(r"\bviews? of "))
        return views.inner_text().split()[0]

    page.get_by_role("link", name="MY ACCOUNT").click()
    expect(page.get_by_role("row").filter(has_text=f"{target}/second")).to_be_visible()

    def views_after_reload(address: str) -> str:
        page.reload()
        expect(page.get_by_role("row").filter(has_text=f"{target}/second")).to_be_visible()
        return views_of(address)

    until(lambda: views_after_reload(second) == "5")
    assert views_of(first) == "0"

    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(re.compile("/$"))
    expect(page.get_by_role("link", name="LOGIN")).to_be_visible()
    assert stored_token(page) is None


def test_the_route_of_a_code_shows_redirecting_and_goes_there(
    site: Product, page: Page, target: str
) -> None:
    """Without a gateway in front, the page's own route redirects."""
    code = site.shorten(f"{target}/by-the-page")
    document = site.http.get(f"{site.url}/").text
    page.route(f"**/{code}", lambda route: route.fulfill(content_type="text/html", body=document))
    page.goto(f"/{code}", wait_until="commit")
    expect(page).to_have_url(f"{target}/by-the-page")


def test_an_unknown_code_goes_to_not_found_and_home(page: Page) -> None:
    response = page.goto(f"/{new_code()}")
    assert response is not None
    assert response.status == 404
    expect(page).to_have_url(re.compile("/not-found$"))
    expect(page.get_by_role("heading", name="PAGE NOT FOUND")).to_be_visible()
    page.get_by_role("link", name="GO HOME").or_(page.get_by_role("button", name="GO HOME")).click()
    expect(page).to_have_url(re.compile("/$"))
