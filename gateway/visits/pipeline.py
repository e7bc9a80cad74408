"""Takes visits down and brings them to analytics, in numbered batches, one at a time."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Collection
from typing import Protocol

from gateway.visits import classify
from gateway.visits.journal import Journal, JournalFullError
from gateway.visits.ledger import Batch
from gateway.visits.lines import Visit
from services.runtime import background, logs
from services.runtime.errors import AppError, InvalidArgument, Unavailable

log = logs.get(__name__)

TICK_SECONDS = 0.1
"""A power cut loses at most the visits of this span; a count is this far behind, or little more."""
MOST_ROWS = 5_000
"""Different visits in a batch: a message has room for twice as many of the longest."""
MOST_VISITS = 50_000
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0


class VisitSink(Protocol):
    """Where batches go: the analytics service."""

    async def record(self, batch: Batch) -> None: ...

    async def close_gateway(self, gateway_id: str, number: int) -> None: ...


class VisitPipeline:
    """From an answered visit to its count. `record` never waits and never fails a redirect."""

    def __init__(
        self, journal: Journal, sink: VisitSink, clock: Callable[[], float] = time.time
    ) -> None:
        self._journal = journal
        self._sink = sink
        self._clock = clock
        self._recorded = asyncio.Event()
        self._closed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._restoring: asyncio.Task[None] | None = None
        self._throttled = logs.Throttled(__name__)
        self._unwritable = False
        # When the first visit of each waiting batch of this run, and of the open one, was taken
        # down. When those of earlier runs were is not on file: at the latest when this one began.
        self._since: deque[float] = deque()
        self._open_since: float | None = None
        self._began = clock()
        self._oldest = self._began if journal.restoring else None
        self._lost = 0
        self.visits = {"person": 0, "bot": 0}
        """Visits taken down since the start, by kind."""
        self.batches = {"acknowledged": 0, "refused": 0, "failed": 0}
        """Batches sent since the start, by what became of it; one that failed is sent again."""
        if journal.dirty:
            self._recorded.set()

    @property
    def lost(self) -> int:
        """Visits that could not be put on file, read back, or were refused by analytics."""
        return self._lost + self._journal.lost_lines

    @property
    def pending(self) -> int:
        """Visits that analytics has not acknowledged; at least so many while `restoring`."""
        return self._journal.pending

    @property
    def restoring(self) -> bool:
        """Whether visits of earlier runs are still being read back from the journal."""
        return self._journal.restoring

    @property
    def journal_bytes(self) -> int:
        """What is on file."""
        return self._journal.size

    @property
    def journal_limit_bytes(self) -> int:
        """What may be on file: the journal's room, or less where its disk leaves less."""
        return self._journal.limit

    async def check_journal(self) -> None:
        """Return if the next visit can be put on file. Raises Unavailable."""
        if self._unwritable:
            raise Unavailable("The journal cannot be written.", "JOURNAL_UNWRITABLE")
        if not await self._journal.has_room():
            raise Unavailable("The journal is full.", "JOURNAL_FULL")

    @property
    def lag_seconds(self) -> float:
        """For how long, at least, there has been a visit that analytics has not acknowledged.

        While `restoring` there may be one: who sees 0 can rely on there being none. For any thread
        to ask.
        """
        oldest = self._oldest
        return 0.0 if oldest is None else max(0.0, self._clock() - oldest)

    def record(self, code: str, user_agent: bytes, referrer: bytes) -> None:
        """Put a visit on file, before its answer leaves."""
        kind = classify.kind_of(user_agent)
        now = self._clock()
        host = classify.host_of(referrer) if referrer else ""
        try:
            self._journal.append(Visit(code, int(now) // 3600, kind, host))
        except JournalFullError as error:
            self._lose(1, str(error))
            self._recorded.set()  # Room is looked for at the next tick.
            return
        self.visits[kind] += 1
        if self._open_since is None:
            self._open_since = now
            self._note_oldest()
        self._recorded.set()
        if self._journal.open_rows >= MOST_ROWS:  # However late the next tick is.
            try:
                self._close_batch()
            except (JournalFullError, OSError) as error:
                self._throttled.error("journal_not_synced", error=str(error))

    def start(self) -> None:
        """Begin to send. Call once, inside the loop."""
        self._restoring = background.run(self._journal.restore(self._changed), "journal_restore")
        self._tasks = [
            background.run(self._close_batches(), "visits_close"),
            background.run(self._send_batches(), "visits_send"),
        ]

    async def stop(self, seconds: float) -> None:
        """Send what is left for at most `seconds`; the rest stays in the journal."""
        journal = self._journal
        await _end(self._tasks)
        try:
            self._close_batch()
            await journal.sync()
            async with asyncio.timeout(seconds):
                while journal.restoring or journal.restored_batches or journal.added_batches:
                    if not await self._send_one():
                        await self._closed.wait()
        except (TimeoutError, AppError, JournalFullError, OSError) as error:
            log.warning(
                "visits_left_in_journal",
                visits=self.pending,
                all_read=not journal.restoring,
                error=type(error).__name__,
            )
        except Exception as error:  # The rest of the process still ends in good order.
            background.failed("visits_send", error)
        if self._restoring:
            await _end([self._restoring])
        await journal.close()
        if journal.last_number and journal.is_empty:
            await self._say_closed()

    async def _close_batches(self) -> None:
        """Every tick with visits: make a batch unless one waits to be sent, and sync."""
        journal = self._journal
        while True:
            await self._recorded.wait()
            await asyncio.sleep(TICK_SECONDS)
            self._recorded.clear()
            try:
                if journal.open_visits >= MOST_VISITS or not journal.added_batches:
                    self._close_batch()
                if journal.dirty:
                    await journal.sync()
                self._unwritable = False
            except (JournalFullError, OSError) as error:
                self._unwritable = isinstance(error, OSError)
                self._throttled.error("journal_not_synced", error=str(error))
            if journal.added_batches:
                self._closed.set()
            if journal.open_visits or journal.dirty:
                self._recorded.set()

    async def _send_batches(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            await self._closed.wait()
            try:
                await self._send_one()
                pause = _FIRST_PAUSE
            except (AppError, OSError) as error:
                reason = error.reason if isinstance(error, AppError) else str(error)
                self._throttled.error("visits_not_sent", reason=reason, pending=self.pending)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)

    async def _send_one(self) -> bool:
        """Send the oldest batch; False if there is none yet, and then `_closed` tells of one."""
        batch = await self._journal.first_batch()
        if batch is None:
            self._closed.clear()
            return False
        try:
            await self._sink.record(batch)
            self.batches["acknowledged"] += 1
        except InvalidArgument as error:  # It would be refused for ever, and all behind it wait.
            self.batches["refused"] += 1
            self._lose(batch.visits, f"batch {batch.number} refused: {error.reason}")
        except AppError:
            self.batches["failed"] += 1
            raise
        self._journal.acknowledge(batch.number)
        self._note_oldest()
        return True

    def _changed(self) -> None:
        """Take notice of batches of earlier runs."""
        self._closed.set()
        self._note_oldest()

    def _note_oldest(self) -> None:
        """Keep what `lag_seconds` tells in one value: other threads ask for it."""
        while len(self._since) > self._journal.added_batches:
            self._since.popleft()
        if self._journal.restoring or self._journal.restored_batches:
            self._oldest = self._began
        else:
            self._oldest = self._since[0] if self._since else self._open_since

    async def _say_closed(self) -> None:
        """Let analytics forget this journal's numbers soon: a pod's own may never come back."""
        try:
            await self._sink.close_gateway(self._journal.gateway_id, self._journal.last_number)
        except AppError as error:  # It forgets them later, by itself.
            log.info("closing_not_noted", reason=error.reason)

    def _close_batch(self) -> None:
        if not self._journal.open_visits:
            return
        self._journal.close_batch()
        self._since.append(self._clock() if self._open_since is None else self._open_since)
        self._open_since = None
        self._note_oldest()

    def _lose(self, visits: int, why: str) -> None:
        self._lost += visits
        self._throttled.error("visits_lost", lost=self.lost, error=why)


async def _end(tasks: Collection[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
