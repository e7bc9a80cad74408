"""Decoders that are independent of the page's own."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Sequence
from typing import Any, Self

import cv2
import numpy as np
import zxingcpp
from numpy.typing import NDArray

from tests.support.processes import ROOT

Picture = NDArray[np.uint8]
"""Rows of RGB pixels."""
Shades = NDArray[np.uint8]
"""Rows of gray pixels."""

OTHERS = ("ZXing", "OpenCV", "jsQR")
PAGE = "qr"
"""The decoder that the page itself uses."""
ZBAR = "ZBar"
"""Guesses the encoding of undesignated bytes, as many apps do. Returns text, never bytes."""
SCANNERS = ("ZXing", "quirc", "ArUco")
"""The three decoders for the margin; tests/system/qr/decoders.md says why."""

HERE = ("ZXing", "OpenCV", "ArUco")
"""Decoders that run in this process; the others run in Node."""

_QR = zxingcpp.BarcodeFormats([zxingcpp.BarcodeFormat.QRCode])

FRAME = 40
"""White pixels around a code."""


class Script:
    """A Node script that answers each line with a line."""

    def __init__(self, name: str) -> None:
        self._node = subprocess.Popen(
            ["node", f"test/{name}"],
            cwd=ROOT / "web",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, question: object) -> Any:
        """Send a line and return the answer."""
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.write(json.dumps(question) + "\n")
        self._node.stdin.flush()
        return json.loads(self._node.stdout.readline())

    def close(self) -> None:
        """End the script."""
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.close()
        self._node.wait(10)
        self._node.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Readers:
    """All decoders behind one interface, which return a text or None."""

    def __init__(self) -> None:
        self._script = Script("qr-readers.mjs")
        self._opencv = cv2.QRCodeDetector()

    def read(self, reader: str, picture: Picture) -> str | None:
        """Return the text that a decoder reads in a square picture."""
        if reader == "ZXing":
            return read_zxing(picture)
        if reader == "OpenCV":
            return _read_opencv(self._opencv, greyed(picture))
        if reader == ZBAR:
            (read,) = self._script.ask(_question([ZBAR], greyed(picture)))
            text: str | None = read
            return text
        name = "jsqr" if reader == "jsQR" else "qr"
        rgba = np.dstack([picture, np.full(picture.shape[:2], 255, np.uint8)])
        pixels = base64.b64encode(rgba.tobytes()).decode()
        answer: str | None = self._script.ask(
            {"reader": name, "size": len(picture), "pixels": pixels}
        )
        return answer

    def successful_readers(
        self, picture: Picture, text: str, readers: Sequence[str] = OTHERS
    ) -> list[str]:
        """Return the decoders that read a text in a picture."""
        return [reader for reader in readers if self.read(reader, picture) == text]

    def two_who_read(self, picture: Picture, text: str) -> list[str]:
        """Return at most two of those decoders, without trying more."""
        found: list[str] = []
        for reader in OTHERS:
            if len(found) < 2 and self.read(reader, picture) == text:
                found.append(reader)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._script.close()


def read_zxing(picture: Picture | Shades) -> str | None:
    """Return the text that ZXing reads in a picture, in the encoding that the code names."""
    found = zxingcpp.read_barcodes(picture, formats=_QR, text_mode=zxingcpp.TextMode.Plain)
    return found[0].text if found else None


def _question(names: Sequence[str], shades: Shades) -> dict[str, object]:
    """Return the line that lets the script read a square picture with some of its decoders."""
    encoded = base64.b64encode(shades.tobytes()).decode()
    return {"readers": list(names), "side": len(shades), "shades": encoded}


def _read_opencv(detector: cv2.GraphicalCodeDetector, shades: Shades) -> str | None:
    try:
        text, _, _ = detector.detectAndDecode(shades)
    except (cv2.error, UnicodeDecodeError):
        return None
    return text or None


class Scanners:
    """Decoders for the gray frames of a camera."""

    def __init__(self) -> None:
        self._script = Script("qr-readers.mjs")
        self._opencv = {"OpenCV": cv2.QRCodeDetector(), "ArUco": cv2.QRCodeDetectorAruco()}

    def successful_readers(
        self, shades: Shades, text: str, scanners: Sequence[str] = SCANNERS
    ) -> list[str]:
        """Return those that read a text in a square picture."""
        here = {name: self._read(name, shades) for name in scanners if name in HERE}
        others = [name for name in scanners if name not in HERE]
        if others:
            here.update(zip(others, self._script.ask(_question(others, shades)), strict=True))
        return [name for name in scanners if here[name] == text]

    def _read(self, scanner: str, shades: Shades) -> str | None:
        if scanner == "ZXing":
            return read_zxing(shades)
        return _read_opencv(self._opencv[scanner], shades)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._script.close()


def greyed(picture: Picture) -> Shades:
    """Convert a picture to gray."""
    return cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.uint8, copy=False)


def framed(picture: Picture, colour: int = 255) -> Picture:
    """Return a picture centered on a sheet."""
    border = [(FRAME, FRAME), (FRAME, FRAME), (0, 0)]
    return np.pad(picture, border, constant_values=colour)
