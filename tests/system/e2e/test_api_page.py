"""The documentation of the API in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.support.product import Product
from tests.system.e2e.conftest import Visitors
from tests.system.e2e.visitor_actions import PASSWORD, log_in

PLACEHOLDER = "YOUR_API_KEY"


def test_it_is_complete_without_javascript(visitor: Visitors) -> None:
    page = visitor(java_script_enabled=False).new_page()
    page.goto("/api")
    expect(page.get_by_role("heading", level=1)).to_have_text("API")
    section = page.locator("section", has=page.get_by_role("heading", name="Create a link"))
    expect(section.get_by_text("curl 'http").last).to_be_visible()
    expect(page.get_by_label("Your API key")).to_be_hidden()
    page.get_by_role("radio", name="Python").check()
    expect(page.get_by_text("requests.patch(")).to_be_visible()
    expect(page.get_by_text("curl 'http").first).to_be_hidden()


def test_a_pasted_key_is_in_the_samples_and_a_sample_can_be_copied(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/api")
    page.get_by_label("Your API key").fill("atajo_mine")
    page.get_by_role("button", name="Copy").locator("visible=true").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "Bearer atajo_mine'" in copied
    assert PLACEHOLDER not in copied


def test_its_script_cannot_send_anything_to_another_site(
    page: Page, target: str, expected: list[str]
) -> None:
    expected.append("Content Security Policy")
    page.goto("/api")
    send = "url => fetch(url, {mode: 'no-cors'}).then(() => true, () => false)"
    assert page.evaluate(send, "/status")
    assert not page.evaluate(send, target)


def test_a_created_key_is_in_the_samples_until_it_is_revoked(site: Product, page: Page) -> None:
    log_in(page, site.register(password=PASSWORD))
    page.goto("/my-account/settings")
    section = page.get_by_role("region", name="API keys")
    section.get_by_label("Name").fill("docs")
    section.get_by_label("Password", exact=True).fill(PASSWORD)
    section.get_by_role("button", name="Create key").click()
    key = section.get_by_role("button", name="Copy").locator("code").inner_text()
    section.get_by_role("link", name="API documentation").click()
    expect(page).to_have_url(re.compile("/api$"))
    expect(page.get_by_text(f"Bearer {key}'").first).to_be_visible()
    page.go_back()
    section.get_by_role("button", name="Revoke docs").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(section.get_by_text("was revoked")).to_be_visible()
    section.get_by_role("link", name="API documentation").click()
    expect(page.get_by_text(PLACEHOLDER).first).to_be_visible()


def test_the_theme_of_the_other_pages_applies(page: Page) -> None:
    page.goto("/terms-of-use")
    page.get_by_label("Theme").select_option("dark")
    page.get_by_role("link", name="API", exact=True).click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_label("Theme")).to_have_value("dark")
    page.get_by_label("Theme").select_option("System")
    expect(page.locator("html")).not_to_have_attribute("data-theme", re.compile("."))
