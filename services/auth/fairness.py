"""How log-ins from everywhere share what there is, so that none of them can take it all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from ipaddress import IPv6Address

from services.auth.domain import busy
from services.runtime import addresses

_REMEMBERED = 10_000
"""Networks whose share is kept in mind; of more, the one served longest ago is forgotten."""


def household_of(address: str) -> str:
    """What failures are counted by: an IPv4 address, or the /64 of an IPv6 one."""
    return _prefix_of(address, addresses.HOUSEHOLD_BITS)


def network_of(address: str) -> str:
    """What has one share of the time: an IPv4 address, or the /48 of an IPv6 one."""
    return _prefix_of(address, addresses.NETWORK_BITS)


def _prefix_of(address: str, bits: int) -> str:
    parsed = addresses.parse(address)
    if isinstance(parsed, IPv6Address):
        return f"{int(parsed) >> 128 - bits:x}/{bits}"
    return address if parsed is None else str(parsed)


class WaitingRoom:
    """At most `most` wait. Once it is full, those of the network with most make room."""

    def __init__(self, most: int) -> None:
        self._most = most
        # Who waits, by network and in the order they came.
        self._lines: dict[str, dict[asyncio.Timeout, None]] = {}
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """How many wait. For any thread to ask."""
        return self._waiting

    @asynccontextmanager
    async def waiting_for(self, network: str) -> AsyncIterator[None]:
        """The body is the waiting. Raises LoginsBusy, from within it where others need the place.

        A network gets a place of another's only if it then still has fewer.
        """
        if self._waiting >= self._most:
            self._make_room(network)
        patience = asyncio.timeout(None)
        try:
            async with patience:
                self._lines.setdefault(network, {})[patience] = None
                self._waiting += 1
                try:
                    yield
                finally:
                    self._leave(network, patience)
        except TimeoutError:
            if not patience.expired():
                raise
            raise busy() from None

    def _make_room(self, network: str) -> None:
        longest = max(self._lines, key=lambda each: len(self._lines[each]))
        if len(self._lines.get(network, ())) + 1 >= len(self._lines[longest]):
            raise busy()
        last = next(reversed(self._lines[longest]))
        self._leave(longest, last)
        last.reschedule(asyncio.get_running_loop().time())

    def _leave(self, network: str, patience: asyncio.Timeout) -> None:
        line = self._lines.get(network, {})
        if patience in line:
            del line[patience]
            self._waiting -= 1
            if not line:
                del self._lines[network]


class Shares:
    """Whose turn it is, so that networks which all want more than there is get the same.

    This is start-time fair queueing: a piece of work begins, in the time that it is counted in,
    where its network's one before ended, or now; whose begins first is first. A network that
    brings dear work has its turn less often, whoever comes after a while is not made to wait for
    it, and nobody saves up.
    """

    def __init__(self) -> None:
        self._ends: dict[str, int] = {}
        self._now = 0

    def first(self, networks: Iterable[str]) -> str:
        """The network whose turn it is; of those with equal claims, the one named first."""
        return min(networks, key=self._begin)

    def charge(self, network: str, work: int) -> None:
        """A network has its turn now, for so much work."""
        self._now = self._begin(network)
        self._ends.pop(network, None)
        self._ends[network] = self._now + work
        if len(self._ends) > _REMEMBERED:
            del self._ends[next(iter(self._ends))]

    def _begin(self, network: str) -> int:
        return max(self._now, self._ends.get(network, 0))
