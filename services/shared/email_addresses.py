"""Validates e-mail addresses."""

from __future__ import annotations

from services.shared.characters import CONTROL_CHARACTERS, WHITESPACE

MAX_EMAIL_LENGTH = 254


def parse_email_address(given: str) -> str:
    """Return the address without surrounding whitespace.

    Raises ValueError, whose text says what is wrong. The checks are few, because only a message
    sent to an address shows whether it exists.
    """
    email = given.strip(WHITESPACE)
    local, _, host = email.rpartition("@")
    if not local or not host:
        raise ValueError("An e-mail address has an @ with something on both sides.")
    if len(email) > MAX_EMAIL_LENGTH:
        raise ValueError(f"An e-mail address has at most {MAX_EMAIL_LENGTH} characters.")
    if CONTROL_CHARACTERS.search(email):
        raise ValueError("An e-mail address has no control characters.")
    return email
