"""Codes of links, chosen or drawn."""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Iterable, Iterator

from services.links.domain.link import Account, Link, Owner
from services.shared.codes import CODE_LENGTH, MAX_LENGTH, MIN_LENGTH, is_code, is_reserved
from services.shared.errors import AlreadyExists, InvalidArgument, Unavailable

MAX_DRAWN = 100
"""Most scan codes that are drawn for one link. Even if every second code were taken, none of them
would be free once in 10^30 links."""
# Of the characters of a code, those of QR's alphanumeric mode, which takes 5.5 bits for each.
_SCAN_ENDS = string.digits + string.ascii_uppercase
_SCAN_CHARACTERS = f"{_SCAN_ENDS}-"
_SCAN_CODE = re.compile(rf"[0-9A-Z-]{{{CODE_LENGTH}}}")


class InvalidCode(InvalidArgument):
    default_reason = "INVALID_CODE"


class CodeTaken(AlreadyExists):
    default_reason = "CODE_TAKEN"


class NoFreeCode(Unavailable):
    default_reason = "NO_FREE_CODE"


def check_code(code: str, owner: Owner) -> None:
    """Refuse what cannot be the code of an owner's new link.

    An account chooses its codes and may have any length of them; everybody else has codes of the
    length that the page makes. Raises CodeTaken for a reserved name, however long it is, and
    InvalidCode for what is no code or has a length that the owner cannot have.
    """
    if is_reserved(code):
        raise CodeTaken("This code is taken.")
    chooses = isinstance(owner, Account)
    if not is_code(code) or (not chooses and len(code) != CODE_LENGTH):
        lengths = f"{MIN_LENGTH} to {MAX_LENGTH}" if chooses else f"{CODE_LENGTH}"
        raise InvalidCode(f"A code has {lengths} characters of A-Z, a-z, 0-9, - and _.")


def drawn_scan_codes() -> Iterator[str]:
    """Random codes, some of which may be taken, for a link's QR symbols.

    They have 8 characters of 0-9 A-Z -, no - at an end, where people who read one out would lose
    it, and none of them is a reserved name.
    """
    for _ in range(MAX_DRAWN):
        middle = (secrets.choice(_SCAN_CHARACTERS) for _ in range(CODE_LENGTH - 2))
        code = "".join((secrets.choice(_SCAN_ENDS), *middle, secrets.choice(_SCAN_ENDS)))
        if not is_reserved(code):
            yield code


def may_be_scan_code(code: str) -> bool:
    """Whether a code has the shape of a scan code, which that of a link can have as well."""
    return _SCAN_CODE.fullmatch(code) is not None


def codes_of(links: Iterable[Link]) -> list[str]:
    """What the short addresses of links end in: their codes, and scan codes where they have one."""
    return [code for link in links for code in (link.code, link.scan_code) if code]
