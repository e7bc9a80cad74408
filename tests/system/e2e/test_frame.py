"""The frame around every page, by keyboard, on a phone and on a desktop."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.system.e2e.conftest import Visitors
from tests.system.e2e.visitor_actions import sideways

PHONE = {"width": 390, "height": 700}
DESK = {"width": 1440, "height": 900}


def focused(page: Page) -> str:
    """Return the name or text of the focused element."""
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
    """Return whether the page cannot be scrolled."""
    page.evaluate("scrollTo(0, 0)")
    page.mouse.move(200, 400)
    page.mouse.wheel(0, 400)
    page.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
    overflow: bool = page.evaluate("getComputedStyle(document.documentElement).overflow==='hidden'")
    return overflow and page.evaluate("scrollY") == 0


def test_tab_moves_a_visible_focus_in_reading_order(desk: Page) -> None:
    desk.goto("/login")
    desk.get_by_label("Email").wait_for()
    order = []
    for _ in range(16):
        desk.keyboard.press("Tab")
        order.append(focused(desk))
        ring = desk.evaluate(
            "() => { const s = getComputedStyle(document.activeElement);"
            " return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2 }"
        )
        assert ring, order[-1]
    menu = ["Skip to content", "Atajo", "HOME", "SHORTENER", "QR CODE", "LOGIN", "REGISTER"]
    form = ["Email", "Password", "Show password", "LOGIN", "Log in with a passkey"]
    links = ["Forgot your password?", "Register", "TERMS OF USE", "PRIVACY POLICIES"]
    assert order == [*menu, *form, *links]


def test_the_skip_link_skips_the_menu(desk: Page) -> None:
    desk.goto("/login")
    desk.get_by_label("Email").wait_for()
    desk.keyboard.press("Tab")
    expect(desk.get_by_role("link", name="Skip to content")).to_be_in_viewport()
    desk.keyboard.press("Enter")
    desk.keyboard.press("Tab")
    expect(desk.get_by_label("Email")).to_be_focused()


def test_the_menu_of_a_phone(phone: Page) -> None:
    phone.goto("/terms-of-use")
    menu = phone.get_by_role("button", name="Menu")
    entries = phone.get_by_role("navigation", name="Main")
    expect(entries).to_be_hidden()
    assert not locked(phone)

    menu.tap()
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

    phone.set_viewport_size({"width": 1099, "height": 700})
    menu.click()
    assert locked(phone)
    phone.set_viewport_size({"width": 1100, "height": 700})
    expect(menu).to_be_hidden()
    expect(phone.get_by_role("link", name="SHORTENER")).to_be_visible()
    assert not locked(phone)


def test_the_focus_stays_on_a_visible_element_when_the_window_is_resized(phone: Page) -> None:
    phone.goto("/login")
    menu = phone.get_by_role("button", name="Menu")
    first = phone.get_by_role("navigation", name="Main").get_by_role("link", name="HOME")
    menu.focus()
    phone.set_viewport_size({"width": 1200, "height": 700})
    expect(first).to_be_focused()
    phone.set_viewport_size({"width": 390, "height": 700})
    expect(menu).to_be_focused()
    menu.click()
    phone.get_by_role("navigation", name="Main").get_by_role("link", name="LOGIN").click()
    expect(menu).to_be_focused()  # The same page, with the sheet closed.


def test_live_regions_exist_from_the_start_and_outside_buttons(desk: Page) -> None:
    """One that is inserted with its text is not announced, and one in a button is part of its
    name."""
    desk.add_init_script(
        """const live = '[role=status], [role=alert], [aria-live]:not(ul)';
        window.late = [];
        const look = root => [...root.querySelectorAll(live), ...(root.matches(live) ? [root] : [])]
          .filter(e => !e.closest('.Toastify'))
          .filter(e => e.closest('button') || e.textContent.trim());
        new MutationObserver(changes => {
          for (const { addedNodes } of changes)
            for (const node of addedNodes)
              if (node instanceof Element) late.push(...look(node).map(e => e.outerHTML));
        }).observe(document, { childList: true, subtree: true });"""
    )
    desk.goto("/")
    desk.get_by_label("Link to shorten").fill("ab")
    desk.get_by_role("button", name="Shorten").click()
    expect(desk.get_by_role("alert")).to_have_text("Enter a valid URL")
    desk.get_by_label("Link to shorten").fill("https://example.com/live")
    desk.get_by_role("button", name="Shorten").click()
    expect(desk.get_by_role("status")).to_contain_text("Short URL ready")
    desk.get_by_role("link", name="REGISTER").click()
    desk.get_by_role("button", name="REGISTER").click()
    expect(desk.get_by_role("alert").filter(has_text="Please enter a username")).to_be_visible()
    desk.get_by_role("navigation", name="Main").get_by_role("link", name="LOGIN").click()
    # Until it is there, the registration form has fields with these names.
    expect(desk.get_by_role("heading", level=1)).to_have_text("Log in")
    desk.get_by_label("Email").fill("nobody@example.com")
    desk.get_by_label("Password", exact=True).fill("Nothing-1")
    desk.get_by_role("button", name="LOGIN").click()
    expect(desk.get_by_label("Email")).to_have_accessible_description(
        "No accound found with this email"
    )
    desk.get_by_role("link", name="QR CODE").click()
    desk.get_by_label("URL").fill("x" * 3_000)
    expect(desk.get_by_role("status")).to_contain_text("This text is too long for a QR code")
    assert desk.evaluate("late") == []


def test_touch_targets_are_large_enough(phone: Page) -> None:
    """44 px in both directions for every control except links within text."""
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


@pytest.fixture
def few_colours(visitor: Visitors) -> Page:
    """A desktop in forced colors mode with a dark palette."""
    return visitor(viewport=DESK, forced_colors="active", color_scheme="dark").new_page()


def test_only_the_open_page_is_marked_in_the_menu(few_colours: Page) -> None:
    few_colours.goto("/short-link")
    entries = few_colours.get_by_role("navigation", name="Main").get_by_role("link")
    entries.first.wait_for()
    marked = entries.evaluate_all(
        """links => {
            const ground = getComputedStyle(document.body).backgroundColor;
            const bar = link => getComputedStyle(link).borderBlockEndColor;
            return links.filter(link => bar(link) !== ground).map(link => link.textContent);
        }"""
    )
    assert marked == ["SHORTENER"]


def test_forced_colors_override_the_theme(few_colours: Page) -> None:
    few_colours.goto("/")
    few_colours.get_by_label("Theme").select_option("light")
    bars = few_colours.get_by_role("main").locator("svg rect").first
    ink, scheme = bars.evaluate(
        """e => [getComputedStyle(e).fill,
            getComputedStyle(document.documentElement).colorScheme]"""
    )
    assert ink != "rgb(20, 24, 31)", scheme  # Text color of the light theme on a dark background.


def test_at_most_three_toasts_show_at_the_bottom_right_for_four_seconds(desk: Page) -> None:
    desk.goto("/custom-qr-generator")
    for _ in range(5):
        desk.get_by_role("button", name="DOWNLOAD QR").click()
    toasts = desk.locator(".Toastify__toast")
    expect(toasts).to_have_count(3)
    # Wait for the end of its animation.
    toasts.last.evaluate("toast => Promise.all(toast.getAnimations().map((one) => one.finished))")
    box = toasts.last.bounding_box()
    size = desk.viewport_size
    assert box is not None
    assert size is not None
    assert box["x"] + box["width"] > size["width"] - 40
    assert box["y"] + box["height"] > size["height"] - 40
    bar = desk.locator(".Toastify__progress-bar--animated").first
    assert bar.evaluate("e => getComputedStyle(e).animationDuration") == "4s"
