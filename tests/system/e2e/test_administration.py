"""The page of administrators, on the real product."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Request, expect

from tests.support.administrators import log_in_administrator
from tests.support.product import Product
from tests.support.waiting import PROPAGATION_SECONDS, wait_until
from tests.system.e2e.conftest import Visitors
from tests.system.e2e.stage import built_product
from tests.system.e2e.test_routes import WIDTHS, axe_violations
from tests.system.e2e.visitor_actions import keep_token, sideways

REPORTS = 40
SECTIONS = ("reports", "links", "accounts", "decisions", "instance")


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """A product of its own: its queue has the reports of the test alone."""
    with built_product(tmp_path_factory.mktemp("administration")) as product:
        product.start()
        yield product


def report(product: Product, number: int) -> str:
    """Create a link and report it; return its code."""
    code = product.shorten(f"https://reported-{number}.example/log-in?account={number}")
    details = {"reason": "phishing", "details": f"It asks for a password ({number})."}
    assert product.data("reportLink", {"code": code, **details})["success"]
    return code


def await_status(product: Product, code: str, status: int) -> None:
    """Wait until a link answers so."""
    wait_until(lambda: product.visit(code).status_code == status, PROPAGATION_SECONDS)


def expect_text(page: Page, text: str) -> None:
    """Expect a text on the page. Announcements to screen readers are outside of it."""
    expect(page.get_by_role("main").get_by_text(text)).to_be_visible()


def open_as_administrator(page: Page, product: Product) -> None:
    page.goto("/terms-of-use")
    keep_token(page, log_in_administrator(product), 3600)
    page.goto("/admin")
    expect(page.get_by_role("heading", level=1)).to_have_text("Administration")


def test_forty_reports_are_decided_by_keys_alone(visitor: Visitors, instance: Product) -> None:
    codes = [report(instance, number) for number in range(REPORTS)]
    requests: list[Request] = []
    context = visitor(base_url=instance.url)
    context.on("request", lambda request: requests.append(request))
    page = context.new_page()
    open_as_administrator(page, instance)
    expect(page.get_by_text(re.compile(r"^\d+ links await a decision$"))).to_be_visible()

    blocked: list[str] = []
    dismissed: list[str] = []
    heading = page.get_by_role("heading", level=2).filter(has_text="/")
    began = time.monotonic()
    for turn in range(REPORTS):
        code = heading.inner_text().rpartition("/")[2]
        key, decided = ("b", blocked) if turn % 2 == 0 else ("d", dismissed)
        decided.append(code)
        page.keyboard.press(key)
        if turn + 1 < REPORTS:
            expect(heading).not_to_have_text(re.compile(re.escape(code)))
    expect_text(page, "No link awaits a decision.")
    # Forty reports and ten minutes are what an administrator has; this took 5 s on two cores.
    assert time.monotonic() - began < 120
    assert sorted(blocked + dismissed) == sorted(codes)

    # What the last key did is undone by a key, too.
    page.keyboard.press("u")
    expect(
        page.get_by_role("main").get_by_text("is in the list again until you leave it.")
    ).to_be_visible()
    blocked.append(dismissed.pop())
    page.keyboard.press("b")
    expect(
        page.get_by_role("main").get_by_text(f"{blocked[-1]} was blocked as phishing.")
    ).to_be_visible()
    for code in codes:
        await_status(instance, code, 451 if code in blocked else 302)

    page.reload()
    expect_text(page, "No link awaits a decision.")
    # The recording: this product's own files and functions, and nothing of a destination.
    assert requests
    assert {request.url.startswith(f"{instance.url}/") for request in requests} == {True}
    assert not [request.url for request in requests if "reported-" in request.url]


def test_no_key_decides_while_somebody_types(visitor: Visitors, instance: Product) -> None:
    code = report(instance, 1000)
    page = visitor(base_url=instance.url).new_page()
    open_as_administrator(page, instance)
    comment = page.get_by_label(re.compile("^Comment"))
    expect(comment).to_be_visible()
    page.keyboard.press("c")
    expect(comment).to_be_focused()
    page.keyboard.type("bdun1")
    expect(comment).to_have_value("bdun1")
    assert instance.visit(code).status_code == 302
    page.keyboard.press("Enter")
    page.keyboard.press("2")
    expect(page.get_by_label("Class")).to_have_value("malware")
    page.keyboard.press("b")
    expect_text(page, f"{code} was blocked as malware.")
    page.get_by_role("link", name="Decisions").click()
    expect(page.get_by_role("list", name="Decisions").get_by_text("“bdun1”")).to_be_visible()


@pytest.mark.parametrize("locale", ["en-GB", "es-ES"])
@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_is_accessible_and_nothing_scrolls_sideways(
    visitor: Visitors, instance: Product, section: str, locale: str
) -> None:
    report(instance, 2000 + SECTIONS.index(section))
    page = visitor(base_url=instance.url, locale=locale, reduced_motion="reduce").new_page()
    page.goto("/terms-of-use")
    keep_token(page, log_in_administrator(instance), 3600)
    page.goto(f"/admin#{section}")
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "Administration" if locale == "en-GB" else "Administración"
    )
    page.wait_for_load_state("networkidle")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert axe_violations(page) == [], theme
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert sideways(page) == 0, width


def test_members_get_the_page_of_a_path_that_does_not_exist_and_load_nothing_of_the_tool(
    visitor: Visitors, instance: Product
) -> None:
    context = visitor(base_url=instance.url)
    loaded: list[str] = []
    context.on("request", lambda request: loaded.append(request.url))
    page = context.new_page()
    page.goto("/admin")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("PAGE NOT FOUND")
    keep_token(page, instance.log_in(instance.register()), 3600)
    page.goto("/admin")
    expect(heading).to_have_text("PAGE NOT FOUND")
    assert not [url for url in loaded if "AdminTool" in url]


def test_a_new_instance_is_administered_in_the_browser(
    visitor: Visitors, instance: Product
) -> None:
    """An invitation registers an account, which is found, suspended and resumed."""
    page = visitor(base_url=instance.url).new_page()
    open_as_administrator(page, instance)
    page.get_by_role("link", name="Accounts").click()
    page.get_by_text("Invitations").click()
    page.get_by_role("button", name="Create invitation").click()
    url = page.locator("code").inner_text()
    guest = visitor(base_url=instance.url).new_page()
    guest.goto(url)
    guest.get_by_label("Email").fill("ana@example.org")
    guest.get_by_label("Password", exact=True).fill("Camino-42")
    guest.get_by_label("Username").fill("Ana")
    guest.get_by_role("button", name="REGISTER").click()
    expect(guest.get_by_role("heading", level=1)).to_have_text("Log in")

    page.get_by_role("searchbox", name="Email").fill("ana@")
    page.keyboard.press("Enter")
    page.get_by_text("ana@example.org").click()
    page.get_by_role("button", name="Suspend").click()
    page.get_by_role("dialog").get_by_role("button", name="Suspend").click()
    expect_text(page, "ana@example.org is suspended.")
    guest.get_by_label("Password", exact=True).fill("Camino-42")
    guest.get_by_role("button", name="LOGIN").click()
    expect(guest.get_by_text("This account is suspended")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(
        page.get_by_role("main").get_by_text("ana@example.org can log in again.")
    ).to_be_visible()
    guest.get_by_role("button", name="LOGIN").click()
    expect(guest.get_by_role("heading", level=1)).to_have_text(re.compile("Shorten"))
