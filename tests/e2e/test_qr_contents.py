"""What a QR code can say, and codes of whole lists: made in a real browser, read by others."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.qr.cases import image_file
from tests.qr.pictures import logo_picture
from tests.qr.readers import (
    OTHERS,
    SCANNERS,
    Picture,
    Readers,
    Scanners,
    framed,
    greyed,
    read_zxing,
)
from tests.qr.studio import all_of_it_came

WALK = datetime(2026, 12, 1, 18, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def readers() -> Iterator[Readers]:
    """Decoders of other hands."""
    with Readers() as readers:
        yield readers


@pytest.fixture
def qr(page: Page) -> Page:
    """The page with all its options open."""
    return opened(page)


def opened(page: Page) -> Page:
    """Opens the page and all its options."""
    page.goto("/custom-qr-generator")
    page.get_by_role("button", name="More options").click()
    page.get_by_role("heading", name="Content", exact=True).wait_for()
    return page


def picture_of(content: bytes) -> Picture:
    """The pixels of a file."""
    decoded = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR_RGB)
    assert decoded is not None
    return decoded.astype(np.uint8)


def drawn(page: Page, svg: bytes) -> Picture:
    """An SVG as the browser draws it at its own size."""
    other = page.context.new_page()
    other.set_content(f'<body style="margin: 0">{svg.decode()}')
    picture = picture_of(other.locator("svg").screenshot())
    other.close()
    return picture


def printed(pdf: bytes, millimetres: float) -> Picture:
    """The one page of a PDF, so many millimetres wide, in the pixels of 300 dpi by PDFium."""
    document = pypdfium2.PdfDocument(pdf)
    (page,) = document
    assert page.get_width() == pytest.approx(millimetres / 25.4 * 72, abs=0.01)
    picture = cv2.cvtColor(np.asarray(page.render(scale=300 / 72).to_numpy()), cv2.COLOR_BGR2RGB)
    document.close()
    return picture.astype(np.uint8)


def choose(page: Page, kind: str) -> None:
    """Choose what the code says."""
    page.get_by_role("radio", name=kind, exact=True).check()


def downloaded(page: Page, verdict: str = "well|care") -> Picture:
    """The file of the code that is drawn, once it has been read."""
    expect(page.locator("[data-verdict]")).to_have_attribute("data-verdict", re.compile(verdict))
    with page.expect_download() as event:
        page.get_by_role("button", name="DOWNLOAD QR").click()
    return framed(picture_of(Path(event.value.path()).read_bytes()))


def test_a_wifi_network_is_read_by_three_decoders(qr: Page, readers: Readers) -> None:
    choose(qr, "Wi-Fi")
    expect(qr.get_by_text("The code appears when all that it needs is filled in.")).to_be_visible()
    qr.get_by_label("Network name").fill('Café; "Atajo"')
    password = qr.get_by_role("textbox", name="Password")
    password.fill("short")
    password.blur()
    expect(password).to_have_accessible_description(
        "A password has 8 to 63 characters, or is a key of 64 hexadecimal digits"
    )
    expect(qr.get_by_role("img", name="QR code")).to_have_count(0)
    password.fill("camino:\\42")
    expect(password).not_to_have_attribute("aria-invalid", "true")
    qr.get_by_label("Its name is hidden").check()
    text = 'WIFI:T:WPA;S:Café\\; \\"Atajo\\";P:camino\\:\\\\42;H:true;;'
    expect(qr.get_by_role("textbox", name="URL")).to_have_value(text)
    assert readers.who_reads(downloaded(qr), text) == list(OTHERS)


def test_a_wifi_code_with_a_logo_is_read_off_its_print(qr: Page, readers: Readers) -> None:
    """A PDF of 50 mm in round modules, as a printer of 300 dpi puts it onto paper."""
    choose(qr, "Wi-Fi")
    qr.get_by_label("Network name").fill("Refugio del Atajo")
    qr.get_by_role("textbox", name="Password").fill("camino:42")
    picture = np.ascontiguousarray(logo_picture("pale"))
    qr.get_by_label("Center image").set_input_files(image_file("logo", "png", picture))
    expect(qr.get_by_alt_text("Your logo...")).to_be_visible()
    qr.get_by_role("group", name="Squares").get_by_role("radio", name="Rounded").check()
    expect(qr.locator("[data-verdict]")).to_have_attribute("data-verdict", re.compile("well|care"))
    with qr.expect_download() as event:
        qr.get_by_role("button", name="PDF", exact=True).click()
    file = Path(event.value.path()).read_bytes()
    assert file.count(b"/Subtype /Image") == 1
    sheet = printed(file, 50)
    assert sheet.shape[0] == pytest.approx(50 / 25.4 * 300, abs=1)
    text = "WIFI:T:WPA;S:Refugio del Atajo;P:camino\\:42;;"
    assert readers.who_reads(framed(sheet), text) == list(OTHERS)


def test_every_kind_is_read_whole(qr: Page) -> None:
    """What stands in the page's field is what the decoders read.

    An event has an own name and moment each time, so it is read by the decoders that lose no plain
    code: OpenCV's older one loses an event in sixty (16 of 981).
    """
    filled: dict[str, dict[str, str]] = {
        "Text": {"Text": "Primera línea\nsegunda"},
        "Contact": {
            "First name": "Ana",
            "Last name": "Pérez",
            "Phone": "+34 600 123 456",
            "E-mail": "ana@example.org",
        },
        "E-mail": {"To": "ana@example.org", "Subject": "Año nuevo", "Message": "¿Ya?\n50 %"},
        "Phone": {"Number": "+34 600 123 456"},
        "SMS": {"Number": "+34 600 123 456", "Message": "¿Ya? & más"},
        "Event": {
            "Title": "Walk, then supper",
            "Starts on": f"{WALK:%Y-%m-%d}",
            "Starts at": f"{WALK:%H:%M}",
        },
        "Location": {"Latitude": "40.4168, -3.7038"},
    }
    begins = {
        "Contact": "BEGIN:VCARD\r\nVERSION:4.0\r\n",
        "E-mail": "mailto:ana@example.org?subject=A%C3%B1o%20nuevo&body=%C2%BFYa%3F%0D%0A50%20%25",
        "Phone": "tel:+34600123456",
        "SMS": "sms:+34600123456?body=%C2%BFYa%3F%20%26%20m%C3%A1s",
        "Event": "BEGIN:VCALENDAR\r\n",
        "Location": "geo:40.4168,-3.7038",
    }
    with Scanners() as scanners:
        for kind, fields in filled.items():
            choose(qr, kind)
            for label, value in fields.items():
                qr.get_by_label(label, exact=True).last.fill(value)
            sheet = downloaded(qr)
            shown = qr.get_by_role("textbox", name="URL").input_value()
            text = read_zxing(sheet) or ""
            assert scanners.who_reads(greyed(sheet), text) == list(SCANNERS), (kind, text)
            assert text.startswith(begins.get(kind, fields.get("Text", ""))), (kind, text)
            # A field of the page has no carriage returns.
            assert text.replace("\r\n", "\n") == shown


def test_a_kind_keeps_its_form_and_a_link_its_text(qr: Page) -> None:
    url = qr.get_by_role("textbox", name="URL")
    url.fill("https://example.org/")
    choose(qr, "Phone")
    qr.get_by_label("Number").fill("+34 600 123 456")
    expect(url).to_have_value("tel:+34600123456")
    choose(qr, "Link")
    expect(url).to_have_value("https://example.org/")
    choose(qr, "Phone")
    expect(qr.get_by_label("Number")).to_have_value("+34 600 123 456")
    url.fill("https://example.org/b")
    expect(qr.get_by_role("radio", name="Link")).to_be_checked()


def test_a_hundred_rows_are_a_zip_that_reads_back(qr: Page, readers: Readers) -> None:
    contents = {f"Mesa {n}": f"https://example.org/mesa/{n}?menu=día" for n in range(1, 99)}
    rows = [f'"{name}","{content}"' for name, content in contents.items()]
    rows[10:10] = ["Empty,", f"Long,{'x' * 3_000}"]
    assert len(rows) == 100
    file = FilePayload(name="mesas.csv", mimeType="text/csv", buffer="\r\n".join(rows).encode())
    qr.get_by_role("textbox", name="Name", exact=True).fill("Mesas")
    qr.get_by_label("Open a CSV file").set_input_files(file)
    expect(qr.get_by_text("99 codes to make, 1 that cannot be made.")).to_be_visible()
    with qr.expect_download(timeout=60_000) as event:
        qr.get_by_role("button", name="Make a ZIP").click()
    assert event.value.suggested_filename == "Mesas.zip"
    expect(qr.get_by_text("98 codes made and checked. 2 rows fail.").first).to_be_visible()
    fails = qr.get_by_role("list", name="Rows that fail").get_by_role("listitem")
    expect(fails).to_have_text(
        [
            "Row 11 (Empty): It has no content.",
            "Row 12 (Long): This text is too long for a QR code: it has 3000 of 2953 bytes.",
        ]
    )
    with zipfile.ZipFile(io.BytesIO(Path(event.value.path()).read_bytes())) as made:
        assert made.testzip() is None
        assert made.namelist() == [f"{name}.png" for name in contents]
        for name, content in contents.items():
            picture = picture_of(made.read(f"{name}.png"))
            assert picture.shape == (400, 400, 3)
            assert readers.read("ZXing", framed(picture)) == content, name


@pytest.mark.parametrize(
    "rows",
    [
        "Müller, Hans\thttps://example.org/a,b\nMüller, Eva\thttps://example.org/c;d",
        "Name;URL\nMüller, Hans;https://example.org/a,b\nMüller, Eva;https://example.org/c,d",
        "sep=;\nMüller, Hans;https://example.org/a,b\nMüller, Eva;https://example.org/c,d",
        "https://example.org/a,b\nhttps://example.org/c;d\nhttps://example.org/e",
    ],
)
def test_a_list_is_split_where_its_columns_are(qr: Page, readers: Readers, rows: str) -> None:
    qr.get_by_label("Rows: a name, a comma, and what the code says").fill(rows)
    with qr.expect_download() as event:
        qr.get_by_role("button", name="Make a ZIP").click()
    contents = [re.split(r"[\t;](?=https)", line)[-1] for line in rows.split("\n")]
    links = [content for content in contents if content.startswith("https")]
    with zipfile.ZipFile(event.value.path()) as made:
        if "Müller" in rows:
            assert made.namelist() == ["Müller, Hans.png", "Müller, Eva.png"]
        read = [readers.read("ZXing", framed(picture_of(made.read(n)))) for n in made.namelist()]
    assert read == links
    expect(qr.get_by_text("Row 1", exact=False)).to_have_count(int(rows[:3] in ("Nam", "sep")))


def test_a_file_in_a_doubtful_encoding_is_told_of(qr: Page) -> None:
    note = qr.get_by_text("This file is not UTF-8 and is read as Windows-1252.")
    rows = "Wałęsa,https://example.org/a"
    files = {"windows-1250": 1, "utf-8-sig": 0, "utf-16-le": 0}
    for encoding, notes in files.items():
        file = FilePayload(name="a.csv", mimeType="text/csv", buffer=rows.encode(encoding))
        qr.get_by_label("Open a CSV file").set_input_files(file)
        expect(qr.get_by_text("1 code to make.")).to_be_visible()
        expect(note).to_have_count(notes)
    expect(qr.get_by_label("Rows: a name, a comma, and what the code says")).to_have_value(rows)
    picture = FilePayload(name="a.csv", mimeType="text/csv", buffer=b"\x89PNG\r\n\x1a\n\0\0\0\r")
    qr.get_by_label("Open a CSV file").set_input_files(picture)
    expect(qr.get_by_text("This file could not be read.")).to_be_visible()


def test_a_list_is_a_zip_of_svgs_or_pdfs(qr: Page, readers: Readers) -> None:
    contents = {f"Mesa {n}": f"https://example.org/mesa/{n}" for n in range(1, 6)}
    rows = "\n".join(f"{name},{content}" for name, content in contents.items())
    qr.get_by_role("radio", name="Rounded", exact=True).first.check()
    qr.get_by_label("Rows: a name, a comma, and what the code says").fill(rows)
    qr.get_by_label("Printed width in mm").fill("30")
    files = qr.get_by_role("group", name="Each file is")
    for kind in ("SVG", "PDF"):
        files.get_by_role("radio", name=kind).check()
        with qr.expect_download() as event:
            qr.get_by_role("button", name="Make a ZIP").click()
        with zipfile.ZipFile(event.value.path()) as made:
            assert made.namelist() == [f"{name}.{kind.lower()}" for name in contents]
            for name, content in contents.items():
                file = made.read(f"{name}.{kind.lower()}")
                picture = drawn(qr, file) if kind == "SVG" else printed(file, 30)
                assert "ZXing" in readers.who_reads(framed(picture), content), (kind, name)


def test_a_list_is_made_in_the_style_that_is_shown(qr: Page, readers: Readers) -> None:
    content = "https://example.org/mesa/7"
    logo = image_file("logo", "png", np.full((60, 90, 3), (20, 90, 60), np.uint8))
    qr.get_by_label("Center image").set_input_files(logo)
    expect(qr.get_by_alt_text("Your logo...")).to_be_visible()
    for name in ("Dots", "Linear"):
        qr.get_by_role("radio", name=name, exact=True).check()
    qr.get_by_label("Frame with words").check()
    qr.get_by_role("textbox", name="URL").fill(content)
    shown = downloaded(qr)
    qr.get_by_label("Rows: a name, a comma, and what the code says").fill(f"one,{content}")
    with qr.expect_download() as event:
        qr.get_by_role("button", name="Make a ZIP").click()
    made = framed(picture_of(zipfile.ZipFile(event.value.path()).read("one.png")))
    # Of 255. The page may draw on another processor.
    assert np.abs(made.astype(int) - shown).mean() < 1
    assert readers.read("ZXing", made) == content


def test_a_row_that_does_not_read_back_is_named(qr: Page) -> None:
    qr.get_by_role("button", name=re.compile("^Color #")).click()
    qr.get_by_label("Hex, rgb() or hsl()").fill("#fefefe")
    qr.keyboard.press("Escape")
    qr.get_by_label("Rows: a name, a comma, and what the code says").fill("one,1\ntwo,2")
    qr.get_by_role("button", name="Make a ZIP").click()
    expect(qr.get_by_text("0 codes made and checked. 2 rows fail.").first).to_be_visible()
    fails = qr.get_by_role("list", name="Rows that fail").get_by_role("listitem")
    expect(fails).to_have_text(
        [
            "Row 1 (one): The check could not read this code.",
            "Row 2 (two): The check could not read this code.",
        ]
    )


def test_a_list_is_cancelled_and_made_anew(qr: Page) -> None:
    rows = "\n".join(f"n{n},https://example.org/{n}" for n in range(500))
    qr.get_by_label("Rows: a name, a comma, and what the code says").fill(rows)
    qr.get_by_role("button", name="Make a ZIP").click()
    expect(qr.get_by_role("progressbar")).to_be_visible()
    qr.get_by_role("button", name="Cancel").click()
    expect(qr.get_by_role("progressbar")).to_have_count(0)
    qr.get_by_label("Rows: a name, a comma, and what the code says").fill("one,1")
    with qr.expect_download() as event:
        qr.get_by_role("button", name="Make a ZIP").click()
    assert zipfile.ZipFile(event.value.path()).namelist() == ["one.png"]


def test_a_list_of_more_than_500_rows_is_refused(qr: Page) -> None:
    field = qr.get_by_label("Rows: a name, a comma, and what the code says")
    field.fill("\n".join(f"n{n},{n}" for n in range(501)))
    qr.get_by_role("button", name="Make a ZIP").click()
    expect(field).to_have_accessible_description(
        "At most 500 rows at a time: here are 501. 501 codes to make."
    )


def test_nothing_of_it_leaves_the_browser(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
    page.goto("/custom-qr-generator")
    page.get_by_role("button", name="More options").click()
    page.get_by_label("Rows: a name, a comma, and what the code says").fill("one,a secret")
    with page.expect_download():
        page.get_by_role("button", name="Make a ZIP").click()
    assert all(one.startswith("GET ") for one in asked)
    assert any("batch.worker" in one for one in asked)


def test_a_list_is_made_without_a_network_once_the_options_are_open(
    page: Page, expected: list[str]
) -> None:
    expected.append("ERR_INTERNET_DISCONNECTED")
    with all_of_it_came(page):
        qr = opened(page)
    field = qr.get_by_label("Rows: a name, a comma, and what the code says")
    field.fill("one,1\ntwo,2")
    qr.context.set_offline(True)
    for _ in range(2):
        with qr.expect_download() as event:
            qr.get_by_role("button", name="Make a ZIP").click()
        assert zipfile.ZipFile(event.value.path()).namelist() == ["one.png", "two.png"]
