"""Passes views on from analytics to links, which orders links by them.

Every two seconds analytics is asked what was visited since a mark, and links notes the numbers and
the mark. Where there is no mark yet, or analytics does not know any more what was visited since
(`lost`), all numbers are copied, page by page. What is visited meanwhile is passed on all the same;
the mark alone waits until all is copied, so that a copy that broke off begins anew. Numbers never
go down, so whatever is passed on twice, or late, changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from services.reconciler.metrics import VIEWS_COPIED, VIEWS_COPYING, VIEWS_LOST
from services.reconciler.ports import Services, Visited
from services.runtime.errors import AppError

MOST_ANSWERS = 10
"""Answers of analytics in a run."""
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
        self._followed = 0
        """The mark up to which was followed meanwhile."""

    def begin(self) -> None:
        """Begin anew what was not finished."""
        self._copied = None
        VIEWS_COPYING.set(0)

    async def run(self) -> bool:
        """Pass on what was visited, and copy some of all numbers where that is under way.

        Raises AppError.
        """
        mark, more = await self._follow(await self._mark())
        self._followed = mark
        if self._copied is not None:
            await self._copy(self._copied, mark)
        return more

    async def _mark(self) -> int:
        """From where on to follow. Links is asked each time: its store may have been put back."""
        if self._copied is not None:
            return self._followed
        noted = await self._links.rank_mark()
        if noted is not None:
            return noted
        now = await self._analytics.visited(None)
        self._begin_copy()
        self._followed = now.mark
        return now.mark

    async def _follow(self, mark: int) -> tuple[int, bool]:
        """Pass on what was visited since a mark; returns up to where, and whether there is more.

        All answers are passed on together: in the order of their codes, many rows of one call lie
        side by side. Those ahead of an error are passed on, too: the next run goes on behind them.
        """
        answers: list[Visited] = []
        try:
            while len(answers) < MOST_ANSWERS and (not answers or answers[-1].more):
                answers.append(await self._analytics.visited(answers[-1].mark if answers else mark))
        except AppError:
            await self._pass_on(answers, mark)
            raise
        await self._pass_on(answers, mark)
        return answers[-1].mark, answers[-1].more

    async def _pass_on(self, answers: Sequence[Visited], since: int) -> None:
        """Have links note what some answers tell, the first of them of what was visited `since`."""
        people: dict[str, int] = {}
        for one in answers:
            if one.lost:
                VIEWS_LOST.inc()
                self._begin_copy()
            people |= one.people
        mark = answers[-1].mark if answers else since
        await self._rank(people, mark if self._copied is None and mark != since else None)

    def _begin_copy(self) -> None:
        self._copied = ""
        VIEWS_COPYING.set(1)

    async def _copy(self, last: str, mark: int) -> None:
        """Copy numbers for a while, from behind the code `last` on; note the mark at the end."""
        deadline = self._clock() + COPY_SECONDS
        while codes := await self._links.codes_after(last):
            await self._rank(await self._analytics.people(codes), None)
            self._copied = last = codes[-1]
            if self._clock() >= deadline:
                return
        await self._rank({}, mark)
        self._copied = None
        VIEWS_COPYING.set(0)

    async def _rank(self, people: Mapping[str, int], mark: int | None) -> None:
        """Have links note numbers, and the mark with the last of them."""
        # In an order in which those of one call may lie side by side in a store.
        numbers = sorted((code, count) for code, count in people.items() if count)
        steps = [dict(numbers[n : n + _RANKED]) for n in range(0, len(numbers), _RANKED)]
        if mark is not None and not steps:
            steps = [{}]
        for number, step in enumerate(steps, 1):
            await self._links.rank(step, mark if number == len(steps) else None)
            VIEWS_COPIED.inc(len(step))
