"""Public pages show their text before any script, and take over what was typed until then."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.product import Product
from tests.system.e2e.conftest import Visitors
from tests.system.e2e.visitor_actions import (
    await_scripts,
    hold_back,
    let_go_on,
    link_field,
    plates,
    shorten,
    until_held,
)

ENTRY = re.compile(r"/assets/(\w+/)?index-.*\.js")
PAGES = {
    "/": ("Shorten, share and track your links", "Acorta, comparte y sigue tus enlaces"),
    "/short-link": ("Shorten a link", "Acorta un enlace"),
    "/custom-qr-generator": (
        "CUSTOM QR CODE GENERATOR",
        "GENERADOR DE CÓDIGOS QR PERSONALIZADOS",
    ),
    "/terms-of-use": ("Terms of use", "Condiciones de uso"),
    "/privacy-policies": ("Privacy policies", "Política de privacidad"),
}
HEIGHT = "() => document.querySelector('main').getBoundingClientRect().height"


@pytest.mark.parametrize("locale", ["en-GB", "es-ES"])
@pytest.mark.parametrize("path", PAGES)
def test_a_public_page_is_complete_without_scripts(
    visitor: Visitors, site: Product, path: str, locale: str
) -> None:
    page = visitor(locale=locale, java_script_enabled=False).new_page()
    page.goto(path)
    plain = visitor(locale=locale).new_page()
    plain.goto(path)
    heading = plain.get_by_role("heading", level=1)
    expect(heading).to_have_text(PAGES[path][locale == "es-ES"])
    expect(page.get_by_role("heading", level=1)).to_have_text(heading.inner_text())
    assert page.title() == plain.title()
    for name in ("description", "og:title", "og:description", "og:url"):
        meta = f'meta[name="{name}"], meta[property="{name}"]'
        content = plain.locator(meta).get_attribute("content")
        expect(page.locator(meta)).to_have_attribute("content", content or "")
    main = page.get_by_role("main").text_content()
    assert main == plain.get_by_role("main").text_content()
    if path == "/short-link":
        expect(page.get_by_text(f"{site.url}/share?url=", exact=True)).to_be_visible()
    if path == "/privacy-policies":
        mails = page.get_by_role("main").locator("a[href^='mailto:contact@']")
        expect(mails.first).to_have_text("contact@localhost")
    # The style sheets of the page are there.
    assert abs(page.evaluate(HEIGHT) - plain.evaluate(HEIGHT)) < 2


@pytest.mark.parametrize("path", PAGES)
def test_what_shows_the_text_loads_before_the_scripts(page: Page, site: Product, path: str) -> None:
    loads: list[str] = []
    page.on("request", lambda request: loads.append(request.url))
    document = page.goto(path)
    assert document is not None
    entry = next(n for n, url in enumerate(loads) if ENTRY.search(url))
    links = re.findall(r"<link[^>]*>", document.text())
    named = {
        f"{site.url}{path}"
        for link in links
        for path in re.findall(r'href="([^"]+\.(?:css|woff2))"', link)
    }
    assert named <= {*loads[:entry]}
    assert {url for url in loads if url.endswith(".woff2")} <= named
    painted = page.evaluate(
        "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
    )
    started = page.evaluate(
        "(entry) => performance.getEntriesByName(entry)[0].startTime", loads[entry]
    )
    assert painted < started


@pytest.mark.parametrize("path", PAGES)
def test_the_scripts_take_over_the_page_as_it_is(page: Page, path: str) -> None:
    held = hold_back(page, ENTRY)
    page.goto(path, wait_until="commit")
    until_held(page, held)
    page.get_by_role("heading", level=1).evaluate("heading => { heading.dataset.first = '' }")
    let_go_on(page, held)
    # The menu opens once the scripts have taken over.
    page.set_viewport_size({"width": 390, "height": 800})
    menu = page.get_by_role("button", name="Menu")
    expect(menu).to_be_visible()
    await_scripts(page)
    menu.click()
    expect(menu).to_have_attribute("aria-expanded", "true")
    expect(page.locator("h1[data-first]")).to_have_count(1)


def test_a_link_that_is_typed_before_the_scripts_is_shortened(page: Page, target: str) -> None:
    held = hold_back(page, ENTRY)
    page.goto("/", wait_until="commit")
    until_held(page, held)
    link_field(page).fill(f"{target}/early")
    let_go_on(page, held)
    await_scripts(page)
    expect(link_field(page)).to_have_value(f"{target}/early")
    link_field(page).press("Enter")
    expect(plates(page)).to_have_count(1)


def test_a_link_that_is_entered_before_the_scripts_is_shortened(page: Page, target: str) -> None:
    held = hold_back(page, ENTRY)
    page.goto("/", wait_until="commit")
    until_held(page, held)
    link_field(page).fill(f"{target}/entered")
    link_field(page).press("Enter")
    let_go_on(page, held)
    expect(plates(page)).to_have_count(1)


def test_what_is_pressed_before_the_scripts_is_done(page: Page) -> None:
    held = hold_back(page, ENTRY)
    page.goto("/custom-qr-generator", wait_until="commit")
    until_held(page, held)
    page.get_by_role("button", name="More options").click()
    page.get_by_label("Theme").select_option("dark")
    page.get_by_text("Quiet zone (for dark backgrounds)").click()
    let_go_on(page, held)
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("switch", name="Quiet zone")).to_be_checked()
    expect(page.get_by_role("heading", name="Style")).to_be_visible()


def test_without_its_scripts_a_form_loads_the_page_again(
    page: Page, target: str, expected: list[str]
) -> None:
    expected.append("ERR_FAILED")
    page.route(ENTRY, lambda route: route.abort(), times=1)
    page.goto("/")
    with page.expect_navigation():
        link_field(page).press("Enter")
    shorten(page, f"{target}/again")


PRESS_AT_LAST = """
    const later = window.setTimeout;
    const press = () => document.querySelector('[aria-controls][class*=secondary]').click();
    window.setTimeout = (task, ...rest) => {
        if (rest.length > 0 || !window.early) return later(task, ...rest);
        later(press);
        return later(task, 200);
    };
"""
"""Script that presses 'More options' when the page handles it already, a moment before it repeats
earlier presses."""


def test_what_is_pressed_while_the_scripts_take_over_is_done_once(page: Page) -> None:
    page.add_init_script(PRESS_AT_LAST)
    page.goto("/custom-qr-generator")
    await_scripts(page)
    more = page.get_by_role("button", name="More options")
    expect(more).to_have_attribute("aria-expanded", "true")


def test_what_is_opened_before_the_scripts_is_open(page: Page) -> None:
    held = hold_back(page, ENTRY)
    page.goto("/short-link", wait_until="commit")
    until_held(page, held)
    page.get_by_text("Customize").click()
    let_go_on(page, held)
    expect(page.get_by_label("Campaign", exact=True)).to_be_visible()


def test_a_code_of_what_is_typed_before_the_scripts_is_drawn(page: Page) -> None:
    held = hold_back(page, ENTRY)
    page.goto("/custom-qr-generator", wait_until="commit")
    until_held(page, held)
    page.get_by_label("Name").fill("early")
    page.get_by_label("URL").fill("https://example.com/early")
    let_go_on(page, held)
    drawn = page.get_by_role("img", name="QR code of https://example.com/early")
    expect(drawn).to_be_visible()
    expect(page.get_by_label("URL")).to_have_value("https://example.com/early")
    with page.expect_download() as saved:
        page.get_by_role("button", name="DOWNLOAD QR").click()
    assert saved.value.suggested_filename == "early.png"


def test_a_returning_visitor_sees_what_is_stored(page: Page, target: str) -> None:
    page.goto("/")
    shorten(page, f"{target}/kept")
    page.reload()
    expect(page.get_by_role("region", name="Created in this browser")).to_be_visible()
    page.get_by_label("Theme").select_option("dark")
    page.reload()
    expect(page.get_by_label("Theme")).to_have_value("dark")
