"""Texts that name a link, a host or a URL."""

from __future__ import annotations

import pytest

from services.shared.subjects import Code, Pattern, parse_subject

ORIGINS = ["https://atajo.example", "http://s.example:8443"]


@pytest.mark.parametrize(
    ("given", "subject"),
    [
        ("k7Qm2_xB", Code("k7Qm2_xB")),
        ("-abc", Code("-abc")),
        ("atajo.example/k7Qm2_xB", Code("k7Qm2_xB")),
        ("https://atajo.example/k7Qm2_xB", Code("k7Qm2_xB")),
        ("HTTP://ATAJO.example:443/k7Qm2_xB?a#b", Code("k7Qm2_xB")),
        ("atajo.example/k7Qm2_xB+", Code("k7Qm2_xB")),
        ("http://s.example:8443/k7Qm2_xB", Code("k7Qm2_xB")),
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
def test_texts_are_links_or_patterns(given: str, subject: Code | Pattern | str | None) -> None:
    assert parse_subject(given, ORIGINS) == (Pattern(given) if subject == "as it is" else subject)


def test_without_a_public_url_a_short_url_is_a_pattern() -> None:
    assert parse_subject("atajo.example/k7Qm2_xB", []) == Pattern("atajo.example/k7Qm2_xB")
    assert parse_subject("k7Qm2_xB", []) == Code("k7Qm2_xB")
