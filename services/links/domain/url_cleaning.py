"""Cleaning of pasted URLs: removes surrounding characters and never changes the URL itself.

The page does the same in `web/src/features/shorten/cleanUrl.ts`; `tests/links/url_cases.json`
tests both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from services.shared.characters import WHITESPACE

_CLOSING = {
    "(": ")",
    "[": "]",
    "{": "}",
    "<": ">",
    "\uff08": "\uff09",
    "\u3008": "\u3009",
    "\u300a": "\u300b",
    "\u3010": "\u3011",
}
"""The closing bracket of each opening one; the last four are those of Chinese and Japanese."""
_OPENING = {closing: opening for opening, closing in _CLOSING.items()}
_DOUBLE_QUOTES = '"\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d\u300e\u300f\u301d\u301e\u301f'
_SINGLE_QUOTES = "'`\u00b4\u2018\u2019\u201a\u201b\u2039\u203a"
_BULLETS = frozenset(
    "\u00b7\u2022\u2023\u2043\u2219\u25a0\u25a1\u25aa\u25ab\u25b6\u25ba\u25c6\u25c7\u25cb\u25cf\u25e6"
)
_LIST_MARKERS = frozenset("-+*\u2013\u2014")
"""Bullets where white space follows them: a host can begin with a hyphen."""
_IPV6 = re.compile(r"\[[0-9a-f.]*:[0-9a-f:.]*\]", re.IGNORECASE)
"""A host in brackets that belong to it."""
_LOOSE, _PAIRED, _UNPAIRED, _DOUBLE, _SINGLE, _STAR, _OTHER = " ()\"'*x"
"""Kinds of characters: loose ones (white space, format characters and bullets), brackets with and
without a partner, quotes, and others."""


def clean_url(text: str) -> str:
    """Return `text` without what surrounds the URL in it. Cleaning twice changes nothing more.

    At either end it removes, until nothing of the kind is left:

    - white space and format characters (Unicode Cf), which are invisible;
    - bullets: `\u2022` and the like, and `-`, `+`, `*` and dashes in front of white space;
    - two brackets that are partners, two quotes of the same kind, or two `*`, one at each end;
    - a bracket that has no partner in the text. `https://a.example/b_(c)` keeps its last one. The
      brackets of an IPv6 address stay;
    - a quote if the text has an odd number of its kind, double or single. Opening, closing and
      straight quotes are one kind, because languages use them differently;
    - a `*` at the start. A URL may end with one.

    The time is linear, at most 0.5 \u00b5s for each character. The caller bounds the text.
    """
    # Cleaning removes no letter, digit or slash, so nearly all URLs end here.
    if text[:1].isalnum() and (text[-1].isalnum() or text[-1] == "/"):
        return text
    partners = _bracket_partners(text)
    kinds = _find_kinds(text, partners)
    is_odd = {kind: kinds.count(kind) % 2 == 1 for kind in (_DOUBLE, _SINGLE)}
    start, end = 0, len(text)

    def start_after(removed: str) -> int:
        return end - len(kinds[start:end].lstrip(removed))

    def end_before(removed: str) -> int:
        return start + len(kinds[start:end].rstrip(removed))

    def is_enclosed() -> bool:
        if start == end - 1:
            return False
        if first == _PAIRED:
            return partners.get(start) == end - 1 and not _IPV6.match(text, start)
        return first == last and first in (_DOUBLE, _SINGLE, _STAR)

    while start < end:
        first, last = kinds[start], kinds[end - 1]
        if first == _LOOSE:
            start = start_after(_LOOSE)
        elif text[start] in _LIST_MARKERS and _is_blank(text[start + 1 : start + 2]):
            start += 1
        elif last == _LOOSE:
            end = end_before(_LOOSE)
        elif is_enclosed():
            # Two quotes of one kind: whether their number is odd stays the same.
            start, end = start + 1, end - 1
        elif first == _UNPAIRED:
            start = start_after(_LOOSE + _UNPAIRED)
        elif first == _STAR:
            start += 1
        elif is_odd.get(first):
            is_odd[first] = False
            start += 1
        elif last == _UNPAIRED:
            end = end_before(_LOOSE + _UNPAIRED)
        elif is_odd.get(last):
            is_odd[last] = False
            end -= 1
        else:
            break
    return text[start:end]


def _bracket_partners(text: str) -> dict[int, int]:
    """Return the index of the partner of each bracket that has one."""
    partners: dict[int, int] = {}
    waiting: dict[str, list[int]] = {opening: [] for opening in _CLOSING}
    for index, character in enumerate(text):
        if character in _CLOSING:
            waiting[character].append(index)
        elif character in _OPENING and (open_ones := waiting[_OPENING[character]]):
            partners[index] = open_ones.pop()
            partners[partners[index]] = index
    return partners


def _find_kinds(text: str, partners: Mapping[int, int]) -> str:
    """Return the kind of each character."""
    kinds = list(map(_find_kind, text))
    for index in partners:
        kinds[index] = _PAIRED
    return "".join(kinds)


@lru_cache(maxsize=1024)
def _find_kind(character: str) -> str:
    """Return the kind of a character; of a bracket, its kind if it has no partner."""
    if character in _BULLETS or _is_blank(character):
        return _LOOSE
    if character in _CLOSING or character in _OPENING:
        return _UNPAIRED
    if character in _DOUBLE_QUOTES:
        return _DOUBLE
    if character in _SINGLE_QUOTES:
        return _SINGLE
    return _STAR if character == "*" else _OTHER


def _is_blank(character: str) -> bool:
    return character != "" and (character in WHITESPACE or unicodedata.category(character) == "Cf")
