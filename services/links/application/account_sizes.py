"""How many more links accounts may have.

Counting an account's links reads stored numbers on SQLite, and up to a million index entries on
MongoDB. So a process counts them once in a while, and adds what it stores itself meanwhile. What
other replicas store in that time may exceed the limit: for a minute at most, at their rates.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.links.application.ports import MAX_BATCH, LinkStore
from services.links.domain.link import MAX_ACCOUNT_LINKS
from services.links.domain.owner import Account
from services.links.domain.query import LinkFilter
from services.links.domain.resolution import LinkState

COUNTED_FOR = timedelta(seconds=60)
NEARLY_FULL_COUNTED_FOR = timedelta(seconds=10)
"""How long a count holds of an account that may soon be full, or no longer be."""
MAX_COUNTED_ACCOUNTS = 10_000


@dataclass(slots=True)
class Reservation:
    """Room for links that a call is about to store."""

    links: int
    """How many links the call may store."""
    stored: int = 0
    """How many links the call has stored. The call sets it."""


@dataclass(slots=True)
class _Count:
    links: int = 0
    at: datetime | None = None
    """When `links` was counted; None before the first time."""
    reserved: int = 0
    stored: int = 0
    """How many links this process has stored."""
    counting: asyncio.Task[None] | None = None


class AccountSizes:
    """Counts links of accounts, including removed ones that can be restored.

    For use within one event loop.
    """

    def __init__(self, store: LinkStore, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._counts: OrderedDict[Account, _Count] = OrderedDict()

    @asynccontextmanager
    async def reserve(self, account: Account, links: int) -> AsyncIterator[Reservation]:
        """Reserve room for up to `links` new links of an account while the body stores them.

        Other calls get the rest of the room meanwhile. The reservation has less room than `links`
        if the account is nearly full. Raises Unavailable.
        """
        count = await self._current(account)
        room = MAX_ACCOUNT_LINKS - count.links - count.reserved
        reservation = Reservation(max(0, min(links, room)))
        count.reserved += reservation.links
        try:
            yield reservation
        finally:
            count.reserved -= reservation.links
            count.links += reservation.stored
            count.stored += reservation.stored

    async def _current(self, account: Account) -> _Count:
        """Return the count of an account, counted anew if it is missing or too old."""
        count = self._counts.setdefault(account, _Count())
        self._counts.move_to_end(account)
        if len(self._counts) > MAX_COUNTED_ACCOUNTS:
            self._counts.popitem(last=False)
        if not self._holds(count, self._now()):
            if count.counting is None or count.counting.done():
                count.counting = asyncio.create_task(self._recount(account, count))
            await asyncio.shield(count.counting)
        return count

    def _holds(self, count: _Count, now: datetime) -> bool:
        if count.at is None:
            return False
        is_nearly_full = MAX_ACCOUNT_LINKS - count.links < MAX_BATCH
        return now - count.at < (NEARLY_FULL_COUNTED_FOR if is_nearly_full else COUNTED_FOR)

    async def _recount(self, account: Account, count: _Count) -> None:
        """Count an account's links, and those that this process stores meanwhile."""
        now, stored_before = self._now(), count.stored
        links = await self._store.lists.count_all(account, now)
        if MAX_ACCOUNT_LINKS - links < MAX_BATCH:  # Links that await their purge do not count.
            kept = await self._store.lists.count(account, LinkFilter(), now)
            removed = LinkFilter(state=LinkState.REMOVED)
            links = kept + await self._store.lists.count(account, removed, now)
        count.links = links + count.stored - stored_before
        count.at = now
