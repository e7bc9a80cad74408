"""An account's links with their views, as JSON in pieces: however many, nobody else waits.

- A page of links is encoded in steps of 100 links, between which the loop turns.
- The views of four pages are looked up while the next pages are on their way.
- Four accounts are read at the same time, and each of them once at a time. So whoever asks for one
  account a hundred times waits for himself, and not others for him.
- A request has a place from its beginning until its response is sent. The number of places is
  limited: in all, for one account, and for one address.
- While analytics is away, links come without views.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from weakref import WeakValueDictionary

from pydantic_core import to_json

from gateway import iso
from gateway.limits import Networks
from gateway.metrics import LIMITED
from gateway.views import NONE, Totals, Views
from services.runtime.errors import ResourceExhausted, Unavailable

MOST_READS = 4
"""Accounts that are read at the same time."""
MOST_REQUESTS = 256
"""Requests that wait, are under way or are being sent their response; one more is refused."""
MOST_REQUESTS_OF_ACCOUNT = 8
MOST_REQUESTS_BY_NETWORK = (16, 64)
"""Of one address (of IPv6 its /64, which one household has), and of a network of IPv6 (its /48)."""
PAGES_AHEAD = 4
"""Pages of one account whose views are asked for at once."""
LINKS_A_STEP = 100
"""Links that are encoded between two turns of the loop, which takes 0.5 ms of an idle core."""

_Counting = asyncio.Task[Mapping[str, Totals] | None]


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A link of an account."""

    code: str
    url: str
    created_at: datetime


class LinkList(Protocol):
    """Where an account's links are: the links service."""

    def of_account(self, account: str) -> AsyncIterator[list[StoredLink]]:
        """An account's active links, newest first, in pages of at most 1000."""
        ...


class Profiles:
    """The profiles of accounts. Belongs to one loop."""

    def __init__(
        self,
        links: LinkList,
        views: Views,
        most_by_network: Sequence[int] = MOST_REQUESTS_BY_NETWORK,
    ) -> None:
        self._links = links
        self._views = views
        self._most_by_network = most_by_network
        self._reads = asyncio.Semaphore(MOST_READS)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._by_account: Counter[str] = Counter()
        self._by_network: Counter[bytes] = Counter()
        self._limited = LIMITED.labels("profile")

    @asynccontextmanager
    async def of(
        self, account: str, networks: Networks
    ) -> AsyncIterator[AsyncGenerator[bytes, None]]:
        """`{"success":true,"data":[…]}` of all links, newest first, in pieces of any size.

        A link is `{"short_link", "long_link", "views", "created_at"}`, and its `views` are null
        where analytics could not be read. The request has a place until this context is left.
        Raises ResourceExhausted and Unavailable where no place is free. Any of the pieces, and not
        the first alone, may raise AppError.
        """
        with self._place(account, networks):
            async with aclosing(self._pieces(account)) as pieces:
                yield pieces

    async def _pieces(self, account: str) -> AsyncGenerator[bytes, None]:
        async with self._turns.setdefault(account, asyncio.Lock()), self._reads:
            yield b'{"success":true,"data":['
            comma = b""
            async with aclosing(self._pages(account)) as pages:
                async for page in pages:
                    yield comma + page
                    comma = b","
            yield b"]}"

    async def _pages(self, account: str) -> AsyncGenerator[bytes, None]:
        ahead: deque[tuple[list[StoredLink], _Counting]] = deque()
        try:
            async for links in self._links.of_account(account):
                views = asyncio.create_task(self._views.of([link.code for link in links]))
                ahead.append((links, views))
                if len(ahead) == PAGES_AHEAD:
                    yield await _encode(*ahead.popleft())
            while ahead:
                yield await _encode(*ahead.popleft())
        finally:
            for _, views in ahead:
                views.cancel()

    @contextmanager
    def _place(self, account: str, networks: Networks) -> Iterator[None]:
        if self._by_account[account] >= MOST_REQUESTS_OF_ACCOUNT:
            raise ResourceExhausted(
                "This account is being read too often.", "TOO_MANY_READS", retry_after=1.0
            )
        for network, most in zip(networks, self._most_by_network, strict=False):
            if self._by_network[network] >= most:
                self._limited.inc()
                raise ResourceExhausted(
                    "Too many requests from this address.", "TOO_MANY_REQUESTS", retry_after=1.0
                )
        if self._by_account.total() >= MOST_REQUESTS:
            raise Unavailable("Too many accounts are being read.", "PROFILES_OVERLOADED")
        self._by_account[account] += 1
        self._by_network.update(networks)
        try:
            yield
        finally:
            self._by_account -= Counter([account])  # What is down to none is forgotten.
            self._by_network -= Counter(networks)


async def _encode(links: list[StoredLink], counting: _Counting) -> bytes:
    """A page of links as JSON objects with commas between them. Waits for their views."""
    views = await counting
    steps = []
    for start in range(0, len(links), LINKS_A_STEP):
        rows = [
            {
                "short_link": link.code,
                "long_link": link.url,
                "views": None if views is None else views.get(link.code, NONE).people,
                "created_at": iso.text_of(link.created_at),
            }
            for link in links[start : start + LINKS_A_STEP]
        ]
        steps.append(to_json(rows)[1:-1])
        await asyncio.sleep(0)
    return b",".join(steps)
