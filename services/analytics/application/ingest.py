"""Records and removes visits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from services.analytics.application.store import AnalyticsStore
from services.analytics.domain.batches import Batch, validate_batch
from services.analytics.domain.errors import TooManyCodes
from services.analytics.domain.visits import VisitKind
from services.analytics.metrics import BATCHES_APPLIED, VISITS_COUNTED
from services.shared.errors import InvalidArgument
from services.shared.link_codes import is_code

MAX_REMOVED = 100
"""Maximum codes per removal. Each may have a row for every day of ten years."""


@dataclass(frozen=True, eq=False)
class Ingest:
    """Adds batches of visits. `now` returns the time in UTC."""

    _store: AnalyticsStore
    _now: Callable[[], datetime]

    def count_deferred(self) -> None:
        """Count a batch that a later version has to count."""
        BATCHES_APPLIED.labels("deferred").inc()

    async def record(self, batch: Batch) -> bool:
        """Add a batch. Return False, and change nothing, if it was added before.

        Raises InvalidBatch, Unavailable.
        """
        self._validate(batch)
        return await self._add(batch)

    async def record_lanes(self, batches: Sequence[Batch]) -> None:
        """Add the batches of different lanes, together as far as possible.

        Raises InvalidBatch, and then adds nothing, and Unavailable.
        """
        for batch in batches:
            self._validate(batch)
        await asyncio.gather(*map(self._add, batches))

    async def remove(self, codes: Sequence[str]) -> None:
        """Delete all counts of links. Ignores malformed codes. Raises TooManyCodes, Unavailable."""
        if len(codes) > MAX_REMOVED:
            raise TooManyCodes(f"A call has at most {MAX_REMOVED} codes.")
        await self._store.remove([code for code in codes if is_code(code)])

    def _validate(self, batch: Batch) -> None:
        try:
            validate_batch(batch)
        except InvalidArgument:
            BATCHES_APPLIED.labels("refused").inc()
            raise

    async def _add(self, batch: Batch) -> bool:
        applied = await self._store.apply(batch, self._now())
        BATCHES_APPLIED.labels("applied" if applied else "repeated").inc()
        if applied:
            for kind in VisitKind:
                count = sum(visit.count for visit in batch.visits if visit.kind is kind)
                VISITS_COUNTED.labels(kind.value).inc(count)
        return applied
