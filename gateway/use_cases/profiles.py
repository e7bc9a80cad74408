"""All active links of an account with their views, streamed page by page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace

from pydantic_core import to_json

from gateway.backends.links import LinksClient
from gateway.backends.owners import Account
from gateway.backends.ports import LinkQuery
from gateway.backends.view_counts import NO_VIEWS, ViewCounts
from gateway.redirects.resolution import LinkState
from gateway.support.rate_limits import ClientConcurrencyLimiter, Networks
from gateway.support.timestamps import format_timestamp

MAX_READS = 4
"""Maximum pages that are read at once, for all profiles. Encoding one blocks the loop for 1 ms."""
_FIRST_PAGE = LinkQuery(state=LinkState.ACTIVE, limit=200, with_total=False)


@dataclass(frozen=True)
class Profiles:
    """Streams profiles. For use within one event loop."""

    links: LinksClient
    views: ViewCounts
    limiter: ClientConcurrencyLimiter
    _reads: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_READS))

    async def stream(self, account: Account, networks: Networks) -> AsyncGenerator[bytes, None]:
        """Yield `{"success":true,"data":[...]}`, newest link first. Raises AppError."""
        with self.limiter.hold(networks):
            separator = b'{"success":true,"data":['
            query: LinkQuery | None = _FIRST_PAGE
            while query:
                async with self._reads:
                    rows, query = await self._read(account, query)
                if rows:
                    yield separator + rows
                    separator = b","
            yield separator.removeprefix(b",") + b"]}"

    async def _read(self, account: Account, query: LinkQuery) -> tuple[bytes, LinkQuery | None]:
        """Return a page as comma-separated JSON objects, and the query for the next one.

        `views` are null while analytics is unavailable.
        """
        page = await self.links.query(account, query)
        totals = await self.views.totals([link.code for link in page.links]) if page.links else {}
        rows = [
            {
                "short_link": link.code,
                "long_link": link.url,
                "views": None if totals is None else totals.get(link.code, NO_VIEWS).people,
                "created_at": format_timestamp(link.created_at),
            }
            for link in page.links
        ]
        return to_json(rows)[1:-1], replace(query, cursor=page.cursor) if page.cursor else None
