"""Fair queueing between client networks: a bounded queue and a scheduler.

No network can fill the queue or use up the capacity while others wait.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable

from services.auth.domain.errors import LoginsBusy
from services.shared.eviction import owner_to_evict

_MAX_FINISH_TAGS = 10_000
"""Maximum networks that the scheduler remembers. It forgets the least recently served one."""
_MAX_RETRY_SECONDS = 5
"""Maximum pause that a rejected client is asked to make."""

Waiter = asyncio.Future[None]
"""Completes when a waiting caller may proceed."""


class FairQueue:
    """A bounded queue. When it is full, the network with the most waiters loses its newest one."""

    def __init__(self, max_waiting: int) -> None:
        self._max_waiting = max_waiting
        self.by_network: dict[str, dict[Waiter, int]] = {}
        """The cost of each waiter, by network and in order of arrival."""
        self.size = 0
        """The number of waiters. Any thread may read it."""

    async def wait(
        self, network: str, waiter: Waiter, release: Callable[[], None], cost: int
    ) -> None:
        """Wait until `waiter` completes.

        Calls `release` if the caller is cancelled after `waiter` completed.

        Raises LoginsBusy if the queue is full and no other network has more waiters, or later if a
        network with fewer waiters needs the place.
        """
        self.by_network.setdefault(network, {})[waiter] = cost
        self.size += 1
        if self.size > self._max_waiting:
            self._evict(network)
        try:
            await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled() and waiter.exception() is None:
                release()
            raise
        finally:
            self.remove(network, waiter)

    def remove(self, network: str, waiter: Waiter) -> None:
        """Remove a waiter, if it is in the queue."""
        waiters = self.by_network.get(network, {})
        if waiters.pop(waiter, None) is not None:
            self.size -= 1
            if not waiters:
                del self.by_network[network]

    def _evict(self, arriving: str) -> None:
        """Reject the newest waiter of the network with the most."""
        network = owner_to_evict(self.by_network, arriving)
        newest = next(reversed(self.by_network[network]))
        self.remove(network, newest)
        if not newest.done():
            newest.set_exception(_queue_full())


class FairScheduler:
    """Chooses the network to serve next, so that networks that compete get equal shares.

    This is start-time fair queueing (Goyal, Vin and Cheng, "Start-time Fair Queuing: A Scheduling
    Algorithm for Integrated Services Packet Switching Networks", SIGCOMM 1996) with equal weights.
    Virtual time advances to the start tag of the work in service. The start tag of a network's next
    piece of work is the finish tag of its last one, or the current virtual time if that is later.
    The network with the lowest start tag is served first. Expensive work therefore delays only its
    own network, and a network that was idle neither pays for nor gains from its absence.
    """

    def __init__(self) -> None:
        self._finish_tags: dict[str, int] = {}
        self._virtual_time = 0

    def start_tag(self, network: str) -> int:
        """Return the virtual time at which the network's next piece of work starts."""
        return max(self._virtual_time, self._finish_tags.get(network, 0))

    def serve(self, network: str, cost: int) -> None:
        """Record that a piece of work of a network starts now."""
        self._virtual_time = self.start_tag(network)
        self._finish_tags.pop(network, None)
        self._finish_tags[network] = self._virtual_time + cost
        if len(self._finish_tags) > _MAX_FINISH_TAGS:
            del self._finish_tags[next(iter(self._finish_tags))]


def _queue_full() -> LoginsBusy:
    """Return the rejection, with a random pause so that clients do not return all at once."""
    return LoginsBusy(
        "Too many log-ins at once.", retry_after=1 + secrets.randbelow(_MAX_RETRY_SECONDS)
    )
