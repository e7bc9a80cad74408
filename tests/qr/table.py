"""Which codes decoders read, by colours, levels, logos, density and style: `make qr-table`.

Codes are encoded by the page's own library and drawn as the page draws them, then read as the file
they are, framed in white, and in simulated photos, by three decoders of different hands. Writes
`tests/qr/table.md` and `tests/qr/table.json`. Rules in the page's code name them as their source.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import cv2

from tests.processes import ROOT
from tests.qr.cases import grey
from tests.qr.pictures import Code, draw, draw_style, photograph, url_of
from tests.qr.readers import OTHERS, ZBAR, Picture, Readers, Script, framed

FOLDER = Path(__file__).parent
LEVELS = "LMQH"
LOGOS = ("none", "pale", "busy")
SEEDS = range(2)

WHITE, BLACK = "#ffffff", "#000000"
PAIRS: list[tuple[str, str]] = [
    *(
        (f"#{g:02x}{g:02x}{g:02x}", WHITE)
        for g in (0x00, 0x55, 0x77, 0x7F, 0x88, 0x99, 0xB0, 0xCC, 0xE5, 0xF5)
    ),
    *((BLACK, f"#{g:02x}{g:02x}{g:02x}") for g in (0xCC, 0x99, 0x80, 0x77, 0x66, 0x4C, 0x33, 0x18)),
    *(
        (colour, WHITE)
        for colour in (
            *("#ff0000", "#00a000", "#00ff00", "#0000ff", "#00ffff", "#ff00ff", "#ffff00"),
            *("#ff8800", "#146c43"),
        )
    ),
    ("#000080", "#ffff00"),
    (BLACK, "#00ff00"),
    (BLACK, "#ff0000"),
    (BLACK, "#0000ff"),
    ("#ff0000", "#00ff00"),
    ("#0000ff", "#ff0000"),
    (WHITE, BLACK),
    ("#ffff00", "#000080"),
    ("#ffc800", "#14181f"),
    (WHITE, "#777777"),
    ("#cccccc", "#333333"),
]

TEXTS: dict[str, tuple[str, ...]] = {
    "Latin letters": ("Zürich", "Café", "ÄTest 1", "Año nuevo", "Łódź", "Sigurjón Þórsson"),
    "symbols": ("5 €", "90°", "Ana\u2019s iPhone", "© 2026", "½ £", "1 µm"),
    "Greek, Cyrillic": ("Αθήνα", "Καλημέρα", "Москва", "Київ", "Здравей", "Ћирилица"),
    "Chinese, Japanese": ("你好", "東京駅", "こんにちは世界", "カタカナ", "简体中文", "道"),
    "Korean": ("안녕하세요", "서울", "도", "한국어", "가나다", "길"),
    "Arabic, Hebrew": ("مرحبا", "القاهرة", "שלום", "ירושלים", "سلام", "تهران"),
    "emoji": ("😀", "🥾🌄", "👩\u200d🚀", "❤️", "🇪🇸", "Scan 📷"),
}
"""Texts that are not ASCII."""

VERSIONS = {5: 106, 10: 271, 15: 520, 17: 644, 18: 718, 20: 858, 22: 1003, 25: 1273, 40: 2953}
"""Bytes that fill a version at level L."""


ENCODING_READERS = (*OTHERS, ZBAR)


class Count:
    """How many of so many pictures each decoder read, on file and in photos."""

    def __init__(self) -> None:
        self.pictures = 0
        self.file: Counter[str] = Counter()
        self.photo: Counter[str] = Counter()

    def cells(self) -> list[str]:
        """One a decoder: read on file / in photos."""
        return [f"{self.file[reader]}/{self.photo[reader]}" for reader in OTHERS]

    def as_json(self) -> dict[str, object]:
        """The same, for programs."""
        return {
            "pictures": self.pictures,
            "file": {reader: self.file[reader] for reader in OTHERS},
            "photo": {reader: self.photo[reader] for reader in OTHERS},
        }


class Bench:
    """Draws and reads."""

    def __init__(self, script: Script, drawings: Script, readers: Readers) -> None:
        self._script = script
        self._drawings = drawings
        self._readers = readers

    def count(self, codes: Iterable[Code], surroundings: int = 255) -> Count:
        """Read every code, once on file and once in a photo."""
        drawn = ((code.text, draw(self._script, code)) for code in codes)
        return self._read(drawn, surroundings)

    def count_style(self, texts: Iterable[str], style: Mapping[str, object]) -> Count:
        """The same of texts in a style."""
        return self._read((text, draw_style(self._drawings, text, style)) for text in texts)

    def count_texts(self, texts: Iterable[str]) -> dict[str, int]:
        """Count the texts that each decoder reads whole, ZBar among them, from their files."""
        sheets = ((text, framed(draw_style(self._drawings, text, {}))) for text in texts)
        read: Counter[str] = Counter()
        for text, sheet in sheets:
            read.update(self._readers.who_reads(sheet, text, ENCODING_READERS))
        return {reader: read[reader] for reader in ENCODING_READERS}

    def _read(self, drawn: Iterable[tuple[str, Picture]], surroundings: int = 255) -> Count:
        count = Count()
        for seed, (text, picture) in enumerate(drawn):
            sheet = framed(picture, surroundings)
            count.pictures += 1
            count.file.update(self._readers.who_reads(sheet, text))
            count.photo.update(self._readers.who_reads(photograph(sheet, seed), text))
        return count


def main() -> None:
    """Measure and write."""
    with (
        Readers() as readers,
        Script("qr-matrix.mjs") as script,
        Script("qr-drawing.mjs") as drawings,
    ):
        bench = Bench(script, drawings, readers)
        measured = {
            "colours": colours(bench),
            "logos": logos(bench),
            "density": density(bench),
            "margins": margins(bench),
            "styles": styles(bench),
            "encodings": encodings(bench),
        }
    write(measured)


def counts(one: Row) -> Row:
    """A row without what the page alone needs."""
    return {name: value for name, value in one.items() if name != "cells"}


def write(measured: dict[str, list[Row]]) -> None:
    """One line of the JSON is one row of a table."""
    parts = [
        f'"{name}": [\n' + ",\n".join(json.dumps(counts(one)) for one in rows) + "\n]"
        for name, rows in measured.items()
    ]
    (FOLDER / "table.json").write_text("{\n" + ",\n".join(parts) + "\n}\n")
    print((FOLDER / "table.md").relative_to(ROOT))  # noqa: T201
    (FOLDER / "table.md").write_text(page(measured))


Row = dict[str, object]


def row(count: Count, **what: object) -> Row:
    """A line of a table."""
    return {**what, **count.as_json(), "cells": count.cells()}


def colours(bench: Bench) -> list[Row]:
    """By colours, levels and logos."""
    rows: list[Row] = []
    for foreground, background in PAIRS:
        for level in LEVELS:
            for logo in LOGOS:
                # Under a logo the page uses level H; lower ones show why.
                codes = (
                    Code(
                        url_of(30, seed),
                        level,
                        1 if logo == "none" else 3,
                        foreground,
                        background,
                        0 if background == WHITE else 4,
                        logo,
                        boost=False,
                    )
                    for seed in SEEDS
                )
                rows.append(
                    row(
                        bench.count(codes),
                        foreground=foreground,
                        background=background,
                        distance=round(grey(background) - grey(foreground)),
                        level=level,
                        logo=logo,
                    )
                )
    return sorted(rows, key=lambda one: -int(str(one["distance"])))


def logos(bench: Bench) -> list[Row]:
    """By version at level H, under a logo."""
    return [
        row(
            bench.count(
                Code(
                    "HTTP://" if number == 1 else url_of(12, seed),
                    "H",
                    number,
                    margin=margin,
                    logo=logo,
                )
                for logo in ("pale", "dark", "busy")
                for seed in range(4)
            ),
            version=number,
            margin=margin,
        )
        for number in range(1, 11)
        for margin in (0, 4)
    ]


def density(bench: Bench) -> list[Row]:
    """By version at level L, black on white."""
    return [
        row(
            bench.count(
                Code(url_of(length, seed), margin=margin, boost=False) for seed in range(6)
            ),
            version=number,
            margin=margin,
            pixels=round(400 / (17 + 4 * number + 2 * margin), 2),
        )
        for number, length in VERSIONS.items()
        for margin in (0, 4)
    ]


def margins(bench: Bench) -> list[Row]:
    """By margin and what is around the code."""
    return [
        row(
            bench.count((Code(url_of(30, seed), margin=margin) for seed in range(6)), around),
            margin=margin,
            around="white" if around else "black",
        )
        for margin in (0, 4)
        for around in (255, 0)
    ]


def styles(bench: Bench) -> list[Row]:
    """By the shapes of modules and eyes, the frame and the length of the text."""
    return [
        row(
            bench.count_style(
                (url_of(length, seed) for seed in range(3)),
                {
                    "modules": shape,
                    "eyeFrame": {"shape": frame, "color": None},
                    "eyeBall": {"shape": ball, "color": None},
                    "caption": "" if framed_in else None,
                },
            ),
            modules=shape,
            eyes=f"{frame}, {ball}",
            frame="yes" if framed_in else "no",
            bytes=length,
        )
        for shape in ("square", "rounded", "dots")
        for frame, ball in (("square", "square"), ("rounded", "rounded"), ("rounded", "circle"))
        for framed_in in (False, True)
        for length in (30, 106)
    ]


def encodings(bench: Bench) -> list[Row]:
    """By the script of a text that is not ASCII."""
    rows: list[Row] = []
    for script, texts in TEXTS.items():
        read = bench.count_texts(texts)
        cells = [str(count) for count in read.values()]
        rows.append({"script": script, "pictures": len(texts), "file": read, "cells": cells})
    return rows


def page(measured: dict[str, list[Row]]) -> str:
    """The tables as a page."""
    least = threshold(measured["colours"])
    parts = [
        "# What decoders read",
        "Measured by `make qr-table` with "
        f"ZXing (zxing-cpp {version('zxing-cpp')}), OpenCV {cv2.__version__} and jsQR 1.4.0; "
        "a cell is how many pictures were read on file / in simulated photos.",
        "## Colours",
        "Distance is that in brightness, background less foreground, of 255 "
        "(0.299 R + 0.587 G + 0.114 B). Levels L, M, Q and H together, without a logo; "
        "then level H under a pale and a busy logo. "
        f"From a distance of {least} on, all three read every file; jsQR, which sets that limit, "
        "hardly reads these photos at any distance. Below 0 the code is light on "
        "dark. WCAG's contrast ratio does not tell: black on red has 5.3 and is hardly read, "
        "green on white has 1.4 and is read by two.",
        colour_table(measured["colours"]),
        "## Levels",
        "Pairs at or above that distance together.",
        level_table(measured["colours"], least),
        "## Logos",
        "Level H, a logo of 100 x 100 on 400 x 400, by the least version.",
        table(["version", "margin"], measured["logos"]),
        "## Density",
        "Level L, black on white, by the pixels of a module. ZXing reads every file and, down to "
        "3.8 pixels, every photo; OpenCV loses files from 6 pixels on and hardly reads photos "
        "below 7; jsQR loses whole sizes of file. A dense code above 4 pixels is therefore one "
        "that a good reader reads, not one that all three do.",
        table(["pixels", "version", "margin"], measured["density"]),
        "## Margins",
        "Version 3, black on white, by the margin in modules and what is around it.",
        table(["margin", "around"], measured["margins"]),
        "## Styles",
        "Black on white, by the shapes of modules and eyes (frame, ball), in a frame (which makes "
        "the code smaller) or without one, and the bytes of the text.",
        table(["modules", "eyes", "frame", "bytes"], measured["styles"]),
        "## Encodings",
        "Texts that are not ASCII, black on white; a cell is how many files were read whole, as "
        "text. Each code names its encoding (ECI 26, UTF-8). Without that, ZBar guesses another "
        "encoding for most Latin letters and symbols.",
        table(["script"], measured["encodings"], ENCODING_READERS),
    ]
    return "\n\n".join(parts) + "\n"


def threshold(rows: Sequence[Row]) -> int:
    """The least distance from which on all three read every file the page would hand out."""
    handed = [one for one in rows if one["logo"] == "none" or one["level"] == "H"]
    least = 255
    for one in handed:
        if not isinstance(one["file"], dict):
            break
        if any(one["file"][reader] != one["pictures"] for reader in OTHERS):
            break
        least = min(least, int(str(one["distance"])))
    return least


def colour_table(rows: Sequence[Row]) -> str:
    """Pairs by distance."""
    pairs = dict.fromkeys((one["foreground"], one["background"]) for one in rows)
    lines: list[Row] = []
    for pair in pairs:
        own = [one for one in rows if (one["foreground"], one["background"]) == pair]
        plain = [one for one in own if one["logo"] == "none"]
        covered = [one for one in own if one["logo"] != "none" and one["level"] == "H"]
        lines.append(
            {
                "distance": own[0]["distance"],
                "colours": f"{pair[0]} on {pair[1]}",
                "cells": [*together(plain), *together(covered)],
                "pictures": f"{total(plain)}, {total(covered)}",
            }
        )
    return table(["distance", "colours"], lines, [*OTHERS, *(f"{o}, logo" for o in OTHERS)])


def level_table(rows: Sequence[Row], least: int) -> str:
    """Levels by logo."""
    lines: list[Row] = []
    for level in LEVELS:
        for logo in LOGOS:
            own = [
                one
                for one in rows
                if (one["level"], one["logo"]) == (level, logo)
                and int(str(one["distance"])) >= least
            ]
            lines.append(
                {"level": level, "logo": logo, "cells": together(own), "pictures": total(own)}
            )
    return table(["level", "logo"], lines)


def together(rows: Sequence[Row]) -> list[str]:
    """The cells of many rows as one."""
    sums = [[0, 0] for _ in OTHERS]
    for one in rows:
        for at, reader in enumerate(OTHERS):
            for place, kind in enumerate(("file", "photo")):
                counted = one[kind]
                assert isinstance(counted, dict)
                sums[at][place] += counted[reader]
    return [f"{file}/{photo}" for file, photo in sums]


def total(rows: Sequence[Row]) -> int:
    """Pictures of many rows."""
    return sum(int(str(one["pictures"])) for one in rows)


def table(names: Sequence[str], rows: Sequence[Row], readers: Sequence[str] = OTHERS) -> str:
    """Markdown."""
    lines = ["| " + " | ".join([*names, *readers, "of"]) + " |"]
    lines.append("|" + " --- |" * (len(names) + len(readers) + 1))
    for one in rows:
        cells = one["cells"]
        assert isinstance(cells, list)
        values = [*(str(one[name]) for name in names), *cells, str(one["pictures"])]
        lines.append("| " + " | ".join(values) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
