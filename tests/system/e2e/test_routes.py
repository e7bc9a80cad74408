"""Every route in a real browser: contents, widths, themes and accessibility."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from services.shared import edge_table
from tests.support.gateway_client import new_code
from tests.support.processes import ROOT
from tests.support.product import Product
from tests.system.e2e.conftest import Visitors
from tests.system.e2e.visitor_actions import (
    await_fonts,
    hold_back,
    keep_token,
    let_go_on,
    plates,
    shorten,
    sideways,
    spinner,
    submit,
    until,
)

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
WIDTHS = (320, 390, 768, 1100, 1440, 1920)
CONTENTS = {
    "/": ("Shorten, share and track your links", "HOME"),
    "/short-link": ("Shorten a link", "SHORTENER"),
    "/custom-qr-generator": ("CUSTOM QR CODE GENERATOR", "QR CODE"),
    "/login": ("Log in", "LOGIN"),
    "/register": ("Register", "REGISTER"),
    "/terms-of-use": ("Terms of use", None),
    "/privacy-policies": ("Privacy policies", None),
    "/not-found": ("PAGE NOT FOUND", None),
    "/my-account": ("Your links", "MY ACCOUNT"),
    "/my-account/settings": ("Settings", None),
    "/my-account/import": ("Import links", None),
}
"""The heading and the current entry of the navigation, of pages where tests compare them."""
ACCOUNT = "/my-account"
SHARE = "/share"
ADMIN = "/admin"
"""Strangers and members see the page of a path that does not exist."""
ROUTES = sorted(
    (
        path
        for path in edge_table.pages(edge_table.read())
        if edge_table.CODE not in path and path not in (SHARE, ADMIN)
    ),
    key=lambda path: path.startswith(ACCOUNT),
)
"""The paths of all pages, except pages of a link and of administrators, and the page that redirects
to the shortener.
Pages of an account, which log in, are last."""
LONG = "https://example.com/" + "a" * 979
WIDE_NAME = "\N{FULLWIDTH LATIN CAPITAL LETTER W}" * 30


@pytest.fixture(scope="module")
def member(site: Product) -> str:
    """Return the token of an account with a few links, one of maximum length."""
    token = site.log_in(site.register())
    for url in (LONG, "https://example.com/short", "https://example.com/مسار/طويل"):
        site.shorten(url, token)
    return token


def visit(page: Page, path: str, member: str) -> None:
    """Open a route and wait until it shows its content."""
    if path.startswith(ACCOUNT):
        page.goto("/terms-of-use")
        keep_token(page, member, 3600)
        page.evaluate("name => localStorage.setItem('username', name)", WIDE_NAME)
    page.goto(path)
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text(CONTENTS[path][0] if path in CONTENTS else re.compile("."))
    if path == ACCOUNT:
        expect(page.get_by_role("row")).to_have_count(4)
    await_fonts(page)


def axe_violations(page: Page) -> list[str]:
    """Return the violations that axe finds in the current page, including colors.

    Waits for the end of fade-ins, during which colors are paler.
    """
    page.evaluate(
        "() => Promise.allSettled(document.getAnimations()"
        ".filter(({effect}) => Number.isFinite(effect.getComputedTiming().endTime))"
        ".map(({finished}) => finished))"
    )
    page.evaluate(f"() => {{ if (!window.axe) {{ {AXE.read_text()} }} }}")
    found: list[str] = page.evaluate(
        "async () => (await axe.run(document, {resultTypes: ['violations']})).violations.map("
        "({id, nodes}) => `${id}: ${nodes.map(({html}) => html).join(' ')}`)"
    )
    return found


@pytest.mark.parametrize("path", ROUTES)
def test_axe_finds_no_violations_and_nothing_scrolls_horizontally(
    visitor: Visitors, path: str, member: str
) -> None:
    page = visitor(reduced_motion="reduce").new_page()
    visit(page, path, member)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert axe_violations(page) == [], theme
    # The last is a desktop zoomed to 200 %, which halves the width in CSS pixels.
    for width in (*WIDTHS, 640):
        page.set_viewport_size({"width": width, "height": 400 if width == 640 else 800})
        assert sideways(page) == 0, f"{path} at {width} px"
    # Text-only zoom doubles the font size.
    page.set_viewport_size({"width": 1280, "height": 800})
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert sideways(page) == 0, f"{path} with letters of 200 %"


def test_axe_finds_no_violations_in_the_status_page(visitor: Visitors) -> None:
    page = visitor().new_page()
    page.goto("/status")
    expect(page.get_by_role("heading", level=1)).to_have_text("All systems operational")
    # It uses the browser's default colors, for which axe assumes a white background.
    assert axe_violations(page) == []


def test_axe_finds_no_violations_in_other_states_of_pages(visitor: Visitors, site: Product) -> None:
    """With created links, errors, toasts, an open menu, an open picker, unmet rules."""
    page = visitor(reduced_motion="reduce", viewport={"width": 390, "height": 844}).new_page()
    states: list[str] = []

    def look(state: str) -> None:
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            states.extend(f"{state}, {theme}: {found}" for found in axe_violations(page))

    page.goto("/")
    shorten(page, LONG)
    submit(page, "example.com")
    look("plates and an error")
    page.get_by_role("button", name="Menu").click()
    look("menu")
    page.goto("/custom-qr-generator")
    page.get_by_role("button", name="DOWNLOAD QR").click()
    expect(page.locator(".Toastify__toast")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Background color")).click()
    look("picker and a toast")
    page.goto("/register")
    page.get_by_label("Password", exact=True).fill("Camino")
    page.get_by_role("button", name="REGISTER").click()
    look("unmet rules")
    assert states == []


@pytest.mark.parametrize("width", [320, 1440])
def test_very_long_content_stays_inside(visitor: Visitors, width: int) -> None:
    page = visitor(viewport={"width": width, "height": 800}).new_page()
    page.goto("/")
    shorten(page, LONG)
    shorten(page, "https://example.com/مسار/طويل")
    assert sideways(page) == 0
    for plate in plates(page).all():
        box = plate.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    page.goto("/register")
    page.get_by_label("Username").fill(WIDE_NAME)
    assert sideways(page) == 0


def test_the_document_head_follows_navigation(page: Page, site: Product) -> None:
    page.goto("/")
    canonical = page.locator('link[rel="canonical"]')
    expect(canonical).to_have_attribute("href", f"{site.url}/")
    page.get_by_role("link", name="SHORTENER").click()
    expect(canonical).to_have_attribute("href", f"{site.url}/short-link")
    expect(page.locator('meta[property="og:url"]')).to_have_attribute(
        "content", f"{site.url}/short-link"
    )
    expect(page).to_have_title(re.compile("^Shortener"))


def test_every_page_has_its_own_head_and_the_frame(page: Page, member: str) -> None:
    titles, descriptions = set(), set()
    main = page.get_by_role("navigation", name="Main")
    footer = page.get_by_role("contentinfo")
    for path in ROUTES:
        visit(page, path, member)
        titles.add(page.title())
        descriptions.add(page.locator('meta[name="description"]').get_attribute("content"))
        assert page.title().endswith(" · Atajo")
        assert page.locator('meta[property="og:title"]').get_attribute("content") == page.title()

        labels = ["HOME", "SHORTENER", "QR CODE"]
        labels += ["MY ACCOUNT"] if path.startswith(ACCOUNT) else ["LOGIN", "REGISTER"]
        expect(main.get_by_role("link")).to_have_text(labels)
        if path in CONTENTS:
            active = CONTENTS[path][1]
            expect(main.locator("[aria-current=page]")).to_have_text([active] if active else [])
        for text, href in (
            ("TERMS OF USE", "/terms-of-use"),
            ("PRIVACY POLICIES", "/privacy-policies"),
        ):
            expect(footer.get_by_role("link", name=text)).to_have_attribute("href", href)
        assert page.get_by_role("heading", level=1).count() == 1
    assert len(titles) == len(descriptions) == len(ROUTES)


def test_back_and_forward_navigate_pages(page: Page) -> None:
    page.goto("/")
    for name in ("SHORTENER", "QR CODE", "LOGIN"):
        page.get_by_role("link", name=name).click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Log in")
    expect(heading).to_be_focused()
    for text in (
        "CUSTOM QR CODE GENERATOR",
        "Shorten a link",
        "Shorten, share and track your links",
    ):
        page.go_back()
        expect(heading).to_have_text(text)
    page.go_forward()
    expect(heading).to_have_text("Shorten a link")


def test_an_unknown_code_does_not_trap_the_back_button(page: Page) -> None:
    page.goto("/terms-of-use")
    page.goto(f"/{new_code()}")
    expect(page).to_have_url(re.compile("/not-found$"))
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Terms of use")


def test_without_javascript_the_page_says_what_to_do(
    visitor: Visitors, site: Product, target: str
) -> None:
    page = visitor(java_script_enabled=False).new_page()
    page.goto("/")
    words = page.locator("noscript p")
    expect(words).to_be_visible()
    expect(words).to_contain_text("needs JavaScript")
    expect(words).to_contain_text("Short links work without it")
    page.goto(f"/{site.shorten(f'{target}/without')}")
    expect(page).to_have_url(f"{target}/without")


def test_the_content_security_policy_blocks_foreign_content(
    browser: Browser, site: Product
) -> None:
    page = browser.new_page()
    page.goto(f"{site.url}/")
    stopped = page.evaluate(
        """async () => {
            const seen = new Set();
            document.addEventListener('securitypolicyviolation',
                event => seen.add(event.effectiveDirective));
            const script = document.createElement('script');
            script.textContent = 'window.ran = true';
            document.head.append(script);
            document.body.insertAdjacentHTML('beforeend',
                '<p style="color: red" id="styled"></p><img src="https://example.com/x.png">'
                + '<form action="https://example.com/"><button id="send"></button></form>');
            await fetch('https://example.com/').catch(() => undefined);
            await new Promise(resolve => setTimeout(resolve));
            document.getElementById('send').click();
            while (seen.size < 5) await new Promise(resolve => setTimeout(resolve, 10));
            return {seen: [...seen], ran: window.ran === true};
        }"""
    )
    page.close()
    assert stopped["ran"] is False
    assert sorted(stopped["seen"]) == [
        "connect-src",
        "form-action",
        "img-src",
        "script-src-elem",
        "style-src-attr",
    ]


def test_nothing_moves_with_reduced_motion(visitor: Visitors, site: Product) -> None:
    page = visitor(reduced_motion="reduce").new_page()
    page.goto("/")
    page.route("**/createShortLink", lambda route: None)  # Never answered: the spinner stays.
    submit(page, "https://example.com/")
    expect(spinner(page, "Shortening")).to_be_visible()
    page.wait_for_function("() => document.getAnimations().length === 0")
    page.unroute_all(behavior="ignoreErrors")


@pytest.mark.parametrize("stored", ["light", "dark"])
def test_a_chosen_theme_is_there_before_the_first_paint(visitor: Visitors, stored: str) -> None:
    other = "dark" if stored == "light" else "light"
    context = visitor(color_scheme=other)
    page = context.new_page()
    page.goto("/")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    before = page.evaluate(ground)
    page.get_by_label("Theme").select_option(stored)
    until(lambda: bool(page.evaluate(ground) != before))
    chosen = page.evaluate(ground)
    # Only the document; its script and pictures are still loading.
    page.route("**/assets/index-*.js", lambda route: None)
    page.goto("/", wait_until="commit")
    # Nothing is painted before the style sheet, so the first color must be the chosen one.
    page.wait_for_function(f"() => {ground} !== 'rgba(0, 0, 0, 0)'")
    assert page.evaluate(ground) == chosen
    page.unroute_all(behavior="ignoreErrors")


def test_a_slow_page_says_so_after_a_moment(page: Page) -> None:
    page.goto("/")
    held = hold_back(page, re.compile("/assets/QrPage-[^/]*[.]js$"))
    page.get_by_role("link", name="QR CODE").click()
    expect(spinner(page, "Loading")).to_be_visible()
    # The previous page is gone, and no footer would jump.
    expect(page.get_by_role("contentinfo")).to_be_hidden()
    let_go_on(page, held)
    expect(page.get_by_role("heading", level=1)).to_have_text("CUSTOM QR CODE GENERATOR")
    expect(page.get_by_role("contentinfo")).to_be_visible()


def test_icons_and_the_manifest_exist(page: Page, site: Product) -> None:
    page.goto("/")
    for selector, attribute in (
        ('link[rel="icon"]', "href"),
        ('link[rel="apple-touch-icon"]', "href"),
        ('link[rel="manifest"]', "href"),
        ('meta[property="og:image"]', "content"),
    ):
        for element in page.locator(selector).all():
            address = element.get_attribute(attribute) or ""
            assert site.http.get(
                page.url[:-1] + address if address[0] == "/" else address
            ).is_success


def test_a_deep_link_scrolls_to_its_section(visitor: Visitors) -> None:
    page = visitor(viewport={"width": 390, "height": 844}).new_page()
    # The document has the section, and the page's code takes it over later.
    held = hold_back(page, re.compile("/assets/(Terms|Privacy)Page-[^/]*[.]js$"))
    for path in ("/terms-of-use", "/privacy-policies"):
        page.goto(f"{path}#changes", wait_until="commit")
        expect(page.get_by_role("heading", name="Changes to these")).to_be_in_viewport()
        let_go_on(page, held)
        section = page.get_by_role("heading", name="Changes to these")
        expect(section).to_be_focused()
        expect(section).to_be_in_viewport()
        assert page.evaluate("scrollY") > 400

    page.get_by_role("navigation", name="Contents").get_by_role("link", name="Your rights").click()
    expect(page.get_by_role("heading", name="Your rights")).to_be_focused()
    expect(page.get_by_role("heading", name="Your rights")).to_be_in_viewport()
    page.evaluate("location.hash = '#browser'")
    expect(page.get_by_role("heading", name="Cookies and local storage")).to_be_focused()
    expect(page.get_by_role("heading", name="Cookies and local storage")).to_be_in_viewport()

    page.goto("/terms-of-use#nowhere%")
    expect(page.get_by_role("heading", level=1)).to_have_text("Terms of use")
    assert page.evaluate("scrollY") == 0


def test_a_toast_has_a_visible_close_button_of_sufficient_size(page: Page) -> None:
    page.goto("/custom-qr-generator")
    page.get_by_role("button", name="DOWNLOAD QR").click()
    close = page.locator(".Toastify__toast").get_by_role("button", name="Close")
    close.focus()
    box = close.bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) >= 44
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(close).to_be_focused()
    style = close.evaluate(
        "e => { const {outlineStyle, outlineWidth, outlineColor, color} = getComputedStyle(e); "
        "return [outlineStyle, outlineWidth, outlineColor === color] }"
    )
    assert style == ["solid", "3px", True]
    page.keyboard.press("Enter")
    expect(page.locator(".Toastify__toast")).to_have_count(0)


def test_a_row_on_a_phone_shows_the_host_first(visitor: Visitors, member: str) -> None:
    page = visitor(viewport={"width": 390, "height": 844}).new_page()
    visit(page, "/my-account", member)
    long = page.get_by_role("row").filter(has_text=LONG).get_by_role("cell").nth(1)
    assert LONG in (long.text_content() or ""), "it is whole in the document"
    edges = long.evaluate(
        """cell => {
            const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
            while (!texts.nextNode().data.includes('example.com'));
            const at = texts.currentNode.data.indexOf('example.com');
            const host = document.createRange();
            host.setStart(texts.currentNode, at);
            host.setEnd(texts.currentNode, at + 'example.com'.length);
            const seen = [cell, host].map((part) => part.getBoundingClientRect());
            return seen.flatMap(({left, right}) => [left, right]);
        }"""
    )
    left, right, host_left, host_right = edges
    assert host_left - left < 2
    assert host_right < right
