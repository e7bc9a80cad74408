"""What an e-mail address is, to whoever asks for one."""

from __future__ import annotations

from services.shared.text import BLANKS, CONTROLS

MAX_EMAIL_LENGTH = 254


def email_of(given: str) -> str:
    """The address without the blanks around it. Raises ValueError, whose text says what is wrong.

    Whether anybody reads what is sent there only a letter tells, so little is asked of it.
    """
    email = given.strip(BLANKS)
    local, _, host = email.rpartition("@")
    if not local or not host:
        raise ValueError("An e-mail address has an @ with something on both sides.")
    if len(email) > MAX_EMAIL_LENGTH:
        raise ValueError(f"An e-mail address has at most {MAX_EMAIL_LENGTH} characters.")
    if CONTROLS.search(email):
        raise ValueError("An e-mail address has no control characters.")
    return email
