"""Measures the quality of the page's verdict: results in `margin.txt`, report in `margin.md`.

10,000 random styles were drawn and judged by the page's own code. Three independent decoders read
each of them through twelve cameras. `margin.txt` has a line per style. `Bench` measures one of them
again.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from tests.system.qr.cameras import CAMERAS, look
from tests.system.qr.pictures import PLAIN, draw_style
from tests.system.qr.random_styles import Design, random_design
from tests.system.qr.readers import SCANNERS, Picture, Scanners, Script, framed

SEED = 20261122
STYLES = 10_000
WELL = "well"
UNREAD = "unread"


@dataclass(frozen=True)
class Row:
    """The result of a style."""

    verdict: str
    """`well`, `unread`, another fault, or the page's reason."""
    read: tuple[tuple[int, int], ...] = ()
    """For each of `SCANNERS` the cameras with which it read the style, in the first frame and in
    any: a bit each, the first camera lowest. Empty if not read yet."""

    @classmethod
    def of(cls, line: str) -> Row:
        """Parse a stored line."""
        verdict, *read = line.split()
        masks = (mask.split("/") for mask in read)
        return cls(verdict, tuple((int(first, 16), int(any_, 16)) for first, any_ in masks))

    def lost(self, scanner: int, *, first: bool = False) -> list[int]:
        """Return the cameras with which a decoder did not read it, or not in the first frame."""
        mask = self.read[scanner][0 if first else 1]
        return [camera for camera in range(len(CAMERAS)) if not mask >> camera & 1]


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
        """Return a code centered on a white sheet."""
        return framed(draw_style(self._drawings, design.text, design.style, design.logo))

    def verdict(self, design: Design) -> str:
        """Return the page's verdict. Verdicts that need no picture are not drawn."""
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
        """Return which decoders read a style with which cameras."""
        shades = cv2.cvtColor(self.picture(design), cv2.COLOR_RGB2GRAY).astype(np.uint8)
        first, any_ = [0] * len(SCANNERS), [0] * len(SCANNERS)
        for at, camera in enumerate(CAMERAS.values()):
            missing = list(SCANNERS)
            for turn, frame in enumerate(look(shades, camera, [SEED, number, at])):
                found = self._scanners.successful_readers(frame, design.text, missing)
                for scanner in found:
                    any_[SCANNERS.index(scanner)] |= 1 << at
                    if turn == 0:
                        first[SCANNERS.index(scanner)] |= 1 << at
                missing = [scanner for scanner in missing if scanner not in found]
                if not missing:
                    break
        return tuple(zip(first, any_, strict=True))

    def row(self, number: int) -> Row:
        """Measure a style of the archive. It is only read if its verdict is 'well'."""
        design = random_design(SEED, number)
        verdict = self.verdict(design)
        return Row(verdict, self.read(number, design) if verdict == WELL else ())


def archived() -> list[Row]:
    """Return the stored results."""
    _heading, *lines = (Path(__file__).parent / "margin.txt").read_text().splitlines()
    return [Row.of(line) for line in lines]


def lost_cases(rows: Sequence[Row], scanner: int, *, first: bool = False) -> int:
    """Return how many cases of styles a decoder lost."""
    return sum(len(row.lost(scanner, first=first)) for row in rows)


def has_lost(row: Row) -> bool:
    """Return whether any of its 36 cases was lost. One is more than one in a hundred."""
    return any(row.lost(scanner) for scanner in range(len(SCANNERS)))
