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


def share_of(address: str, *, in_session: bool) -> str:
    """Return what has one share of the time: a network, an IPv4 address or an IPv6 /48.

    Calls from sessions have a share apart from the log-ins of their network: strangers behind the
    owner's own router cannot use that up.
    """
    network = _prefix_of(address, addresses.NETWORK_BITS)
    return f"session {network}" if in_session else network


def _prefix_of(address: str, bits: int) -> str:
    parsed = addresses.parse(address)
    if isinstance(parsed, IPv6Address):
        return f"{int(parsed) >> 128 - bits:x}/{bits}"
    return address if parsed is None else str(parsed)


class WaitingRoom:
    """A queue of at most `most`. Once it is full, the network that has most in it loses a place."""

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
        """Hold a place while the body waits.

        Raises LoginsBusy: at once, where the queue is full and this network would have as many
        places as any other; or out of the waiting body, where another network is given the place.
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

    This is start-time fair queueing, in a time of its own that advances with the work that is done.
    In it, a piece of work begins where its network's last one ended, or now if that is over; the
    network whose next piece begins first has its turn. So a network with dear work has its turn
    less often, one that was away for a while does not wait for what it missed, and it gets no more
    for having been away.
    """

    def __init__(self) -> None:
        self._ends: dict[str, int] = {}
        self._now = 0

    def first(self, networks: Iterable[str]) -> str:
        """The network whose turn it is; of those with equal claims, the one named first."""
        return min(networks, key=self._begin)

    def charge(self, network: str, work: int) -> None:
        """Note that a network has its turn now, with so much work."""
        self._now = self._begin(network)
        self._ends.pop(network, None)
        self._ends[network] = self._now + work
        if len(self._ends) > _REMEMBERED:
            del self._ends[next(iter(self._ends))]

    def _begin(self, network: str) -> int:
        return max(self._now, self._ends.get(network, 0))
