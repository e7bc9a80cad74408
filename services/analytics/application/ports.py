"""What the analytics service needs of a store, by aggregate.

Every method raises Unavailable if the store cannot be reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from enum import Enum
from typing import Protocol

from services.analytics.domain.visits import Batch, Day, Totals
from services.shared.feed import FeedPage


class Names(Enum):
    """Which names come with the days that are read."""

    NONE = "none"
    BY_DAY = "by day"
    """Those of each day."""
    BY_BLOCK = "by block"
    """Those of all days of a block that lies in the span may come with one of its days."""
    TOGETHER = "together"
    """Those of several days may come with one of them."""


class TotalsRepository(Protocol):
    """The sums of each link, and which of them changed."""

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        """Return totals by code. Links without visits are left out."""
        ...

    async def changed_since(self, cursor: str | None) -> FeedPage:
        """Return codes with visits after a cursor; None asks for the cursor of now.

        A page has at most `MAX_CHANGES` codes. A visit is in the feed from the commit on that
        counts it: totals that are read after a page are no older than the page. The feed may also
        have codes whose totals did not change.
        """
        ...


class DayRepository(Protocol):
    """What each link counted on each UTC day."""

    async def days(
        self,
        codes: Sequence[str],
        first: int,
        last: int,
        take: Callable[[str, Day], None],
        names: Names,
    ) -> None:
        """Call `take` with each link's days from `first` to `last`, both included, in any order.

        `take` must not block. Calls come from another thread, one at a time.
        """
        ...

    async def visited(
        self,
        codes: Sequence[str],
        first: int,
        last: int,
        take: Callable[[str, list[range], int], None],
    ) -> None:
        """Call `take` with the days from `first` to `last` on which each link has visits.

        They come as runs of days, with the revision of the link's past. It changes with each batch
        that adds visits to a day before yesterday: what was read of such days stays valid as long
        as the link has these days and this revision. Calls are as in `days`.
        """
        ...

    async def first_day(self, codes: Sequence[str]) -> int | None:
        """Return the first day with a visit of any of these links."""
        ...


class VisitorKeyRepository(Protocol):
    """The keys under which visitors of a day are hashed."""

    async def visitor_key(self, day: int, fresh: bytes) -> bytes:
        """Return the key of a day. The first call stores `fresh` as the key for all callers."""
        ...

    async def forget_keys(self, today: int) -> int:
        """Delete the keys of all days but `today` and tomorrow, from every file of the store.

        Another replica may already be in the next day. Keys of later days come from a clock that
        ran ahead. Returns how many keys there were. Raises Unavailable if something may be left.
        """
        ...


class AnalyticsStore(TotalsRepository, DayRepository, VisitorKeyRepository, Protocol):
    """All of it, with what changes several aggregates at once."""

    async def apply(self, batch: Batch, now: datetime) -> bool:
        """Add a batch exactly once; return False if this call found it complete.

        A batch whose number is not above the gateway's last one is complete, or it is that last
        one and a failure left it half done: then this call adds the rest.
        """
        ...

    async def maintain(
        self, after: str, before: int, kept_from: int | None
    ) -> tuple[str | None, int]:
        """Maintain the next links after the code `after` in a bounded step.

        Aggregates blocks that ended before day `before`, and deletes days before `kept_from`,
        without changing totals. Returns the code of the last link, None after the last one of all,
        and how many days of links were deleted.
        """
        ...

    async def remove(self, codes: Sequence[str]) -> None:
        """Delete all counts of some links, link by link. Later visits count from zero."""
        ...
