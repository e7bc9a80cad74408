"""Decoders that guess encodings read accents and symbols correctly."""

from __future__ import annotations

import io
import random
import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.system.qr.cases import image_file
from tests.system.qr.pictures import logo_picture
from tests.system.qr.readers import OTHERS, ZBAR, Readers, framed
from tests.system.qr.studio import SCANS, Studio, drawn, picture_of

READERS = (*OTHERS, ZBAR)
TEXTS = ("Zürich", "Café", "5 €", "ÄTest 1", "你好", "こんにちは世界", "90°", "Ana\u2019s iPhone")
ALPHABETS = (
    "áéíóúñü¿¡",
    "äöüßÄÖÜ",
    "çèêëàôœ",
    "å∅øæ",
    "łąęśćż",
    "жзийк",
    "東京駅",
    "안녕",
    "£¥©®™…",
)


def mixed_texts(seed: int, count: int) -> list[str]:
    """Return URLs and words with letters of a script among ASCII."""
    chance = random.Random(seed)
    return [
        f"https://ex.example/{''.join(chance.choices(letters, k=chance.randint(1, 8)))}?n={number}"
        for number, letters in zip(range(count), chance.choices(ALPHABETS, k=count), strict=True)
    ]


@pytest.mark.parametrize("style", [pytest.param("plain", marks=pytest.mark.slow), "dots"])
def test_a_text_is_read_whole_in_png_and_svg(studio: Studio, readers: Readers, style: str) -> None:
    if style == "dots":
        studio.more()
        studio.option("Modules", "Dots")
    texts = (*TEXTS, *mixed_texts(20261125, 8))
    for text in texts if style == "plain" else texts[::4]:
        studio.write(text)
        assert studio.verdict() in SCANS
        png = framed(studio.download().picture())
        svg = framed(drawn(studio.page, studio.download("SVG").content))
        for sheet in (png, svg):
            assert {ZBAR, "ZXing", "jsQR"} <= set(
                readers.successful_readers(sheet, text, READERS)
            ), text


def test_a_text_under_a_logo_is_read_whole(studio: Studio, readers: Readers) -> None:
    """Logos also work in the canvas that draws text of any script."""
    studio.choose(image_file("logo", "png", logo_picture("dark")))
    studio.write("Größe: 90°")
    assert studio.verdict() in SCANS
    picture = studio.download().picture()
    assert (picture[195:205, 195:205] < 60).all()
    assert {ZBAR, "ZXing"} <= set(
        readers.successful_readers(framed(picture), "Größe: 90°", READERS)
    )


def test_a_batch_is_read_whole(studio: Studio, readers: Readers) -> None:
    studio.more()
    contents = {f"n{at}": text for at, text in enumerate(TEXTS)}
    rows = "\n".join(f"{name},{text}" for name, text in contents.items())
    studio.page.get_by_label(re.compile("^Rows")).fill(rows)
    with studio.page.expect_download() as event:
        studio.page.get_by_role("button", name="Download ZIP").click()
    with zipfile.ZipFile(io.BytesIO(Path(event.value.path()).read_bytes())) as made:
        for name, text in contents.items():
            picture = framed(picture_of(made.read(f"{name}.png")))
            assert {ZBAR, "ZXing"} <= set(readers.successful_readers(picture, text, READERS)), text


def test_a_text_too_long_with_its_designator_is_refused(studio: Studio) -> None:
    words = studio.page.get_by_role("main").get_by_text("This text is too long for a QR code")
    studio.url.fill("é" * 1_476)
    expect(studio.code).to_be_visible()
    expect(studio.page.get_by_text("2,952 of 2,952 bytes used")).to_be_visible()
    studio.url.fill("é" * 1_476 + "x")
    expect(words).to_be_visible()
