"""The format of API keys."""

from __future__ import annotations

import hashlib
import re
import string
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared import api_keys
from tests.support.processes import ROOT

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
KEYS = [
    "atajo_0000000000000000000000000000002C8GjS",
    "atajo_0123456789ABCDEFGHIJKLMNOPQRST4PMbyp",
    "atajo_abcdefghijklmnopqrstuvwxyzABCD4dNndU",
    "atajo_3333333333333333333333333333330b2IQP",
]
"""Well-formed keys. The checksum of the last one is padded."""


def test_a_key_is_30_random_characters_and_their_checksum() -> None:
    made = [api_keys.generate() for _ in range(200)]
    assert len(set(made)) == 200
    assert len({key[6:36] for key in made}) == 200
    assert {character for key in made for character in key[6:36]} == set(BASE62)
    for key in made:
        match = re.fullmatch(r"atajo_([0-9A-Za-z]{30})([0-9A-Za-z]{6})", key)
        assert match
        value = 0
        for character in match[2]:
            value = value * 62 + BASE62.index(character)
        assert value == zlib.crc32(match[1].encode())
        assert api_keys.is_well_formed(key)


@pytest.mark.parametrize("key", KEYS)
def test_the_format_stays_as_it_is(key: str) -> None:
    """Keys in use must stay valid."""
    assert api_keys.is_well_formed(key)
    assert api_keys.hash_key(key) == hashlib.sha256(key.encode()).digest()


@pytest.mark.parametrize(
    "text",
    [
        *("", "atajo_", "atajo", KEYS[0][6:], KEYS[0].upper(), f"Atajo_{KEYS[0][6:]}"),
        *(f"{KEYS[0]}\n", f" {KEYS[0]}", f"{KEYS[0]}0", KEYS[0][:-1], f"0{KEYS[0]}"),
        *(KEYS[0].replace("0", "\u0660"), KEYS[0].replace("_", "-"), "\ud800" * 42, "a" * 100_000),
    ],
)
def test_other_texts_are_not_well_formed(text: str) -> None:
    assert not api_keys.is_well_formed(text)


@given(st.sampled_from(KEYS), st.integers(6, 41), st.sampled_from(BASE62))
def test_a_mistyped_character_is_detected(key: str, position: int, character: str) -> None:
    changed = key[:position] + character + key[position + 1 :]
    assert api_keys.is_well_formed(changed) == (changed == key)


@given(st.sampled_from(KEYS), st.integers(6, 40))
def test_swapped_characters_are_detected(key: str, position: int) -> None:
    swapped = key[:position] + key[position + 1] + key[position] + key[position + 2 :]
    assert api_keys.is_well_formed(swapped) == (swapped == key)


def test_secret_scanners_find_keys_by_the_documented_pattern() -> None:
    key = api_keys.generate()
    for text in (key, f'{{"key": "{key}"}}', f"Authorization: Bearer {key}\n", f"KEY={key};"):
        assert re.findall(api_keys.PATTERN, text) == [key]
    for text in (f"x{key}", f"{key}x", key[:-1], key.replace("_", "")):
        assert not re.search(api_keys.PATTERN, text)
    assert f"`{api_keys.PATTERN}`" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")
