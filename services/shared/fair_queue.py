"""A bounded queue that no owner can fill while others wait. Who serves it chooses the order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Owner = TypeVar("Owner", bound=Hashable)

Waiter = asyncio.Future[None]
"""Completes when a waiting caller may proceed."""


class FairQueue(Generic[Owner]):
    """A bounded queue. When it is full, the owner with the most waiters loses its newest one.

    The owner who just arrived loses a tie: one who waits for less than others still gets in.
    `rejection` makes the error of a lost waiter, given whether it is the one that just arrived.
    """

    def __init__(self, max_waiting: int, rejection: Callable[[bool], Exception]) -> None:
        self._max_waiting = max_waiting
        self._rejection = rejection
        self.by_owner: dict[Owner, dict[Waiter, int]] = {}
        """The cost of each waiter, by owner and in order of arrival."""
        self.size = 0
        """The number of waiters. Any thread may read it."""

    async def wait(
        self, owner: Owner, waiter: Waiter, release: Callable[[], None], cost: int = 0
    ) -> None:
        """Wait until `waiter` completes.

        Calls `release` if the caller is cancelled after `waiter` completed.

        Raises the rejection if the queue is full and no other owner has more waiters, or later if
        an owner with fewer waiters needs the place.
        """
        self.by_owner.setdefault(owner, {})[waiter] = cost
        self.size += 1
        if self.size > self._max_waiting:
            self._evict(owner)
        try:
            await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled() and waiter.exception() is None:
                release()
            raise
        finally:
            self.remove(owner, waiter)

    def remove(self, owner: Owner, waiter: Waiter) -> None:
        """Remove a waiter, if it is in the queue."""
        waiters = self.by_owner.get(owner, {})
        if waiters.pop(waiter, None) is not None:
            self.size -= 1
            if not waiters:
                del self.by_owner[owner]

    def _evict(self, arriving: Owner) -> None:
        """Reject the newest waiter of the owner with the most."""
        by_owner = self.by_owner
        owner = max(by_owner, key=lambda owner: (len(by_owner[owner]), owner == arriving))
        newest = next(reversed(by_owner[owner]))
        self.remove(owner, newest)
        if not newest.done():
            newest.set_exception(self._rejection(owner == arriving))
