"""Generates styles that a user could choose, reproducible by seed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.system.qr.cases import grey
from tests.system.qr.pictures import url_of


@dataclass(frozen=True)
class Design:
    """A code's text and appearance."""

    text: str
    style: Mapping[str, Any]
    logo: tuple[str, int, int] | None
    """Kind, width and height."""


def random_design(seed: int, number: int) -> Design:
    """Return a random style. A third are plain except for colors."""
    chance = random.Random(f"{seed} {number}")
    text = url_of(round(10 ** chance.uniform(1.1, 2.6)), chance.randrange(1 << 30))
    background = "#ffffff" if chance.random() < 0.5 else _light(chance)
    foreground = "#000000" if chance.random() < 0.3 else _dark(chance, background)
    style: dict[str, Any] = {
        "foreground": foreground,
        "background": background,
        "quietZone": chance.random() < 0.3,
        "level": chance.choice([None, None, None, *"LMQH"]),
    }
    if chance.random() < 0.67:
        style |= {
            "modules": chance.choice(["square", "rounded", "dots"]),
            "eyeFrame": {
                "shape": chance.choice(["square", "rounded"]),
                "color": _own(chance, background),
            },
            "eyeBall": {
                "shape": chance.choice(["square", "rounded", "circle"]),
                "color": _own(chance, background),
            },
            "caption": "" if chance.random() < 0.2 else None,
        }
        if chance.random() < 0.4:
            kind = chance.choice(["linear", "radial"])
            style["second"] = {"kind": kind, "color": _dark(chance, background)}
    logo = None
    if chance.random() < 0.4:
        longer, shorter = chance.choice([70, 100, 100]), chance.uniform(0.3, 1)
        size = longer, round(longer * shorter)
        logo = (chance.choice(["pale", "dark", "busy"]), *chance.choice([size, size[::-1]]))
    return Design(text, style, logo)


def _colour(chance: random.Random) -> str:
    return f"#{chance.randrange(1 << 24):06x}"


def _light(chance: random.Random) -> str:
    """Return a background color with enough contrast."""
    while True:
        colour = _colour(chance)
        if grey(colour) > 150:
            return colour


def _dark(chance: random.Random, background: str) -> str:
    """Return a color that the page accepts: verdict.ts rejects close colors without reading."""
    while True:
        colour = _colour(chance)
        if grey(background) - grey(colour) >= 128:
            return colour


def _own(chance: random.Random, background: str) -> str | None:
    return _dark(chance, background) if chance.random() < 0.25 else None
