"""Titles and tags of links, and case-insensitive comparison of texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from services.shared.characters import CONTROL_CHARACTERS, WHITESPACE
from services.shared.errors import InvalidArgument

MAX_TITLE_LENGTH = 100
"""In Unicode code points, as is the length of a tag."""
MAX_TAGS = 10
MAX_TAG_LENGTH = 30
_LOOSE = WHITESPACE + "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0))))
"""White space and control characters."""
# A dotless i, or an i with combining dots, to which the capital with a dot folds.
_DOTS = re.compile("[i\u0131]\u0307*")


class InvalidTitle(InvalidArgument):
    default_reason = "INVALID_TITLE"


class InvalidTags(InvalidArgument):
    default_reason = "INVALID_TAGS"


def fold_case(text: str) -> str:
    """Return a text with case folded: `É` becomes `é`, and `ß` becomes `ss`.

    Maps the Turkish dotted and dotless i, and their capitals, to `i`: a search for `istanbul`
    finds `İstanbul`.
    """
    cased = unicodedata.normalize("NFC", text).casefold()
    return unicodedata.normalize("NFC", _DOTS.sub("i", cased))


def parse_title(given: str) -> str:
    """Return the title to store, trimmed. Raises InvalidTitle."""
    title = given.strip(WHITESPACE)
    if len(title) > MAX_TITLE_LENGTH or CONTROL_CHARACTERS.search(title):
        raise InvalidTitle(
            f"A title has up to {MAX_TITLE_LENGTH} characters and no control characters."
        )
    return title


def parse_tags(given: Sequence[str]) -> tuple[str, ...]:
    """Return the tags to store, trimmed, in the given order. Duplicates are dropped.

    Raises InvalidTags.
    """
    tags = [tag.strip(WHITESPACE) for tag in given]
    if len(tags) > MAX_TAGS:
        raise InvalidTags(f"A link has up to {MAX_TAGS} tags.")
    if any(not 1 <= len(tag) <= MAX_TAG_LENGTH or CONTROL_CHARACTERS.search(tag) for tag in tags):
        raise InvalidTags(f"A tag has 1 to {MAX_TAG_LENGTH} characters and no control characters.")
    return tuple(dict.fromkeys(tags))


def trimmed_title(given: str) -> str:
    """Return the nearest valid title: without control characters, cut to the limit."""
    return _trimmed(given, MAX_TITLE_LENGTH)


def trimmed_tags(given: Sequence[str]) -> tuple[str, ...]:
    """Return the nearest valid tags: the first ones that are not empty, each cut to the limit."""
    tags: dict[str, None] = {}
    for tag in given:
        if trimmed := _trimmed(tag, MAX_TAG_LENGTH):
            tags[trimmed] = None
        if len(tags) == MAX_TAGS:
            break
    return tuple(tags)


def _trimmed(text: str, max_length: int) -> str:
    """Cut a text, then replace its control characters: an import may send half a megabyte."""
    cut = text.lstrip(_LOOSE)[:max_length]
    return CONTROL_CHARACTERS.sub(" ", cut).strip(WHITESPACE)
