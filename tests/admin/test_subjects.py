"""Arguments of the operator's command, and escaping of text for the terminal."""

from __future__ import annotations

import unicodedata

import pytest

from services.admin.rendering import plain
from services.admin.subjects import Code, Pattern, subject_of

ORIGIN = "https://atajo.example"


@pytest.mark.parametrize(
    ("given", "subject"),
    [
        ("k7Qm2_xB", Code("k7Qm2_xB")),
        ("-abc", Code("-abc")),
        ("atajo.example/k7Qm2_xB", Code("k7Qm2_xB")),
        ("https://atajo.example/k7Qm2_xB", Code("k7Qm2_xB")),
        ("HTTP://ATAJO.example:443/k7Qm2_xB?a#b", Code("k7Qm2_xB")),
        ("atajo.example/k7Qm2_xB+", Code("k7Qm2_xB")),
        ("evil.example", Pattern("evil.example")),
        ("evil.example/k7Qm2_xB", Pattern("evil.example/k7Qm2_xB")),
        ("https://evil.example/k7Qm2_xB", Pattern("https://evil.example/k7Qm2_xB")),
        ("https://atajo.example@evil.example/k7Qm2_xB", "as it is"),
        ("atajo.example.evil.example/k7Qm2_xB", "as it is"),
        ("2001:db8::1", Pattern("2001:db8::1")),
        ("abcd.", Pattern("abcd.")),
        ("", None),
        ("abc", None),
        ("no code", None),
        ("x" * 33, None),
        ("atajo.example", None),
        ("atajo.example/links/k7Qm2_xB", None),
    ],
)
def test_arguments_are_links_or_patterns(given: str, subject: Code | Pattern | str | None) -> None:
    assert subject_of(given, ORIGIN) == (Pattern(given) if subject == "as it is" else subject)


def test_without_a_public_url_a_short_url_is_a_pattern() -> None:
    assert subject_of("atajo.example/k7Qm2_xB", "") == Pattern("atajo.example/k7Qm2_xB")
    assert subject_of("k7Qm2_xB", "") == Code("k7Qm2_xB")


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
