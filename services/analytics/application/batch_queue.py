"""Adds waiting batches to the store together, lane by lane.

Batches that arrive during a transaction share the next one (group commit), merged: it reads and
writes each day and the totals of each link once for all of them. Batches of the same lane have
their links in common, so they go together.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from services.analytics.application.batch_writer import BatchWriter, add_recent_visits
from services.analytics.application.ports import Session, Work
from services.analytics.application.records import GatewayRecord
from services.analytics.domain.batches import Batch, merge
from services.analytics.domain.visits import Dimension
from services.analytics.metrics import NAMES_GATHERED
from services.shared import background
from services.shared.errors import Unavailable

_MAX_BATCHES = 1024
"""Maximum batches of a transaction: the 64 lanes of 16 gateways."""
_Results = list[bool | None]
"""For each batch of a group: whether it was added, and None if a part of it is left."""


class _Waiting(NamedTuple):
    """A batch that waits for its transaction."""

    batch: Batch
    codes: list[str]
    now: datetime
    done: asyncio.Future[bool]

    @property
    def key(self) -> tuple[str, int]:
        """Equal for resends of a batch."""
        return self.batch.gateway_id, self.batch.number


class BatchQueue:
    """Batches that wait for their transaction. One transaction runs at a time.

    `write` runs a transaction, with at most as many links as `max_codes` returns.
    """

    def __init__(
        self, write: Callable[[Work[_Results]], Awaitable[_Results]], max_codes: Callable[[], int]
    ) -> None:
        self._write = write
        self._max_codes = max_codes
        self._waiting: list[_Waiting] = []
        self._lane = 0
        """The lane of the last batch that was taken."""
        self._max_batches = _MAX_BATCHES
        """Maximum batches of the next transaction."""
        self._writing: asyncio.Task[None] | None = None

    async def apply(self, batch: Batch, now: datetime) -> bool:
        """Add a batch as soon as possible. As `AnalyticsStore.apply`."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(batch, batch.codes, now, done))
        if self._writing is None or self._writing.done():
            self._writing = background.start_task(self._write_all(), "analytics-apply")
        return await done

    async def _write_all(self) -> None:
        while self._waiting:
            await self._write_group(self._take_group())

    def _take_group(self) -> list[_Waiting]:
        """Take the batches of the next transaction: as many as it has room for, at least one.

        Takes the lanes in turn, so that none waits for long. A resend takes the place of a batch
        whose caller has given up.
        """
        wanted = {waiting.key for waiting in self._waiting if not waiting.done.cancelled()}
        self._waiting = sorted(
            (
                waiting
                for waiting in self._waiting
                if not (waiting.done.cancelled() and waiting.key in wanted)
            ),
            key=lambda waiting: (waiting.batch.lane <= self._lane, waiting.batch.lane),
        )
        size = count = 0
        for waiting in self._waiting[: self._max_batches]:
            size += len(waiting.codes) + 1  # The gateway's record.
            if count and size > self._max_codes():
                break
            count += 1
        group, self._waiting = self._waiting[:count], self._waiting[count:]
        self._lane = group[-1].batch.lane
        return group

    async def _write_group(self, group: Sequence[_Waiting]) -> None:
        """Add batches in one transaction. A batch that fails for itself does not fail others.

        If the store fails, the next transaction has one batch, and the following ones have twice as
        many each: what is too large for the store, or what it cannot take, must not hold up others.
        """
        max_codes = self._max_codes()
        writer: BatchWriter | None = None
        gathered = Counter[Dimension]()

        def write(session: Session) -> _Results:
            results, found = _write_batches(session, group, writer, max_codes)
            gathered.clear()
            gathered.update(found)
            return results

        try:
            if sum(len(waiting.codes) for waiting in group) <= max_codes:
                # Outside of the transaction, which has a deadline.
                batches = [waiting.batch for waiting in group]
                writer = await asyncio.to_thread(_merge, batches, group[0].now)
            results = await self._write(write)
        except Exception as error:
            if len(group) > 1 and not isinstance(error, Unavailable):
                for waiting in group:
                    await self._write_group([waiting])
                return
            self._max_batches = 1
            for waiting in group:  # Every caller raises it.
                if not waiting.done.done():
                    waiting.done.set_exception(error)
            return
        self._max_batches = min(2 * self._max_batches, _MAX_BATCHES)
        for dimension, people in gathered.items():
            NAMES_GATHERED.labels(dimension.name.lower()).inc(people)
        for waiting, result in zip(group, results, strict=True):
            if result is None:
                self._waiting.append(waiting)
            elif not waiting.done.done():
                waiting.done.set_result(result)


def _merge(batches: Sequence[Batch], now: datetime) -> BatchWriter:
    return BatchWriter(merge(batches), now)


def _write_batches(
    session: Session, group: Sequence[_Waiting], whole: BatchWriter | None, max_codes: int
) -> tuple[_Results, Counter[Dimension]]:
    """Add batches, or a part of a single one. `whole` writes all of them, if they fit.

    Also return the people counted under `OTHER_NAMES` because their link's day had enough names.
    """
    now = group[0].now
    known = session.find_gateways({waiting.batch.gateway_id for waiting in group})
    changed: dict[str, GatewayRecord] = {}
    parts: list[Batch] = []
    results: _Results = []
    for batch, codes, _, _ in group:
        gateway = batch.gateway_id
        last = changed.get(gateway) or known.get(gateway) or GatewayRecord(0, None)
        is_last = batch.number == last.batch
        if batch.number < last.batch or (is_last and last.counted is None):
            results.append(False)
            continue
        start = last.counted or 0 if is_last else 0
        end = start + max_codes
        is_complete = end >= len(codes)
        part = batch if is_complete and not start else batch.part(set(codes[start:end]))
        visits = add_recent_visits(last.visits, part.visits, now)
        changed[gateway] = GatewayRecord(batch.number, None if is_complete else end, visits)
        parts.append(part)
        results.append(True if is_complete else None)
    if not parts:
        return results, Counter()
    is_whole = list(map(id, parts)) == [id(waiting.batch) for waiting in group]
    writer = whole if whole and is_whole else _merge(parts, now)
    gathered = writer.write(session)
    session.publish(writer.codes, now)
    session.put_gateways(changed)
    return results, gathered
