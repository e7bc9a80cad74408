"""What the page's verdict is worth: `make qr-table` of 10,000 styles, `LIMIT=300` of fewer.

Each style is drawn as the page draws it and gets its verdict by the page's own code; then three
decoders of other hands read it as twelve cameras see it. All of those called 'well' are read first,
then the others, as far as `--read` says. One line a style is kept in `tests/qr/margin.txt`. A run
that was broken off goes on where it stopped; where the pictures have changed since, it begins anew,
and where only the page's check has, it judges anew and keeps what was read. Writes
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
from typing import Any

import cv2
import numpy as np

from tests.processes import ROOT
from tests.qr.cameras import CAMERAS, FRAMES, look
from tests.qr.pictures import PLAIN, Code, draw, draw_style, modules, photograph, url_of
from tests.qr.random_styles import Design, random_design
from tests.qr.readers import OTHERS, SCANNERS, Picture, Readers, Scanners, Script, framed

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
    "web/test/qr-drawing.mjs",
)
_VERDICTS = tuple(
    f"web/src/features/qr/{name}.ts"
    for name in ("colors", "distort", "margin", "pixels", "verdict")
)
"""What the decoders see, and what the page's verdict is made by."""


@dataclass(frozen=True)
class Row:
    """What became of a style."""

    verdict: str
    """`well`, `unread`, another fault, or what the page says is too little for it."""
    read: tuple[tuple[int, int], ...] = ()
    """For each of `SCANNERS` the cameras that it read with, in the first frame and in any: a bit
    each, the first camera the lowest. Empty where nobody has read it yet."""

    def line(self) -> str:
        """As it is kept."""
        return " ".join([self.verdict, *(f"{first:03x}/{any_:03x}" for first, any_ in self.read)])

    @classmethod
    def of(cls, line: str) -> Row:
        """Of a line that was kept."""
        verdict, *read = line.split()
        masks = (mask.split("/") for mask in read)
        return cls(verdict, tuple((int(first, 16), int(any_, 16)) for first, any_ in masks))

    def lost(self, scanner: int, *, first: bool = False) -> list[int]:
        """The cameras with which a decoder did not read it, or not in the first frame."""
        mask = self.read[scanner][0 if first else 1]
        return [camera for camera in range(len(CAMERAS)) if not mask >> camera & 1]


@dataclass(frozen=True)
class Task:
    """What is to be done of a style."""

    number: int
    verdict: str | None
    """Null where it is to be judged."""
    wanted: bool
    """Whether it is to be read whatever it is called."""
    is_read: bool


class Bench:
    """Draws, judges and reads."""

    def __init__(self) -> None:
        # Each process has a core to itself.
        cv2.setNumThreads(1)
        with ExitStack() as stack:
            self._drawings = stack.enter_context(Script("qr-drawing.mjs"))
            self._margins = stack.enter_context(Script("qr-margin.mjs"))
            self._scanners = stack.enter_context(Scanners())
            self._close = stack.pop_all()

    def close(self) -> None:
        """End its scripts."""
        self._close.close()

    def picture(self, design: Design) -> Picture:
        """A code in the middle of a white sheet."""
        return framed(draw_style(self._drawings, design.text, design.style, design.logo))

    def verdict(self, design: Design) -> str:
        """The page's own. What it says without a look at the picture costs no drawing."""
        known: str | None = self._ask(design)["verdict"]
        if known:
            return known
        picture = self.picture(design)
        rgba = np.dstack([picture, np.full(picture.shape[:2], 255, np.uint8)])
        pixels = base64.b64encode(rgba.tobytes()).decode()
        verdict: str = self._ask(design, size=len(picture), pixels=pixels)["verdict"]
        return verdict

    def _ask(self, design: Design, **picture: object) -> Any:
        logo = design.logo and dict(zip(("src", "width", "height"), design.logo, strict=True))
        style = {**PLAIN, **design.style}
        return self._margins.ask({"text": design.text, "style": style, "logo": logo, **picture})

    def read(self, number: int, design: Design) -> tuple[tuple[int, int], ...]:
        """Who reads a style with which cameras."""
        shades = cv2.cvtColor(self.picture(design), cv2.COLOR_RGB2GRAY).astype(np.uint8)
        first, any_ = [0] * len(SCANNERS), [0] * len(SCANNERS)
        for at, camera in enumerate(CAMERAS.values()):
            missing = list(SCANNERS)
            for turn, frame in enumerate(look(shades, camera, [SEED, number, at])):
                found = self._scanners.who_reads(frame, design.text, missing)
                for scanner in found:
                    any_[SCANNERS.index(scanner)] |= 1 << at
                    if turn == 0:
                        first[SCANNERS.index(scanner)] |= 1 << at
                missing = [scanner for scanner in missing if scanner not in found]
                if not missing:
                    break
        return tuple(zip(first, any_, strict=True))

    def row(self, task: Task) -> Row:
        """Measure a style; what was read before is left out."""
        design = random_design(SEED, task.number)
        verdict = task.verdict or self.verdict(design)
        if task.is_read or not (task.wanted or verdict == WELL):
            return Row(verdict)
        return Row(verdict, self.read(task.number, design))


@cache
def _bench() -> Bench:
    """Of this process, which ends with it."""
    return Bench()


def _row(task: Task) -> tuple[int, Row]:
    return task.number, _bench().row(task)


Heading = dict[str, object]


def heading() -> Heading:
    """What the figures depend on."""
    return {
        "seed": SEED,
        "readers": f"zxing-cpp {version('zxing-cpp')}, quirc {_of_lock('quirc')} "
        f"and OpenCV {cv2.__version__} (QRCodeDetectorAruco)",
        "pictures": _digest(_PICTURES),
        "verdicts": _digest(_VERDICTS),
    }


def _of_lock(package: str) -> str:
    lock = json.loads((ROOT / "web/package-lock.json").read_text())
    locked: str = lock["packages"][f"node_modules/{package}"]["version"]
    return locked


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
    """Write all of them anew, at once."""
    lines = [json.dumps(heading()), *(row.line() for row in rows)]
    new = KEPT.with_suffix(".new")
    new.write_text("\n".join(lines) + "\n")
    new.replace(KEPT)


BATCH = 200
"""Styles after which what was measured is kept."""


def measure(limit: int, read: int, jobs: int) -> list[Row]:
    """Judge so many styles, read those called 'well', and of the first `read` the others, too."""
    before, rows = kept()
    now = heading()
    if {**before, "verdicts": ""} != {**now, "verdicts": ""}:
        rows = []
    limit = max(limit, len(rows))
    judged = len(rows) if before == now else 0
    with get_context("spawn").Pool(jobs) as pool:
        for start in range(judged, limit, BATCH):
            numbers = range(start, min(start + BATCH, limit))
            tasks = [
                Task(number, None, wanted=False, is_read=_is_read(rows, number))
                for number in numbers
            ]
            for number, row in pool.imap(_row, tasks):
                if number < len(rows):
                    rows[number] = replace(row, read=rows[number].read or row.read)
                else:
                    rows.append(row)
            # Until all have been judged anew it is still what it was.
            if numbers[-1] + 1 >= len(rows):
                keep(rows)
            _tell(f"{numbers[-1] + 1} of {limit} judged")
        todo = [number for number, row in enumerate(rows[:read]) if not row.read]
        for start in range(0, len(todo), BATCH):
            numbers_left = todo[start : start + BATCH]
            again = [Task(n, rows[n].verdict, wanted=True, is_read=False) for n in numbers_left]
            for number, row in pool.imap(_row, again):
                rows[number] = row
            keep(rows)
            _tell(f"{start + len(numbers_left)} of {len(todo)} others read")
    return rows


def _is_read(rows: Sequence[Row], number: int) -> bool:
    return number < len(rows) and bool(rows[number].read)


def _tell(words: str) -> None:
    print(words, flush=True)  # noqa: T201


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


def lost_cases(rows: Sequence[Row], scanner: int, *, first: bool = False) -> int:
    """How many cases of some styles a decoder lost."""
    return sum(len(row.lost(scanner, first=first)) for row in rows)


def has_lost(row: Row) -> bool:
    """Whether any of its 36 cases was lost: one of them is more than one in a hundred."""
    return any(row.lost(scanner) for scanner in range(len(SCANNERS)))


def lost_by_all(row: Row) -> set[int]:
    """The cameras with which nobody read a style."""
    return set.intersection(*(set(row.lost(scanner)) for scanner in range(len(SCANNERS))))


MODERATE: dict[str, tuple[dict[str, object], tuple[str, int, int] | None]] = {
    "plain": ({}, None),
    "dark green": ({"foreground": "#146c43"}, None),
    "on pale yellow": ({"background": "#fff3c4"}, None),
    "rounded modules": ({"modules": "rounded"}, None),
    "dots": ({"modules": "dots"}, None),
    "two colours": (
        {"foreground": "#0b3d91", "second": {"kind": "linear", "color": "#5b1a6b"}},
        None,
    ),
    "eyes of their own": (
        {
            "eyeFrame": {"shape": "square", "color": "#7a0019"},
            "eyeBall": {"shape": "rounded", "color": "#7a0019"},
        },
        None,
    ),
    "a small logo": ({}, ("pale", 60, 60)),
    "a logo": ({}, ("dark", 100, 100)),
    "rounded modules and a logo": ({"modules": "rounded"}, ("busy", 80, 80)),
    "a frame": ({"caption": ""}, None),
    "round eyes": ({"eyeBall": {"shape": "circle", "color": None}}, None),
}
"""Styles that many choose."""

LENGTHS = (24, 36, 48, 60, 80)


def moderate() -> Iterator[str]:
    """Lines of a table: how many codes in common styles are called 'well', by their length."""
    bench = Bench()
    codes = 4
    for name, (style, logo) in MODERATE.items():
        counts = [
            sum(
                bench.verdict(Design(url_of(length, seed), style, logo)) == WELL
                for seed in range(codes)
            )
            for length in LENGTHS
        ]
        yield line([name, *(f"{count} of {codes}" for count in counts)])
    bench.close()


def page(rows: Sequence[Row]) -> str:
    """The tables as a page."""
    well = [row for row in rows if row.verdict == WELL]
    others = [row for row in rows if row.verdict not in (WELL, UNREAD)]
    read = [row for row in others if row.read]
    cases = len(well) * len(CAMERAS)
    lossy = sum(map(has_lost, well))
    parts = [
        "# What the verdict is worth",
        f"Measured by `make qr-table` with {heading()['readers']}; "
        "[decoders.md](decoders.md) says why these. "
        f"Of {len(rows):,} random styles {len(well):,} are called 'Scans well', and "
        f"{sum(row.verdict == UNREAD for row in rows)} are not read at all. "
        f"Those called 'well' were all read by the decoders, of the others {len(read):,}.",
        "## Lost cases",
        f"A case is a style as one decoder sees it with one camera (`cameras.py`) in {FRAMES} "
        "frames, in each of which a hand holds it a little differently: a scanner reads frame "
        f"after frame. Of the {len(SCANNERS) * cases:,} cases of those called 'well', "
        f"{sum(lost_cases(well, at) for at in range(len(SCANNERS)))} are lost: {lossy} styles "
        "have a lost case, and so lose more than 1 % of their "
        f"{len(SCANNERS) * len(CAMERAS)}; {sum(map(bool, map(lost_by_all, well)))} have one "
        "that all three lose. By decoder, the share of cases that are lost, and in brackets the "
        "share that is not read in the first frame alone:",
        camera_table(well, read),
        "## What is called well",
        "Of codes in styles that many choose, by the characters of their addresses:",
        "\n".join([*head(["style", *map(str, LENGTHS)]), *moderate()]),
        "## What the rules are worth",
        "By what the page found too little for it first, how many styles, and what share of their "
        "cases is lost. `modules`, `level`, `eyes` and `colors` are rules of `verdict.ts`, the "
        "others are distortions of `margin.ts`.",
        verdict_table(rows),
        "## Distance",
        "Simulated photos of codes of 30 and 106 bytes, by the pixels of a module in them; a cell "
        "is how many were read.",
        "\n".join([*head(["pixels", *OTHERS, "of"]), *distances()]),
    ]
    return "\n\n".join(parts) + "\n"


def shares(rows: Sequence[Row], scanner: int, cameras: Sequence[int]) -> str:
    """What a decoder lost, and in brackets what it did not read in the first frame."""
    counted = [
        sum(camera in row.lost(scanner, first=first) for row in rows for camera in cameras)
        for first in (False, True)
    ]
    lost, at_first = (share(count, len(rows) * len(cameras)) for count in counted)
    return f"{lost} ({at_first})" if rows else ""


def camera_table(well: Sequence[Row], read: Sequence[Row]) -> str:
    """By camera and decoder."""
    kinds = {"well": well, "others": read}
    every = range(len(CAMERAS))
    lines = [(name, [at]) for at, name in enumerate(CAMERAS)]
    return "\n".join(
        [
            *head(["camera", *(f"{name}, {kind}" for kind in kinds for name in SCANNERS)]),
            *(
                line(
                    [
                        name,
                        *(
                            shares(rows, scanner, cameras)
                            for rows in kinds.values()
                            for scanner in range(len(SCANNERS))
                        ),
                    ]
                )
                for name, cameras in [*lines, ("**all**", list(every))]
            ),
        ]
    )


def verdict_table(rows: Sequence[Row]) -> str:
    """By verdict."""
    counts = Counter(row.verdict for row in rows)
    lines: list[str] = []
    for verdict, count in counts.most_common():
        read = [row for row in rows if row.verdict == verdict and row.read]
        cells = [
            share(lost_cases(read, scanner), len(read) * len(CAMERAS))
            for scanner in range(len(SCANNERS))
        ]
        lines.append(line([verdict, str(count), str(len(read)), *cells]))
    return "\n".join([*head(["verdict", "styles", "read", *SCANNERS]), *lines])


def share(count: int, of: int) -> str:
    """A part of something in per cent."""
    return f"{100 * count / of:.2f} %" if of else ""


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--limit", type=int, default=STYLES, help="styles in all")
    parser.add_argument(
        "--read", type=int, default=STYLES, help="styles that are read whatever they are called"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    rows = measure(given.limit, min(given.read, given.limit), given.jobs)
    PAGE.write_text(page(rows))
    print(PAGE.relative_to(ROOT))  # noqa: T201


if __name__ == "__main__":
    main()
