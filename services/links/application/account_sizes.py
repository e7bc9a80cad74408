"""How many more links accounts may have.

Counting an account's links reads a stored number on SQLite, and up to a million index entries on
MongoDB. So a process counts them once in a while, and adds what it stores itself meanwhile. What
other replicas store in that time may exceed the limit: for a minute at most, at their rates.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
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
class _Count:
    links: int
    at: datetime


class AccountSizes:
    """Counts links of accounts, including removed ones that can be restored."""

    def __init__(self, store: LinkStore, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._counts: OrderedDict[Account, _Count] = OrderedDict()

    async def room(self, account: Account) -> int:
        """Return how many more links an account may have. Raises Unavailable."""
        count, now = self._counts.get(account), self._now()
        if count is None or not self._holds(count, now):
            count = self._counts[account] = _Count(await self._count(account, now), now)
            self._counts.move_to_end(account)
            if len(self._counts) > MAX_COUNTED_ACCOUNTS:
                self._counts.popitem(last=False)
        return max(0, MAX_ACCOUNT_LINKS - count.links)

    def add(self, account: Account, links: int) -> None:
        """Note that links of an account were stored."""
        if count := self._counts.get(account):
            count.links += links

    def _holds(self, count: _Count, now: datetime) -> bool:
        is_nearly_full = MAX_ACCOUNT_LINKS - count.links < MAX_BATCH
        return now - count.at < (NEARLY_FULL_COUNTED_FOR if is_nearly_full else COUNTED_FOR)

    async def _count(self, account: Account, now: datetime) -> int:
        kept = await self._store.lists.count(account, LinkFilter(), now)
        removed = LinkFilter(state=LinkState.REMOVED)
        return kept + await self._store.lists.count(account, removed, now)
