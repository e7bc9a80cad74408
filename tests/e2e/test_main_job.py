"""The main job, as people do it: shorten, follow, register, log in, see the views."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browsers import running_chromium
from tests.e2e.acts import (
    PASSWORD,
    keep_token,
    link_field,
    log_in,
    register,
    shorten,
    stored_token,
    submit,
    toast,
    until,
)
from tests.e2e.conftest import FLAGS
from tests.product import Product, new_code


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium as people have it, with what its windows need."""
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
    """Where no edge stands in front, the page's own route does the whole of it."""
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


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("ab", "Enter a valid URL"),
        ("http://" + "a" * 993, "URL is too long"),
        ("example.com", "Incluse https:// or http:// to url"),
        ("javascript:alert(1)//http://", "Enter a valid URL"),
    ],
)
def test_what_cannot_be_shortened(page: Page, typed: str, message: str) -> None:
    page.goto("/")
    submit(page, typed)
    expect(page.get_by_text(message).first).to_be_visible()
    expect(link_field(page)).to_have_value("")


def test_log_in_errors(site: Product, page: Page) -> None:
    page.goto("/login")
    page.get_by_label("Email").fill("nobody@example.com")
    page.get_by_label("Password", exact=True).fill("x")
    page.get_by_role("button", name="LOGIN").click()
    expect(toast(page, "No accound found with this email")).to_be_visible()
    page.get_by_label("Email").fill(site.register())
    page.get_by_role("button", name="LOGIN").click()
    expect(toast(page, "Incorrect password")).to_be_visible()


def test_registration_errors(site: Product, page: Page) -> None:
    email = site.register()
    page.goto("/register")
    page.get_by_role("button", name="REGISTER").click()
    expect(page.get_by_text("Please enter an email address")).to_be_visible()
    expect(page.get_by_text("Please enter a username")).to_be_visible()
    page.get_by_label("Email").fill("no-at-sign")
    page.get_by_label("Username").fill("x" * 31)
    page.get_by_role("button", name="REGISTER").click()
    expect(page.get_by_text("Please enter a valid email")).to_be_visible()
    expect(page.get_by_text("Username need to have less than 30 characters")).to_be_visible()
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Username").fill("walker")
    page.get_by_role("button", name="REGISTER").click()
    expect(toast(page, "This email is already registered")).to_be_visible()


def test_the_account_page_sends_strangers_home(page: Page) -> None:
    page.goto("/my-account")
    expect(page).to_have_url(re.compile("/$"))


def test_an_expired_token_is_removed_and_an_invalid_one_is_told(page: Page, target: str) -> None:
    page.goto("/")
    keep_token(page, "old", -1)
    page.reload()
    expect(page.get_by_role("link", name="LOGIN")).to_be_visible()
    assert stored_token(page) is None

    keep_token(page, "forged", 3600)
    page.reload()
    expect(page.get_by_role("link", name="MY ACCOUNT")).to_be_visible()
    submit(page, f"{target}/x")
    expect(toast(page, "Invalid user token")).to_be_visible()
    expect(page.get_by_role("link", name="LOGIN")).to_be_visible()
    expect(page).to_have_url(re.compile("/$"))


def test_someone_logged_in_is_sent_on_from_log_in_and_registration(
    site: Product, page: Page
) -> None:
    log_in(page, site.register(password=PASSWORD))
    for path in ("/login", "/register"):
        page.goto(path)
        expect(page).to_have_url(re.compile("/my-account$"))
