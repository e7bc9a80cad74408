"""Other features of the QR page: offline use, logos, formats, speed."""

from __future__ import annotations

import base64
import struct
import time
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.system.qr.cases import image_file
from tests.system.qr.pictures import logo_picture, url_of
from tests.system.qr.readers import Picture, Readers, framed
from tests.system.qr.studio import SCANS, Studio, drawn, picture_of

LINK = "https://atajo.example/k7Qm2_xB"
RED = (220, 30, 30)


def solid(width: int, height: int, colour: tuple[int, int, int] = RED) -> Picture:
    """A picture of one color."""
    return np.full((height, width, 3), colour, np.uint8)


@pytest.mark.parametrize("ratio", [1, 1.25, 3])
def test_is_400_pixels_on_every_screen(studio: Studio, ratio: float, readers: Readers) -> None:
    browser = studio.page.context.browser
    assert browser is not None
    context = browser.new_context(base_url=studio.page.url, device_scale_factor=ratio)
    other = Studio(context.new_page())
    other.choose(image_file("logo", "png", solid(80, 80)))
    other.write(LINK)
    assert other.verdict() in SCANS
    picture = other.download().picture()
    context.close()
    assert picture.shape == (400, 400, 3)
    red = np.argwhere(np.all(np.abs(picture.astype(int) - RED) < 30, axis=2))
    assert np.abs(red.min(axis=0) - 150).max() <= 1
    assert np.abs(red.max(axis=0) - 249).max() <= 1
    assert readers.read("ZXing", framed(picture)) == LINK


def test_no_margin_on_white_and_four_modules_elsewhere(studio: Studio) -> None:
    studio.write("x")
    assert (studio.download().picture()[0, 0] == 0).all()
    studio.paint("Background color", "#fffffe")
    # 21 modules and two margins of four.
    picture = studio.download().picture()
    assert (picture[:54, :54] > 250).all()
    assert (picture[57, 57] == 0).all()


@pytest.mark.parametrize("kind", ["png", "gif"])
def test_huge_logos_are_scaled_down(studio: Studio, kind: str) -> None:
    studio.choose(image_file("huge", kind, solid(6000, 3000)))
    source = studio.preview.get_attribute("src") or ""
    assert source.startswith("data:image/png;base64,")
    assert size_of(source) == (512, 256)
    studio.write(LINK)
    assert studio.verdict() == "well"


def test_an_avif_is_accepted_if_the_browser_supports_it(studio: Studio) -> None:
    done, encoded = cv2.imencode(".avif", solid(64, 64))
    assert done
    studio.choose({"name": "a.avif", "mimeType": "image/avif", "buffer": encoded.tobytes()})
    assert size_of(studio.preview.get_attribute("src") or "") == (64, 64)


def test_exif_rotates_a_logo_and_is_removed(studio: Studio) -> None:
    picture = solid(80, 40)
    picture[:, :40] = (255, 255, 255)
    jpeg = image_file("turned", "jpeg", picture)
    tiff = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    exif = b"Exif\0\0" + tiff
    segment = b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif
    jpeg["buffer"] = jpeg["buffer"][:2] + segment + jpeg["buffer"][2:]
    studio.choose(jpeg)
    source = studio.preview.get_attribute("src") or ""
    assert size_of(source) == (40, 80)
    pixels = picture_of(base64.b64decode(source.partition(",")[2]))
    # After a clockwise rotation, the left side is at the top.
    assert pixels[10, 20].min() > 230
    assert np.abs(pixels[70, 20].astype(int) - RED).max() < 30
    assert b"Exif" not in base64.b64decode(source.partition(",")[2])


def test_a_drawing_with_script_and_references_is_harmless(studio: Studio) -> None:
    """The fixture fails for requests and errors."""
    drawing = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" '
        'viewBox="0 0 10 10" onload="parent.hurt = 1"><script>parent.hurt = 1</script>'
        '<image x:href="http://elsewhere.example/a.png" width="5" height="5"/>'
        '<style>@import "http://elsewhere.example/a.css"</style>'
        '<foreignObject width="9" height="9"><b xmlns="http://www.w3.org/1999/xhtml">b</b>'
        '</foreignObject><rect width="10" height="10" fill="red"/></svg>'
    )
    logo: FilePayload = {
        "name": "a.svg",
        "mimeType": "image/svg+xml",
        "buffer": drawing.encode(),
    }
    studio.choose(logo)
    studio.write(LINK)
    assert studio.verdict() == "well"
    assert b"script" not in studio.download("SVG").content
    assert studio.page.evaluate("window.hurt") is None


RECT = '<rect width="60" height="60" fill="#dc1e1e"/></svg>'
SVG = '<svg xmlns="http://www.w3.org/2000/svg"'


def svg(attributes: str, content: str = RECT) -> FilePayload:
    """Return an SVG with attributes of its root."""
    drawing = f"{SVG} {attributes}>{content}"
    return {"name": "a.svg", "mimeType": "image/svg+xml", "buffer": drawing.encode()}


def cut(kind: str, share: float) -> FilePayload:
    """Return a truncated picture file."""
    busy = cv2.resize(logo_picture("busy"), (400, 300)).astype(np.uint8)
    file = image_file("cut", kind, busy)
    return {**file, "buffer": file["buffer"][: int(len(file["buffer"]) * share)]}


DAMAGED = "This image is damaged. Please choose another file"
EMPTY = "This image is empty. Please choose another file"
UNSIZED = "This SVG has no size. Please save it with a width and a height"


@pytest.mark.parametrize(
    ("logo", "words"),
    [
        *((cut(kind, share), DAMAGED) for kind in ("png", "jpeg", "gif") for share in (0.5, 0.9)),
        (svg(""), UNSIZED),
        (svg('width="100%" height="100%"'), UNSIZED),
        (svg('width="60"'), UNSIZED),
        (svg('width="0" height="0"'), EMPTY),
        (svg('width="0.1" height="0.1"'), EMPTY),
        (svg('viewBox="0 0 60 60"', "</svg>"), EMPTY),
    ],
)
def test_an_invisible_picture_is_refused(studio: Studio, logo: FilePayload, words: str) -> None:
    studio.file.set_input_files(logo)
    expect(studio.page.get_by_text(words)).to_be_visible()
    expect(studio.preview).to_be_hidden()


@pytest.mark.parametrize(
    "attributes",
    [
        'viewBox="0 0 60 60"',
        'viewBox="0 0 60 60" width="100%" height="100%"',
        'viewBox="0 0 60 60" width="3mm" height="3mm"',
        'width="60" height="60"',
        'width="60px" height="60px"',
    ],
)
def test_an_svg_with_a_size_fills_its_place(studio: Studio, attributes: str) -> None:
    studio.choose(svg(attributes))
    studio.write(LINK)
    assert studio.verdict() == "well"
    picture = studio.download().picture()
    assert np.abs(picture[152:248, 152:248].astype(int) - RED).max() < 30


@pytest.mark.parametrize("place", ["URL", "Center image", None])
@pytest.mark.parametrize("kind", ["an image", "no image"])
def test_a_file_dropped_anywhere_becomes_a_logo_or_is_refused(
    studio: Studio, tmp_path: Path, place: str | None, kind: str
) -> None:
    """Otherwise the browser would open the file instead of the page."""
    studio.write(LINK)
    file = tmp_path / ("logo.png" if kind == "an image" else "a.txt")
    file.write_bytes(image_file("logo", "png", logo_picture("pale"))["buffer"])
    target = studio.page.get_by_label(place) if place else studio.page.get_by_role("banner")
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box is not None
    at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
    tools = studio.page.context.new_cdp_session(studio.page)
    for step in ("dragEnter", "dragOver", "drop"):
        tools.send("Input.dispatchDragEvent", {"type": step, **at, "data": data})
    if kind == "an image":
        expect(studio.preview).to_be_visible()
    else:
        expect(studio.page.get_by_text("Please choose a valid file type")).to_be_visible()
    assert studio.url.input_value() == LINK
    assert studio.page.url.endswith("/custom-qr-generator")


def test_the_first_code_causes_no_layout_shift(studio: Studio) -> None:
    board = studio.page.locator("canvas")
    before = board.bounding_box()
    blank = board.evaluate("e => e.toDataURL()")
    expect(studio.code).to_have_count(0)
    expect(studio.page.get_by_text("Enter a link to create a QR code.")).to_be_visible()
    studio.write(LINK)
    assert board.bounding_box() == before
    assert board.evaluate("e => e.toDataURL()") != blank
    studio.url.fill("")
    expect(studio.code).to_have_count(0)
    assert board.bounding_box() == before
    assert board.evaluate("e => e.toDataURL()") == blank


def test_a_copied_image_is_the_code(studio: Studio, readers: Readers) -> None:
    studio.write(LINK)
    studio.page.get_by_role("button", name="Copy image").click()
    expect(studio.page.get_by_role("button", name="Copied")).to_be_visible()
    content = studio.page.evaluate(
        """async () => {
          const [item] = await navigator.clipboard.read();
          const bytes = new Uint8Array(await (await item.getType('image/png')).arrayBuffer());
          return btoa(String.fromCharCode(...bytes));
        }"""
    )
    picture = picture_of(base64.b64decode(content))
    assert readers.successful_readers(framed(picture), LINK) == ["ZXing", "OpenCV", "jsQR"]


def test_a_dense_code_has_a_warning_and_its_svg_scans(studio: Studio, readers: Readers) -> None:
    text = url_of(2953, 1)
    studio.write(text)
    assert studio.verdict() == "dense"
    with studio.page.expect_download() as waiting:
        studio.page.get_by_role("button", name="Download as SVG to print it larger").click()
    shot = drawn(studio.page, waiting.value.path().read_bytes(), "1000px")
    assert readers.read("ZXing", framed(shot)) == text
    studio.url.fill(text + "x")
    expect(
        studio.page.get_by_role("main").get_by_text("This text is too long for a QR code")
    ).to_be_visible()


@pytest.mark.parametrize("length", [300, 2953])
def test_typing_never_lags(studio: Studio, length: int) -> None:
    """The delay from key to frame is about that of a plain field."""
    studio.write(url_of(length - 12, 1))
    idle = typing(studio.page, studio.name)
    drawing = typing(studio.page, studio.url)
    assert len(studio.url.input_value()) == length
    # Milliseconds. On shared cores the faster half of the keys counts.
    assert sorted(drawing)[3] < sorted(idle)[3] + 50, (idle, drawing)
    assert studio.verdict() in (*SCANS, "dense")


def typing(page: Page, field: Locator) -> list[int]:
    """Return the milliseconds from each of twelve keys to the next frame."""
    field.focus()
    page.keyboard.press("Control+End")
    times: list[int] = []
    for _ in range(12):
        began = time.perf_counter()
        page.keyboard.press("x")
        page.evaluate("() => new Promise(requestAnimationFrame)")
        times.append(round((time.perf_counter() - began) * 1000))
    return times


def size_of(data_url: str) -> tuple[int, int]:
    """Return width and height of a PNG."""
    content = base64.b64decode(data_url.partition(",")[2])
    width, height = struct.unpack(">II", content[16:24])
    assert zlib.crc32(content[12:29]) == struct.unpack(">I", content[29:33])[0]
    return width, height
