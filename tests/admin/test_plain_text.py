"""Escaping of text for the operator's terminal."""

from __future__ import annotations

import unicodedata

import pytest

from services.admin.rendering import plain


def test_escaped_text_has_no_control_characters() -> None:
    shown = set(plain("".join(map(chr, range(0x110000)))))
    categories = {unicodedata.category(letter) for letter in shown}
    assert not categories & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Ana, \u00bfqu\u00e9 tal? \U0001f600", "Ana, \u00bfqu\u00e9 tal? \U0001f600"),
        ("\x1b[2J\x1b]0;root\x07", r"\x1b[2J\x1b]0;root\x07"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("\u202egro.elpmaxe", r"\u202egro.elpmaxe"),
        ("\x9b31m", r"\x9b31m"),
        (r"\x1b", r"\\x1b"),
    ],
)
def test_other_characters_are_escaped(text: str, shown: str) -> None:
    assert plain(text) == shown
