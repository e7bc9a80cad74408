"""Details of the shortener: copying, pasting, double clicks, other scripts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.product import Product
from tests.system.e2e.conftest import Visitors
from tests.system.e2e.visitor_actions import (
    await_fonts,
    let_go_on,
    link_field,
    plates,
    shorten,
    spinner,
    submit,
)

CLIPBOARD = ["clipboard-read", "clipboard-write"]
REFUSED = {
    "refused": "if (navigator.clipboard) "
    "navigator.clipboard.writeText = () => Promise.reject(new Error('no'));",
    "absent": "if (navigator.clipboard) { const {clipboard} = navigator;"
    "window.read = () => clipboard.readText();"
    "Object.defineProperty(navigator, 'clipboard', {value: undefined}); }",
}


def copied(page: Page) -> str:
    """Return the text on the clipboard."""
    text: str = page.evaluate("(window.read ?? (() => navigator.clipboard.readText()))()")
    return text


def test_a_click_copies_the_short_address_under_the_public_host(
    visitor: Visitors, site: Product, target: str
) -> None:
    page = visitor(permissions=CLIPBOARD).new_page()
    page.goto("/")
    address = shorten(page, f"{target}/copied")
    plate = plates(page).first
    expect(page.get_by_role("status")).to_contain_text(
        f"Short URL ready: {address.removeprefix('http://')}"
    )
    plate.click()
    expect(plate).to_contain_text("Copied")
    expect(page.get_by_role("status")).to_contain_text("Copied")
    assert copied(page) == address
    assert address.startswith(f"{site.url}/")
    expect(plate).to_contain_text(re.compile("Copy$"))  # The confirmation disappears.


@pytest.mark.parametrize("how", REFUSED)
def test_copying_falls_back_without_the_clipboard_api(
    visitor: Visitors, target: str, how: str
) -> None:
    context = visitor(permissions=CLIPBOARD)
    context.add_init_script(REFUSED[how])
    page = context.new_page()
    page.goto("/")
    address = shorten(page, f"{target}/{how}")
    plate = plates(page).first
    plate.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Copied")
    assert copied(page) == address
    expect(plate).to_be_focused()


def test_a_double_click_creates_one_link_and_no_error(page: Page, target: str) -> None:
    page.goto("/")
    shorten(page, f"{target}/warm")
    requested = []
    page.on("request", lambda request: requested.append(request.url))
    button = page.get_by_role("button", name="Shorten", exact=True)
    error = page.get_by_text("Enter a valid URL", exact=True)
    link_field(page).fill(f"{target}/double")
    button.dblclick()
    expect(plates(page)).to_have_count(2)

    # Answered between the two clicks.
    link_field(page).fill(f"{target}/quick")
    box = button.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 20, box["y"] + 20)
    expect(plates(page)).to_have_count(3)
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)
    expect(error).to_have_count(0)

    button.dblclick()
    expect(error).to_be_visible()
    assert len([url for url in requested if url.endswith("/createShortLink")]) == 2


def test_a_right_to_left_link_has_its_own_direction(page: Page) -> None:
    page.goto("/short-link")
    field = link_field(page)
    field.fill("مثال.إختبار/مسار")
    assert field.evaluate("e => getComputedStyle(e).direction") == "rtl"
    field.press("Enter")
    expect(plates(page)).to_have_count(1)
    expect(field).to_have_value("")


def test_a_slow_response_reserves_its_space(page: Page, target: str) -> None:
    page.goto("/")
    shorten(page, f"{target}/warm")
    held: list[Route] = []
    page.route("**/createShortLink", lambda route: held.append(route))
    submit(page, f"{target}/slow")
    expect(spinner(page, "Shortening")).to_be_visible()
    await_fonts(page)
    below = page.get_by_role("heading", name="Advanced analytics")
    before = below.bounding_box()
    let_go_on(page, held)
    expect(plates(page)).to_have_count(2)
    after = below.bounding_box()
    assert before is not None
    assert after is not None
    # Only the link to the QR page appears below the new short URL.
    assert 0 <= after["y"] - before["y"] <= 60
