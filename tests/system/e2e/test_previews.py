"""Previews and reports of links in a real browser."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.support.product import Product
from tests.system.e2e.test_routes import axe_violations
from tests.system.e2e.visitor_actions import sideways

URL = "https://me@xn--80ak6aa92e.com:8443/" + "a-long-way/" * 60 + "?session=abc"


@pytest.fixture(scope="module")
def site(product_with_pages: Product) -> Product:
    return product_with_pages


def test_a_preview_is_no_visit_and_its_button_follows_the_link(page: Page, site: Product) -> None:
    token = site.log_in(site.register())
    code = site.shorten(f"{site.url}/privacy-policies?x=1", token)
    for path in (f"/{code}+", f"/{code}%2B"):
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 200
        expect(page.get_by_role("heading", level=1)).to_have_text("Link preview")
        expect(page.get_by_text("/privacy-policies?x=1")).to_be_visible()
    assert site.views(token) == {code: 0}
    page.get_by_role("link", name="Go there").click()
    expect(page).to_have_url(f"{site.url}/privacy-policies?x=1")
    site.await_views(token, {code: 1})


def test_the_page_of_an_inactive_link_leads_to_its_preview(
    page: Page, site: Product, expected: list[str]
) -> None:
    expected.append("status of 410")
    token = site.log_in(site.register())
    code = site.shorten("https://example.org/led-here", token)
    assert site.data("removeLinks", {"token": token, "codes": [code]})["success"]
    answer = page.goto(f"/{code}")
    assert answer is not None
    assert answer.status == 410
    expect(page.get_by_role("heading", name="This link was removed by its owner.")).to_be_visible()
    assert axe_violations(page) == []
    page.get_by_role("link", name="Show link preview").click()
    expect(page).to_have_url(f"{site.url}/{code}+")
    expect(page.get_by_text("This link was removed by its owner.")).to_be_visible()
    expect(page.get_by_text("example.org")).to_have_count(0)
    expect(page.get_by_role("link", name="Go there")).to_have_count(0)


def test_a_link_is_reported_by_keyboard(page: Page, site: Product) -> None:
    page.goto(f"/{site.shorten('https://example.org/')}+")
    page.get_by_role("button", name="REPORT").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Report this link")
    expect(dialog).to_be_visible()
    assert axe_violations(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="REPORT")).to_be_focused()
    page.keyboard.press("Enter")
    dialog.get_by_role("radio", name="Phishing").focus()
    page.keyboard.press("Space")
    dialog.get_by_label("Details (optional)").fill("It asks for my password.")
    with page.expect_response("**/reportLink") as response:
        dialog.get_by_role("button", name="Send report").press("Enter")
    assert response.value.json()["data"]["success"] is True
    expect(page.get_by_text("Thank you. Your report was sent")).to_be_visible()


@pytest.mark.parametrize("width", [320, 1440])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_and_axe_finds_no_violations(
    page: Page, site: Product, theme: Literal["light", "dark"], width: int
) -> None:
    code = site.shorten(URL)
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"/{code}+")
    expect(page.get_by_role("list", name="Warnings").get_by_role("listitem")).to_have_count(4)
    assert sideways(page) == 0
    assert axe_violations(page) == []
    page.get_by_role("button", name="REPORT").click()
    assert sideways(page) == 0
    assert axe_violations(page) == []
