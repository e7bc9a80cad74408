"""Rules for the codes and scan codes of links."""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Iterable, Iterator

from services.links.domain.link import Link
from services.links.domain.owner import Account, Owner
from services.shared.errors import AlreadyExists, InvalidArgument, Unavailable
from services.shared.link_codes import CODE_LENGTH, MAX_LENGTH, MIN_LENGTH, is_code, is_reserved

MAX_SCAN_CODE_DRAWS = 100
"""Maximum attempts to find a free scan code for a link. Even if every second code were taken, all
attempts would fail once in 10^30 links."""
# The characters of codes that QR's alphanumeric mode encodes, in 5.5 bits each.
_SCAN_ENDS = string.digits + string.ascii_uppercase
_SCAN_CHARACTERS = f"{_SCAN_ENDS}-"
_CHARACTERS = f"{string.ascii_letters}{string.digits}-_"
_SCAN_CODE = re.compile(rf"[0-9A-Z-]{{{CODE_LENGTH}}}")


class InvalidCode(InvalidArgument):
    default_reason = "INVALID_CODE"


class CodeTaken(AlreadyExists):
    default_reason = "CODE_TAKEN"


class CodeReserved(InvalidArgument):
    default_reason = "CODE_RESERVED"


class NoFreeCode(Unavailable):
    default_reason = "NO_FREE_CODE"


def check_code(code: str, owner: Owner) -> None:
    """Check the code of an owner's new link.

    An account may choose codes of any length; everybody else has codes of the length that the page
    generates. Raises CodeTaken for a reserved name of any length, and InvalidCode for a malformed
    code or a length that the owner may not choose.
    """
    if is_reserved(code):
        raise CodeTaken("This code is taken.")
    if isinstance(owner, Account):
        _check_characters(code)
    elif not is_code(code) or len(code) != CODE_LENGTH:
        raise _invalid_code(f"{CODE_LENGTH}")


def check_chosen_code(code: str) -> None:
    """Check the code that an account chooses, and tell a reserved name from a taken code.

    Raises CodeReserved, InvalidCode.
    """
    if is_reserved(code):
        raise CodeReserved("This code is reserved.")
    _check_characters(code)


def _check_characters(code: str) -> None:
    if not is_code(code):
        raise _invalid_code(f"{MIN_LENGTH} to {MAX_LENGTH}")


def _invalid_code(lengths: str) -> InvalidCode:
    return InvalidCode(f"A code has {lengths} characters of A-Z, a-z, 0-9, - and _.")


def random_codes() -> Iterator[str]:
    """Yield random codes of `CODE_LENGTH` characters without end. Some of them may be taken.

    They are not reserved names.
    """
    while True:
        code = "".join(secrets.choice(_CHARACTERS) for _ in range(CODE_LENGTH))
        if not is_reserved(code):
            yield code


def random_scan_codes() -> Iterator[str]:
    """Yield random scan codes, some of which may be taken.

    They have 8 characters of 0-9 A-Z - and are not reserved names. They neither start nor end with
    a hyphen, which people would miss when they read a code aloud.
    """
    for _ in range(MAX_SCAN_CODE_DRAWS):
        middle = (secrets.choice(_SCAN_CHARACTERS) for _ in range(CODE_LENGTH - 2))
        code = "".join((secrets.choice(_SCAN_ENDS), *middle, secrets.choice(_SCAN_ENDS)))
        if not is_reserved(code):
            yield code


def may_be_scan_code(code: str) -> bool:
    """Return whether a code has the format of a scan code. A link's own code may have it, too."""
    return _SCAN_CODE.fullmatch(code) is not None


def list_codes(links: Iterable[Link]) -> list[str]:
    """Return the codes and scan codes of links."""
    return [code for link in links for code in (link.code, link.scan_code) if code]
