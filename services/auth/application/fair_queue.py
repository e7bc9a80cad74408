"""Fair sharing of password checks between networks, so that no network can take all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from ipaddress import IPv6Address

from services.auth.domain.account import busy
from services.shared import ip_addresses

_MAX_REMEMBERED = 10_000
"""Networks whose share is remembered; of more, the one served longest ago is forgotten."""

Turn = asyncio.Future[None]
"""What a caller waits for. It has its turn once this has a result."""


def household_of(address: str) -> str:
    """What failures are counted by: an IPv4 address, or the /64 of an IPv6 one."""
    return _prefix_of(address, ip_addresses.HOUSEHOLD_BITS)


def share_of(address: str, *, in_session: bool) -> str:
    """Return what has one share of the time: a network, an IPv4 address or an IPv6 /48.

    Calls from sessions have a share apart from the log-ins of their network: strangers behind the
    owner's own router cannot use that up.
    """
    network = _prefix_of(address, ip_addresses.NETWORK_BITS)
    return f"session {network}" if in_session else network


def _prefix_of(address: str, bits: int) -> str:
    parsed = ip_addresses.parse(address)
    if isinstance(parsed, IPv6Address):
        return f"{int(parsed) >> 128 - bits:x}/{bits}"
    return address if parsed is None else str(parsed)


class WaitingRoom:
    """A bounded queue of turns. A full one removes the last turn of the network with most turns."""

    def __init__(self, max_waiting: int) -> None:
        self._max_waiting = max_waiting
        self.lines: dict[str, dict[Turn, int]] = {}
        """The work of each turn that is waited for, by network and in order of arrival."""
        self.waiting = 0
        """How many turns are waited for. Any thread may read it."""

    async def wait(self, network: str, turn: Turn, pass_on: Callable[[], None], work: int) -> None:
        """Wait until `turn` has a result.

        If the caller is cancelled at the moment its turn comes, `pass_on` is called.

        Raises LoginsBusy where the queue is full and this network would have as many places as any
        other, and where another network is given the place.
        """
        self.lines.setdefault(network, {})[turn] = work
        self.waiting += 1
        if self.waiting > self._max_waiting:
            self._evict(network)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled() and turn.exception() is None:
                pass_on()
            raise
        finally:
            self.remove(network, turn)

    def remove(self, network: str, turn: Turn) -> None:
        """Take a turn out of the queue, if it is there."""
        line = self.lines.get(network, {})
        if line.pop(turn, None) is not None:
            self.waiting -= 1
            if not line:
                del self.lines[network]

    def _evict(self, newest: str) -> None:
        """Refuse the last turn of the longest line; of equal lines, that of `newest`."""
        longest = max(self.lines, key=lambda each: (len(self.lines[each]), each == newest))
        last = next(reversed(self.lines[longest]))
        self.remove(longest, last)
        if not last.done():
            last.set_exception(busy())


class Shares:
    """Decides whose turn it is, so that networks which all want more than there is get the same.

    This is start-time fair queueing, in a virtual time that advances with the work that is done. In
    it, a piece of work begins where its network's last one ended, or now if that is over; the
    network whose next piece begins first has its turn. So a network with expensive work has its
    turn less often, one that was away for a while does not wait for what it missed, and it gets no
    more for having been away.
    """

    def __init__(self) -> None:
        self._ends: dict[str, int] = {}
        self._now = 0

    def begin(self, network: str) -> int:
        """The virtual time at which a network's next piece of work begins."""
        return max(self._now, self._ends.get(network, 0))

    def charge(self, network: str, work: int) -> None:
        """Record that a network has its turn now, with so much work."""
        self._now = self.begin(network)
        self._ends.pop(network, None)
        self._ends[network] = self._now + work
        if len(self._ends) > _MAX_REMEMBERED:
            del self._ends[next(iter(self._ends))]
