"""The syntax of link codes and the names that no new link may have, from `deploy/edge.toml`.

A path `/<code>` is looked up unless it is a route. A reserved name cannot become the code of a new
link, but a link that already had it as its code keeps working.
"""

from __future__ import annotations

import re

from services.shared import edge_table
from services.shared.trailing import TRAILING_PATTERN

_TABLE = edge_table.read()
_CODES = _TABLE["codes"]

CODE_LENGTH: int = _CODES["length"]
"""Length of generated codes, and of every code of a guest or of a link without an owner."""
MIN_LENGTH: int = _CODES["min_length"]
MAX_LENGTH: int = _CODES["max_length"]
CHARACTERS: str = _CODES["characters"]
"""The characters of a code, as the content of a regular expression's character class."""
PATTERN = f"[{CHARACTERS}]{{{MIN_LENGTH},{MAX_LENGTH}}}"
"""Unanchored regular expression for a code, valid in Python, PCRE and JavaScript."""

ROUTES: frozenset[str] = frozenset(
    first
    for path in edge_table.routes(_TABLE)
    if (first := path.split("/")[1]) and edge_table.CODE not in first
)
"""The first segments of the product's paths, such as `login`. Case-sensitive, as paths are."""
RESERVED: frozenset[str] = frozenset(
    name.lower() for name in (*ROUTES, *edge_table.folders(_TABLE), *_TABLE["reserved"]["names"])
)
"""Names that no new link may have as its code, in lower case."""

_CODE = re.compile(PATTERN)
_SHORT_URL = re.compile(f"/?({PATTERN}){TRAILING_PATTERN}*")


def is_code(text: str) -> bool:
    """Return whether a text is 4 to 32 characters of A-Z a-z 0-9 - _."""
    return _CODE.fullmatch(text) is not None


def is_route(text: str) -> bool:
    """Return whether `/<text>` is a page, a function or another path of the product.

    No link is looked up under a route.
    """
    return text in ROUTES


def code_in_path(text: str) -> str | None:
    """Return the code of the short URL `/<text>`, or None if the path is not a short URL.

    Ignores a second slash before the code, and characters after it that match `TRAILING_PATTERN`.
    A path of the product, such as `/login`, is not a short URL, with or without them.
    """
    match = _SHORT_URL.fullmatch(text)
    return match[1] if match and not is_route(match[1]) else None


def is_reserved(text: str) -> bool:
    """Return whether no new link may have this code, regardless of case."""
    return text.lower() in RESERVED
