"""Records visits in the journal, in numbered batches that the `sender` sends to analytics."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

from gateway.visits.enrichment.classification import (
    LONGEST,
    PURPOSES,
    Headers,
    joined,
    looks_ahead,
    referrers_except,
)
from gateway.visits.enrichment.referrer_limit import ReferrerLimit
from gateway.visits.enrichment.visitors import Visitors
from gateway.visits.journal.journal import Journal, JournalFullError
from gateway.visits.journal.lines import SCANNED, Visit
from gateway.visits.sender import Sender, VisitSink
from services.shared import background
from services.shared.errors import AppError, Unavailable
from services.shared.observability import logs

log = logs.get(__name__)

TICK_SECONDS = 0.1
"""A power cut loses at most the visits of this span; a count is this far behind, or little more."""
MOST_ROWS = 5_000
"""Different visits of a batch, or few more: a message has room for twice as many of the longest."""
MOST_VISITS = 50_000
_MOST_HELD = 500
"""Visits that are written at once, however many there are in a turn of the event loop."""
_MAX_REFERRERS = 8192
"""Maximum referrer names that are remembered by visit: 2 MB, or 7 MB if all headers are long."""


class _Referrers(dict[tuple[bytes, str, bytes], str]):
    """The names of people's referrers, by client, code of the link and Referer header.

    Remembers a bounded number within one UTC day, and no header longer than `LONGEST`.
    """

    def __init__(self, name_of: Callable[[bytes], str]) -> None:
        super().__init__()
        self._name_of = name_of
        self._limit = ReferrerLimit()

    def begin(self, day: int) -> None:
        """Forget all clients unless this UTC day has begun already."""
        if self._limit.begin(day):
            self.clear()

    def __missing__(self, visit: tuple[bytes, str, bytes]) -> str:
        client, code, header = visit
        name = self._name_of(header)
        if name:
            name = self._limit.name_for(client, code, name)
        if len(header) <= LONGEST:
            if len(self) >= _MAX_REFERRERS:
                self.clear()  # Those in use are back at once.
            self[visit] = name
        return name


class VisitPipeline:
    """Records visits and brings them to analytics. `record` never waits and never fails a redirect.

    The visits of one turn of the event loop are put on file with one write. The HTTP server must
    call `flush` after `record`, before it hands the first byte of a response to the transport. So
    the death of the process loses no visit whose response left.
    """

    def __init__(
        self,
        journal: Journal,
        sink: VisitSink,
        visitors: Visitors,
        clock: Callable[[], float] = time.time,
        own_url: str = "",
    ) -> None:
        """The host of `own_url` does not count as a referrer."""
        self._journal = journal
        self._visitors = visitors
        self._referrer_of = referrers_except(own_url)
        self._referrers = _Referrers(self._referrer_of)
        self._clock = clock
        self._hour = -1
        self._hour_begins = self._hour_ends = 0.0
        self._sender = Sender(journal, sink, self._note_oldest, self._lose)
        self._held: list[Visit] = []
        self._recorded = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._throttled = logs.Throttled(__name__)
        self._unwritable = False
        # When the first visit of each closed batch, and of the open one, was recorded. Of those of
        # earlier runs it is not known: at the latest when this one began.
        self._since = deque([clock()] * journal.closed_batches)
        self._open_since: float | None = None
        self._note_oldest()
        self._lost = 0
        self.visits = {"person": 0, "bot": 0}
        """Visits recorded since the start, by kind."""

    @property
    def batches(self) -> dict[str, int]:
        """Batches sent since the start, by result; one that failed is sent again."""
        return self._sender.batches

    @property
    def unknown(self) -> dict[str, int]:
        """Visits of people in acknowledged batches by the fact that is not known."""
        return self._sender.unknown

    @property
    def lost(self) -> int:
        """Visits that could not be put on file or read back, or that analytics refused."""
        return self._lost + self._journal.lost_lines

    @property
    def pending(self) -> int:
        """Visits that analytics has not acknowledged; at least so many while `restoring`."""
        return self._journal.pending + len(self._held)

    @property
    def restoring(self) -> bool:
        """Whether visits of earlier runs wait for their acknowledgement."""
        return self._journal.restoring

    @property
    def journal_bytes(self) -> int:
        """Bytes on file."""
        return self._journal.size

    @property
    def journal_limit_bytes(self) -> int:
        """Maximum bytes on file: the journal's room, or less if its disk leaves less."""
        return self._journal.limit

    @property
    def lag_seconds(self) -> float:
        """For how long, at least, there has been an unacknowledged visit; 0 if there is none.

        Thread-safe.
        """
        oldest = self._oldest
        return 0.0 if oldest is None else max(0.0, self._clock() - oldest)

    async def check_journal(self) -> None:
        """Raise Unavailable unless the next visit can be put on file."""
        if self._unwritable:
            raise Unavailable("The journal cannot be written.", "JOURNAL_UNWRITABLE")
        if not await self._journal.has_room():
            raise Unavailable("The journal is full.", "JOURNAL_FULL")

    def take(self, code: str, headers: Headers, host: str, link_code: str = "") -> None:
        """Record the visit of a request, unless the request is a prefetch.

        `host` is the host of its connection, empty if unknown. If `code` is a scan code,
        `link_code` is the code of its link.
        """
        sent = dict(headers)
        if len(sent) != len(headers):
            sent = joined(headers)
        if not PURPOSES.isdisjoint(sent) and looks_ahead(sent):
            return
        value = sent.get
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
        """Record a visit, to be put on file by the next `flush`, at the latest within a tick.

        `code`, `host` and `link_code` are as in `take`. The rest are headers: User-Agent, Referer,
        Accept-Language and X-Forwarded-For.
        """
        now = self._clock()
        if not self._hour_begins <= now < self._hour_ends:
            self._begin_hour(now)
        kind, facts, client = self._visitors[host, forwarded, user_agent, language]
        if link_code:  # A scan counts for the link.
            code = link_code
            if kind == "person":
                facts += SCANNED
        if not referrer:
            name = ""
        elif kind == "person":
            name = self._referrers[client, code, referrer]
        else:
            name = self._referrer_of(referrer)
        held = self._held
        held.append(Visit(code, self._hour, kind, name, facts))
        if len(held) >= _MOST_HELD:
            self.flush()
        self._recorded.set()

    def flush(self) -> None:
        """Put recorded visits on file. Those without room are lost, counted and logged."""
        held = self._held
        if not held:
            return
        self._held = []
        try:
            self._journal.append(*held)
        except JournalFullError as error:  # The next tick looks for room.
            self._lose(len(held) - error.appended, str(error))
            held = held[: error.appended]
        for visit in held:
            self.visits[visit.kind] += 1
        if self._open_since is None and held:
            self._open_since = self._clock()
            self._note_oldest()
        if self._journal.open_rows >= MOST_ROWS:  # However late the next tick is.
            try:
                self._close_batch()
            except OSError as error:
                self._throttled.error("journal_not_synced", error=str(error))

    def start(self) -> None:
        """Start to send. Call once, inside the loop."""
        self._tasks = [
            background.run(self._journal.count_restored(), "journal_count"),
            background.run(self._close_batches(), "visits_close"),
            background.run(self._sender.run(), "visits_send"),
        ]

    async def stop(self, seconds: float) -> None:
        """Send what is left for at most `seconds`; the rest stays in the journal."""
        journal = self._journal
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        try:
            self._close_batch()
            await journal.sync()
            async with asyncio.timeout(seconds):
                await self._sender.drain()
        except (TimeoutError, AppError, OSError) as error:
            log.warning(
                "visits_left_in_journal",
                visits=self.pending,
                all_read=not journal.restoring,
                error=type(error).__name__,
            )
        except Exception as error:  # The rest of the process still ends in good order.
            background.failed("visits_send", error)
        await journal.close()

    def _begin_hour(self, now: float) -> None:
        """Enter this hour, so that visitors are numbered under the key of their visit's day."""
        self._hour = int(now) // 3600
        self._hour_begins = self._hour * 3600.0
        self._hour_ends = self._hour_begins + 3600.0
        self._visitors.begin(self._hour // 24)
        self._referrers.begin(self._hour // 24)

    async def _close_batches(self) -> None:
        """Every tick with visits: close a batch unless one waits to be sent, and sync."""
        journal = self._journal
        while True:
            await self._recorded.wait()
            await asyncio.sleep(TICK_SECONDS)
            self._recorded.clear()
            self.flush()
            try:
                if journal.open_visits >= MOST_VISITS or not journal.closed_batches:
                    self._close_batch()
                if journal.is_dirty:
                    await journal.sync()
                self._unwritable = False
            except OSError as error:
                self._unwritable = True
                self._throttled.error("journal_not_synced", error=str(error))
            if journal.closed_batches:
                self._sender.wake()
            if journal.open_visits or journal.is_dirty:
                self._recorded.set()

    def _close_batch(self) -> None:
        self.flush()
        if not self._journal.open_visits:
            return
        self._journal.close_batch()
        self._since.append(self._clock() if self._open_since is None else self._open_since)
        self._open_since = None
        self._note_oldest()

    def _note_oldest(self) -> None:
        """Keep the value of `lag_seconds` in one place, for other threads."""
        while len(self._since) > self._journal.closed_batches:
            self._since.popleft()
        self._oldest = self._since[0] if self._since else self._open_since

    def _lose(self, visits: int, why: str) -> None:
        self._lost += visits
        self._throttled.error("visits_lost", lost=self.lost, error=why)
