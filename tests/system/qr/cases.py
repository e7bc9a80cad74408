"""Generated codes: texts, colors, logos and sizes, reproducible by seed."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass

import cv2
import numpy as np
from playwright.sync_api import FilePayload

from tests.system.qr.pictures import channels, logo_picture, url_of
from tests.system.qr.readers import Picture

ALPHABETS = {
    "emoji": "😀🥾🌄🇪🇸👩‍🚀❤️🧭",
    "arabic": "اختصرالروابطالطويلة ",
    "japanese": "短いリンクを作る近道カタカナ漢字",
    "spanish": "año nuevo camino señal árbol ",
    "control": "a\tb\nc\x01\x07\x1b\x7f",
    "digits": string.digits,
    "capitals": string.ascii_uppercase + string.digits + " $%*+-./:",
}
ENDINGS = {"png": ".png", "jpeg": ".jpg", "webp": ".webp", "gif": ".gif"}


@dataclass(frozen=True)
class Case:
    """One code."""

    number: int
    text: str
    foreground: str
    background: str
    quiet_zone: bool
    logo: FilePayload | None
    plain: bool
    """Dark on light with high contrast and little text: no reason for a warning."""

    def __str__(self) -> str:
        logo = self.logo and self.logo["name"]
        return (
            f"case {self.number}: {len(self.text)} characters {self.text[:40]!r},"
            f" {self.foreground} on {self.background}, quiet zone {self.quiet_zone}, logo {logo}"
        )


def grey(colour: str) -> float:
    """Return the luminance of a color."""
    red, green, blue = channels(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue


def generate(seed: int, count: int) -> list[Case]:
    """Return a number of cases, of which two in three are plain."""
    chance = random.Random(seed)
    return [_case(chance, number) for number in range(count)]


def _case(chance: random.Random, number: int) -> Case:
    plain = number % 3 != 2
    logo = _logo(chance) if chance.random() < 0.45 else None
    length = chance.randint(1, 150) if plain else int(10 ** chance.uniform(0, 3.47))
    max_length = 1273 if logo else 2953
    text = _text(chance, min(length, max_length), 200 if plain else max_length)
    foreground, background = _colours(chance, plain)
    return Case(number, text, foreground, background, chance.random() < 0.3, logo, plain)


def _text(chance: random.Random, length: int, max_length: int) -> str:
    kind = chance.choice(["url", "url", "url", *ALPHABETS])
    if kind == "url":
        text = url_of(max(length, 12), chance.randrange(1 << 30))
    else:
        text = "".join(chance.choices(ALPHABETS[kind], k=length))
    # Non-ASCII text shares its symbol with the ECI designator.
    room = max_length if text.isascii() else max_length - 1
    text = text.encode()[:room].decode(errors="ignore")
    return text if text.strip() else "x"


def _colour(chance: random.Random) -> str:
    return f"#{chance.randrange(1 << 24):06x}"


def _colours(chance: random.Random, plain: bool) -> tuple[str, str]:
    if chance.random() < 0.3:
        return "#000000", "#ffffff"
    while True:
        pair = _colour(chance), "#ffffff" if chance.random() < 0.3 else _colour(chance)
        # The margin avoids differences by rounding.
        if not plain or grey(pair[1]) - grey(pair[0]) > 130:
            return pair


def _logo(chance: random.Random) -> FilePayload:
    kind = chance.choice([*ENDINGS, "svg"])
    if kind == "svg":
        return svg_logo(_colour(chance))
    longest = chance.choice([16, 60, 100, 300, 1500])
    size = longest, max(4, round(longest * chance.uniform(0.3, 1)))
    if chance.random() < 0.5:
        size = size[1], size[0]
    picture = cv2.resize(logo_picture(chance.choice(["pale", "dark", "busy"])), size)
    return image_file(f"logo-{size[0]}x{size[1]}", kind, picture.astype(np.uint8))


def svg_logo(colour: str) -> FilePayload:
    """A drawing without intrinsic size."""
    drawing = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10">'
        f'<rect width="20" height="10" rx="2" fill="{colour}"/></svg>'
    )
    return {"name": "logo.svg", "mimeType": "image/svg+xml", "buffer": drawing.encode()}


def image_file(name: str, kind: str, picture: Picture) -> FilePayload:
    """Return a picture as a file."""
    done, encoded = cv2.imencode(ENDINGS[kind], cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))
    assert done
    return {
        "name": name + ENDINGS[kind],
        "mimeType": f"image/{kind}",
        "buffer": encoded.tobytes(),
    }
