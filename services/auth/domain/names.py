"""The rules for usernames, and for the names of API keys and passkeys."""

from __future__ import annotations

from services.shared.characters import CONTROL_CHARACTERS, WHITESPACE
from services.shared.errors import InvalidArgument

MAX_NAME_LENGTH = 50
"""In Unicode code points."""


def parse_name(
    text: str,
    error: type[InvalidArgument],
    subject: str = "A name",
    max_length: int = MAX_NAME_LENGTH,
) -> str:
    """Return the name without surrounding whitespace. Raises `error`."""
    name = text.strip(WHITESPACE)
    if not 1 <= len(name) <= max_length:
        raise error(f"{subject} must have 1 to {max_length} characters.")
    if CONTROL_CHARACTERS.search(name):
        raise error(f"{subject} must not have control characters.")
    return name
