"""Copies the view count of each link from analytics to links, which sorts links by it.

Every two seconds, the job reads the change feed of analytics after its cursor. links stores the
counts, and with the last of them the cursor. If links has no cursor yet, or the feed is
`truncated`, the job copies all counts, page by page. Meanwhile it keeps reading the feed, but
stores the cursor only at the end, so that an interrupted copy starts again. Counts never decrease,
so storing a count twice or late is harmless.

On MongoDB the cursor of the feed advances with every write of the server. While there are no views,
the job keeps the cursor in memory and stores it once a minute, so that it does not become too old.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from services.reconciler.metrics import VIEWS_COPIED, VIEWS_COPYING, VIEWS_LOST
from services.reconciler.ports import Services, ViewChanges
from services.shared.errors import AppError

MAX_PAGES = 10
"""Maximum pages of the feed per run."""
COPY_SECONDS = 1.0
"""How long a run copies all counts. The pause until the next run limits the load on services."""
IDLE_STORE_SECONDS = 60.0
"""How often the cursor is stored while there are no views."""
_MAX_COUNTS = 1000
"""Maximum counts per call to links."""


class ViewCounts:
    """A job. `clock` returns seconds."""

    name = "views"
    interval_seconds = 2.0

    def __init__(self, services: Services, clock: Callable[[], float] = time.monotonic) -> None:
        self._links = services.links
        self._analytics = services.analytics
        self._clock = clock
        self._copied_to: str | None = None
        """While all counts are copied, the last copied code; otherwise None."""
        self._read_to = ""
        """The cursor up to which the feed was read."""
        self._stored: str | None = None
        """The cursor that links has. Between it and `_read_to`, the feed has no counts."""
        self._stored_at = 0.0

    def reset(self) -> None:
        """Forget the progress. An interrupted copy starts again."""
        self._copied_to = None
        self._stored = None
        VIEWS_COPYING.set(0)

    async def run(self) -> bool:
        """Copy the changes, and some of all counts if such a copy is in progress.

        Returns whether there are more changes. Raises AppError.
        """
        await self._find_cursor()
        more = await self._copy_changes()
        if self._copied_to is not None:
            await self._copy_all(self._copied_to)
        return more

    async def _find_cursor(self) -> None:
        """Set `_read_to`. Asks links every time, since its store may have been restored."""
        if self._copied_to is not None:
            return
        stored = await self._links.views_cursor()
        if stored is None:
            current = await self._analytics.view_changes(None)
            self._start_copy()
            self._read_to = current.cursor
        elif stored != self._stored:
            self._read_to = stored
            self._note_stored(stored)

    async def _copy_changes(self) -> bool:
        """Copy the counts of the next pages. Return whether more pages follow.

        It stores all pages together, sorted by code: many rows of one call are then adjacent. It
        also stores the pages read before an error, so that the next run continues after them.
        """
        pages: list[ViewChanges] = []
        try:
            while len(pages) < MAX_PAGES and (not pages or pages[-1].more):
                cursor = pages[-1].cursor if pages else self._read_to
                pages.append(await self._analytics.view_changes(cursor))
        except AppError:
            await self._store_pages(pages)
            raise
        await self._store_pages(pages)
        return pages[-1].more

    async def _store_pages(self, pages: Sequence[ViewChanges]) -> None:
        """Store the counts of pages that follow `_read_to`."""
        views: dict[str, int] = {}
        for page in pages:
            if page.truncated:
                VIEWS_LOST.inc()
                self._start_copy()
            views |= page.views
        cursor = pages[-1].cursor if pages else self._read_to
        is_due = bool(views) or self._clock() - self._stored_at >= IDLE_STORE_SECONDS
        is_stored = self._copied_to is None and cursor != self._read_to and is_due
        await self._store(views, cursor if is_stored else None)
        self._read_to = cursor

    def _start_copy(self) -> None:
        self._copied_to = ""
        VIEWS_COPYING.set(1)

    async def _copy_all(self, last: str) -> None:
        """Copy counts of links after the code `last` for a while. Store the cursor at the end."""
        deadline = self._clock() + COPY_SECONDS
        while codes := await self._links.codes_after(last):
            await self._store(await self._analytics.views_of(codes), None)
            self._copied_to = last = codes[-1]
            if self._clock() >= deadline:
                return
        await self._store({}, self._read_to)
        self._copied_to = None
        VIEWS_COPYING.set(0)

    async def _store(self, views: Mapping[str, int], cursor: str | None) -> None:
        """Store counts in links, and with the last of them the cursor."""
        # Sorted, so that the rows of one call may be adjacent in a store.
        counts = sorted((code, count) for code, count in views.items() if count)
        steps = [dict(counts[n : n + _MAX_COUNTS]) for n in range(0, len(counts), _MAX_COUNTS)]
        if cursor is not None and not steps:
            steps = [{}]
        for number, step in enumerate(steps, 1):
            await self._links.store_views(step, cursor if number == len(steps) else None)
            VIEWS_COPIED.inc(len(step))
        if cursor is not None:
            self._note_stored(cursor)

    def _note_stored(self, cursor: str) -> None:
        self._stored = cursor
        self._stored_at = self._clock()
