"""Twelve distortions of a code by cameras, printers and light, independent of the page's own.

A picture has 480 x 480 shades of gray, which is all that a decoder reads: a code of 400 x 400 on
white. The strength of each distortion is random within limits in which each of the three decoders
reads 995 of 1,000 plain codes with little text in the first frame (tests/system/qr/decoders.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from tests.system.qr.readers import Shades

Chance = np.random.Generator
Camera = Callable[[Shades, Chance], Shades]

_WHITE = 255.0

FRAMES = 5
"""Frames that a scanner tries in turn: half a second at ten a second."""


def look(picture: Shades, camera: Camera, seed: Sequence[int]) -> Iterator[Shades]:
    """Return the frames of a camera. A hand holds it slightly differently in each, so that its
    pixels do not align with those of the picture. Everything else stays the same.
    """
    for frame in range(FRAMES):
        held = _held(picture, np.random.default_rng([*seed, frame]))
        yield camera(held, np.random.default_rng(seed))


def _held(picture: Shades, chance: Chance) -> Shades:
    """Move by up to two degrees, three pixels, and a factor of 0.06 further away."""
    middle = len(picture) / 2
    turn = cv2.getRotationMatrix2D((middle, middle), chance.uniform(-2, 2), chance.uniform(0.94, 1))
    turn[0, 2] += chance.uniform(-3, 3)
    turn[1, 2] += chance.uniform(-3, 3)
    return _shades(cv2.warpAffine(picture, turn, picture.shape, borderValue=_WHITE))


def _shades(picture: NDArray[np.generic]) -> Shades:
    """Convert the result of OpenCV to shades."""
    return picture.astype(np.uint8, copy=False)


def _pixels(picture: NDArray[np.float32]) -> Shades:
    """Round and clip values to shades."""
    shades: Shades = (picture + np.float32(0.5)).clip(0, 255).astype(np.uint8)
    return shades


def _blurred(picture: Shades, chance: Chance) -> Shades:
    """Out of focus: Gaussian blur with a deviation in pixels."""
    return _shades(cv2.GaussianBlur(picture, (0, 0), chance.uniform(1, 2)))


def _moved(picture: Shades, chance: Chance) -> Shades:
    """Motion blur, by a number of pixels in each direction."""
    width = int(chance.choice([3, 5]))
    kernel = np.zeros((width, width))
    if chance.random() < 0.5:
        kernel[width // 2] = 1 / width
    else:
        kernel[:, width // 2] = 1 / width
    return _shades(cv2.filter2D(picture, -1, kernel))


def _smaller(picture: Shades, chance: Chance) -> Shades:
    """From further away: a factor of the side."""
    share = chance.uniform(0.5, 0.7)
    small = cv2.resize(picture, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
    return _shades(small)


def _warped(picture: Shades, degrees: float, tilt: NDArray[np.float64]) -> Shades:
    """Rotated, then tilted: the factor by which each corner moves to the center, (4, 2)."""
    side = len(picture)
    corners = np.array([[0, 0], [side, 0], [side, side], [0, side]], np.float32)
    inward = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    moved = (corners + inward * tilt * side).astype(np.float32)
    turn = np.vstack([cv2.getRotationMatrix2D((side / 2, side / 2), degrees, 0.85), [0, 0, 1]])
    warp = cv2.getPerspectiveTransform(corners, moved) @ turn
    return _shades(cv2.warpPerspective(picture, warp, (side, side), borderValue=_WHITE))


def _turned(picture: Shades, chance: Chance) -> Shades:
    """Rotated by a number of degrees."""
    return _warped(picture, chance.uniform(-30, 30), np.zeros((4, 2)))


def _tilt(chance: Chance) -> NDArray[np.float64]:
    """One of the four edges is further away by up to a fifth, as for a code seen at an angle of 30
    degrees from three times its width.
    """
    tilt = np.zeros((4, 2))
    edge = int(chance.integers(4))
    tilt[[edge, (edge + 1) % 4], edge % 2] = chance.uniform(0.03, 0.08)
    return tilt


def _tilted(picture: Shades, chance: Chance) -> Shades:
    """Seen from a side."""
    return _warped(picture, 0, _tilt(chance))


def _held_askew(picture: Shades, chance: Chance) -> Shades:
    """Rotated and tilted."""
    return _warped(picture, chance.uniform(-15, 15), _tilt(chance))


def _noisy(picture: Shades, chance: Chance) -> Shades:
    """Sensor noise in the dark: the deviation in shades.

    ISO 12232 calls a picture excellent if noise is 1/40 of the light at medium gray, and acceptable
    at 1/10. At 118 of 255 in sRGB, with a slope of 1/2.2, these are deviations of 1.3 and 5.4. From
    3.6 on ZXing does not read plain codes with large modules.
    """
    deviation = np.float32(chance.uniform(2, 3.5))
    return _pixels(picture + deviation * chance.standard_normal(picture.shape, np.float32))


def _glaring(picture: Shades, chance: Chance) -> Shades:
    """A reflection of a lamp, which brightens dark areas."""
    side = len(picture)
    x, y = chance.uniform(0.2 * side, 0.8 * side, 2)
    wide = chance.uniform(0.15, 0.3) * side
    across, down = (np.exp(-(((np.arange(side) - at) / wide) ** 2)) for at in (x, y))
    lift = np.outer(down, across * chance.uniform(0.2, 0.4)).astype(np.float32)
    return _pixels(picture + (np.float32(255) - picture) * lift)


def _shaded(picture: Shades, chance: Chance) -> Shades:
    """One side in the shadow."""
    light = np.linspace(chance.uniform(0.5, 0.7), 1, len(picture), dtype=np.float32)
    across = light if chance.random() < 0.5 else light[:, None]
    return _pixels(picture * across)


def _spread(picture: Shades, chance: Chance) -> Shades:
    """Print gain: dark areas grow by a pixel, 75 micrometers in a print 30 mm wide."""
    del chance
    return _shades(cv2.erode(picture, np.ones((3, 3))))


def _worn(picture: Shades, chance: Chance) -> Shades:
    """Print loss: dark areas shrink by a pixel."""
    del chance
    return _shades(cv2.dilate(picture, np.ones((3, 3))))


def _squeezed(picture: Shades, chance: Chance) -> Shades:
    """A repeatedly compressed JPEG. libjpeg calls qualities from 50 on useful."""
    quality = int(chance.integers(20, 50))
    done, file = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    assert done
    decoded = cv2.imdecode(file, cv2.IMREAD_GRAYSCALE)
    assert decoded is not None
    return _shades(decoded)


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
