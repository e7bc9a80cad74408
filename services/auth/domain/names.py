"""The rules for names that owners give to their API keys and passkeys."""

from __future__ import annotations

from services.shared.characters import CONTROL_CHARACTERS, WHITESPACE
from services.shared.errors import InvalidArgument

MAX_NAME_LENGTH = 50
"""In Unicode code points."""


def parse_name(text: str, error: type[InvalidArgument]) -> str:
    """Return the name without surrounding whitespace. Raises `error`."""
    name = text.strip(WHITESPACE)
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        raise error(f"A name must have 1 to {MAX_NAME_LENGTH} characters.")
    if CONTROL_CHARACTERS.search(name):
        raise error("A name must not have control characters.")
    return name
