"""The frame around every page, by keyboard, on a phone and on a desk."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.acts import sideways
from tests.e2e.conftest import Visitors

PHONE = {"width": 390, "height": 700}
DESK = {"width": 1440, "height": 900}


def focused(page: Page) -> str:
    """What has the focus, by its name or text."""
    name: str = page.evaluate(
        "() => { const e = document.activeElement; return e.getAttribute('aria-label')"
        " || (e.labels && e.labels[0] && e.labels[0].textContent) || e.textContent.trim() }"
    )
    return name


@pytest.fixture
def phone(visitor: Visitors) -> Page:
    return visitor(viewport=PHONE, has_touch=True).new_page()


@pytest.fixture
def desk(visitor: Visitors) -> Page:
    return visitor(viewport=DESK).new_page()


def locked(page: Page) -> bool:
    """Whether the page stays where it is when it is scrolled."""
    page.evaluate("scrollTo(0, 0)")
    page.mouse.move(200, 400)
    page.mouse.wheel(0, 400)
    page.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
    overflow: bool = page.evaluate("getComputedStyle(document.documentElement).overflow==='hidden'")
    return overflow and page.evaluate("scrollY") == 0


def test_the_tab_key_goes_through_a_page_in_reading_order(desk: Page) -> None:
    desk.goto("/login")
    desk.get_by_label("Email").wait_for()
    order = []
    for _ in range(14):
        desk.keyboard.press("Tab")
        order.append(focused(desk))
    assert order == [
        "Skip to content",
        "Atajo",
        "HOME",
        "SHORTENER",
        "QR CODE",
        "LOGIN",
        "REGISTER",
        "Email",
        "Password",
        "Show password",
        "LOGIN",
        "Register",
        "TERMS OF USE",
        "PRIVACY POLICIES",
    ]


def test_the_skip_link_leads_past_the_menu(desk: Page) -> None:
    desk.goto("/login")
    desk.get_by_label("Email").wait_for()
    desk.keyboard.press("Tab")
    expect(desk.get_by_role("link", name="Skip to content")).to_be_focused()
    expect(desk.get_by_role("link", name="Skip to content")).to_be_in_viewport()
    desk.keyboard.press("Enter")
    desk.keyboard.press("Tab")
    expect(desk.get_by_label("Email")).to_be_focused()


def test_everything_that_is_focused_shows_a_ring(desk: Page) -> None:
    desk.goto("/register")
    desk.get_by_label("Email").wait_for()
    for _ in range(16):
        desk.keyboard.press("Tab")
        ring = desk.evaluate(
            "() => { const s = getComputedStyle(document.activeElement);"
            " return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2 }"
        )
        assert ring, focused(desk)


def test_a_log_in_and_a_link_by_keyboard_alone(desk: Page, target: str) -> None:
    desk.goto("/")
    expect(desk.get_by_label("Link to shorten")).to_be_focused()
    desk.keyboard.type(f"{target}/by-keyboard")
    desk.keyboard.press("Enter")
    desk.get_by_role("list", name="Short links of this visit").wait_for()
    for _ in range(2):  # Past the button Shorten, onto the plate.
        desk.keyboard.press("Tab")
    desk.keyboard.press("Enter")
    expect(desk.get_by_role("status").filter(has_text="Copied")).to_be_attached()


def test_the_menu_of_a_phone(phone: Page) -> None:
    phone.goto("/terms-of-use")
    menu = phone.get_by_role("button", name="Menu")
    entries = phone.get_by_role("navigation", name="Main")
    expect(entries).to_be_hidden()
    expect(menu).to_have_attribute("aria-expanded", "false")
    assert not locked(phone)

    menu.tap()
    expect(menu).to_have_attribute("aria-expanded", "true")
    expect(entries.get_by_role("link")).to_have_count(5)
    for link in entries.get_by_role("link").all():
        box = link.bounding_box()
        assert box is not None
        assert box["height"] >= 44
    assert locked(phone)
    assert sideways(phone) == 0

    menu.tap()
    expect(entries).to_be_hidden()
    assert not locked(phone)

    menu.tap()
    entries.get_by_role("link", name="SHORTENER").tap()
    expect(phone).to_have_url(re.compile("/short-link$"))
    expect(entries).to_be_hidden()
    assert not phone.evaluate("'locked' in document.documentElement.dataset")


def test_the_open_menu_keeps_the_focus_inside_and_escape_closes_it(phone: Page) -> None:
    phone.goto("/login")
    menu = phone.get_by_role("button", name="Menu")
    menu.focus()
    phone.keyboard.press("Enter")
    expect(menu).to_have_attribute("aria-expanded", "true")
    seen = []
    for _ in range(8):
        phone.keyboard.press("Tab")
        seen.append(focused(phone))
    links = ["HOME", "SHORTENER", "QR CODE", "LOGIN", "REGISTER"]
    assert seen == [*links, "Atajo", "Menu", "HOME"]
    phone.keyboard.press("Shift+Tab")
    phone.keyboard.press("Shift+Tab")
    phone.keyboard.press("Shift+Tab")
    assert focused(phone) == "REGISTER"
    phone.keyboard.press("Escape")
    expect(menu).to_have_attribute("aria-expanded", "false")
    expect(menu).to_be_focused()


def test_the_menu_closes_when_the_window_grows_past_1100_pixels(phone: Page) -> None:
    phone.goto("/")
    menu = phone.get_by_role("button", name="Menu")
    phone.set_viewport_size({"width": 1099, "height": 700})
    menu.click()
    assert locked(phone)
    phone.set_viewport_size({"width": 1100, "height": 700})
    expect(menu).to_be_hidden()
    expect(phone.get_by_role("link", name="SHORTENER")).to_be_visible()
    assert not locked(phone)
    phone.set_viewport_size({"width": 1099, "height": 700})
    expect(menu).to_have_attribute("aria-expanded", "false")


def test_the_open_menu_closes_on_the_way_back(phone: Page) -> None:
    phone.goto("/terms-of-use")
    phone.get_by_role("contentinfo").get_by_role("link", name="PRIVACY POLICIES").click()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Privacy policies")
    menu = phone.get_by_role("button", name="Menu")
    menu.click()
    phone.go_back()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Terms of use")
    expect(menu).to_have_attribute("aria-expanded", "false")


def test_what_is_touched_is_large_enough(phone: Page) -> None:
    """44 px each way for every control, but for links in the midst of a text."""
    for path in ("/", "/short-link", "/login", "/register", "/custom-qr-generator", "/not-found"):
        phone.goto(path)
        phone.get_by_role("heading", level=1).wait_for()
        small = phone.evaluate(
            """() => [...document.querySelectorAll('button, a, select, input:not([type=file])')]
                .filter(e => e.checkVisibility() && !e.closest('p') && !/Skip/.test(e.textContent))
                .filter(e => { const box = (e.closest('label') ?? e).getBoundingClientRect();
                               return box.height < 43.5 || box.width < 43.5 })
                .map(e => e.outerHTML)"""
        )
        assert small == [], path


def test_the_theme_is_remembered_and_reaches_other_tabs(desk: Page) -> None:
    desk.goto("/")
    other = desk.context.new_page()
    other.goto("/short-link")
    desk.get_by_label("Theme").select_option("dark")
    expect(other.locator("html")).to_have_attribute("data-theme", "dark")
    expect(other.get_by_label("Theme")).to_have_value("dark")
    other.reload()
    expect(other.locator("html")).to_have_attribute("data-theme", "dark")
    other.get_by_label("Theme").select_option("system")
    expect(desk.locator("html")).not_to_have_attribute("data-theme", re.compile(".*"))
