"""What the analytics service asks of a store."""

from __future__ import annotations

from collections.abc import Sequence
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

    async def days(self, code: str, first: int, last: int) -> list[Day]:
        """A link's days with visits from `first` to `last`, both included, oldest first."""
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
