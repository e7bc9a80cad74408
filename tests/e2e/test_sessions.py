"""Sessions in a real browser: two tabs, running out while open, and the account's failures."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.acts import (
    PASSWORD,
    keep_token,
    let_go_on,
    log_in,
    plates,
    register,
    spinner,
    stored_token,
    toast,
    until,
    until_held,
)
from tests.product import Product, new_code

HOME = re.compile(":[0-9]+/$")


@pytest.fixture
def token(site: Product) -> str:
    return site.log_in(site.register())


def menu(page: Page) -> list[str]:
    """The main menu as it stands."""
    return page.get_by_role("navigation", name="Main").get_by_role("link").all_inner_texts()


def test_logging_in_and_out_in_one_tab_shows_in_the_other(site: Product, page: Page) -> None:
    other, form = page.context.new_page(), page.context.new_page()
    form.goto("/register")
    other.goto("/short-link")
    expect(other.get_by_role("link", name="LOGIN")).to_be_visible()
    log_in(page, site.register(password=PASSWORD))
    expect(other.get_by_role("link", name="MY ACCOUNT")).to_be_visible()
    assert menu(other) == ["HOME", "SHORTENER", "QR CODE", "MY ACCOUNT"]
    expect(form).to_have_url(re.compile("/my-account$"))
    form.close()

    other.get_by_role("link", name="MY ACCOUNT").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("Your links")
    page.get_by_role("link", name="MY ACCOUNT").click()
    page.get_by_role("button", name="Log out").click()
    for tab in (page, other):
        expect(tab).to_have_url(HOME)
        expect(tab.get_by_role("link", name="LOGIN")).to_be_visible()
    assert stored_token(page) is None


def test_a_clock_that_is_wrong_logs_in_all_the_same(site: Product, page: Page) -> None:
    email = site.register(password=PASSWORD)
    page.add_init_script(
        f"{{ const now = Date.now; Date.now = () => now.call(Date) + {5 * 3_600_000}; }}"
    )
    log_in(page, email)
    expect(page.get_by_role("link", name="MY ACCOUNT")).to_be_visible()
    left = page.evaluate(
        "JSON.parse(localStorage.getItem('userToken')).expirationTimestamp - Date.now()"
    )
    # The server's `Date` may be two seconds behind, and its answer was some time on its way.
    assert abs(left - 4 * 3_600_000) < 30_000
    page.get_by_role("link", name="MY ACCOUNT").click()
    expect(page.get_by_text("You have no links yet.")).to_be_visible()


def test_a_full_storage_keeps_the_session_for_the_visit(site: Product, page: Page) -> None:
    email = site.register(password=PASSWORD)
    page.goto("/login")
    page.evaluate(
        "() => { for (let size = 2 ** 22, n = 0; size >= 1; n++) {"
        " try { localStorage.setItem(`full-${n}`, 'x'.repeat(size)) }"
        " catch { size = Math.floor(size / 2) } } }"
    )
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="LOGIN").click()
    expect(page).to_have_url(HOME)
    assert stored_token(page) is None
    page.get_by_role("link", name="MY ACCOUNT").click()
    expect(page.get_by_text("You have no links yet.")).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("link", name="LOGIN")).to_be_visible()


def test_the_username_is_kept_after_registration(page: Page) -> None:
    register(page, f"{new_code()}@example.com", "Caminante ñ")
    assert page.evaluate("localStorage.getItem('username')") == "Caminante ñ"


def test_a_failing_back_end_is_told_and_can_be_asked_again(
    site: Product, page: Page, token: str, expected: list[str]
) -> None:
    expected += ["status of 50", "showLinks: failed", "showStatistics: failed"]
    code = site.shorten("https://example.com/mine", token)
    page.goto("/")
    keep_token(page, token, 3600)
    site.kill("links")
    try:
        page.goto("/my-account")
        expect(toast(page, "Error on loading user data")).to_be_visible()
        expect(page.get_by_role("main").get_by_text("Error on loading user data")).to_be_visible()
        expect(spinner(page, "Loading")).to_have_count(0)
        assert stored_token(page) is not None
    finally:
        site.start("links")
    # The gateway finds the service again after a moment of its own.
    until(lambda: site.call("showProfile", {"token": token}).is_success)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("row").filter(has_text=code)).to_be_visible()
    # The button is gone, and the focus is with what took its place.
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_a_log_in_is_sent_once_and_its_button_waits(site: Product, page: Page, target: str) -> None:
    email = site.register(password=PASSWORD)
    held: list[Route] = []
    page.route("**/verifyUser", lambda route: held.append(route))
    page.goto("/login")
    page.get_by_label("Email").fill(f"  {email.upper()} ")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    button = page.get_by_role("main").get_by_role("button").last
    width = button.bounding_box()
    button.dblclick()
    expect(button).to_have_attribute("aria-busy", "true")
    expect(spinner(page, "Please wait")).to_be_attached()
    assert button.bounding_box() == width
    page.keyboard.press("Enter")
    until_held(page, held)
    assert len(held) == 1
    let_go_on(page, held)
    expect(page).to_have_url(HOME)
    expect(plates(page)).to_have_count(0)
