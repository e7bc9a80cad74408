"""What a code is, and which names no link can have: deploy/edge.toml, as Python reads it."""

from __future__ import annotations

import json
import string
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.support.edge import Edge
from services.shared import edge_table, link_codes
from services.shared.link_codes import TRAILING, code_in_path, is_code, is_reserved, is_route
from tests.support.processes import ROOT

EDGE = Edge.load()
ALPHABET = string.ascii_letters + string.digits + "-_"
NAMED = [path for path in EDGE.pages if path != "/" and not path.startswith(f"/{edge_table.CODE}")]
"""Pages whose first segment is a name, and not the code of a link."""
SHORT_URLS = json.loads((ROOT / "tests/shared/short_url_cases.json").read_text(encoding="utf-8"))
CODES = st.text(ALPHABET, min_size=3, max_size=33)


@given(CODES | st.text(max_size=40))
def test_a_code_is_4_to_32_characters_of_64(text: str) -> None:
    assert is_code(text) == (4 <= len(text) <= 32 and all(c in ALPHABET for c in text))


@pytest.mark.parametrize(
    "text", ["abc", "a" * 33, "abcdefg\n", "abcdefgñ", "abcd/fgh", "abcd.efg", ""]
)
def test_other_texts_are_no_codes(text: str) -> None:
    assert not is_code(text)


def test_the_lengths_are_those_of_a_code() -> None:
    assert (link_codes.MIN_LENGTH, link_codes.CODE_LENGTH, link_codes.MAX_LENGTH) == (4, 8, 32)


@pytest.mark.parametrize("path", [*NAMED, *EDGE.functions, *EDGE.gateway])
def test_the_first_segment_of_every_path_is_a_route_and_reserved(path: str) -> None:
    name = path.split("/")[1]
    assert is_route(name)
    for spelling in (name, name.upper(), name.title()):
        assert is_reserved(spelling)


@pytest.mark.parametrize("folder", ["web/public", "web/dist"])
def test_every_file_and_folder_that_is_served_is_reserved_or_no_code(folder: str) -> None:
    names = [path.name for path in (ROOT / folder).iterdir()]
    assert names
    assert [name for name in names if is_code(name) and not is_reserved(name)] == []


@pytest.mark.parametrize(
    "name", ["dashboard", "Dashboard", "WWW", "api", "assets", "Login", "preview"]
)
def test_a_reserved_name_that_is_no_route_is_looked_up(name: str) -> None:
    """A link that had it as its code before is followed."""
    assert is_reserved(name)
    assert not is_route(name)


@given(CODES)
def test_what_is_reserved_is_so_in_every_spelling(text: str) -> None:
    assert is_reserved(text) == is_reserved(text.swapcase())
    assert not is_route(text) or is_reserved(text)


def addressed_by(path: str) -> str | None:
    return code_in_path(unquote(path.partition("?")[0])[1:])


@pytest.mark.parametrize("path", SHORT_URLS["followed"])
def test_punctuation_after_a_code_is_ignored(path: str) -> None:
    assert addressed_by(path.replace("{code}", SHORT_URLS["code"])) == SHORT_URLS["code"]


@pytest.mark.parametrize("path", SHORT_URLS["not_followed"])
def test_other_paths_are_no_short_urls(path: str) -> None:
    assert addressed_by(path.replace("{code}", SHORT_URLS["code"])) is None


@given(CODES, st.text(TRAILING), st.booleans())
def test_only_what_may_follow_a_code_is_ignored(code: str, trailing: str, encoded: bool) -> None:
    text = unquote(quote(trailing, safe="")) if encoded else trailing
    expected = code if is_code(code) and not is_route(code) else None
    assert code_in_path(code + text) == expected


@given(CODES, st.text())
def test_an_addressed_code_is_the_beginning_of_the_path(code: str, rest: str) -> None:
    found = code_in_path(code + rest)
    if found is not None:
        assert (code + rest).startswith(found)
        assert set((code + rest)[len(found) :]) <= set(TRAILING)
        assert is_code(found)
        assert not is_route(found)


def test_no_character_of_a_code_may_follow_one() -> None:
    assert not set(TRAILING) & set(ALPHABET)
    assert len(TRAILING) == len(set(TRAILING))
    assert not set(TRAILING) & set("+&=%#\\")
