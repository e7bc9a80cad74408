"""'More options' of the QR page: styles and files, in a real browser."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pypdfium2
import pytest
from numpy.typing import NDArray
from playwright.sync_api import FilePayload, Page, expect

from tests.support.product import Product
from tests.system.e2e.conftest import Visitors
from tests.system.e2e.test_routes import axe_violations
from tests.system.qr.cases import image_file
from tests.system.qr.pictures import PLAIN, logo_picture
from tests.system.qr.readers import OTHERS, Picture, Readers, framed
from tests.system.qr.studio import SCANS, Studio, all_of_it_came, drawn, picture_of, printed

LINK = "https://atajo.example/k7Qm2_xB"

STYLES: dict[str, dict[str, Any]] = {
    name: {**PLAIN, **style}
    for name, style in json.loads(
        Path(__file__).with_name("qr_styles.json").read_text(encoding="utf-8")
    ).items()
}


@pytest.fixture(scope="module")
def site(product_with_pages: Product) -> Product:
    """One product is enough, because the page uses no store."""
    return product_with_pages


@pytest.fixture
def studio(page: Page) -> Studio:
    """Return the page with these saved styles and 'More options' open."""
    studio = Studio(page)
    studio.keep(STYLES)
    return studio


def logo(kind: str) -> FilePayload | None:
    """Return a non-square logo, or none."""
    if kind == "none":
        return None
    return image_file("logo", "png", np.ascontiguousarray(logo_picture(kind)[:80]))


def shrunk(picture: Picture) -> Picture:
    """Scale a picture to 400 pixels by averaging."""
    return cv2.resize(picture, (400, 400), interpolation=cv2.INTER_AREA).astype(np.uint8)


def even(picture: Picture) -> NDArray[np.bool_]:
    """Return where a pixel hardly differs from its neighbors."""
    kernel = np.ones((5, 5), np.uint8)
    maximum, minimum = cv2.dilate(picture, kernel), cv2.erode(picture, kernel)
    spread: NDArray[np.bool_] = (maximum.astype(int) - minimum).max(axis=2) <= 6
    return spread


def apart(one: Picture, other: Picture) -> tuple[int, float]:
    """Return the maximum and mean difference of channels, of 255."""
    assert one.shape == other.shape
    difference = np.abs(one.astype(int) - other.astype(int))
    return int(difference.max()), float(difference.mean())


@pytest.mark.parametrize(
    ("style", "kind"),
    [
        *((style, "none") for style in ("plain", "rounded", "framed")),
        *((style, "pale") for style in ("coloured", "dots", "framed dots")),
    ],
)
def test_the_three_formats_show_the_same_picture_and_are_readable(
    studio: Studio, readers: Readers, style: str, kind: str
) -> None:
    studio.take(style)
    studio.choose(logo(kind))
    studio.write(LINK)
    assert studio.verdict() in SCANS
    png = studio.download().picture()
    assert png.shape == (400, 400, 3)
    svg = studio.download("SVG")
    assert svg.content.count(b"<image") == (kind != "none")
    assert b"<text" not in svg.content
    pdf = studio.download("PDF")
    assert pdf.name == "my-qr-code.pdf"
    assert pdf.content.count(b"/Subtype /Image") == (kind != "none")
    shown = drawn(studio.page, svg.content)
    paper = shrunk(printed(pdf.content, 1600))
    found = {"svg": apart(png, shown), "pdf": apart(png, paper)}
    print(style, kind, found, apart(png, printed(pdf.content, 400)))  # noqa: T201
    # Two decoders at least: OpenCV does not read round eyes, jsQR does not read dots.
    for picture in (png, shown, paper, printed(pdf.content, 591)):
        by = readers.two_who_read(framed(picture), LINK)
        assert "ZXing" in by
        assert len(by) == 2
    # Renderers differ in anti-aliasing and scaling of logos. Away from edges all are equal.
    assert found["svg"][1] < 0.05
    assert found["pdf"][1] < 2
    assert np.abs(png.astype(int) - paper)[even(png)].max() <= 3


def test_a_larger_png_is_the_same_picture(studio: Studio) -> None:
    studio.take("framed")
    studio.choose(logo("pale"))
    studio.write(LINK)
    assert studio.verdict() in SCANS
    small = studio.download().picture()
    studio.option("PNG size (pixels)", "1,600")
    large = studio.download().picture()
    assert large.shape == (1600, 1600, 3)
    assert apart(small, shrunk(large))[1] < 1


def test_a_pdf_has_the_requested_width(studio: Studio, readers: Readers) -> None:
    """A poster's code with a logo and round modules, printed at 300 dpi."""
    studio.take("dots")
    studio.choose(logo("pale"))
    studio.write("WIFI:T:WPA;S:camino;P:sendero-12;;")
    studio.page.get_by_label("Print width (mm)").fill("80,5")
    pdf = studio.download("PDF").content
    (page,) = pypdfium2.PdfDocument(pdf)
    assert page.get_width() == pytest.approx(80.5 / 25.4 * 72, abs=0.01)
    assert page.get_height() == page.get_width()
    paper = printed(pdf, round(80.5 / 25.4 * 300))
    expected = "WIFI:T:WPA;S:camino;P:sendero-12;;"
    assert readers.successful_readers(framed(paper), expected) == list(OTHERS)


def test_the_page_works_offline_after_a_while(
    page: Page, readers: Readers, expected: list[str]
) -> None:
    """Parts that are first opened offline were loaded in idle time."""
    expected.append("ERR_INTERNET_DISCONNECTED")
    with all_of_it_came(page):
        studio = Studio(page)
    page.context.set_offline(True)
    page.get_by_role("button", name="DOWNLOAD QR").click()
    expect(page.get_by_text("Please enter a link to start downloading...")).to_be_visible()
    page.get_by_role("button", name="More options").click()
    studio.option("Modules", "Rounded")
    page.get_by_role("radio", name="Phone", exact=True).check()
    page.get_by_label("Number").fill("+34 600 123 456")
    assert studio.verdict() in SCANS
    pdf = studio.download("PDF").content
    assert readers.successful_readers(framed(printed(pdf, 600)), "tel:+34600123456") == list(OTHERS)
    page.get_by_label("Rows (name, content)").fill("one,1")
    for kind in ("PNG", "SVG", "PDF"):
        page.get_by_role("group", name="File format").get_by_role("radio", name=kind).check()
        with page.expect_download() as event:
            page.get_by_role("button", name="Download ZIP").click()
        with zipfile.ZipFile(event.value.path()) as made:
            assert made.namelist() == [f"one.{kind.lower()}"]


def test_nothing_is_preloaded_in_data_saver_mode(page: Page) -> None:
    page.add_init_script(
        "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })"
    )
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto("/custom-qr-generator")
    page.wait_for_load_state("networkidle")
    later = ("/more-", "/batch.worker-", "/decoder.worker-", "/worker-pdf-")

    def loaded() -> list[str]:
        return [name for name in later if any(name in url for url in requested)]

    assert loaded() == []
    page.get_by_role("textbox", name="URL").fill(LINK)
    expect(page.get_by_text("Scans well")).to_be_visible()
    assert loaded() == ["/decoder.worker-"]
    page.get_by_role("button", name="More options").click()
    page.get_by_role("heading", name="Style", exact=True).wait_for()
    page.wait_for_load_state("networkidle")
    assert loaded() == ["/more-", "/decoder.worker-"]


@pytest.mark.parametrize(
    ("theme", "width"), [("light", 320), ("dark", 390), ("light", 1440), ("dark", 1440)]
)
def test_it_fits_and_axe_finds_no_violations(visitor: Visitors, theme: Any, width: int) -> None:
    viewport = {"width": width, "height": 900}
    page = visitor(color_scheme=theme, viewport=viewport).new_page()
    studio = Studio(page)
    studio.keep({**STYLES, "a name as long as names of styles can be": STYLES["framed dots"]})
    studio.write(LINK)
    studio.take("a name as long as names of styles can be")
    page.get_by_label("Custom color for eye frames").check()
    studio.option("Gradient", "Linear")
    assert axe_violations(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_the_keyboard_reaches_everything(page: Page) -> None:
    studio = Studio(page)
    studio.write(LINK)
    page.get_by_role("button", name="More options").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Style", exact=True).wait_for()
    page.keyboard.press("Tab")
    expect(page.get_by_role("radio", name="Link", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    squares = page.get_by_role("group", name="Modules")
    expect(squares.get_by_role("radio", name="Square")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(squares.get_by_role("radio", name="Rounded")).to_be_checked()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.textContent") == "PDF":
            break
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    assert waiting.value.suggested_filename == "my-qr-code.pdf"


@pytest.mark.parametrize(("width", "height"), [(390, 844), (320, 256)])
def test_the_sticky_code_never_covers_the_focus(visitor: Visitors, width: int, height: int) -> None:
    """On a phone, and on a desktop zoomed to 400 %."""
    viewport = {"width": width, "height": height}
    page = visitor(viewport=viewport, reduced_motion="reduce").new_page()
    studio = Studio(page)
    studio.write(LINK)
    page.get_by_role("button", name="More options").click()
    page.get_by_role("heading", name="Style", exact=True).wait_for()
    expect(studio.line).to_have_attribute("data-verdict", "well")
    # Its center at the top and bottom belongs to the element or its label.
    covered = """() => {
        const focused = document.activeElement;
        const {left, width, top, bottom} = focused.getBoundingClientRect();
        const own = [focused, ...(focused.labels ?? [])];
        const seen = [top + 4, bottom - 4].every((y) => {
            const there = document.elementFromPoint(left + width / 2, y);
            return own.some((element) => element.contains(there));
        });
        return seen ? '' : focused.labels?.[0]?.textContent || focused.textContent;
    }"""
    first, last = (
        page.get_by_role("textbox", name="Name", exact=True),
        page.get_by_role("button", name="Download ZIP"),
    )
    found = []
    for key, start, end in (("Shift+Tab", last, first), ("Tab", first, last)):
        start.focus()
        while not end.evaluate("end => end === document.activeElement"):
            page.keyboard.press(key)
            found.append(page.evaluate(covered))
    assert len(found) > 40
    assert not any(found), [name for name in found if name]


def test_the_code_is_readable_in_forced_colors(visitor: Visitors, readers: Readers) -> None:
    page = visitor(
        viewport={"width": 1440, "height": 900}, forced_colors="active", color_scheme="dark"
    ).new_page()
    studio = Studio(page)
    studio.write(LINK)
    board = picture_of(studio.code.locator("..").screenshot())
    side = min(board.shape[:2])
    square = np.ascontiguousarray(board[:side, :side])
    assert readers.successful_readers(square, LINK) == list(OTHERS)


def test_colors_can_be_chosen_in_forced_colors(visitor: Visitors) -> None:
    page = visitor(forced_colors="active", color_scheme="dark").new_page()
    page.goto("/custom-qr-generator")
    button = page.get_by_role("button", name="Background color")
    shown = "e => getComputedStyle(e).backgroundColor"
    swatch = button.locator("[aria-hidden] rect")
    assert swatch.evaluate("e => getComputedStyle(e).fill") == "rgb(255, 255, 255)"
    button.click()
    area = page.get_by_role("slider", name="Color").locator("..")
    assert area.evaluate(shown) == "rgb(255, 0, 0)"  # The hue below white and black.


def test_only_chosen_options_are_marked_in_forced_colors(visitor: Visitors) -> None:
    page = visitor(forced_colors="active", color_scheme="dark").new_page()
    page.goto("/custom-qr-generator")
    page.get_by_role("button", name="More options").click()
    marked = page.get_by_role("group", name="Modules").evaluate(
        """group => {
            const ground = getComputedStyle(document.body).backgroundColor;
            const bar = label => getComputedStyle(label).borderBlockEndColor;
            const labels = [...group.querySelectorAll('label')];
            return labels.filter(label => bar(label) !== ground).map(label => label.textContent);
        }"""
    )
    assert marked == ["Square"]
