"""The pages of an instance where registration is by invitation, and only accounts shorten."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.product import Product
from tests.system.e2e.conftest import Visitors
from tests.system.e2e.stage import built_product
from tests.system.e2e.visitor_actions import await_scripts, hold_back, let_go_on, until_held

ENTRY = re.compile(r"/assets/(\w+/)?index-.*\.js")
PAGES = ("/", "/short-link", "/custom-qr-generator", "/terms-of-use", "/privacy-policies")
OFFERS = re.compile(
    "REGISTER|REGISTRARSE|(and|y) (without an account|sin cuenta)|no account needed"
    "|do not require an account|no exigen una cuenta|An account is optional|La cuenta es opcional"
)


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("private")
    settings = {"ATAJO_REGISTRATION": "invite", "ATAJO_GUEST_LINKS": "off"}
    with built_product(folder, **settings) as product:
        product.start()
        yield product


@pytest.mark.parametrize("locale", ["en-GB", "es-ES"])
@pytest.mark.parametrize("path", PAGES)
def test_no_page_offers_what_strangers_cannot_do(
    visitor: Visitors, private: Product, path: str, locale: str
) -> None:
    """Not even before the scripts, which take over the document as it is."""
    page = visitor(base_url=private.url, locale=locale).new_page()
    held = hold_back(page, ENTRY)
    page.goto(path, wait_until="commit")
    until_held(page, held)
    page.get_by_role("heading", level=1).evaluate("heading => { heading.dataset.first = '' }")
    before = page.locator("body").inner_text()
    assert not OFFERS.search(page.content())
    let_go_on(page, held)
    await_scripts(page)
    # React would log an error, which fails the test, and render anew.
    expect(page.locator("h1[data-first]")).to_have_count(1)
    assert page.locator("body").inner_text() == before


def test_the_shortener_says_log_in_in_place_of_its_form(
    visitor: Visitors, private: Product
) -> None:
    page = visitor(base_url=private.url).new_page()
    for path in ("/", "/short-link"):
        page.goto(path)
        expect(page.get_by_role("main")).to_contain_text("Log in to shorten links.")
        expect(page.get_by_role("textbox")).to_have_count(0)
    page.get_by_role("main").get_by_role("link", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    expect(page.get_by_role("main").get_by_role("link", name="Register")).to_have_count(0)


def fill_in(page: Page, email: str) -> None:
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill("Camino-42")
    page.get_by_label("Username").fill("Ana")
    page.get_by_role("button", name="REGISTER").click()


def test_an_invalid_invitation_is_refused_and_leaves_the_address_bar(
    visitor: Visitors, private: Product
) -> None:
    page = visitor(base_url=private.url).new_page()
    page.goto("/register")
    expect(page.get_by_role("main")).to_contain_text("Registration is by invitation.")
    expect(page.get_by_role("textbox")).to_have_count(0)
    page.goto("/register#invitation=forged")
    page.reload()
    page.goto("/register#invitation=forged")
    expect(page.get_by_label("Email")).to_be_visible()
    assert page.url == f"{private.url}/register"
    page.reload()
    fill_in(page, "ana@example.org")
    refusal = page.get_by_role("alert").filter(has_text="This invitation is not valid")
    expect(refusal).to_be_visible()
