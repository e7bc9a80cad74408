"""The spinner of the shortener is true: while it turns, the same link is really being tried."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

from tests.e2e.acts import answer_to, keep_token, link_field, plates, shorten, spinner, submit
from tests.e2e.stage import built_product
from tests.product import ALPHABET, Product, new_code

LATE = 45_000
"""Milliseconds: a few tries with their waits between."""


class Calls:
    """The creations a page asks for, in order."""

    def __init__(self, page: Page) -> None:
        self.sent: list[dict[str, Any]] = []
        self._page = page
        page.on("request", self._on_request)

    def _on_request(self, request: Request) -> None:
        if request.url.endswith("/createShortLink"):
            self.sent.append(json.loads(request.post_data or "")["data"])

    def fail(self, times: int) -> None:
        """Wait until the page has told of so many more that failed."""
        for _ in range(times):
            with self._page.expect_console_message(
                lambda message: "createShortLink: " in message.text, timeout=LATE
            ):
                pass


@pytest.fixture
def down(expected: list[str]) -> None:
    """A test during which the back end does not answer: the console says so."""
    expected += ["net::ERR_", "createShortLink: ", "showLinks: ", "load: failed", "Failed to fetch"]
    expected.append("status of 503")  # Of a web server in front of what is away.


def waiting(page: Page) -> Locator:
    """What turns while a link is being made."""
    return spinner(page, "Shortening")


@pytest.mark.usefixtures("down")
def test_it_goes_on_until_the_gateway_is_back_and_makes_one_link(
    site: Product, page: Page, target: str
) -> None:
    page.goto("/")
    shorten(page, f"{target}/before")  # All the code of a call is loaded.
    calls = Calls(page)
    site.kill("gateway")
    try:
        submit(page, f"{target}/patience")
        expect(waiting(page)).to_be_visible()
        expect(link_field(page)).to_have_value("")
        calls.fail(2)
        # An empty click while it runs does nothing.
        page.get_by_role("button", name="Shorten", exact=True).click()
        expect(waiting(page)).to_be_visible()
        expect(page.get_by_text("Enter a valid URL")).to_have_count(0)
    finally:
        site.start("gateway")
    expect(plates(page).first).to_contain_text(f"{target}/patience", timeout=LATE)
    expect(waiting(page)).to_be_hidden()
    assert len(calls.sent) >= 3
    assert {call["code"] for call in calls.sent} == {calls.sent[0]["code"]}
    assert {call["url"] for call in calls.sent} == {f"{target}/patience"}
    assert plates(page).count() == 2
    assert site.visit(calls.sent[0]["code"]).headers["location"] == f"{target}/patience"


@pytest.mark.usefixtures("down")
def test_an_answer_that_is_lost_does_not_make_a_second_link(
    site: Product, page: Page, target: str
) -> None:
    token = site.log_in(site.register())
    page.goto("/")
    keep_token(page, token, 3600)
    page.reload()
    calls = Calls(page)
    lost: list[int] = []

    def lose_the_first(route: Route) -> None:
        if lost:
            route.continue_()
        else:
            lost.append(answer_to(route).status)  # The back end has made the link.
            route.abort("connectionreset")

    page.route("**/createShortLink", lose_the_first)
    submit(page, f"{target}/once")
    expect(plates(page)).to_have_count(1, timeout=LATE)
    assert lost == [200]
    assert len(calls.sent) == 2
    assert calls.sent[0] == calls.sent[1]
    assert list(site.views(token)) == [calls.sent[0]["code"]]


def test_a_code_that_is_taken_is_replaced_unseen(
    site: Product, page: Page, target: str, expected: list[str]
) -> None:
    expected.append("status of 409")
    taken = site.shorten(f"{target}/taken")
    # The page's first random bytes spell that very code.
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    assert set(alphabet) == set(ALPHABET)
    page.add_init_script(
        f"const bytes = {[alphabet.index(letter) for letter in taken]};"
        "const real = crypto.getRandomValues.bind(crypto);"
        "crypto.getRandomValues = array => array.length === 8 && bytes.length"
        " ? (array.set(bytes.splice(0)), array) : real(array);"
    )
    calls = Calls(page)
    page.goto("/")
    address = shorten(page, f"{target}/fresh")
    assert [call["code"] for call in calls.sent] == [taken, address[-8:]]
    assert address[-8:] != taken
    assert site.visit(taken).headers["location"] == f"{target}/taken"
    assert site.visit(address[-8:]).headers["location"] == f"{target}/fresh"
    expect(page.locator(".Toastify__toast")).to_have_count(0)
    expect(page.get_by_role("alert").filter(has_text="URL")).to_have_count(0)


def test_what_the_back_end_refuses_stops_it(page: Page, target: str, expected: list[str]) -> None:
    """The page refuses the same; here the link is changed on its way."""
    expected.append("status of 400")
    page.route(
        "**/createShortLink",
        lambda route: route.continue_(
            post_data=json.dumps(
                {"data": {"code": new_code(), "url": "javascript:alert(1)", "token": None}}
            )
        ),
    )
    calls = Calls(page)
    page.goto("/")
    submit(page, f"{target}/changed")
    expect(page.get_by_text("Enter a valid URL", exact=True)).to_be_visible()
    expect(waiting(page)).to_be_hidden()
    assert len(calls.sent) == 1
    assert plates(page).count() == 0


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Product]:
    """A product that lets an address make one link in three seconds."""
    with built_product(tmp_path, ATAJO_LIMIT_CREATIONS="1/3seconds") as product:
        product.start()
        yield product
