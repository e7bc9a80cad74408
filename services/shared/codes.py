"""What the code of a link can be: read from `deploy/edge.toml`.

`/<code>` is looked up when it is no route. A new link may have a code that is not reserved. Where
a link has a code that was reserved later, it is followed: only routes are never looked up.
"""

from __future__ import annotations

import re

from services.shared import edge_table

_TABLE = edge_table.read()
_CODES = _TABLE["codes"]

CODE_LENGTH: int = _CODES["length"]
"""Characters of the codes that the page makes, and of all codes of guests and of nobody."""
MIN_LENGTH: int = _CODES["min_length"]
"""Fewest characters of a code."""
MAX_LENGTH: int = _CODES["max_length"]
"""Most characters of a code."""
CHARACTERS: str = _CODES["characters"]
"""The characters of a code, as the inside of a regular expression's character class."""
PATTERN = f"[{CHARACTERS}]{{{MIN_LENGTH},{MAX_LENGTH}}}"
"""A code as a regular expression, without anchors; Python, PCRE and JavaScript read it alike."""
TRAILING: str = _CODES["trailing"]
"""The characters that may follow a code in a short URL; no code contains any of them."""

ROUTES: frozenset[str] = frozenset(
    first
    for path in edge_table.routes(_TABLE)
    if (first := path.split("/")[1]) and edge_table.CODE not in first
)
"""The first segments of all paths of the product, as `login`. `Login` is none: paths are
case-sensitive."""
RESERVED: frozenset[str] = frozenset(
    name.lower() for name in (*ROUTES, *edge_table.folders(_TABLE), *_TABLE["reserved"]["names"])
)
"""What no new link may have as its code, in lower case."""

_CODE = re.compile(PATTERN)


def is_code(text: str) -> bool:
    """Whether a text has the shape of a code: 4 to 32 characters of A-Z a-z 0-9 - _."""
    return _CODE.fullmatch(text) is not None


def is_route(text: str) -> bool:
    """Whether `/<text>` is a page, a function or another path of the product, so that no link is
    ever looked up under it."""
    return text in ROUTES


def addressed_code(text: str) -> str | None:
    """Return the code of the short URL `/<text>`, or None if the path is not a short URL.

    `TRAILING` characters after the code are ignored. A path of the product, such as `/login`, is
    not a short URL, with or without such characters.
    """
    code = text.rstrip(TRAILING)
    return code if is_code(code) and not is_route(code) else None


def is_reserved(text: str) -> bool:
    """Whether no new link may have this code, in whatever mixture of capital and small letters."""
    return text.lower() in RESERVED
