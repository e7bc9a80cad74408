"""The line format of the journal."""

from __future__ import annotations

import zlib

import pytest

from gateway.visits.journal import lines
from gateway.visits.journal.lines import Facts, Kind, Visit, VisitLines

PLAIN = Visit("abcdefgh", 498_667, "person", "news.example")
FACTS = Facts("phone", "Mobile Safari", "iOS", "es", "ES", "qr")


def line(body: str) -> bytes:
    return f"{zlib.crc32(body.encode()):08x} {body}".encode()


def test_a_line_has_the_format_of_its_version() -> None:
    assert lines.line_of(PLAIN) == line("abcdefgh 498667 p news.example") + b"\n"
    assert lines.line_of(PLAIN._replace(facts=lines.text_of(FACTS), visitor="0123abcd")) == (
        line(
            "abcdefgh 498667 p news.example device=phone browser=Mobile%20Safari system=iOS "
            "language=es country=ES source=qr visitor=0123abcd"
        )
        + b"\n"
    )


@pytest.mark.parametrize("host", ["news.example", ""])
@pytest.mark.parametrize("kind", ["person", "bot"])
@pytest.mark.parametrize("visitor", ["", "00000000", "0123abcd"])
@pytest.mark.parametrize(
    "facts",
    [
        Facts(),
        FACTS,
        Facts(country="ES"),
        Facts("other", "a=b c%20\nv \u00e9\u4e2d"),
    ],
)
def test_a_visit_is_read_as_it_was_written(
    host: str, kind: Kind, facts: Facts, visitor: str
) -> None:
    visit = Visit("abcdefgh", 498_667, kind, host, lines.text_of(facts), visitor)
    written = lines.line_of(visit)
    assert written.index(b"\n") == len(written) - 1
    assert lines.visit_of(written[:-1]) == visit
    assert lines.facts_of(visit.facts) == facts


def test_unknown_facts_are_ignored() -> None:
    text = line("abcdefgh 498667 p news.example mood=good visitor=0000000a country=ES flag next=")
    read = lines.visit_of(text)
    assert read is not None
    assert lines.facts_of(read.facts) == Facts(country="ES")
    assert read.visitor == "0000000a"


@pytest.mark.parametrize("visitor", ["", "3q2-7w", "0123abcde", "0123ABCD", "0123abc"])
def test_an_invalid_visitor_number_is_no_visitor(visitor: str) -> None:
    read = lines.visit_of(line(f"abcdefgh 498667 p news.example country=ES visitor={visitor}"))
    assert read is not None
    assert lines.facts_of(read.facts) == Facts(country="ES")
    assert read.visitor == ""


@pytest.mark.parametrize(
    "text",
    [
        b"",
        line("abcdefgh 498667 p"),
        line("abcdefgh hour p news.example"),
        line("abcdefgh -1 p news.example"),
        line(f"abcdefgh {10**20} p news.example"),
        line("a.b 498667 p news.example"),
        line("abcdefgh 498667 x news.example"),
        line("abcdefgh 498667 p n\u00e9ws.example"),
        line("abcdefgh 498667 p news.example").replace(b"abc", b"abd"),
        line("abcdefgh 498667 p news.example")[:-1],
    ],
)
def test_a_corrupt_line_is_no_visit(text: bytes) -> None:
    assert lines.visit_of(text) is None


def test_no_line_is_longer_than_the_maximum() -> None:
    facts = FACTS._replace(browser="b" * 64, system="s" * 64, language="abcdefgh")
    visit = Visit("c" * 32, 9_999_999, "person", "h" * 253, lines.text_of(facts), "f" * 8)
    assert len(lines.line_of(visit)) <= lines.MAX_BYTES


def test_cached_lines_take_bounded_memory() -> None:
    made = VisitLines()
    for n in range(100_000):
        visit = Visit(f"{n:08d}", 498_667, "person", "x" * 250)
        assert made[visit] == lines.line_of(visit)
    assert sum(2 * len(text) + 300 for text in made.values()) <= 16 << 20
    assert made[visit] is made[visit]
