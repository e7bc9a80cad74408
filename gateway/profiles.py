"""An account's links with their views, as JSON in pieces: however many, nobody else waits.

- A page of links is encoded in steps of a millisecond or two, between which the loop turns.
- The views of some pages are asked for while the next ones are on their way.
- Few accounts are read at once, each once at a time: who asks a hundred times waits for himself.
- Who asks has a place until the answer is sent. There are so many, and fewer for one account, and
  for one address.
- While analytics is away, links come without views.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from weakref import WeakValueDictionary

from pydantic_core import to_json

from gateway.limits import Networks
from gateway.metrics import LIMITED
from services.runtime import logs
from services.runtime.errors import AppError, ResourceExhausted, Unavailable

MOST_AT_ONCE = 4
"""Accounts that are read at once."""
MOST_ASKED = 256
"""Questions waiting, under way or being sent their answer, of all accounts; one more is refused."""
MOST_ASKED_OF_ACCOUNT = 8
MOST_ASKED_BY_NETWORK = (16, 64)
"""By an address (of IPv6 what a household has), and by a whole network of IPv6."""
PAGES_AHEAD = 4
"""Pages of one account whose views are asked for at once."""
LINKS_A_STEP = 100
"""Links encoded before the loop turns: 0.5 ms of an idle core."""
AGAIN_SECONDS = 5.0
"""For how long analytics is asked nothing after it failed, which is as long as it may take to fail:
one call in vain, whoever's links it was about, leaves the views of all accounts open meanwhile."""


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A link of an account."""

    code: str
    url: str
    created_at: datetime


class LinkList(Protocol):
    """Where an account's links are: the links service."""

    def of_account(self, account: str) -> AsyncIterator[list[StoredLink]]:
        """An account's links, newest first, in pages of at most 1000."""
        ...


class ViewCounts(Protocol):
    """Where views are counted: the analytics service."""

    async def people(self, codes: Sequence[str]) -> dict[str, int]:
        """Visits of people by code, of at most 1000 codes; links nobody visited are left out."""
        ...


class Profiles:
    """The profiles of accounts. Belongs to one loop."""

    def __init__(
        self,
        links: LinkList,
        analytics: ViewCounts,
        clock: Callable[[], float] = time.monotonic,
        most_by_network: Sequence[int] = MOST_ASKED_BY_NETWORK,
    ) -> None:
        self._links = links
        self._analytics = analytics
        self._clock = clock
        self._most_by_network = most_by_network
        self._log = logs.Throttled(__name__)
        self._reading = asyncio.Semaphore(MOST_AT_ONCE)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._asked: Counter[str] = Counter()
        self._asking: Counter[bytes] = Counter()
        self._limited = LIMITED.labels("profile")
        self._ask_from = 0.0
        """When analytics may be asked again (`clock`)."""

    @asynccontextmanager
    async def of(
        self, account: str, networks: Networks
    ) -> AsyncIterator[AsyncGenerator[bytes, None]]:
        """`{"success":true,"data":[…]}` of all links, newest first, in pieces of any size.

        A link is `{"short_link", "long_link", "views", "created_at"}`, its `views` null where
        analytics could not tell. Raises ResourceExhausted and Unavailable where too many ask; the
        pieces raise AppError, also after the first. Whoever asks has one of the places until this
        is left.
        """
        with self._place(account, networks):
            async with aclosing(self._pieces(account)) as pieces:
                yield pieces

    async def _pieces(self, account: str) -> AsyncGenerator[bytes, None]:
        async with self._turns.setdefault(account, asyncio.Lock()), self._reading:
            yield b'{"success":true,"data":['
            comma = b""
            async with aclosing(self._pages(account)) as pages:
                async for page in pages:
                    yield comma + page
                    comma = b","
            yield b"]}"

    async def _pages(self, account: str) -> AsyncGenerator[bytes, None]:
        ahead: deque[tuple[list[StoredLink], asyncio.Task[dict[str, int] | None]]] = deque()
        try:
            async for links in self._links.of_account(account):
                views = asyncio.create_task(self._views([link.code for link in links]))
                ahead.append((links, views))
                if len(ahead) == PAGES_AHEAD:
                    yield await _encoded(*ahead.popleft())
            while ahead:
                yield await _encoded(*ahead.popleft())
        finally:
            for _, views in ahead:
                views.cancel()

    async def _views(self, codes: list[str]) -> dict[str, int] | None:
        """Views by code, 0 left out; None where analytics cannot tell."""
        if self._clock() < self._ask_from:
            return None
        try:
            return await self._analytics.people(codes)
        except AppError as error:
            self._ask_from = self._clock() + AGAIN_SECONDS
            self._log.error("views_unknown", reason=error.reason, call=error.call)
            return None

    @contextmanager
    def _place(self, account: str, networks: Networks) -> Iterator[None]:
        if self._asked[account] >= MOST_ASKED_OF_ACCOUNT:
            raise ResourceExhausted(
                "This account is being read too often.", "TOO_MANY_READS", retry_after=1.0
            )
        for network, most in zip(networks, self._most_by_network, strict=False):
            if self._asking[network] >= most:
                self._limited.inc()
                raise ResourceExhausted(
                    "Too many requests from this address.", "TOO_MANY_REQUESTS", retry_after=1.0
                )
        if self._asked.total() >= MOST_ASKED:
            raise Unavailable("Too many accounts are being read.", "PROFILES_OVERLOADED")
        self._asked[account] += 1
        self._asking.update(networks)
        try:
            yield
        finally:
            self._asked -= Counter([account])  # What is down to none is forgotten.
            self._asking -= Counter(networks)


async def _encoded(links: list[StoredLink], asked: asyncio.Task[dict[str, int] | None]) -> bytes:
    """The links of a page, by commas."""
    views = await asked
    steps = []
    for start in range(0, len(links), LINKS_A_STEP):
        rows = [
            {
                "short_link": link.code,
                "long_link": link.url,
                "views": None if views is None else views.get(link.code, 0),
                "created_at": _iso(link.created_at),
            }
            for link in links[start : start + LINKS_A_STEP]
        ]
        steps.append(to_json(rows)[1:-1])
        await asyncio.sleep(0)
    return b",".join(steps)


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
