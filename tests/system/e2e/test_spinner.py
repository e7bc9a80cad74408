"""While the shortener's spinner shows, the page keeps trying to create the link."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Page, Request, expect

from tests.support.product import Product
from tests.system.e2e.visitor_actions import link_field, plates, shorten, spinner, submit

LATE = 45_000
"""Milliseconds for a few attempts with their pauses."""


def test_it_continues_until_the_gateway_is_back_and_creates_one_link(
    site: Product, page: Page, target: str, expected: list[str]
) -> None:
    # Without a gateway, and with a web server in front of none.
    expected += [
        "net::ERR_",
        "createShortLink: ",
        "showLinks: ",
        "Failed to fetch",
        "status of 503",
    ]
    sent: list[dict[str, Any]] = []

    def note(request: Request) -> None:
        if request.url.endswith("/createShortLink"):
            sent.append(json.loads(request.post_data or "")["data"])

    page.goto("/")
    shorten(page, f"{target}/before")  # All code of a call is loaded.
    page.on("request", note)
    waiting = spinner(page, "Shortening")
    site.kill("gateway")
    try:
        submit(page, f"{target}/patience")
        expect(waiting).to_be_visible()
        expect(link_field(page)).to_have_value("")
        for _ in range(2):
            with page.expect_console_message(
                lambda message: "createShortLink: " in message.text, timeout=LATE
            ):
                pass
        # A click on an empty field meanwhile does nothing.
        page.get_by_role("button", name="Shorten", exact=True).click()
        expect(waiting).to_be_visible()
        expect(page.get_by_text("Enter a valid URL")).to_have_count(0)
    finally:
        site.start("gateway")
    expect(plates(page).first).to_contain_text(f"{target}/patience", timeout=LATE)
    expect(waiting).to_be_hidden()
    assert len(sent) >= 3
    assert {call["code"] for call in sent} == {sent[0]["code"]}
    assert {call["url"] for call in sent} == {f"{target}/patience"}
    assert plates(page).count() == 2
    assert site.visit(sent[0]["code"]).headers["location"] == f"{target}/patience"
