"""The store that the analytics service needs, by aggregate.

Every method raises Unavailable if the store cannot be reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from enum import Enum
from typing import Protocol

from services.analytics.domain.batches import Batch
from services.analytics.domain.visits import Day, Totals
from services.shared.feed import FeedPage

MAX_CHANGES = 5000
"""Maximum codes on a page of the change feed. Their totals take 0.3 MB of gRPC's 4 MB."""

OnDay = Callable[[str, Day], None]
"""Receives a code and one of its days."""
OnVisitedDays = Callable[[str, list[range], int], None]
"""Receives a code, its days with visits as ranges, and the revision of its past days."""


class NameDetail(Enum):
    """How detailed the names are that come with days."""

    NONE = "none"
    PER_DAY = "per day"
    """Each day has its own names."""
    PER_BLOCK = "per block"
    """If a block lies in the period, one of its days may have the names of all."""
    COMBINED = "combined"
    """A day may have the names of several days."""


class TotalsRepository(Protocol):
    """The totals of links, and a feed of their changes."""

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        """Return totals by code. Links without visits are absent."""
        ...

    async def changed_since(self, cursor: str | None) -> FeedPage:
        """Return codes with visits after a cursor. Without a cursor, return the current one.

        A page has at most `MAX_CHANGES` codes. A visit is in the feed as soon as it is counted:
        totals that are read after a page are at least as recent as the page. The feed may contain
        codes whose totals did not change.
        """
        ...


class DayRepository(Protocol):
    """The visits of links by UTC day."""

    async def read_days(
        self, codes: Sequence[str], first: int, last: int, on_day: OnDay, names: NameDetail
    ) -> None:
        """Call `on_day` with the links' days from `first` to `last`, both included, in any order.

        `on_day` must not block. It is called in another thread, once at a time.
        """
        ...

    async def read_visited_days(
        self, codes: Sequence[str], first: int, last: int, on_visited_days: OnVisitedDays
    ) -> None:
        """Call `on_visited_days` with each link's days with visits from `first` to `last`.

        The revision changes with each batch that adds visits to a day before yesterday. Cached data
        of such days is valid as long as the days with visits and the revision are the same. Calls
        are as in `read_days`.
        """
        ...

    async def first_day(self, codes: Sequence[str]) -> int | None:
        """Return the first day on which any of these links has visits."""
        ...


class VisitorKeyRepository(Protocol):
    """The daily keys with which visitors are hashed."""

    async def visitor_key(self, day: int, new_key: bytes) -> bytes:
        """Return the key of a day. The first call stores `new_key` for all callers."""
        ...

    async def delete_visitor_keys(self, today: int) -> int:
        """Delete the keys of all days but `today` and tomorrow, from every file of the store.

        Tomorrow's key may belong to a replica whose clock is ahead; keys of later days come from a
        wrong clock. Return the number of deleted keys. Raises Unavailable if any may remain.
        """
        ...


class AnalyticsStore(TotalsRepository, DayRepository, VisitorKeyRepository, Protocol):
    """All repositories, and the operations that change several of them together."""

    async def apply(self, batch: Batch, now: datetime) -> bool:
        """Add a batch exactly once. Return False if it was complete before this call.

        A batch is complete if its number is not above the gateway's last one. If it is the last one
        and a failure left it incomplete, the call adds the rest.
        """
        ...

    async def maintain(
        self, after: str, before: int, retained_from: int | None
    ) -> tuple[str | None, int]:
        """Maintain the next links after the code `after`, with a bounded amount of work.

        Aggregates blocks that ended before the day `before`, and deletes days before
        `retained_from`. Totals do not change. Return the code of the last link, or None after the
        last of all links, and the number of deleted days.
        """
        ...

    async def remove(self, codes: Sequence[str]) -> None:
        """Delete all counts of links, link by link. Later visits count from zero."""
        ...
