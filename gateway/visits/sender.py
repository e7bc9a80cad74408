"""Sends the journal's batches to analytics, one at a time, oldest first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from gateway.visits.journal.batch import Batch
from gateway.visits.journal.journal import Journal
from services.shared.errors import AppError, InvalidArgument
from services.shared.observability import logs

log = logs.get(__name__)

_MIN_PAUSE = 0.1
_MAX_PAUSE = 2.0


class VisitSink(Protocol):
    """Where batches are sent: the analytics service."""

    async def record(self, batch: Batch) -> None:
        """Count a batch once, however often it is sent. Raises AppError."""


class Sender:
    """Sends batches from the journal to analytics.

    A failed batch is sent again after a pause that grows to two seconds. A batch that analytics
    refuses would block all later ones, so it is dropped, and `on_lost` is called with the number of
    its visits and the reason. `on_done` is called after each batch that was acknowledged or
    dropped.
    """

    def __init__(
        self,
        journal: Journal,
        sink: VisitSink,
        on_done: Callable[[], object],
        on_lost: Callable[[int, str], object],
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._journal = journal
        self._sink = sink
        self._on_done = on_done
        self._on_lost = on_lost
        self._sleep = sleep
        self._ready = asyncio.Event()
        self._ready.set()
        self._throttled = logs.Throttled(__name__)
        self.batches = {"acknowledged": 0, "refused": 0, "failed": 0}
        """Batches sent since the start, by result. Failed batches are sent again."""
        self.unknown = dict.fromkeys(("browser", "country"), 0)
        """Visits of people in acknowledged batches, by the dimension that is unknown."""

    def wake(self) -> None:
        """Signal that there may be a batch to send."""
        self._ready.set()

    async def run(self) -> None:
        """Send batches until cancelled."""
        pause = _MIN_PAUSE
        while True:
            await self._ready.wait()
            try:
                await self._send_one()
                pause = _MIN_PAUSE
            except (AppError, OSError) as error:
                reason = error.reason if isinstance(error, AppError) else str(error)
                pending = self._journal.pending
                self._throttled.error("visits_not_sent", reason=reason, pending=pending)
                await self._sleep(pause)
                pause = min(pause * 2, _MAX_PAUSE)

    async def drain(self) -> None:
        """Send all synced batches. Raises AppError and OSError at the first failure."""
        while await self._send_one():
            pass

    async def _send_one(self) -> bool:
        """Send the oldest batch. Returns False if there is none."""
        batch = await self._journal.first_batch()
        if batch is None:
            self._ready.clear()
            return False
        if batch.counts:  # Otherwise nothing could be read back, which was logged.
            await self._send(batch)
        await self._journal.acknowledge(batch.number)
        self._on_done()
        return True

    async def _send(self, batch: Batch) -> None:
        try:
            await self._sink.record(batch)
            self.batches["acknowledged"] += 1
            self._count_unknown(batch)
        except InvalidArgument as error:
            self.batches["refused"] += 1
            self._on_lost(batch.visits, f"batch {batch.number} refused: {error.reason}")
        except AppError:
            self.batches["failed"] += 1
            raise

    def _count_unknown(self, batch: Batch) -> None:
        by_facts: dict[str, int] = {}  # Batches of thousands of links have a few dozen facts.
        for (_, _, kind, _, facts, _), count in batch.counts.items():
            if kind == "person":
                by_facts[facts] = by_facts.get(facts, 0) + count
        for name in self.unknown:
            sign = f" {name}="
            self.unknown[name] += sum(
                count for facts, count in by_facts.items() if sign not in facts
            )
