"""Records visits in the journal, and closes batches for the `sender` to send to analytics."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence

from gateway.support.headers import HeadersByName
from gateway.visits.enrichment.classification import (
    PURPOSE_HEADERS,
    is_prefetch,
    referrers_except,
)
from gateway.visits.enrichment.referrer_limit import ReferrerNames
from gateway.visits.enrichment.visitors import Visitors
from gateway.visits.journal.journal import Journal, JournalFullError
from gateway.visits.journal.lines import SCANNED, Visit
from gateway.visits.sender import Sender, VisitSink
from services.shared import background
from services.shared.errors import AppError, Unavailable
from services.shared.observability import logs

log = logs.get(__name__)

TICK_SECONDS = 0.1
"""Interval of syncs and batches. A power cut loses at most the visits of one interval."""
MAX_ROWS = 5_000
"""Distinct visits at which a batch is closed. A message holds twice as many of the longest."""
MAX_VISITS = 50_000
"""Visits at which a batch is closed."""
_MAX_BUFFERED = 500
"""Maximum visits that are written at once."""

_new_visit = tuple.__new__
"""Makes a visit in half the time of `Visit(...)`."""


class VisitPipeline:
    """Records visits and sends them to analytics. `record` never waits and never fails a redirect.

    The visits of one turn of the event loop are written to the journal at once. The HTTP server
    must call `flush` after `record`, before it passes the first byte of a response to the
    transport. So the death of the process loses no visit whose response was sent.
    """

    def __init__(
        self,
        journal: Journal,
        sink: VisitSink,
        visitors: Visitors,
        clock: Callable[[], float] = time.time,
        own_urls: Sequence[str] = (),
    ) -> None:
        """`own_urls` are the URLs of the product, whose hosts do not count as referrers."""
        self.journal = journal
        self._visitors = visitors
        self._referrer_of = referrers_except(own_urls)
        self._referrers = ReferrerNames(self._referrer_of)
        self._clock = clock
        self._hour = -1
        self._hour_starts = self._hour_ends = 0.0
        self.sender = Sender(journal, sink, self._update_oldest, self._lose)
        self._buffer: list[Visit] = []
        self._recorded = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._throttled = logs.Throttled(__name__)
        self._is_unwritable = False
        # When the first visit of each closed batch, and of the open batch, was recorded. Batches of
        # earlier processes have the start of this one.
        self._closed_since = deque([clock()] * journal.closed_batches)
        self._open_since: float | None = None
        self._update_oldest()
        self._lost = 0
        self.visits = {"person": 0, "bot": 0}
        """Visits recorded since the start, by kind of visitor."""

    @property
    def lost(self) -> int:
        """Visits that could not be written or read back, or that analytics refused."""
        return self._lost + self.journal.lost_lines

    @property
    def pending(self) -> int:
        """Visits that analytics has not acknowledged, a lower bound while `journal.restoring`."""
        return self.journal.pending + len(self._buffer)

    @property
    def lag_seconds(self) -> float:
        """Age of the oldest unacknowledged visit, or of this process if the visit is older.

        0 if there is none. Thread-safe.
        """
        oldest = self._oldest
        return 0.0 if oldest is None else max(0.0, self._clock() - oldest)

    async def check_journal(self) -> None:
        """Raise Unavailable unless the next visit can be written to the journal."""
        if self._is_unwritable:
            raise Unavailable("The journal cannot be written.", "JOURNAL_UNWRITABLE")
        if not await self.journal.has_room():
            raise Unavailable("The journal is full.", "JOURNAL_FULL")

    def record_request(
        self, code: str, headers: HeadersByName, host: str, link_code: str = ""
    ) -> None:
        """Record the visit of a request, unless it is a prefetch.

        `host` is the IP address of its connection, empty if unknown. If `code` is a scan code,
        `link_code` is the code of its link.
        """
        if not headers.keys().isdisjoint(PURPOSE_HEADERS) and is_prefetch(headers):
            return
        value = headers.get
        self.record(
            code,
            value(b"user-agent", b""),
            value(b"referer", b""),
            value(b"accept-language", b""),
            host,
            value(b"x-forwarded-for", b""),
            link_code,
        )

    def record(
        self,
        code: str,
        user_agent: bytes,
        referrer: bytes,
        language: bytes = b"",
        host: str = "",
        forwarded: bytes = b"",
        link_code: str = "",
    ) -> None:
        """Record a visit. The next `flush`, at most a tick later, writes it to the journal.

        `code`, `host` and `link_code` are as in `record_request`. The others are the headers
        User-Agent, Referer, Accept-Language and X-Forwarded-For.
        """
        now = self._clock()
        if not self._hour_starts <= now < self._hour_ends:
            self._begin_hour(now)
        kind, facts, visitor, client = self._visitors[host, forwarded, user_agent, language]
        if link_code:  # A scan is a visit of the link.
            code = link_code
            if kind == "person":
                facts += SCANNED
        if not referrer:
            name = ""
        elif kind == "person":
            name = self._referrers[client, code, referrer]
        else:
            name = self._referrer_of(referrer)
        buffer = self._buffer
        if not buffer:
            self._recorded.set()
        buffer.append(_new_visit(Visit, (code, self._hour, kind, name, facts, visitor)))
        if len(buffer) >= _MAX_BUFFERED:
            self.flush()

    def flush(self) -> None:
        """Write recorded visits to the journal. Those without room are counted as lost."""
        visits = self._buffer
        if not visits:
            return
        self._buffer = []
        try:
            self.journal.append(*visits)
        except JournalFullError as error:  # The next tick looks for room.
            self._lose(len(visits) - error.appended, str(error))
            visits = visits[: error.appended]
        for visit in visits:
            self.visits[visit.kind] += 1
        if self._open_since is None and visits:
            self._open_since = self._clock()
            self._update_oldest()
        if self.journal.open_rows >= MAX_ROWS:  # The next tick may be late.
            try:
                self._close_batch()
            except OSError as error:
                self._throttled.error("journal_not_synced", error=str(error))

    def start(self) -> None:
        """Start to send. Call once, in the running event loop."""
        self._tasks = [
            background.start_task(self.journal.count_restored(), "journal_count"),
            background.start_task(self._close_batches(), "visits_close"),
            background.start_task(self.sender.run(), "visits_send"),
        ]

    async def stop(self, seconds: float) -> None:
        """Send remaining visits for at most `seconds`. The rest stays in the journal."""
        journal = self.journal
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        try:
            self._close_batch()
            await journal.sync()
            async with asyncio.timeout(seconds):
                await self.sender.drain()
        except (TimeoutError, AppError, OSError) as error:
            log.warning(
                "visits_left_in_journal",
                visits=self.pending,
                all_read=not journal.restoring,
                error=type(error).__name__,
            )
        except Exception as error:  # The rest of the shutdown must still run.
            background.report_failure("visits_send", error)
        await journal.close()

    def _begin_hour(self, now: float) -> None:
        """Begin the current hour, so that visitors are numbered with the key of its day."""
        self._hour = int(now) // 3600
        self._hour_starts = self._hour * 3600.0
        self._hour_ends = self._hour_starts + 3600.0
        self._visitors.begin(self._hour // 24)
        self._referrers.begin(self._hour // 24)

    async def _close_batches(self) -> None:
        """In every tick with visits, sync, and close the batch unless one waits to be sent."""
        journal = self.journal
        while True:
            await self._recorded.wait()
            await asyncio.sleep(TICK_SECONDS)
            self._recorded.clear()
            self.flush()
            try:
                if journal.open_visits >= MAX_VISITS or not journal.closed_batches:
                    self._close_batch()
                if journal.is_dirty:
                    await journal.sync()
                self._is_unwritable = False
            except OSError as error:
                self._is_unwritable = True
                self._throttled.error("journal_not_synced", error=str(error))
            if journal.closed_batches:
                self.sender.wake()
            if journal.open_visits or journal.is_dirty:
                self._recorded.set()

    def _close_batch(self) -> None:
        self.flush()
        if not self.journal.open_visits:
            return
        self.journal.close_batch()
        self._closed_since.append(self._clock() if self._open_since is None else self._open_since)
        self._open_since = None
        self._update_oldest()

    def _update_oldest(self) -> None:
        """Update the value of `lag_seconds`, which other threads read."""
        while len(self._closed_since) > self.journal.closed_batches:
            self._closed_since.popleft()
        self._oldest = self._closed_since[0] if self._closed_since else self._open_since

    def _lose(self, visits: int, why: str) -> None:
        self._lost += visits
        self._throttled.error("visits_lost", lost=self.lost, error=why)
