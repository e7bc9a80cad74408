"""showProfile: all active links of an account with their views, streamed page by page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace

from pydantic_core import to_json
from starlette.requests import Request

from gateway.backends.owners import Account
from gateway.backends.ports import Auth, Links, Query
from gateway.backends.view_counts import NONE, Views
from gateway.functions.owner import Token, account_of
from gateway.functions.protocol import Payload
from gateway.functions.rate_limits import ClientAddresses, ConcurrencyLimit, Networks
from gateway.redirects.resolution import LinkState
from gateway.support import timestamps

MAX_READS = 4
"""Pages that are read at once, of all profiles. Encoding one blocks the loop for 1 ms."""
_ALL = Query(state=LinkState.ACTIVE, limit=200, with_total=False)


class ShowProfile(Payload):
    token: Token = None


@dataclass(frozen=True)
class Profiles:
    """The function of profiles. Belongs to one loop."""

    auth: Auth
    links: Links
    views: Views
    clients: ClientAddresses
    requests: ConcurrencyLimit
    _reads: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_READS))

    async def show_profile(
        self, payload: ShowProfile, request: Request
    ) -> AsyncGenerator[bytes, None]:
        account = await account_of(self.auth, payload.token)
        return self._stream(account, self.clients.networks_of(request))

    async def _stream(self, account: Account, networks: Networks) -> AsyncGenerator[bytes, None]:
        """Yield `{"success":true,"data":[...]}`, newest link first. Raises AppError."""
        with self.requests.hold(networks):
            separator = b'{"success":true,"data":['
            query: Query | None = _ALL
            while query:
                async with self._reads:
                    rows, query = await self._read(account, query)
                if rows:
                    yield separator + rows
                    separator = b","
            yield separator.removeprefix(b",") + b"]}"

    async def _read(self, account: Account, query: Query) -> tuple[bytes, Query | None]:
        """Read a page as JSON objects with commas between them. Returns the query for the next one.

        `views` are null while analytics is away.
        """
        page = await self.links.query(account, query)
        totals = await self.views.of([link.code for link in page.links]) if page.links else {}
        rows = [
            {
                "short_link": link.code,
                "long_link": link.url,
                "views": None if totals is None else totals.get(link.code, NONE).people,
                "created_at": timestamps.text_of(link.created_at),
            }
            for link in page.links
        ]
        return to_json(rows)[1:-1], replace(query, cursor=page.cursor) if page.cursor else None
