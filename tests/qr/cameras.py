"""What a camera, a printer and a lamp make of a code: twelve ways, independent of the page's own.

A picture is 480 x 480, a code of 400 x 400 with white around it; chance decides how each of them is
done, within bounds in which a plain code of little text is read by every decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import cv2
import numpy as np
from numpy.typing import NDArray

from tests.qr.readers import Picture

Chance = np.random.Generator
Camera = Callable[[Picture, Chance], Picture]

_WHITE = (255.0, 255.0, 255.0)


def _pixels(picture: NDArray[np.floating]) -> Picture:
    return np.round(picture).clip(0, 255).astype(np.uint8)


def _blurred(picture: Picture, chance: Chance) -> Picture:
    """Out of focus: a normal distribution, its deviation in pixels."""
    return _pixels(cv2.GaussianBlur(picture, (0, 0), chance.uniform(1, 2)).astype(np.float64))


def _moved(picture: Picture, chance: Chance) -> Picture:
    """A hand that moves, by so many pixels either way."""
    width = int(chance.choice([3, 5]))
    kernel = np.zeros((width, width))
    if chance.random() < 0.5:
        kernel[width // 2] = 1 / width
    else:
        kernel[:, width // 2] = 1 / width
    return _pixels(cv2.filter2D(picture, -1, kernel).astype(np.float64))


def _smaller(picture: Picture, chance: Chance) -> Picture:
    """From further away: a share of the side."""
    share = chance.uniform(0.5, 0.7)
    small = cv2.resize(picture, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
    return _pixels(small.astype(np.float64))


def _warped(picture: Picture, degrees: float, tilt: NDArray[np.float64]) -> Picture:
    """Turned, then tilted: the share by which each corner comes nearer to the middle, (4, 2)."""
    side = len(picture)
    corners = np.array([[0, 0], [side, 0], [side, side], [0, side]], np.float32)
    inward = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    moved = (corners + inward * tilt * side).astype(np.float32)
    turn = np.vstack([cv2.getRotationMatrix2D((side / 2, side / 2), degrees, 0.85), [0, 0, 1]])
    warp = cv2.getPerspectiveTransform(corners, moved) @ turn
    seen = cv2.warpPerspective(picture, warp, (side, side), borderValue=_WHITE)
    return _pixels(seen.astype(np.float64))


def _turned(picture: Picture, chance: Chance) -> Picture:
    """By so many degrees."""
    return _warped(picture, chance.uniform(-30, 30), np.zeros((4, 2)))


def _tilt(chance: Chance) -> NDArray[np.float64]:
    """One of the four edges is further away."""
    tilt = np.zeros((4, 2))
    edge = int(chance.integers(4))
    tilt[[edge, (edge + 1) % 4], edge % 2] = chance.uniform(0.03, 0.08)
    return tilt


def _tilted(picture: Picture, chance: Chance) -> Picture:
    """Seen from a side."""
    return _warped(picture, 0, _tilt(chance))


def _held_askew(picture: Picture, chance: Chance) -> Picture:
    """Turned and tilted."""
    return _warped(picture, chance.uniform(-15, 15), _tilt(chance))


def _noisy(picture: Picture, chance: Chance) -> Picture:
    """A sensor in the dark: the deviation in shades."""
    deviation = chance.uniform(4, 10)
    return _pixels(picture + chance.normal(0, deviation, picture.shape))


def _distances(side: int, x: float, y: float) -> NDArray[np.float64]:
    down, right = np.mgrid[0:side, 0:side]
    distances: NDArray[np.float64] = np.hypot(right - x, down - y)[..., None]
    return distances


def _glaring(picture: Picture, chance: Chance) -> Picture:
    """A lamp that is mirrored in a spot: it lifts what is dark there."""
    side = len(picture)
    x, y = chance.uniform(0.2 * side, 0.8 * side, 2)
    spot = np.exp(-((_distances(side, x, y) / (chance.uniform(0.15, 0.3) * side)) ** 2))
    return _pixels(picture + (255.0 - picture) * spot * chance.uniform(0.2, 0.4))


def _shaded(picture: Picture, chance: Chance) -> Picture:
    """A side in the shadow."""
    light = np.linspace(chance.uniform(0.5, 0.7), 1, len(picture))
    across = light[None, :, None] if chance.random() < 0.5 else light[:, None, None]
    return _pixels(picture * across)


def _spread(picture: Picture, chance: Chance) -> Picture:
    """Print gain: all that is dark grows by a pixel, 75 micrometres in a print 30 mm wide."""
    del chance
    return _pixels(cv2.erode(picture, np.ones((3, 3))).astype(np.float64))


def _worn(picture: Picture, chance: Chance) -> Picture:
    """Print loss: it shrinks by as much."""
    del chance
    return _pixels(cv2.dilate(picture, np.ones((3, 3))).astype(np.float64))


def _squeezed(picture: Picture, chance: Chance) -> Picture:
    """A JPEG that has been sent on and on."""
    quality = int(chance.integers(20, 50))
    done, file = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    assert done
    decoded = cv2.imdecode(file, cv2.IMREAD_COLOR)
    assert decoded is not None
    return decoded.astype(np.uint8)


CAMERAS: Mapping[str, Camera] = {
    "blurred": _blurred,
    "moved": _moved,
    "smaller": _smaller,
    "turned": _turned,
    "tilted": _tilted,
    "turned and tilted": _held_askew,
    "noisy": _noisy,
    "glare": _glaring,
    "shadow": _shaded,
    "print gain": _spread,
    "print loss": _worn,
    "JPEG": _squeezed,
}
