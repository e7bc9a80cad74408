"""What the analytics service asks of a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from services.analytics.domain import Batch, Day, Totals
from services.runtime.feed import Told


class AnalyticsStore(Protocol):
    """Adds visits up. Every method raises Unavailable when the store is away."""

    async def apply(self, batch: Batch, now: datetime) -> bool:
        """Add a whole batch, once; False when its number is not above the gateway's last.

        Whatever is resent after a failure, every visit of the batch ends up counted once. A
        gateway may be idle for `GATEWAY_IDLE` and go on; what it sends again then is refused.
        Before this returns, the codes of the batch are announced. Raises GatewayForgotten.
        """
        ...

    async def close_gateway(self, gateway_id: str, number: int, now: datetime) -> None:
        """Note that a gateway closed; if it sends nothing for `CLOSED_IDLE`, it counts as idle.

        `number` is that of its last batch. Where the store knows of a later one, nothing happens.
        """
        ...

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        """Totals by code, of those codes that were visited."""
        ...

    async def days(
        self,
        codes: Sequence[str],
        first: int,
        last: int,
        take: Callable[[str, Day], None],
        coarse: bool = False,
        named: bool = True,
        apart: bool = False,
    ) -> None:
        """Hand the days of some links, from `first` to `last`, both included, to `take`.

        Days come in no particular order, each code's with visits once. `take` does not wait, and
        may be called from another thread, by one at a time. The names of several days, all in the
        span, may come with one of them; with `apart` only those of days that come as one with it,
        or with `coarse` of days of its month.

        With `coarse`, the days from Tuesday to Saturday of a week may come as one, where they are
        of one month and neither its first nor its last: what is left is by hour where weeks and
        months of another time zone begin and end. It has the day of one of them, their visits at
        any hour, and as visitors the sum of theirs, on no day more than there were people.

        Without `named`, names are left out.
        """
        ...

    async def visited(
        self, codes: Sequence[str], first: int, last: int, take: Callable[[str, range], None]
    ) -> None:
        """Hand to `take` on which days from `first` to `last`, both included, links were visited.

        Each link's come as runs of days, in no particular order. `take` is called as by `days`.
        """
        ...

    async def changes(self, days: Sequence[int]) -> dict[int, int]:
        """A number for each of these days; one that is left out counts as 0.

        Before a batch with visits of such a day is acknowledged, its number grows. So what was
        read of it after the number holds for links that were visited on that day, as long as the
        number is the same and they still are.
        """
        ...

    async def first_day(self, codes: Sequence[str]) -> int | None:
        """The first day with a visit of any of these links."""
        ...

    async def counted_from(self) -> int | None:
        """The first day of which all dimensions and visitors are counted; None for always.

        Counts of a version before know neither.
        """
        ...

    async def visitor_key(self, day: int, fresh: bytes) -> bytes:
        """The key of a day: `fresh` where it has none yet, and the same for all who ask from
        then on."""
        ...

    async def forget_keys(self, today: int) -> int:
        """Delete the keys of all days but `today` and the next, so that no file of the store has
        them.

        Another replica may already be in the next day. Keys of later days were made by a clock
        that ran ahead. Returns how many there were. Raises Unavailable where something of them may
        be left: then it can be called again.
        """
        ...

    async def forget_days(self, before: int) -> int:
        """Delete some of the days before `before`, each of some link; how many, and 0 when there
        are none. Totals stay."""
        ...

    async def sum_up(self, before: int) -> bool:
        """Sum up some of what ended before day `before`, so that long spans are read sooner; False
        when there is nothing left to do. No answer depends on it."""
        ...

    async def remove(self, codes: Sequence[str]) -> None:
        """Forget all visits of some links. What is applied later counts from nothing."""
        ...

    async def announcements(self, mark: int | None) -> Told:
        """Which codes were visited after a mark; None asks for the mark of now.

        A batch is announced once it is stored, so the totals of a code that are read after its
        announcement have the visits of the batch.
        """
        ...
