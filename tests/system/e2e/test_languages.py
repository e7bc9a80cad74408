"""The pages in each language: what is chosen, what is translated, how it fits and is announced."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.product import Product
from tests.system.e2e.conftest import Visitors
from tests.system.e2e.test_routes import ACCOUNT, ROUTES, axe_violations
from tests.system.e2e.test_routes import member as member
from tests.system.e2e.visitor_actions import keep_token, sideways

API = "/api"
PAGES = [path for path in ROUTES if path != API]
"""The pages that exist in every language. The documentation of the API is in English."""
SAME = re.compile(
    r"""^(
        \W* | [\d.,:]+ | Atajo | API | CSV | JSON | PDF | PNG | SVG | URL | QR | SMS | Wi-Fi
        | [LMQH] | Color | Radial | English | Español | (links|statistics):\w+
        | (Al\ menos|Como\ máximo)\ .* | \#\w+ | https?://.* | (localhost|127\.0\.0\.1)[:/].*
        | W+ | /k7Qm2_xB | my-qr-code | 0\ bots | example\.com/.*
        | [\w]+(\.[\w*]+)+(,\ .*)? | [^@\s]+@[^@\s]+
    )$""",
    re.VERBOSE,
)
"""Texts that are the same in both languages: names, codes, addresses, field names."""


def open_page(page: Page, path: str, member: str) -> None:
    if path.startswith(ACCOUNT):
        page.goto("/terms-of-use")
        keep_token(page, member, 3600)
    page.goto(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("main [role=status]:has(svg)")).to_have_count(0)
    if path == "/custom-qr-generator":
        page.locator("button[aria-expanded=false][aria-controls]:visible").last.click()
        expect(page.locator("main fieldset").first).to_be_visible()


def texts_of(page: Page) -> set[str]:
    """Return all texts of a page: those that it shows, and those for screen readers."""
    found: list[str] = page.evaluate(
        """() => {
            const texts = [document.title];
            for (const meta of document.querySelectorAll(
                'meta[name=description], meta[property="og:title"], meta[property="og:image:alt"]'
            )) texts.push(meta.content);
            const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const {parentElement, data} = walker.currentNode;
                if (!parentElement.closest('script, [translate=no], [lang]:not(html)')) {
                    texts.push(data);
                }
            }
            for (const element of document.querySelectorAll('body *')) {
                for (const name of ['aria-label', 'alt', 'placeholder', 'title']) {
                    texts.push(element.getAttribute(name) ?? '');
                }
            }
            return texts;
        }"""
    )
    return {text.strip() for text in found}


BROKEN_WORDS = """() => {
    const text = document.querySelector('h1').firstChild;
    const range = document.createRange();
    return Array.from(text.data.matchAll(/\\S+/g)).filter(({ index, 0: word }) => {
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        return range.getClientRects().length > 1;
    }).map(([word]) => word);
}"""
"""Script that returns the words of the heading that do not fit into a line."""


@pytest.mark.parametrize("path", PAGES)
def test_a_page_in_spanish_has_no_english_text_and_fits(
    visitor: Visitors, path: str, member: str
) -> None:
    english = visitor(locale="en-GB").new_page()
    open_page(english, path, member)
    page = visitor(locale="es-ES", reduced_motion="reduce").new_page()
    open_page(page, path, member)
    expect(page.locator("html")).to_have_attribute("lang", "es")
    same = {text for text in texts_of(english) & texts_of(page) if not SAME.fullmatch(text)}
    assert same == set()
    assert axe_violations(page) == []
    for width in (320, 390, 768, 1100, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        assert sideways(page) == 0, f"{path} at {width} px"
        assert page.evaluate(BROKEN_WORDS) == [], f"{path} at {width} px"


def test_the_chosen_language_stays_whatever_the_browser_asks_for(visitor: Visitors) -> None:
    page = visitor(locale="en-GB").new_page()
    page.goto("/short-link?from=here#steps")
    choice = page.get_by_role("contentinfo").get_by_label("Language")
    expect(choice).to_have_value("system")
    assert choice.locator("option").all_inner_texts() == ["System", "English", "Español"]
    choice.select_option("Español")
    expect(page.get_by_role("heading", level=1)).to_have_text("Acorta un enlace")
    expect(page).to_have_url(re.compile(r"/short-link\?from=here#steps$"))
    for path, heading in (
        ("/", "Acorta, comparte y sigue tus enlaces"),
        ("/not-found", "PÁGINA NO ENCONTRADA"),
    ):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        expect(page).to_have_url(re.compile(f"{path}$"))
    choice = page.get_by_role("contentinfo").get_by_label("Idioma")
    expect(choice).to_have_value("es")
    choice.select_option("Sistema")
    expect(page.get_by_role("heading", level=1)).to_have_text("PAGE NOT FOUND")


def test_english_may_be_chosen_in_a_spanish_browser(visitor: Visitors) -> None:
    page = visitor(locale="es-ES").new_page()
    page.goto("/login")
    page.get_by_role("contentinfo").get_by_label("Idioma").select_option("English")
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_a_link_to_a_language_needs_no_choice(page: Page, site: Product) -> None:
    page.goto("/login?lang=es")
    expect(page.get_by_role("heading", level=1)).to_have_text("Iniciar sesión")
    canonical = page.locator('link[rel="canonical"]')
    expect(canonical).to_have_attribute("href", f"{site.url}/login?lang=es")
    page.get_by_role("link", name="ACORTADOR").click()
    expect(canonical).to_have_attribute("href", f"{site.url}/short-link?lang=es")
    english = page.locator('link[hreflang="en"]')
    expect(english).to_have_attribute("href", f"{site.url}/short-link?lang=en")
    neutral = page.locator('link[hreflang="x-default"]')
    expect(neutral).to_have_attribute("href", f"{site.url}/short-link")


def test_messages_numbers_and_codes_follow_the_language(visitor: Visitors, site: Product) -> None:
    page = visitor(locale="es-ES").new_page()
    page.goto("/")
    field = page.get_by_role("textbox", name="Enlace que acortar")
    field.fill("example.com")
    field.press("Enter")
    expect(page.get_by_text("Incluye https:// o http:// en la URL").first).to_be_visible()
    code = site.shorten("https://example.com/")
    page.goto(f"/{code}+")
    expect(page.get_by_role("heading", level=1)).to_have_text("Vista previa del enlace")
    expect(page.get_by_text(re.compile(r"se creó el \d+ \w+ \d{4}\."))).to_be_visible()
    page.goto("/custom-qr-generator")
    page.get_by_label("URL").fill("x" * 1200)
    drawn = page.get_by_role("img", name="Código QR de un texto de 1200 caracteres")
    expect(drawn).to_be_visible()
