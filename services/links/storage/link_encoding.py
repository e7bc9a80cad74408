"""What both stores share in the encoding of links."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple, get_type_hints

from services.links.domain.link import Link
from services.links.domain.owner import ANONYMOUS, Account, Anonymous, Guest, Owner

OwnerValue = str | bytes | None
"""The value of the field `creator`: an account's id, the hash of a guest's key, or nothing for an
anonymous owner. Both stores distinguish text from bytes, so one index covers all owners."""
_get_texts = attrgetter(*(name for name, kind in get_type_hints(Link).items() if kind is str))


class Field(NamedTuple):
    """What a store has for a field of `Link`, and the conversions of its value."""

    name: str
    encode: Callable[[Any], Any] | None = None
    decode: Callable[[Any], Any] | None = None


def encode_owner(owner: Owner) -> OwnerValue:
    match owner:
        case Account(id=account):
            return account
        case Guest(key_hash=key_hash):
            return key_hash
        case Anonymous():
            return None


def decode_owner(value: OwnerValue) -> Owner:
    if value is None:
        return ANONYMOUS
    return Account(value) if isinstance(value, str) else Guest(value)


def check_text(link: Link) -> Link:
    """Return a link. Raises TypeError if one of its texts is none: no message could be made."""
    if not all(isinstance(text, str) for text in (*_get_texts(link), *link.tags)):
        raise TypeError("A value of the link is no text.")
    return link
