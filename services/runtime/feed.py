"""A feed of changes: which keys changed, told in order from a mark on.

A store announces each change: the keys of those that changed together get the next number, without
a gap. Who follows the feed asks with the number of the last announcement that it was told, its
mark. The two adapters, `feed_sqlite` and `feed_mongo`, decide alike what it is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

LOOK = 100
"""Most announcements that are read at once."""


@dataclass(frozen=True, slots=True)
class Feed:
    """How long a feed is, and how much of it is told at once.

    Announcements older than `kept_for` are cleared away, but never the last `kept_least` of them,
    however old they seem. Clocks of replicas may be days apart: the one that is ahead would clear
    away what the others have just announced. And a replica that found out the next number some
    seconds ago must not be able to take it once it was taken and cleared away.
    """

    most_keys: int
    """Most keys in one announcement, and in one answer."""
    kept_for: timedelta
    kept_least: int


@dataclass(frozen=True, slots=True)
class Told:
    """What was announced after a mark: keys that changed, at most `Feed.most_keys`.

    A mark is the number of an announcement, 0 before the first. `mark` is that of the last one told
    here, and `more` says that others follow. Where `lost` is true, announcements after the mark
    that was asked with are not kept any more; `mark` is then that of now.
    """

    mark: int
    keys: tuple[str, ...] = ()
    more: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Announcement:
    """A group of changes. It has the number after that of the announcement before.

    The last ones are never cleared away: the next one goes on from their numbers.
    """

    number: int
    keys: Sequence[str]


def told_since(feed: Feed, mark: int, kept: Sequence[Announcement]) -> Told | None:
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
    keys: dict[str, None] = {}
    told = mark
    for one in after:
        fits = len(keys.keys() | one.keys) <= feed.most_keys or not keys
        if one.number != told + 1 or not fits:
            break
        keys.update(dict.fromkeys(one.keys))
        told = one.number
    more = len(kept) == LOOK or (bool(after) and told < after[-1].number)
    return Told(told, tuple(keys), more)
