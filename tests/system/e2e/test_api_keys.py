"""API keys on the settings page, in a real browser and by keyboard alone."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.support.product import Product
from tests.support.waiting import PROPAGATION_SECONDS, wait_until
from tests.system.e2e.visitor_actions import PASSWORD, log_in


def test_a_key_works_until_it_is_revoked(site: Product, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    log_in(page, site.register(password=PASSWORD))
    page.goto("/my-account/settings")
    section = page.get_by_role("region", name="API keys")
    expect(section.get_by_text("You have no API keys.")).to_be_visible()
    section.get_by_label("Name").fill("backup")
    section.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    plate = section.get_by_role("button", name="Copy")
    expect(plate).to_be_focused()
    page.keyboard.press("Enter")
    expect(section.get_by_role("button", name="Copied")).to_be_visible()
    key = page.evaluate("navigator.clipboard.readText()")

    def status() -> int:
        headers = {"authorization": f"Bearer {key}"}
        return site.http.get(f"{site.url}/api/v1/account", headers=headers).status_code

    assert status() == 200

    def shows_use() -> bool:
        page.reload()
        return "Last used" in section.get_by_role("listitem").inner_text()

    wait_until(shows_use, PROPAGATION_SECONDS)
    expect(section.get_by_role("listitem")).to_contain_text(f"backup {key[:12]}…")
    expect(page.get_by_text(key)).to_have_count(0)

    section.get_by_role("button", name="Revoke backup").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Revoke the key “backup”?")
    expect(dialog.get_by_text("This cannot be undone.")).to_be_visible()
    dialog.get_by_role("button", name="Revoke").focus()
    page.keyboard.press("Enter")
    expect(section.get_by_text("The key “backup” was revoked.")).to_be_visible()
    expect(section.get_by_role("listitem")).to_have_count(0)
    wait_until(lambda: status() == 401, PROPAGATION_SECONDS)
