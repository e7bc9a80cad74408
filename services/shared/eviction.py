"""Which owner's work a full queue rejects. What serves the queue is up to the queue."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sized
from typing import TypeVar

Owner = TypeVar("Owner", bound=Hashable)


def owner_to_evict(waiting: Mapping[Owner, Sized], arriving: Owner) -> Owner:
    """Return the owner with the most waiting work, who loses the newest piece of it.

    `waiting` has the work of each owner, including the piece that just arrived. Its owner,
    `arriving`, loses a tie: an owner who waits for less than others still gets in.
    """
    return max(waiting, key=lambda owner: (len(waiting[owner]), owner == arriving))
