"""What the page's verdict is worth: `make qr-table` of 10,000 styles, `LIMIT=300` of fewer.

Each style is drawn as the page draws it and gets its verdict by the page's own code; then three
decoders of other hands read it as twelve cameras see it. One line a style is kept in
`tests/qr/margin.txt`, and a run that was broken off goes on where it stopped; where the pictures
have changed since, it begins anew, and where only the page's check has, it judges anew. Writes
`tests/qr/margin.md`.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np

from tests.processes import ROOT
from tests.qr.cameras import CAMERAS
from tests.qr.pictures import Code, draw, draw_style, modules, photograph, url_of
from tests.qr.random_styles import random_design
from tests.qr.readers import OTHERS, Picture, Readers, Script, framed

FOLDER = Path(__file__).parent
KEPT = FOLDER / "margin.txt"
PAGE = FOLDER / "margin.md"

SEED = 20261122
STYLES = 10_000
WELL = "well"
UNREAD = "unread"

_PICTURES = (
    *(f"web/src/features/qr/{name}.ts" for name in ("drawing", "style", "symbol")),
    *(f"tests/qr/{name}.py" for name in ("cameras", "random_styles", "pictures")),
)
_VERDICTS = tuple(f"web/src/features/qr/{name}.ts" for name in ("margin", "distort", "pixels"))
"""What the decoders see, and what the page's verdict is made by."""


@dataclass(frozen=True)
class Row:
    """What became of a style."""

    verdict: str
    """`well`, `unread`, or the distortion in which the page lost it."""
    read: tuple[int, ...]
    """For each of `OTHERS` the cameras that it read with: a bit each, the first one the lowest."""

    def line(self) -> str:
        """As it is kept."""
        return " ".join([self.verdict, *(f"{bits:03x}" for bits in self.read)])

    @classmethod
    def of(cls, line: str) -> Row:
        """Of a line that was kept."""
        verdict, *read = line.split()
        return cls(verdict, tuple(int(bits, 16) for bits in read))

    def has_read(self, reader: int, camera: int) -> bool:
        """Whether a decoder read it with a camera."""
        return bool(self.read[reader] >> camera & 1)


class Bench:
    """Draws, judges and reads."""

    def __init__(self) -> None:
        with ExitStack() as stack:
            self._drawings = stack.enter_context(Script("qr-drawing.mjs"))
            self._margins = stack.enter_context(Script("qr-margin.mjs"))
            self._readers = stack.enter_context(Readers())
            self._close = stack.pop_all()

    def close(self) -> None:
        """End its scripts."""
        self._close.close()

    def picture(self, number: int) -> tuple[str, Picture]:
        """A style's text, and its code in the middle of a white sheet."""
        design = random_design(SEED, number)
        drawn = draw_style(self._drawings, design.text, design.style, design.logo)
        return design.text, framed(drawn)

    def verdict(self, text: str, picture: Picture) -> str:
        """The page's own."""
        rgba = np.dstack([picture, np.full(picture.shape[:2], 255, np.uint8)])
        pixels = base64.b64encode(rgba.tobytes()).decode()
        measured = self._margins.ask({"size": len(picture), "pixels": pixels})
        if measured["text"] != text:
            return UNREAD
        return measured["lost"] or WELL

    def row(self, number: int) -> Row:
        """Measure a style."""
        text, picture = self.picture(number)
        read = [0] * len(OTHERS)
        for at, camera in enumerate(CAMERAS.values()):
            seen = camera(picture, np.random.default_rng([SEED, number, at]))
            for reader in self._readers.who_reads(seen, text):
                read[OTHERS.index(reader)] |= 1 << at
        return Row(self.verdict(text, picture), tuple(read))


@cache
def _bench() -> Bench:
    """Of this process, which ends with it."""
    return Bench()


def _row(number: int) -> Row:
    return _bench().row(number)


def _verdict(number: int) -> str:
    return _bench().verdict(*_bench().picture(number))


Heading = dict[str, object]


def heading() -> Heading:
    """What the figures depend on."""
    return {
        "seed": SEED,
        "readers": f"zxing-cpp {version('zxing-cpp')}, OpenCV {cv2.__version__}, jsQR 1.4.0",
        "pictures": _digest(_PICTURES),
        "verdicts": _digest(_VERDICTS),
    }


def _digest(names: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for name in names:
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()[:12]


def kept() -> tuple[Heading, list[Row]]:
    """The heading of the last run, and its rows."""
    first, *lines = KEPT.read_text().splitlines() if KEPT.exists() else ["{}"]
    return json.loads(first), [Row.of(line) for line in lines]


def keep(rows: Sequence[Row]) -> None:
    """Write all of them anew."""
    lines = [json.dumps(heading()), *(row.line() for row in rows)]
    KEPT.write_text("\n".join(lines) + "\n")


def measure(limit: int, jobs: int) -> list[Row]:
    """Measure so many styles, or the rest of them."""
    before, rows = kept()
    now = heading()
    with get_context("spawn").Pool(jobs) as pool:
        if {**before, "verdicts": ""} != {**now, "verdicts": ""}:
            rows = []
        elif before != now:
            # What the decoders read in the same pictures stays.
            verdicts = pool.map(_verdict, range(len(rows)), chunksize=4)
            rows = [replace(row, verdict=new) for row, new in zip(rows, verdicts, strict=True)]
        keep(rows)
        with KEPT.open("a") as file:
            for row in pool.imap(_row, range(len(rows), limit), chunksize=4):
                rows.append(row)
                file.write(row.line() + "\n")
                file.flush()
                if len(rows) % 100 == 0:
                    print(f"{len(rows)} of {limit}")  # noqa: T201
    return rows


def lost(rows: Sequence[Row], reader: int, camera: int) -> int:
    """How many of the styles a decoder did not read with a camera."""
    return sum(not row.has_read(reader, camera) for row in rows)


def lost_by_all(row: Row) -> int:
    """With how many of the cameras nobody read a style."""
    readers = range(len(OTHERS))
    return sum(
        not any(row.has_read(reader, camera) for reader in readers)
        for camera in range(len(CAMERAS))
    )


def distances() -> Iterator[str]:
    """Lines of a table: who reads photos by the pixels of a module."""
    with Script("qr-matrix.mjs") as script, Readers() as readers:
        for pixels in (1.5, 2, 2.5, 3, 3.5, 4, 5):
            read: Counter[str] = Counter()
            codes = [Code(url_of(length, seed)) for length in (30, 106) for seed in range(3)]
            for seed, code in enumerate(codes):
                photo = photograph(framed(draw(script, code)), seed)
                share = pixels * len(modules(script, code)) / 400
                small = cv2.resize(photo, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
                read.update(readers.who_reads(small.astype(np.uint8), code.text))
            cells = [str(read[reader]) for reader in OTHERS]
            yield line([f"{pixels:g}", *cells, str(len(codes))])


def line(cells: Sequence[str]) -> str:
    """A row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def head(names: Sequence[str]) -> list[str]:
    """The first two rows of one."""
    return [line(names), line(["---"] * len(names))]


def page(rows: Sequence[Row]) -> str:
    """The tables as a page."""
    well = [row for row in rows if row.verdict == WELL]
    care = [row for row in rows if row.verdict not in (WELL, UNREAD)]
    verdicts = Counter(row.verdict for row in rows)
    cameras = [
        line(
            [
                name,
                *(
                    share(lost(kind, reader, camera), len(kind))
                    for kind in (well, care)
                    for reader in range(len(OTHERS))
                ),
            ]
        )
        for camera, name in enumerate(CAMERAS)
    ]
    together = line(
        [
            "**all**",
            *(
                share(
                    sum(lost(kind, reader, camera) for camera in range(len(CAMERAS))),
                    len(kind) * len(CAMERAS),
                )
                for kind in (well, care)
                for reader in range(len(OTHERS))
            ),
        ]
    )
    cases = len(CAMERAS)
    parts = [
        "# What the verdict is worth",
        f"Measured by `make qr-table` with {heading()['readers']} on {len(rows)} random styles: "
        f"{len(well)} are called 'Scans: well', {len(care)} 'Scans: with care', and "
        f"{verdicts[UNREAD]} are not read at all.",
        "## Lost cases",
        "A case is a style as a camera sees it (`tests/qr/cameras.py`). "
        f"Of those called 'well', {sum(lost_by_all(row) > 0 for row in well)} have a case among "
        f"their {cases} that none of the three decoders reads; of those 'with care' "
        f"{sum(lost_by_all(row) > 0 for row in care)}. "
        "By decoder, the share of cases that it loses:",
        "\n".join(
            [
                *head(
                    [
                        "camera",
                        *(
                            f"{reader}, {kind}"
                            for kind in ("well", "with care")
                            for reader in OTHERS
                        ),
                    ]
                ),
                *cameras,
                together,
            ]
        ),
        "## What the page lost them in",
        "\n".join(
            [
                *head(["distortion", "styles"]),
                *(line([name, str(count)]) for name, count in verdicts.most_common()),
            ]
        ),
        "## Distance",
        "Simulated photos of codes of 30 and 106 bytes, by the pixels of a module in them; a cell "
        "is how many were read.",
        "\n".join([*head(["pixels", *OTHERS, "of"]), *distances()]),
    ]
    return "\n\n".join(parts) + "\n"


def share(count: int, of: int) -> str:
    """A part of something in per cent."""
    return f"{100 * count / of:.2f} %" if of else ""


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--limit", type=int, default=STYLES, help="styles in all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    rows = measure(given.limit, given.jobs)
    PAGE.write_text(page(rows))
    print(PAGE.relative_to(ROOT))  # noqa: T201


if __name__ == "__main__":
    main()
