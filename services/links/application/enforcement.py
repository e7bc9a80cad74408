"""Applies the blocklists to existing links."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Sequence
from datetime import datetime
from itertools import compress

from services.links import metrics
from services.links.application.ports import LinkStore, UnitOfWork
from services.links.application.time_slices import TimeSlices
from services.links.domain.blocklist import VersionedBlocklist, to_pattern
from services.links.domain.edit import apply_blocklist
from services.links.domain.host import HostCursor
from services.links.domain.link import Link

BATCH_SIZE = 200
"""Maximum links that one step reads and changes."""


class BlocklistEnforcer:
    """Blocks links that the blocklists name and unblocks those that none names any more."""

    def __init__(
        self,
        store: LinkStore,
        blocklist: VersionedBlocklist,
        now: Callable[[], datetime],
        slices: TimeSlices,
    ) -> None:
        self._store = store
        self._blocklist = blocklist
        self._now = now
        self._slices = slices

    async def at(
        self, hosts: Iterable[str], *, with_subdomains: bool = False
    ) -> AsyncGenerator[None, None]:
        """Check the links that lead to hosts, one batch in each step. Raises AppError.

        A transaction changes links of several hosts: most hosts have few links, and each
        transaction waits for the disk.
        """
        batch: dict[str, Link] = {}
        for host in hosts:
            cursor: HostCursor | None = None
            while True:
                links, cursor = await self._store.hosts.at(
                    host, cursor, BATCH_SIZE, with_subdomains=with_subdomains
                )
                if len(batch) + len(links) > BATCH_SIZE:
                    await self.check(list(batch.values()))
                    batch.clear()
                    yield
                batch.update((link.code, link) for link in links)
                if cursor is None:
                    break
        if batch:
            await self.check(list(batch.values()))
            yield

    async def check(self, links: Sequence[Link]) -> None:
        """Block or unblock those of the links that disagree with the blocklists.

        Raises AppError.
        """
        edit, now = apply_blocklist(self._blocklist), self._now()
        differs = await self._slices.map(
            lambda link: not link.is_gone_at(now) and edit(link) != link, links
        )
        outdated = [link.code for link in compress(links, differs)]
        if not outdated:
            return

        def work(unit: UnitOfWork) -> list[Link]:
            found = unit.links.get(outdated)
            edits = {
                code: (link, edit(link)) for code, link in found.items() if not link.is_gone_at(now)
            }
            patterns = {to_pattern(link.blocklist) for both in edits.values() for link in both}
            blocked = unit.decisions.blocked_among(patterns)
            codes = [code for code, both in edits.items() if _agrees(*both, blocked)]
            return unit.edit(found, codes, edit, now)

        for link in await self._store.transactions.run("links_edit", work):
            metrics.ENFORCED.labels("blocked" if link.blocklist else "freed").inc()


def _agrees(before: Link, after: Link, blocked: Collection[str]) -> bool:
    """Return whether an edit agrees with the patterns that are blocked in the store.

    If not, another process blocked or unblocked a pattern, and this one has not loaded that yet.
    Once it has, its next rescan checks the link again.
    """
    if pattern := to_pattern(after.blocklist):
        return pattern in blocked
    return to_pattern(before.blocklist) not in blocked
