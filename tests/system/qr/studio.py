"""Drives the QR page as a user does."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
from playwright.sync_api import FilePayload, Page, expect

from tests.system.qr.readers import Picture

WARNINGS = ("inverted", "close", "dense", "unread")
SCANS = ("well", "care")
FINAL = (*SCANS, "unchecked", *WARNINGS)


@dataclass(frozen=True)
class Saved:
    """A downloaded file."""

    name: str
    content: bytes

    def picture(self) -> Picture:
        """Its pixels."""
        return picture_of(self.content)


def picture_of(content: bytes) -> Picture:
    """Return the pixels of an image file."""
    decoded = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR_RGB)
    assert decoded is not None
    return decoded.astype(np.uint8)


def drawn(page: Page, svg: bytes, pixels: str = "") -> Picture:
    """Render an SVG in the browser at its own size or a width in CSS pixels."""
    assert b"<image" not in svg or b'href="data:image/png;base64,' in svg
    other = page.context.new_page()
    other.set_content(f'<body style="margin: 0">{svg.decode()}')
    code = other.locator("svg")
    if pixels:
        code.evaluate("(e, side) => { e.style.width = e.style.height = side }", pixels)
    picture = picture_of(code.screenshot())
    other.close()
    return picture


def printed(pdf: bytes, pixels: int) -> Picture:
    """Render the single page of a PDF at a width in pixels with PDFium."""
    document = pypdfium2.PdfDocument(pdf)
    (page,) = document
    bitmap = page.render(scale=pixels / page.get_width())
    picture = cv2.cvtColor(np.asarray(bitmap.to_numpy()), cv2.COLOR_BGR2RGB)
    document.close()
    return picture.astype(np.uint8)


def all_of_it_came(page: Page) -> AbstractContextManager[object]:
    """Wait at the end until the page has preloaded everything. The PDF writer comes last."""
    return page.expect_event("requestfinished", lambda request: "/worker-pdf-" in request.url)


class Studio:
    """Fills in, chooses, reads the verdict and downloads."""

    def __init__(self, page: Page) -> None:
        self.page = page
        # The decoder is loaded when its worker is.
        with page.expect_worker():
            page.goto("/custom-qr-generator")
        self.url = page.get_by_role("textbox", name="URL")
        self.name = page.get_by_role("textbox", name="Name")
        self.file = page.get_by_label("Center image")
        self.preview = page.get_by_alt_text("Your logo...")
        self.code = page.get_by_role("img", name="QR code")
        self.line = page.locator("[data-verdict]")

    def write(self, text: str) -> str:
        """Fill in a text, wait until it is drawn, and return the page's verdict."""
        self.url.fill(text)
        kept = self.url.input_value().rstrip("\n")
        self.page.wait_for_function(
            "text => document.querySelector('canvas').ariaLabel?.includes(text.slice(0, 200))",
            arg=kept,
        )
        return kept

    def paint(self, label: str, colour: str) -> None:
        """Choose a color by its text."""
        self.page.get_by_role("button", name=re.compile(f"^{label} #")).click()
        self.page.get_by_label("Hex, rgb() or hsl()").fill(colour)
        self.page.keyboard.press("Escape")

    def colours(self, foreground: str, background: str) -> None:
        """Choose both colors."""
        self.paint("Color", foreground)
        self.paint("Background color", background)

    def choose(self, logo: FilePayload | None) -> None:
        """Choose a logo, or none."""
        remove = self.page.get_by_role("button", name="Remove image").first
        if remove.is_visible():
            remove.click()
        if logo is not None:
            self.file.set_input_files(logo)
            expect(self.preview).to_be_visible()

    def verdict(self) -> str:
        """Return the final verdict under the code."""
        selector = ", ".join(f'[data-verdict="{verdict}"]' for verdict in FINAL)
        self.page.locator(selector).wait_for()
        return self.line.get_attribute("data-verdict") or ""

    def more(self) -> None:
        """Open 'More options'."""
        button = self.page.get_by_role("button", name="More options")
        if button.get_attribute("aria-expanded") == "false":
            button.click()
        self.page.get_by_role("heading", name="Style", exact=True).wait_for()

    def option(self, group: str, name: str) -> None:
        """Choose an option."""
        choice = self.page.get_by_role("group", name=group)
        choice.get_by_role("radio", name=name, exact=True).check()

    def keep(self, styles: Mapping[str, object]) -> None:
        """Store styles in the browser and open the page."""
        kept = [{"name": name, "style": style} for name, style in styles.items()]
        self.page.evaluate("kept => localStorage.setItem('qrStyles', kept)", json.dumps(kept))
        self.page.reload()
        self.more()

    def take(self, name: str) -> None:
        """Apply a saved style."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def download(self, button: str = "DOWNLOAD QR") -> Saved:
        """Download the drawn code."""
        with self.page.expect_download() as waiting:
            self.page.get_by_role("button", name=button, exact=True).click()
        download = waiting.value
        return Saved(download.suggested_filename, Path(download.path()).read_bytes())
