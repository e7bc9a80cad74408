"""What both stores keep in one form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.links.domain import (
    MAX_ANNOUNCED,
    NOBODY,
    Account,
    Announcements,
    Guest,
    Nobody,
    Owner,
)

OwnerValue = str | bytes | None
"""An owner in the field `creator`: an account is its id, a guest the hash of its key, nobody is
absent. Text and bytes are told apart by either store, so that one index lists the links of both."""


def value_of(owner: Owner) -> OwnerValue:
    """An owner as the stores keep it."""
    match owner:
        case Account(id=account):
            return account
        case Guest(key_hash=key_hash):
            return key_hash
        case Nobody():
            return None


def owner_of(value: OwnerValue) -> Owner:
    """The owner that the stores kept as `value`."""
    if value is None:
        return NOBODY
    return Account(value) if isinstance(value, str) else Guest(value)


LOOK = 100
"""Most announcements that are read at once."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """A group of changes. It has the number after that of the announcement before.

    The last ones are never cleared away: the next one goes on from their numbers.
    """

    number: int
    codes: Sequence[str]


def told_since(mark: int, kept: Sequence[Announcement]) -> Announcements | None:
    """What to tell who knows all up to `mark`; None says that some of it is not kept any more.

    `kept` are the first `LOOK` announcements from the number `mark` on, in order. For example, who
    asks with 7 and finds 7, 8 and 9 missed nothing and is told 8 and 9; who finds 9 alone lost 8;
    and who finds none asks a store that was put back to an earlier state.
    """
    if mark and not kept:
        return None
    after = [one for one in kept if one.number > mark]
    if after and after[0].number != mark + 1:
        return None
    codes: dict[str, None] = {}
    told = mark
    for one in after:
        fits = len(codes.keys() | one.codes) <= MAX_ANNOUNCED or not codes
        if one.number != told + 1 or not fits:
            break
        codes.update(dict.fromkeys(one.codes))
        told = one.number
    more = len(kept) == LOOK or (bool(after) and told < after[-1].number)
    return Announcements(told, tuple(codes), more)
