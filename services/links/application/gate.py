"""The gate of URLs as a whole: the blocklists' files, and the addresses that the operator blocked.

Those are in the store, and in the memory of each process, which looks twice a second whether they
changed: one number says so.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256

from services.links import metrics
from services.links.application.ports import DecisionReader
from services.links.domain.block import Lists, Refusal
from services.links.domain.blocklist_key import digest_of, pages_of
from services.links.domain.decision import BlockedAddress
from services.links.domain.pattern import key_of_address
from services.links.domain.target import Target, hosts_of
from services.shared import background
from services.shared.errors import Unavailable
from services.shared.observability import logs
from services.shared.timestamps import micros_of

LOOK_SECONDS = 0.5
"""How often is looked whether the operator blocked another address."""
SETTLE_SECONDS = 10.0
"""How long after this process every other one knows the same addresses, if links answers at all."""
LIST = "operator/"
"""In front of an address as the name of a list: no file has a slash in its name."""


class Gate:
    """The `Lists` of files, where there are some, and of the operator."""

    def __init__(self, files: Lists | None, decisions: DecisionReader) -> None:
        self._files = files
        self._decisions = decisions
        self._log = logs.Throttled(__name__)
        self._looking = asyncio.Lock()
        self._version: int | None = None
        self._named: dict[int, BlockedAddress] = {}
        """By the digest of what each names."""
        self._with_pages: set[int] = set()
        """The digests of what says that single pages of a host are named."""
        self._contents = ""
        """What tells these addresses from others; empty where there are none."""
        self._settled_at = 0.0

    @property
    def contents(self) -> str | None:
        files = self._files.contents if self._files else ""
        if files is None or self._version is None:
            return None
        return _digest([files, self._contents])

    @property
    def settled_at(self) -> float:
        return max(self._settled_at, self._files.settled_at if self._files else 0.0)

    def refusal(self, url: str) -> Refusal | None:
        if self._version is None:
            raise Unavailable("The blocked addresses are being read.", "BLOCKLISTS_UNREAD")
        # The operator's last word is asked for first: no other stands above it.
        by_hand = self._by_hand(url) if self._named else None
        return by_hand or (self._files.refusal(url) if self._files else None)

    def concerns(self, host: str) -> bool:
        if self._named and any(
            whole in self._named or pages in self._with_pages for whole, pages, _ in hosts_of(host)
        ):
            return True
        return self._files.concerns(host) if self._files else False

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Read the addresses, and go on reading what changes, until the body ends."""
        await self._try_look()
        watching = background.run(self._watch(), "blocked-addresses")
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait([watching])

    async def look(self) -> None:
        """Bring the addresses up to date with the store. Raises Unavailable."""
        async with self._looking:
            # The version first: a block in between is read now, and again the next time.
            version = await self._decisions.addresses_version()
            if version != self._version:
                self._use(await self._decisions.blocked_addresses())
                self._version = version

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self._try_look()

    async def _try_look(self) -> None:
        """Look, or go on with what is known."""
        with background.each_turn(self._log, "blocked_addresses"):
            await self.look()

    def _use(self, blocked: list[BlockedAddress]) -> None:
        named: dict[int, BlockedAddress] = {}
        with_pages = set()
        for one in blocked:
            host, key = key_of_address(one.address)
            named[digest_of(key)] = one
            if key != host:
                with_pages.add(digest_of(pages_of(host)))
        self._named, self._with_pages = named, with_pages
        contents = _contents_of(blocked)
        if contents != self._contents:
            self._contents = contents
            self._settled_at = time.monotonic() + SETTLE_SECONDS
        metrics.BLOCKED_ADDRESSES.set(len(blocked))

    def _by_hand(self, url: str) -> Refusal | None:
        """The last block of an address that a URL leads to."""
        target = Target(url)
        digests = [whole for whole, _, _ in target.hosts]
        for _, pages, host in target.hosts:
            if pages in self._with_pages:
                digests += target.pages_on(host)
        found = [self._named[digest] for digest in digests if digest in self._named]
        if not found:
            return None
        last = max(found, key=lambda one: (one.blocked_at, one.address))
        return Refusal(last.reason, f"{LIST}{last.address}", 1, last.blocked_at)


def _contents_of(blocked: list[BlockedAddress]) -> str:
    named = [(one.address, one.reason.value, micros_of(one.blocked_at)) for one in blocked]
    return _digest(sorted(named)) if named else ""


def _digest(parts: object) -> str:
    return sha256(repr(parts).encode()).hexdigest()
