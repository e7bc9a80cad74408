"""Sessions in a real browser: two tabs, and a form that waits."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.support.product import Product
from tests.support.waiting import PROPAGATION_SECONDS, wait_until
from tests.system.e2e.visitor_actions import PASSWORD, has_session_ended, log_in, stored_token

HOME = re.compile(":[0-9]+/$")


def menu(page: Page) -> list[str]:
    """The main menu."""
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
    stored = stored_token(page)
    page.get_by_role("button", name="Log out").click()
    for tab in (page, other):
        expect(tab).to_have_url(HOME)
        expect(tab.get_by_role("link", name="LOGIN")).to_be_visible()
    assert stored_token(page) is None
    wait_until(lambda: has_session_ended(site, stored), PROPAGATION_SECONDS)
    wait_until(lambda: page.evaluate("localStorage.getItem('endedSessions')") is None)


def test_the_button_of_a_form_keeps_its_width_while_waiting(page: Page) -> None:
    page.route("**/verifyUser", lambda route: None)
    page.goto("/login")
    page.get_by_label("Email").fill("somebody@example.com")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    button = page.locator("button[type=submit]")
    box = button.bounding_box()
    button.click()
    expect(button).to_have_attribute("aria-busy", "true")
    assert button.bounding_box() == box
    page.unroute_all(behavior="ignoreErrors")
