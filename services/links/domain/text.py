"""What an owner writes about a link: its title and tags, and how texts are compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from services.shared.errors import InvalidArgument
from services.shared.text import BLANKS, CONTROLS

MAX_TITLE_LENGTH = 100
"""In Unicode code points, as of a tag."""
MAX_TAGS = 10
MAX_TAG_LENGTH = 30
# An i with its dot apart, as the capital with a dot folds to, or without any.
_DOTS = re.compile("[i\u0131]\u0307*")


class InvalidTitle(InvalidArgument):
    default_reason = "INVALID_TITLE"


class InvalidTags(InvalidArgument):
    default_reason = "INVALID_TAGS"


def folded(text: str) -> str:
    """A text in which case makes no difference: `É` is `é`, and `ß` is `ss`.

    Turkish has an i with a dot and one without, each with a capital of its own. All four are one:
    who searches for `istanbul` means `İstanbul`, too.
    """
    cased = unicodedata.normalize("NFC", text).casefold()
    return unicodedata.normalize("NFC", _DOTS.sub("i", cased))


def title_of(given: str) -> str:
    """The title to store: without the blanks around it. Raises InvalidTitle."""
    title = given.strip(BLANKS)
    if len(title) > MAX_TITLE_LENGTH or CONTROLS.search(title):
        raise InvalidTitle(
            f"A title has up to {MAX_TITLE_LENGTH} characters and no control characters."
        )
    return title


def tags_of(given: Sequence[str]) -> tuple[str, ...]:
    """The tags to store: without the blanks around each, in the order given, none twice.

    One that is given twice is no mistake of its owner, and kept once. Raises InvalidTags.
    """
    tags = [tag.strip(BLANKS) for tag in given]
    if len(tags) > MAX_TAGS:
        raise InvalidTags(f"A link has up to {MAX_TAGS} tags.")
    if any(not 1 <= len(tag) <= MAX_TAG_LENGTH or CONTROLS.search(tag) for tag in tags):
        raise InvalidTags(f"A tag has 1 to {MAX_TAG_LENGTH} characters and no control characters.")
    return tuple(dict.fromkeys(tags))
