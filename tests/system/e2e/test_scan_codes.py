"""QR codes of own links, from the click to the counted visit."""

from __future__ import annotations

import re
from pathlib import Path

import cv2
import numpy as np
from playwright.sync_api import Page, expect

from tests.support.product import Product
from tests.system.e2e.visitor_actions import shorten, until
from tests.system.qr.readers import SCANNERS, Scanners, framed, greyed


def test_a_code_of_ones_own_link_says_its_scan_code(site: Product, page: Page, target: str) -> None:
    page.goto("/")
    code = shorten(page, f"{target}/menu")[-8:]
    page.get_by_role("link", name="Make a QR code").click()
    note = page.locator("#main").get_by_text(
        re.compile("^Uses a scan code: 25 . 25 modules, with error")
    )
    expect(note).to_be_visible()
    address = page.get_by_role("textbox", name="URL").input_value()
    assert re.fullmatch(rf"{re.escape(site.url.upper())}/[0-9A-Z-]{{8}}", address)
    expect(page.locator("[data-verdict]")).to_have_attribute("data-verdict", "well")
    with page.expect_download() as event:
        page.get_by_role("button", name="DOWNLOAD QR").click()
    file = np.frombuffer(Path(event.value.path()).read_bytes(), np.uint8)
    picture = cv2.imdecode(file, cv2.IMREAD_COLOR_RGB)
    assert picture is not None
    # Its text differs in each run, so it is read by decoders that lose no plain code.
    with Scanners() as scanners:
        shades = greyed(framed(picture.astype(np.uint8)))
        assert scanners.successful_readers(shades, address) == list(SCANNERS)

    assert site.visit(address[-8:]).headers["location"] == f"{target}/menu"
    page.goto(f"/links/{code}")
    fact = page.get_by_role("definition").filter(has_text=address.removeprefix("HTTP://"))
    expect(fact).to_be_visible()
    until(lambda: _is_counted(page))

    page.get_by_role("button", name="Remove").click()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("Printed codes of this link will stop working.")
    question.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("You removed this link.")).to_be_visible()
    until(lambda: site.visit(address[-8:]).status_code == 410)


def _is_counted(page: Page) -> bool:
    """Return whether the statistics contain a visit by QR code."""
    page.reload()
    reached = page.get_by_role("region", name="Source")
    reached.or_(page.get_by_text("No visits in this period.")).first.wait_for()
    return reached.filter(has_text="QR code").count() == 1
