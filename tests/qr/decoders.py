"""Which decoders are fit to measure a style with: `make qr-table` writes `tests/qr/decoders.md`.

One that loses plain codes of little text, flawless or in a frame that any scanner should bear, says
nothing of a style. Each reads the same codes, black on white, as they are and as each camera of
`tests/qr/cameras.py` sees them: one frame, without a second try.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np

from tests.processes import ROOT
from tests.qr.cameras import CAMERAS, Camera, look
from tests.qr.pictures import Code, draw, url_of
from tests.qr.readers import SCANNERS, Scanners, Script, Shades, framed

PAGE = Path(__file__).parent / "decoders.md"
CANDIDATES = (*SCANNERS, "OpenCV", "ZBar", "jsQR")
PLAIN_CODES = 200
"""Read by those that were chosen; the others read a fifth of them."""
SEED = 7


def _as_it_is(picture: Shades, seed: Sequence[int]) -> Shades:
    """No camera at all."""
    del seed
    return picture


def _seen_by(camera: Camera) -> Way:
    return lambda picture, seed: next(look(picture, camera, seed))


Way = Callable[[Shades, Sequence[int]], Shades]
WAYS: Mapping[str, Way] = {
    "the file": _as_it_is,
    **{name: _seen_by(camera) for name, camera in CAMERAS.items()},
}


class Plain:
    """Codes of little text, black on white."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def code(self, number: int) -> tuple[str, Shades]:
        """One of them: its text of 12 to 60 characters, and its picture."""
        text = url_of(12 + number % 49, number)
        picture = framed(draw(self._script, Code(text)))
        return text, cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.uint8)


class Tally:
    """What of how many was lost."""

    def __init__(self) -> None:
        self.lost: Counter[tuple[str, str]] = Counter()
        self.read: Counter[str] = Counter()

    def add(
        self, scanners: Scanners, names: Sequence[str], number: int, text: str, picture: Shades
    ) -> None:
        """Read a code in all ways."""
        for at, (name_of_way, way) in enumerate(WAYS.items()):
            seen = way(picture, [SEED, number, at])
            for name in names:
                if not scanners.who_reads(seen, text, [name]):
                    self.lost[name, name_of_way] += 1
        self.read.update(names)


def measure(codes: int, candidates: Sequence[str] = CANDIDATES) -> Tally:
    """Read so many plain codes, a fifth of them by those who were not chosen, too."""
    tally = Tally()
    with Scanners() as scanners, Script("qr-matrix.mjs") as script:
        plain = Plain(script)
        for number in range(codes):
            names = candidates if number % 5 == 0 else SCANNERS
            tally.add(scanners, names, number, *plain.code(number))
    return tally


def page(tally: Tally) -> str:
    """The table as a page."""
    rows = [
        f"| {way} | " + " | ".join(str(tally.lost[name, way]) for name in CANDIDATES) + " |"
        for way in WAYS
    ]
    total = [sum(tally.lost[name, way] for way in WAYS) for name in CANDIDATES]
    frames = [tally.read[name] * len(WAYS) for name in CANDIDATES]
    lost = [f"{100 * one / of:.2f} %" for one, of in zip(total, frames, strict=True)]
    return "\n".join(
        [
            "| way | " + " | ".join(CANDIDATES) + " |",
            "|" + " --- |" * (len(CANDIDATES) + 1),
            *rows,
            "| **lost of all** | " + " | ".join(lost) + " |",
            "| codes | " + " | ".join(str(tally.read[name]) for name in CANDIDATES) + " |",
        ]
    )


HEAD = f"""# Who measures

Measured by `make qr-table`. Each decoder reads the same plain codes, black on white, of 12 to 60
characters: the file itself, and one frame of each camera of `cameras.py`. A cell is how many were
lost. The three that measure a style are {", ".join(SCANNERS[:-1])} and {SCANNERS[-1]}: of what
could be had from npm and PyPI they are three implementations that share no code, each is built into
apps and devices that people scan with, and they lose the fewest plain codes.

- ZXing is zxing-cpp, the port of it that is worked on; `rxing` and
  `@zxing/library` are ports of the same code, and so would be no third voice.
- quirc is made for small devices with a camera; its grid comes of the eyes alone.
- ArUco is OpenCV's `QRCodeDetectorAruco`, "OpenCV" its older `QRCodeDetector`.
- ZBar loses plain codes that are turned by about 20 degrees, and jsQR those that are tilted: what
  they lose says little of a style.

"""


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--codes", type=int, default=PLAIN_CODES)
    table = page(measure(parser.parse_args().codes))
    print(table)  # noqa: T201
    PAGE.write_text(HEAD + table + "\n")
    print(PAGE.relative_to(ROOT))  # noqa: T201


if __name__ == "__main__":
    main()
