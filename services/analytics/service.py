"""What can be done with visits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

from services.analytics.domain import (
    MAX_CODES,
    MAX_REMOVED,
    Batch,
    Day,
    GatewayForgotten,
    TooManyCodes,
    Totals,
    Visited,
    VisitKind,
    check_batch,
    check_number,
    check_range,
)
from services.analytics.metrics import BATCHES_APPLIED, VISITS_COUNTED
from services.analytics.store import AnalyticsStore
from services.runtime import logs
from services.runtime.codes import is_code
from services.runtime.errors import InvalidArgument

log = logs.get(__name__)


class AnalyticsService:
    """What can be asked about visits. `now` tells the time, in UTC."""

    def __init__(self, store: AnalyticsStore, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    async def record(self, batch: Batch) -> bool:
        """Add a batch; False when it had been added before, and then nothing changes.

        Raises InvalidBatch, GatewayForgotten, Unavailable.
        """
        try:
            check_batch(batch)
            applied = await self._store.apply(batch, self._now())
        except InvalidArgument as error:
            BATCHES_APPLIED.labels("refused").inc()
            if isinstance(error, GatewayForgotten):
                log.warning("replay_refused", gateway=batch.gateway_id, batch=batch.number)
            raise
        BATCHES_APPLIED.labels("applied" if applied else "repeated").inc()
        if applied:
            visits: Counter[VisitKind] = Counter()
            for visit in batch.visits:
                visits[visit.kind] += visit.count
            for kind, count in visits.items():
                VISITS_COUNTED.labels(kind.value).inc(count)
        return applied

    async def close_gateway(self, gateway_id: str, number: int) -> None:
        """Note that a gateway closed with nothing left to send, its last batch `number`.

        Raises InvalidBatch, Unavailable.
        """
        check_number(gateway_id, number)
        await self._store.close_gateway(gateway_id, number, self._now())

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        """Totals by code; codes nobody visited and malformed ones are left out.

        Raises TooManyCodes, Unavailable.
        """
        if len(codes) > MAX_CODES:
            raise TooManyCodes(f"At most {MAX_CODES} codes can be looked up at once.")
        wellformed = [code for code in codes if is_code(code)]
        return await self._store.totals(wellformed) if wellformed else {}

    async def visited(self, mark: int | None) -> Visited:
        """The totals that changed after a mark; None asks for the mark of now.

        Raises Unavailable.
        """
        told = await self._store.announcements(mark)
        totals: dict[str, Totals] = {}
        for start in range(0, len(told.keys), MAX_CODES):
            totals |= await self._store.totals(told.keys[start : start + MAX_CODES])
        return Visited(told.mark, totals, told.more, told.lost)

    async def days(self, code: str, first: int, last: int) -> list[Day]:
        """A link's days with visits from `first` to `last`, both included, oldest first.

        Raises InvalidRange, Unavailable.
        """
        check_range(first, last)
        return await self._store.days(code, first, last) if is_code(code) else []

    async def remove(self, codes: Sequence[str]) -> None:
        """Forget all visits of some links. Raises TooManyCodes, Unavailable."""
        if len(codes) > MAX_REMOVED:
            raise TooManyCodes(f"The counts of at most {MAX_REMOVED} codes can be removed at once.")
        if wellformed := [code for code in codes if is_code(code)]:
            await self._store.remove(wellformed)
