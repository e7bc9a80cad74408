"""Kinds of contents of QR codes and lists of codes: made in a real browser, read independently."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.system.qr.cases import image_file
from tests.system.qr.readers import SCANNERS, Readers, Scanners, framed, greyed, read_zxing
from tests.system.qr.studio import SCANS, Studio, drawn, picture_of, printed

KINDS = json.loads(Path(__file__).with_name("qr_contents.json").read_text(encoding="utf-8"))
"""Fields for each kind, and the beginning of its code."""


ROWS = "Rows (name, content)"


@pytest.fixture
def studio(page: Page) -> Studio:
    """The page with all options open."""
    studio = Studio(page)
    studio.more()
    return studio


@contextmanager
def batch(studio: Studio, name: str = "my-qr-code") -> Iterator[zipfile.ZipFile]:
    """Return the created files of the list."""
    with studio.page.expect_download(timeout=60_000) as event:
        studio.page.get_by_role("button", name="Download ZIP").click()
    assert event.value.suggested_filename == f"{name}.zip"
    with zipfile.ZipFile(event.value.path()) as made:
        yield made


def test_every_kind_is_read_whole(studio: Studio) -> None:
    """The decoders read what the page's field contains.

    An event has a new name and time in each run, so it is read by decoders that lose no plain code:
    OpenCV's older one loses one event in sixty (16 of 981).
    """
    with Scanners() as scanners:
        for kind, spec in KINDS.items():
            studio.page.get_by_role("radio", name=kind, exact=True).check()
            for label, value in spec["fields"].items():
                studio.page.get_by_label(label, exact=True).last.fill(value)
            assert studio.verdict() in SCANS
            sheet = framed(studio.download().picture())
            text = read_zxing(sheet) or ""
            assert scanners.successful_readers(greyed(sheet), text) == list(SCANNERS), (kind, text)
            assert text.startswith(spec["begins"]), (kind, text)
            # A field of the page contains no carriage returns.
            assert text.replace("\r\n", "\n") == studio.url.input_value()


def test_a_hundred_rows_are_a_zip_that_reads_back(studio: Studio, readers: Readers) -> None:
    page = studio.page
    contents = {f"Mesa {n}": f"https://example.org/mesa/{n}?menu=día" for n in range(1, 99)}
    rows = [f'"{name}","{content}"' for name, content in contents.items()]
    rows[10:10] = ["Empty,", f"Long,{'x' * 3_000}"]
    file = FilePayload(name="mesas.csv", mimeType="text/csv", buffer="\r\n".join(rows).encode())
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.method))
    page.get_by_label("Open a CSV file").set_input_files(file)
    expect(page.get_by_text("99 QR codes to create, 1 row with errors.")).to_be_visible()
    page.get_by_role("textbox", name="Name", exact=True).fill("Mesas")
    with batch(studio, "Mesas") as made:
        assert made.testzip() is None
        assert made.namelist() == [f"{name}.png" for name in contents]
        for name, content in contents.items():
            picture = picture_of(made.read(f"{name}.png"))
            assert picture.shape == (400, 400, 3)
            assert readers.read("ZXing", framed(picture)) == content, name
    assert set(requested) <= {"GET"}, "nothing of it leaves the browser"
    expect(
        page.get_by_text("98 QR codes created and checked. 2 rows failed.").first
    ).to_be_visible()
    assert fails(studio) == [
        "Row 11 (Empty): The content is missing.",
        "Row 12 (Long): This text is too long for a QR code: it has 3,000 of 2,953 bytes.",
    ]


def fails(studio: Studio) -> list[str]:
    """Return the failed rows and their reasons."""
    rows = studio.page.get_by_role("list", name="Rows that fail").get_by_role("listitem")
    return rows.all_inner_texts()


def test_a_list_is_a_zip_of_svgs_or_pdfs(studio: Studio, readers: Readers) -> None:
    contents = {f"Mesa {n}": f"https://example.org/mesa/{n}" for n in range(1, 6)}
    studio.option("Modules", "Rounded")
    studio.page.get_by_label(ROWS).fill("\n".join(map(",".join, contents.items())))
    studio.page.get_by_label("Print width (mm)").fill("30")
    for kind in ("SVG", "PDF"):
        studio.option("File format", kind)
        with batch(studio) as made:
            assert made.namelist() == [f"{name}.{kind.lower()}" for name in contents]
            for name, content in contents.items():
                file = made.read(f"{name}.{kind.lower()}")
                # 30 mm at 300 dpi.
                picture = drawn(studio.page, file) if kind == "SVG" else printed(file, 354)
                assert "ZXing" in readers.successful_readers(framed(picture), content), (kind, name)


def test_a_list_has_the_current_style(studio: Studio, readers: Readers) -> None:
    content = "https://example.org/mesa/7"
    studio.choose(image_file("logo", "png", np.full((60, 90, 3), (20, 90, 60), np.uint8)))
    for name in ("Dots", "Linear"):
        studio.page.get_by_role("radio", name=name, exact=True).check()
    studio.page.get_by_label("Frame with text").check()
    studio.write(content)
    assert studio.verdict() in SCANS
    shown = framed(studio.download().picture())
    studio.page.get_by_label(ROWS).fill(f"one,{content}")
    with batch(studio) as files:
        made = framed(picture_of(files.read("one.png")))
    # Of 255. The page may draw on a GPU.
    assert np.abs(made.astype(int) - shown).mean() < 1
    assert readers.read("ZXing", made) == content


def test_a_row_that_does_not_read_back_is_named(studio: Studio) -> None:
    studio.paint("Color", "#fefefe")
    studio.page.get_by_label(ROWS).fill("one,1")
    studio.page.get_by_role("button", name="Download ZIP").click()
    expect(
        studio.page.get_by_text("0 QR codes created and checked. 1 row failed.").first
    ).to_be_visible()
    assert fails(studio) == ["Row 1 (one): The check could not read this code."]
