"""Copies the number of views of each link from analytics to links, which orders links by them.

Every two seconds the job reads the change feed of analytics from its cursor on. links stores the
numbers, and the cursor with the last of them. If links has no cursor yet, or the feed is
`truncated`, the job copies all numbers, page by page. It follows the feed meanwhile, but stores
the cursor only at the end, so that a copy that broke off begins anew. Numbers never go down, so a
number that is stored twice or late changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from services.reconciler.metrics import VIEWS_COPIED, VIEWS_COPYING, VIEWS_LOST
from services.reconciler.ports import Services, Visited
from services.shared.errors import AppError

MAX_PAGES = 10
"""Maximum pages of the feed in a run."""
COPY_SECONDS = 1.0
"""How long a run copies all numbers: between two there is a pause, for the services' sake."""
_RANKED = 1000
"""Links takes so many numbers at once."""


class Views:
    """The job. `clock` counts seconds."""

    name = "views"
    every = 2.0

    def __init__(self, services: Services, clock: Callable[[], float] = time.monotonic) -> None:
        self._links = services.links
        self._analytics = services.analytics
        self._clock = clock
        self._copied: str | None = None
        """While all numbers are copied, the last code that was; None otherwise."""
        self._followed = ""
        """The cursor up to which the feed was read meanwhile."""

    def begin(self) -> None:
        """Begin anew what was not finished."""
        self._copied = None
        VIEWS_COPYING.set(0)

    async def run(self) -> bool:
        """Pass changes on, and copy some of all numbers if that is under way.

        Returns whether there are more changes. Raises AppError.
        """
        cursor, more = await self._follow(await self._cursor())
        self._followed = cursor
        if self._copied is not None:
            await self._copy(self._copied, cursor)
        return more

    async def _cursor(self) -> str:
        """Return where to continue. links is asked each time: its store may have been restored."""
        if self._copied is not None:
            return self._followed
        stored = await self._links.rank_cursor()
        if stored is not None:
            return stored
        now = await self._analytics.visited(None)
        self._begin_copy()
        self._followed = now.cursor
        return now.cursor

    async def _follow(self, cursor: str) -> tuple[str, bool]:
        """Pass on what changed after a cursor; return the next cursor, and whether there is more.

        All pages are passed on together: in the order of their codes, many rows of one call lie
        side by side. Those ahead of an error are passed on, too: the next run goes on behind them.
        """
        pages: list[Visited] = []
        try:
            while len(pages) < MAX_PAGES and (not pages or pages[-1].more):
                pages.append(await self._analytics.visited(pages[-1].cursor if pages else cursor))
        except AppError:
            await self._pass_on(pages, cursor)
            raise
        await self._pass_on(pages, cursor)
        return pages[-1].cursor, pages[-1].more

    async def _pass_on(self, pages: Sequence[Visited], since: str) -> None:
        """Have links store the numbers of some pages, which begin after the cursor `since`."""
        people: dict[str, int] = {}
        for page in pages:
            if page.truncated:
                VIEWS_LOST.inc()
                self._begin_copy()
            people |= page.people
        cursor = pages[-1].cursor if pages else since
        await self._rank(people, cursor if self._copied is None and cursor != since else None)

    def _begin_copy(self) -> None:
        self._copied = ""
        VIEWS_COPYING.set(1)

    async def _copy(self, last: str, cursor: str) -> None:
        """Copy numbers for a while, after the code `last`; store the cursor at the end."""
        deadline = self._clock() + COPY_SECONDS
        while codes := await self._links.codes_after(last):
            await self._rank(await self._analytics.people(codes), None)
            self._copied = last = codes[-1]
            if self._clock() >= deadline:
                return
        await self._rank({}, cursor)
        self._copied = None
        VIEWS_COPYING.set(0)

    async def _rank(self, people: Mapping[str, int], cursor: str | None) -> None:
        """Have links store numbers, and the cursor with the last of them."""
        # In an order in which those of one call may lie side by side in a store.
        numbers = sorted((code, count) for code, count in people.items() if count)
        steps = [dict(numbers[n : n + _RANKED]) for n in range(0, len(numbers), _RANKED)]
        if cursor is not None and not steps:
            steps = [{}]
        for number, step in enumerate(steps, 1):
            await self._links.rank(step, cursor if number == len(steps) else None)
            VIEWS_COPIED.inc(len(step))
