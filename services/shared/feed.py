"""A page of a change feed, which lists the keys that changed since a cursor.

`services.shared.mongo.feed` reads the change stream of a collection, `services.shared.sqlite.feed`
a table to which each change is written.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FeedPage:
    """Keys that changed after a cursor.

    `cursor` is the end of the page; its format depends on the store. With `more`, further changes
    may follow. With `truncated`, changes after the requested cursor are lost, and `cursor` is the
    current one.
    """

    cursor: str
    keys: tuple[str, ...] = ()
    more: bool = False
    truncated: bool = False
