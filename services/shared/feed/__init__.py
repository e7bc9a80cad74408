"""Change feeds: which keys changed, read page by page from a cursor on.

`mongo` reads a change stream of a collection, `sqlite` a table to which each change is written.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FeedPage:
    """Keys that changed after a cursor.

    `cursor` is where the page ends; its form is the store's. `more` says that others may follow. If
    `truncated` is true, changes since the requested cursor are lost: `cursor` is then that of now.
    """

    cursor: str
    keys: tuple[str, ...] = ()
    more: bool = False
    truncated: bool = False
