"""Creates, reads and changes an owner's links. Each change is served here at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prometheus_client import Counter

from gateway.backends.links import LinksClient
from gateway.backends.owners import Account, Guest, Owner
from gateway.backends.ports import CreatedLinks, Link, LinkChanges, NewLink
from gateway.backends.view_counts import NO_VIEWS, RECENT_DAYS, ViewCounts
from gateway.redirects.lookups import URLS_PER_STEP
from gateway.redirects.resolution import Resolutions
from gateway.redirects.resolver import Resolver
from gateway.use_cases.json_values import link_json
from services.shared.errors import DeadlineExceeded
from services.shared.origins import Origins

LINKS_CREATED = Counter("atajo_links_created", "Links created, repeated creations included.")
CLAIM_SECONDS = 60.0
"""Timeout of all steps of a claim: as long as the longest other call."""


@dataclass(frozen=True)
class LinkEditor:
    """Changes links, and serves each change at once. Raises what `LinksClient` raises."""

    links: LinksClient
    resolver: Resolver

    async def create(self, code: str, url: str, owner: Owner | None, domain: str = "") -> None:
        """Create a link, without an owner for None. An empty domain is that of the public URL."""
        version = self.resolver.version
        resolution = await self.links.create(code, url, owner, domain)
        self.resolver.put_created(code, resolution, version)
        LINKS_CREATED.inc()

    async def create_all(
        self,
        account: Account,
        links: Sequence[NewLink],
        idempotency_key: bytes,
        fingerprint: bytes,
    ) -> CreatedLinks:
        """Create links of an account, each with an outcome of its own."""
        version = self.resolver.version
        created = await self.links.create_all(account, links, idempotency_key, fingerprint)
        await self.serve_created(created.resolutions, version)
        return created

    async def serve_created(self, created: Resolutions, version: int) -> None:
        """Count and serve new links. Other requests get the loop in between.

        `version` is that of the resolver before the call that created them.
        """
        LINKS_CREATED.inc(len(created))
        for number, (code, resolution) in enumerate(created.items(), 1):
            self.resolver.put_created(code, resolution, version)
            if number % URLS_PER_STEP == 0:
                await asyncio.sleep(0)

    async def change(self, owner: Owner, code: str, changes: LinkChanges) -> Link:
        """Apply all changes to a link, or none, and return the changed link."""
        link, resolutions = await self.links.change(owner, code, changes)
        self.resolver.put_edited(resolutions)
        return link

    async def remove(self, owner: Owner, codes: Sequence[str]) -> None:
        """Remove all links, or none."""
        self.resolver.put_edited(await self.links.remove(owner, codes))

    async def restore(self, owner: Owner, codes: Sequence[str]) -> None:
        """Restore all links, or none."""
        self.resolver.put_edited(await self.links.restore(owner, codes))

    async def create_scan_code(self, owner: Owner, code: str) -> str:
        """Return the scan code of a link, which is created by the first call."""
        scan_code, resolutions = await self.links.create_scan_code(owner, code)
        self.resolver.put_edited(resolutions)
        return scan_code

    async def claim(self, guest: Guest, account: Account) -> int:
        """Move all links of a guest, and return how many this call moved.

        After an error, the next call continues with the rest.
        """
        claimed, more = 0, True
        try:
            async with asyncio.timeout(CLAIM_SECONDS):
                while more:
                    moved, more = await self.links.claim(guest, account)
                    claimed += moved
        except TimeoutError:
            raise DeadlineExceeded("There are more links than could be moved in time.") from None
        return claimed


@dataclass(frozen=True)
class LinkPresenter:
    """Shows links with their views, which are null while analytics is unavailable."""

    views: ViewCounts
    origins: Origins

    def created(self, link: Link) -> dict[str, Any]:
        """Return a new link as JSON, which a repeated request returns to the byte."""
        return link_json(link, NO_VIEWS, self.origins)

    async def one(self, link: Link) -> dict[str, Any]:
        """Return a link as JSON."""
        [shown] = await self.all([link])
        return shown

    async def all(self, links: Sequence[Link]) -> list[dict[str, Any]]:
        """Return links as JSON."""
        totals = await self.views.totals([link.code for link in links]) if links else {}
        return [
            link_json(
                link, None if totals is None else totals.get(link.code, NO_VIEWS), self.origins
            )
            for link in links
        ]

    async def all_with_recent(self, owner: Owner, links: Sequence[Link]) -> list[dict[str, Any]]:
        """Return links as JSON, each with `recent`: its daily views of the last 30 UTC days."""
        if not links:
            return []
        shown: list[dict[str, Any]]
        shown, recent = await asyncio.gather(
            self.all(links), self.views.recent_people([link.code for link in links], owner)
        )
        for link in shown:
            link["recent"] = None if recent is None else recent.get(link["code"], [0] * RECENT_DAYS)
        return shown
