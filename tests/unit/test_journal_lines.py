"""The journal's line format: what is written is read, and what others wrote is not misread."""

from __future__ import annotations

import zlib

import pytest

from gateway.visits import lines
from gateway.visits.lines import Facts, Header, Visit, VisitLines

PLAIN = Visit("abcdefgh", 498_667, "person", "news.example")
FACTS = Facts("phone", "Mobile Safari", "iOS", "es", "ES", "qr", "0123abcd")
FULL = PLAIN._replace(facts=lines.text_of(FACTS))


def line(body: str) -> bytes:
    return f"{zlib.crc32(body.encode()):08x} {body}".encode()


def test_a_visit_without_further_fields_is_written_as_version_33cf8fd_did() -> None:
    assert lines.of_visit(PLAIN) == line("v abcdefgh 498667 p news.example") + b"\n"


@pytest.mark.parametrize(
    "visit",
    [
        PLAIN,
        PLAIN._replace(kind="bot", referrer_host=""),
        FULL,
        PLAIN._replace(referrer_host="", facts=" visitor=0123abcd"),
    ],
)
def test_a_visit_is_read_as_it_was_written(visit: Visit) -> None:
    written = lines.of_visit(visit)
    assert written.count(b"\n") == 1
    assert lines.is_visit(written[:-1])
    assert lines.visit_of(written[:-1]) == visit


def test_facts_are_named_in_a_line() -> None:
    assert lines.of_visit(FULL) == (
        line(
            "v abcdefgh 498667 p news.example device=phone browser=Mobile%20Safari system=iOS "
            "language=es country=ES source=qr visitor=0123abcd"
        )
        + b"\n"
    )


@pytest.mark.parametrize(
    "facts",
    [
        Facts(),
        FACTS,
        Facts(country="ES"),
        Facts("other", "a=b c%20\nv \u00e9\u4e2d", visitor="00000000"),
    ],
)
def test_facts_are_read_as_they_were_written(facts: Facts) -> None:
    written = lines.of_visit(PLAIN._replace(facts=lines.text_of(facts)))
    assert written.count(b"\n") == 1
    read = lines.visit_of(written[:-1])
    assert read is not None
    assert lines.facts_of(read.facts) == facts
    alike, number = lines.without_visitor(read.facts)
    assert lines.facts_of(alike) == facts._replace(visitor="")
    assert number == (int(facts.visitor, 16) if facts.visitor else None)


def test_named_fields_that_nobody_knows_are_passed_over() -> None:
    text = line("v abcdefgh 498667 p news.example mood=good visitor=0000000a country=ES flag next=")
    read = lines.visit_of(text)
    assert read is not None
    assert lines.facts_of(read.facts) == Facts(country="ES", visitor="0000000a")
    assert lines.without_visitor(read.facts) == (" mood=good country=ES flag next=", 10)


@pytest.mark.parametrize("visitor", ["", "3q2-7w", "0123abcde", "0123ABCD", "0123abc"])
def test_a_visitor_without_a_number_is_none(visitor: str) -> None:
    text = f" country=ES visitor={visitor}"
    assert lines.without_visitor(text) == (text, None)


@pytest.mark.parametrize(
    "body",
    [
        "v abcdefgh 498667 p",
        "v abcdefgh hour p news.example",
        "v abcdefgh 498667 x news.example",
        "v abcdefgh 498667 p n\u00e9ws.example",
    ],
)
def test_a_visit_written_otherwise_is_none(body: str) -> None:
    assert lines.is_visit(line(body))
    assert lines.visit_of(line(body)) is None


@pytest.mark.parametrize(
    ("body", "header"),
    [
        ("h abc 7", Header("abc", 7)),
        ("h abc 7 1", Header("abc", 7)),
        ("h abc 7 2", Header("abc", 7, 2)),
        ("h abc 7 3 what=ever comes", Header("abc", 7, 3)),
        ("h abc", None),
        ("h abc seven", None),
        ("h abc 7 new", None),
        ("b 7 1", None),
    ],
)
def test_a_first_line_tells_the_number_in_every_version(body: str, header: Header | None) -> None:
    assert lines.header_of(line(body)) == header
    assert lines.header_of(line(body).swapcase()) is None


def test_a_first_line_is_written_as_version_33cf8fd_did() -> None:
    assert lines.of_header("abc", 7) == line("h abc 7") + b"\n"
    assert Header("abc", 7).is_known
    assert not Header("abc", 7, lines.VERSION + 1).is_known


def test_no_line_is_longer_than_the_longest() -> None:
    facts = FACTS._replace(browser="b" * 64, system="s" * 64, language="abcdefgh")
    visit = Visit("c" * 32, 9_999_999, "person", "h" * 253, lines.text_of(facts))
    assert len(lines.of_visit(visit)) <= lines.LONGEST_BYTES


def test_ready_made_lines_take_a_bounded_room() -> None:
    made = VisitLines()
    for n in range(100_000):
        visit = Visit(f"{n:08d}", 498_667, "person", "x" * 250)
        assert made[visit] == lines.of_visit(visit)
    assert sum(2 * len(text) + 300 for text in made.values()) <= 16 << 20
    assert made[visit] is made[visit]
