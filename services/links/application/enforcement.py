"""Applies blocklist changes to existing links."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TypeVar

from services.links import metrics
from services.links.application.links import edit_links
from services.links.application.ports import LinkStore, UnitOfWork
from services.links.domain.block import Lists
from services.links.domain.edit import apply_blocklists
from services.links.domain.host import HostPlace
from services.links.domain.link import Link

T = TypeVar("T")

LINKS = 200
"""Links read, and changed, in one step."""
_SLICE = 20
"""Hosts or links checked between two turns of the event loop: about 1 ms."""


class BlocklistEnforcer:
    """Blocks links that the blocklists name and frees those that none names any more."""

    def __init__(self, store: LinkStore, lists: Lists, now: Callable[[], datetime]) -> None:
        self._store = store
        self._lists = lists
        self._now = now

    async def at(self, hosts: Iterable[str]) -> AsyncGenerator[None, None]:
        """Check the links that lead to hosts, some in each step. Raises AppError.

        Links of several hosts are changed in one transaction: most hosts have few links, and each
        transaction waits for the disk.
        """
        gathered: dict[str, Link] = {}
        for host in hosts:
            code, more = "", True
            while more:
                links = await self._store.hosts.at(host, code, LINKS)
                if len(gathered) + len(links) > LINKS:
                    await self.check(list(gathered.values()))
                    gathered.clear()
                    yield
                gathered.update((link.code, link) for link in links)
                if more := len(links) == LINKS:
                    code = links[-1].code
        if gathered:
            await self.check(list(gathered.values()))
            yield

    async def at_or_below(self, host: str) -> AsyncGenerator[None, None]:
        """Check the links to a host or a subdomain, some in each step. Raises AppError."""
        place: HostPlace | None = None
        while True:
            links, place = await self._store.hosts.at_or_below(host, place, LINKS)
            await self.check(links)
            yield
            if place is None:
                return

    async def check(self, links: Sequence[Link]) -> None:
        """Change those of some links that are not as the lists demand. Raises AppError."""
        edit, now = apply_blocklists(self._lists), self._now()
        wrong: list[str] = []
        for some in slices(links):
            wrong += [
                link.code for link in some if not link.is_gone_at(now) and edit.of(link) != link
            ]
            await asyncio.sleep(0)
        if not wrong:
            return

        def work(unit: UnitOfWork) -> list[Link]:
            found = unit.links.get(wrong)
            there = [code for code in wrong if code in found and not found[code].is_gone_at(now)]
            return edit_links(unit, found, there, edit, now)

        for link in await self._store.transactions.run("links_edit", work):
            metrics.SWEPT.labels("blocked" if link.listed else "freed").inc()


def slices(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield values in parts so small that the event loop may turn after each."""
    for start in range(0, len(values), _SLICE):
        yield values[start : start + _SLICE]
