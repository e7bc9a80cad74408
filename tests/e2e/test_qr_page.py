"""The frame and controls of the QR page; what its codes hold is tested elsewhere."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.e2e.acts import toast
from tests.e2e.conftest import Visitors

PICTURE = (
    "<svg xmlns='http://www.w3.org/2000/svg' width='10' height='10'><path d='M0 0h9v9z'/></svg>"
)


@pytest.fixture
def qr(page: Page) -> Page:
    page.goto("/custom-qr-generator")
    page.get_by_role("heading", name="CUSTOM QR CODE GENERATOR").wait_for()
    return page


def size_of_png(path: Path) -> tuple[int, int]:
    """Width and height, as its header has them."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n")
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def download(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^DOWNLOAD QR")).click()


@pytest.mark.parametrize("ratio", [1, 1.5, 3])
def test_the_code_has_400_pixels_at_every_pixel_ratio(visitor: Visitors, ratio: float) -> None:
    page = visitor(device_scale_factor=ratio).new_page()
    page.goto("/custom-qr-generator")
    page.get_by_label("URL").fill("https://example.com/")
    canvas = page.locator("canvas").first
    size = canvas.evaluate("e => [e.width, e.height]")
    assert size == [400, 400]
    with page.expect_download() as event:
        download(page)
    assert event.value.suggested_filename == "my-qr-code.png"
    assert size_of_png(Path(event.value.path())) == (400, 400)


def test_the_name_gets_its_ending(qr: Page) -> None:
    qr.get_by_label("URL").fill("https://example.com/")
    qr.get_by_label("Name").fill("my card")
    with qr.expect_download() as event:
        download(qr)
    assert event.value.suggested_filename == "my card.png"


def test_nothing_to_encode_is_told(qr: Page) -> None:
    download(qr)
    expect(toast(qr, "Please enter a link to start downloading...")).to_be_visible()


def test_a_file_that_is_no_image_is_told(qr: Page) -> None:
    chooser = qr.get_by_label("Center image")
    text = FilePayload(name="a.txt", mimeType="text/plain", buffer=b"text")
    chooser.set_input_files(text)
    expect(toast(qr, "Please choose a valid file type")).to_be_visible()
    expect(qr.get_by_alt_text("Your logo...")).to_have_count(0)
    svg = FilePayload(name="a.svg", mimeType="image/svg+xml", buffer=PICTURE.encode())
    chooser.set_input_files(svg)
    expect(qr.get_by_alt_text("Your logo...")).to_be_visible()


def test_opening_one_picker_closes_the_other(qr: Page) -> None:
    color = qr.get_by_role("button", name=re.compile("^Color"))
    background = qr.get_by_role("button", name=re.compile("^Background color"))
    expect(color).to_contain_text("#000000")
    expect(background).to_contain_text("#ffffff")
    color.click()
    expect(color).to_have_text("CLOSE")
    background.click()
    expect(background).to_have_text("CLOSE")
    expect(color).to_contain_text("#000000")
    field = qr.get_by_label("Hex, rgb() or hsl()")
    field.fill("hsl(120 100% 25%)")
    qr.keyboard.press("Escape")
    expect(background).to_contain_text("#008000")
    expect(background).to_be_focused()


def test_toasts_stand_bottom_right_three_at_most_for_four_seconds(qr: Page) -> None:
    for _ in range(5):
        download(qr)
    toasts = qr.locator(".Toastify__toast")
    expect(toasts).to_have_count(3)
    # It flies in, and is looked at where it stands.
    toasts.last.evaluate("toast => Promise.all(toast.getAnimations().map((one) => one.finished))")
    box = toasts.last.bounding_box()
    size = qr.viewport_size
    assert box is not None
    assert size is not None
    assert box["x"] + box["width"] > size["width"] - 40
    assert box["y"] + box["height"] > size["height"] - 40
    bar = qr.locator(".Toastify__progress-bar--animated").first
    assert bar.evaluate("e => getComputedStyle(e).animationDuration") == "4s"


def test_it_works_without_a_network(qr: Page, expected: list[str]) -> None:
    expected.append("ERR_INTERNET_DISCONNECTED")
    # What is not needed to begin with comes in idle time.
    # As functions: the page's policy lets no text be evaluated.
    qr.wait_for_function(
        "() => performance.getEntriesByType('resource')"
        ".some(({name}) => name.includes('ToastHost-'))"
    )
    qr.wait_for_load_state("networkidle")
    qr.context.set_offline(True)
    download(qr)
    expect(toast(qr, "Please enter a link to start downloading...")).to_be_visible()
    qr.get_by_label("URL").fill("https://example.com/offline")
    with qr.expect_download() as event:
        download(qr)
    assert size_of_png(Path(event.value.path())) == (400, 400)


def test_it_calls_nobody(qr: Page) -> None:
    qr.wait_for_load_state("networkidle")
    posted = []
    qr.on("request", lambda request: posted.append(request.url) if request.post_data else None)
    qr.get_by_label("URL").fill("a secret of mine")
    with qr.expect_download():
        download(qr)
    assert posted == []
