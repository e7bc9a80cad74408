"""Draws codes as the page does."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from tests.system.qr.readers import Picture, Script

SIZE = 400
LOGO = 100
URL = string.ascii_lowercase + string.digits + "-_/?=&"


def channels(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of #rrggbb."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def logo_picture(kind: str) -> Picture:
    """Return a logo of 100 x 100: pale, dark, or as detailed as a code."""
    picture = np.full((LOGO, LOGO, 3), 255, np.uint8)
    if kind == "pale":
        cv2.circle(picture, (50, 50), 44, (255, 200, 0), -1)
    elif kind == "dark":
        picture[:] = (20, 24, 31)
    else:
        noise = np.random.default_rng(5).integers(0, 2, (20, 20), np.uint8) * 255
        picture[:] = np.kron(noise, np.ones((5, 5), np.uint8))[..., None]
    return picture


PLAIN: Mapping[str, Any] = {
    "foreground": "#000000",
    "background": "#ffffff",
    "second": None,
    "modules": "square",
    "eyeFrame": {"shape": "square", "color": None},
    "eyeBall": {"shape": "square", "color": None},
    "caption": None,
    "level": None,
    "quietZone": False,
}
"""The page's initial style."""

_FINE = 4
"""Subpixels per pixel side for anti-aliasing."""


def draw_style(
    script: Script,
    text: str,
    style: Mapping[str, Any],
    logo: tuple[str, int, int] | None = None,
) -> Picture:
    """Return a code of 400 x 400 in a style, without words. A logo is its kind, width and
    height."""
    kind, width, height = logo or ("none", 0, 0)
    placed = logo and {"src": kind, "width": width, "height": height}
    drawing = script.ask({"text": text, "style": {**PLAIN, **style}, "logo": placed})
    scale = SIZE / drawing["side"]
    picture: NDArray[np.float64] = np.full((SIZE, SIZE, 3), channels(drawing["background"]), float)
    for shape in drawing["shapes"]:
        # A hole is inside at most one other line, so the even-odd rule applies.
        polygons = _lines(shape["path"])
        corners = np.round(np.concatenate(polygons) * scale * _FINE).astype(np.int32)
        ends = np.cumsum([len(polygon) for polygon in polygons])[:-1]
        mask = np.zeros((SIZE * _FINE, SIZE * _FINE), np.uint8)
        cv2.fillPoly(mask, np.split(corners, ends), 255)
        seen = cv2.resize(mask, (SIZE, SIZE), interpolation=cv2.INTER_AREA)[..., None]
        share: NDArray[np.float64] = seen.astype(np.float64) / 255
        picture = share * _filled(shape["fill"], scale) + (1 - share) * picture
    drawn = np.round(picture).astype(np.uint8)
    if logo:
        at = drawing["logo"]
        left, top = round(at["x"] * scale), round(at["y"] * scale)
        size = round(at["width"] * scale), round(at["height"] * scale)
        image = cv2.resize(logo_picture(kind), size, interpolation=cv2.INTER_AREA)
        drawn[top : top + size[1], left : left + size[0]] = image
    return drawn


def _filled(fill: Any, scale: float) -> NDArray[np.float64]:
    """Return a color, or a gradient's color at each pixel."""
    if isinstance(fill, str):
        return np.array(channels(fill), np.float64)
    start, end = (np.array(fill[name]) * scale for name in ("from", "to"))
    across = end - start
    down, right = np.mgrid[0:SIZE, 0:SIZE] + 0.5
    off = np.stack([right - start[0], down - start[1]], axis=-1)
    if fill["kind"] == "linear":
        at = off @ across / (across @ across)
    else:
        at = np.hypot(off[..., 0], off[..., 1]) / np.hypot(*across)
    first, last = (np.array(channels(colour), np.float64) for colour in fill["colors"])
    blended: NDArray[np.float64] = first + at.clip(0, 1)[..., None] * (last - first)
    return blended


_PARTS = 8
_CURVE = [
    (u**3, 3 * u * u * t, 3 * u * t * t, t**3)
    for t, u in ((part / _PARTS, 1 - part / _PARTS) for part in range(1, _PARTS + 1))
]
"""Weights of a curve's four control points at the drawn points."""

_COMMAND = re.compile(r"([MLC])([^MLC]*)")


def _lines(path: str) -> list[NDArray[np.float64]]:
    """Return the polygons of a path, with curves in eight parts. Uses floats, which are faster."""
    polygons: list[NDArray[np.float64]] = []
    for part in path.split("Z")[:-1]:
        points: list[tuple[float, float]] = []
        for command, numbers in _COMMAND.findall(part):
            given = [float(number) for number in numbers.split()]
            if command != "C":
                points.append((given[0], given[1]))
                continue
            x, y = points[-1]
            x1, y1, x2, y2, x3, y3 = given
            points += [
                (a * x + b * x1 + c * x2 + d * x3, a * y + b * y1 + c * y2 + d * y3)
                for a, b, c, d in _CURVE
            ]
        polygons.append(np.array(points))
    return polygons


def url_of(length: int, seed: int) -> str:
    """Return a URL of a given length."""
    return "https://" + "".join(random.Random(seed).choices(URL, k=length - 8))
