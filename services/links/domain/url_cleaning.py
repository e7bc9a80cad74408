"""Cleaning of pasted URLs: removes surrounding characters and never changes the URL itself.

The page does the same in `web/src/features/shorten/cleanUrl.ts`; `tests/links/url_cases.json`
tests both.
"""

from __future__ import annotations

import re
import unicodedata

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
_BRACKET = re.compile("[" + re.escape("".join((*_CLOSING, *_OPENING))) + "]")
_DOUBLE_QUOTES = '"\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d\u300e\u300f\u301d\u301e\u301f'
_SINGLE_QUOTES = "'`\u00b4\u2018\u2019\u201a\u201b\u2039\u203a"
_BULLETS = frozenset(
    "\u00b7\u2022\u2023\u2043\u2219\u25a0\u25a1\u25aa\u25ab\u25b6\u25ba\u25c6\u25c7\u25cb\u25cf\u25e6"
)
_LIST_MARKERS = frozenset("-+*\u2013\u2014")
"""Bullets where white space follows them: a host can begin with a hyphen."""
_IPV6 = re.compile(r"\[[0-9a-f.]*:[0-9a-f:.]*\]", re.IGNORECASE)
"""A host in brackets that belong to it."""


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
    """
    # Cleaning removes no letter, digit or slash, so nearly all URLs end here.
    if text[:1].isalnum() and (text[-1].isalnum() or text[-1] == "/"):
        return text
    partners = _bracket_partners(text)
    quotes = {kind: sum(map(text.count, kind)) for kind in (_DOUBLE_QUOTES, _SINGLE_QUOTES)}
    start, end = 0, len(text)

    def is_enclosed() -> bool:
        first, last = text[start], text[end - 1]
        if start == end - 1:
            return False
        if first in _CLOSING:
            return partners.get(start) == end - 1 and not _IPV6.match(text, start)
        kind = _quote_kind(first)
        return (kind != "" and kind == _quote_kind(last)) or first == last == "*"

    def is_alone(index: int) -> bool:
        character = text[index]
        if _BRACKET.match(character):
            return index not in partners
        kind = _quote_kind(character)
        return (quotes[kind] % 2 == 1) if kind else (character == "*" and index == start)

    while start < end:
        first, last = text[start], text[end - 1]
        is_marker = first in _LIST_MARKERS and _is_blank(text[start + 1 : start + 2])
        if _is_blank(first) or first in _BULLETS or is_marker:
            start += 1
        elif _is_blank(last) or last in _BULLETS:
            end -= 1
        elif is_enclosed():
            # Two quotes of one kind: whether their number is odd stays the same.
            start, end = start + 1, end - 1
        elif is_alone(start):
            if kind := _quote_kind(first):
                quotes[kind] -= 1
            start += 1
        elif is_alone(end - 1):
            if kind := _quote_kind(last):
                quotes[kind] -= 1
            end -= 1
        else:
            break
    return text[start:end]


def _is_blank(character: str) -> bool:
    return character != "" and (character in WHITESPACE or unicodedata.category(character) == "Cf")


def _quote_kind(character: str) -> str:
    """Return the quotes of the same kind, or '' if the character is no quote."""
    for kind in (_DOUBLE_QUOTES, _SINGLE_QUOTES):
        if character in kind:
            return kind
    return ""


def _bracket_partners(text: str) -> dict[int, int]:
    """Return the index of the partner of each bracket that has one."""
    partners: dict[int, int] = {}
    open_ones: dict[str, list[int]] = {opening: [] for opening in _CLOSING}
    for match in _BRACKET.finditer(text):
        index, character = match.start(), match.group()
        if character in _CLOSING:
            open_ones[character].append(index)
        elif waiting := open_ones[_OPENING[character]]:
            partners[index] = waiting.pop()
            partners[partners[index]] = index
    return partners
