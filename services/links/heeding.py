"""Blocks and frees links that are there already, as the lists want them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TypeVar

from services.links import metrics
from services.links.blocks import Lists
from services.links.domain import Link
from services.links.edits import Edit, heed
from services.links.hosts import HostPlace
from services.links.store import LinkStore

T = TypeVar("T")

LINKS = 200
"""Links that are read, and changed, at a time."""
_SLICE = 20
"""Hosts or links that are looked at between two turns of the loop: a millisecond."""


def _never(_: Link) -> bool:
    return False


class Heeder:
    """Changes links that are not as the lists want them."""

    def __init__(self, store: LinkStore, lists: Lists, now: Callable[[], datetime]) -> None:
        self._store = store
        self._lists = lists
        self._now = now

    async def at(self, hosts: Iterable[str]) -> AsyncGenerator[None, None]:
        """Look at the links that lead to hosts, some of them at a step. Raises AppError.

        Those of several hosts are changed together: a change waits for the disk, however many links
        are in it, and most hosts have few.
        """
        gathered: dict[str, Link] = {}
        for host in hosts:
            code, more = "", True
            while more:
                links = await self._store.at_host(host, code, LINKS)
                if len(gathered) + len(links) > LINKS:
                    await self.look_at(list(gathered.values()))
                    gathered.clear()
                    yield
                gathered.update((link.code, link) for link in links)
                if more := len(links) == LINKS:
                    code = links[-1].code
        if gathered:
            await self.look_at(list(gathered.values()))
            yield

    async def at_or_below(
        self, host: str, is_doubted: Callable[[Link], bool]
    ) -> AsyncGenerator[None, None]:
        """Look at those that lead to a host or below it, some at a step. Raises AppError.

        Those that are doubted are announced in any case: the process that changed them may have
        ended before it could do that.
        """
        place: HostPlace | None = None
        while True:
            links, place = await self._store.at_or_below(host, place, LINKS)
            await self.look_at(links, is_doubted)
            yield
            if place is None:
                return

    async def look_at(
        self, links: Sequence[Link], is_doubted: Callable[[Link], bool] = _never
    ) -> None:
        """Change those of some links that are not as they are to be. Raises AppError.

        `is_doubted` is as in `at_or_below`.
        """
        edit, now = heed(self._lists), self._now()
        wrong: list[str] = []
        for some in slices(links):
            wrong += [
                link.code
                for link in some
                if not link.is_gone_at(now) and (edit.of(link) != link or is_doubted(link))
            ]
            await asyncio.sleep(0)
        # One that was purged meanwhile stands in the way of the others, and is passed over.
        if wrong and await self._edit(wrong, edit, now) is None:
            for code in wrong:
                await self._edit([code], edit, now)

    async def _edit(self, codes: list[str], edit: Edit, now: datetime) -> list[Link] | None:
        edited = await self._store.edit(None, codes, edit, now)
        for link in edited or ():
            metrics.SWEPT.labels("blocked" if link.listed else "freed").inc()
        return edited


def slices(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Values in parts, so small that the loop may turn after each."""
    for start in range(0, len(values), _SLICE):
        yield values[start : start + _SLICE]
