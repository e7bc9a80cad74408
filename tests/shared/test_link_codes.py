"""The syntax of codes and the reserved names, as read from deploy/edge.toml."""

from __future__ import annotations

import json
import re
import string
import unicodedata
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy import trailing as generated
from gateway.support.edge import Edge
from services.shared import edge_table, link_codes
from services.shared.link_codes import code_in_path, is_code, is_reserved, is_route
from services.shared.trailing import TRAILING_PATTERN
from tests.support.processes import ROOT

EDGE = Edge.load()
ALPHABET = string.ascii_letters + string.digits + "-_"
NAMED = [path for path in EDGE.pages if path != "/" and not path.startswith(f"/{edge_table.CODE}")]
"""Pages whose first segment is a fixed name, not the code of a link."""
SHORT_URLS = json.loads((ROOT / "tests/shared/short_url_cases.json").read_text(encoding="utf-8"))
EVERY = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
TRAILING = "".join(re.findall(TRAILING_PATTERN, EVERY))
CODES = st.text(ALPHABET, min_size=3, max_size=33)


@given(CODES | st.text(max_size=40))
def test_a_code_is_4_to_32_characters_of_64(text: str) -> None:
    assert is_code(text) == (4 <= len(text) <= 32 and all(c in ALPHABET for c in text))


@pytest.mark.parametrize(
    "text", ["abc", "a" * 33, "abcdefg\n", "abcdefgñ", "abcd/fgh", "abcd.efg", ""]
)
def test_other_texts_are_not_codes(text: str) -> None:
    assert not is_code(text)


def test_the_lengths_match_the_specification() -> None:
    assert (link_codes.MIN_LENGTH, link_codes.CODE_LENGTH, link_codes.MAX_LENGTH) == (4, 8, 32)


@pytest.mark.parametrize("path", [*NAMED, *EDGE.functions, *EDGE.gateway])
def test_the_first_segment_of_every_path_is_a_reserved_route(path: str) -> None:
    name = path.split("/")[1]
    assert is_route(name)
    for spelling in (name, name.upper(), name.title()):
        assert is_reserved(spelling)


@pytest.mark.parametrize("folder", ["web/public", "web/dist"])
def test_served_files_and_folders_are_reserved_or_not_codes(folder: str) -> None:
    names = [path.name for path in (ROOT / folder).iterdir()]
    assert names
    assert [name for name in names if is_code(name) and not is_reserved(name)] == []


@pytest.mark.parametrize("name", ["dashboard", "Dashboard", "WWW", "assets", "Login", "preview"])
def test_a_reserved_name_that_is_not_a_route_is_looked_up(name: str) -> None:
    """A link that already had it as its code keeps working."""
    assert is_reserved(name)
    assert not is_route(name)


@given(CODES)
def test_reserved_names_ignore_case(text: str) -> None:
    assert is_reserved(text) == is_reserved(text.swapcase())
    assert not is_route(text) or is_reserved(text)


def code_of_url(path: str) -> str | None:
    return code_in_path(unquote(path.partition("?")[0])[1:])


@pytest.mark.parametrize("path", SHORT_URLS["followed"])
def test_punctuation_after_a_code_is_ignored(path: str) -> None:
    assert code_of_url(path.replace("{code}", SHORT_URLS["code"])) == SHORT_URLS["code"]


@pytest.mark.parametrize("path", SHORT_URLS["not_followed"])
def test_other_paths_are_not_short_urls(path: str) -> None:
    assert code_of_url(path.replace("{code}", SHORT_URLS["code"])) is None


@given(CODES, st.text(TRAILING), st.booleans())
def test_only_trailing_characters_are_ignored(code: str, trailing: str, encoded: bool) -> None:
    text = unquote(quote(trailing, safe="")) if encoded else trailing
    expected = code if is_code(code) and not is_route(code) else None
    assert code_in_path(code + text) == expected


@given(CODES, st.text())
def test_the_code_in_a_path_is_its_beginning(code: str, rest: str) -> None:
    found = code_in_path(code + rest)
    if found is not None:
        path = (code + rest).removeprefix("/")
        assert path.startswith(found)
        assert set(path[len(found) :]) <= set(TRAILING)
        assert is_code(found)
        assert not is_route(found)


def test_characters_of_codes_and_trailing_characters_are_disjoint() -> None:
    assert not set(TRAILING) & set(ALPHABET)
    assert not set(TRAILING) & set("+&=%#\\")


def test_trailing_characters_are_those_with_the_properties_that_the_edge_names() -> None:
    assert generated.characters(edge_table.read()["codes"]["trailing"]) == TRAILING
    terminal, quotes = (
        set(generated.characters(rf"\p{{{name}}}"))
        for name in ("Terminal_Punctuation", "Quotation_Mark")
    )
    assert {*".,;:!?", *"\u3002\uff0c\u3001\uff01\uff1f\uff1b\uff1a\u060c\u0964"} <= terminal
    assert {*"\"'\u00ab\u00bb\u300c\u300d\u2019\u201d\u201e"} <= quotes
    others = set(")]}>*/\u2026")
    for character in EVERY:
        # Python may know fewer characters than the table.
        is_one = unicodedata.category(character) in ("Pe", "Pf", "Pi", "Cf")
        is_one |= character in terminal | quotes | others
        is_one |= unicodedata.name(character, "").startswith(
            ("VARIATION SELECTOR", "MONGOLIAN FREE")
        )
        if is_one:
            assert character in TRAILING, f"{ord(character):x}"
    assert {*"\u200e\u200f\u202c\u00ad\ufe0f\ufeff\u2060\U000e0100\u3000\u0085"} <= set(TRAILING)
    assert not {*"(\uff08\u3010\u2013\u2022`|~\u00b7\u3030\u00bf"} & set(TRAILING)
