"""Limits by client address, in this gateway's memory: N gateways allow N times as much.

Counted here and not by the `limits` library: its stores in memory keep every address there is, and
look through all of them after each hit or a hundred times a second.
"""

from __future__ import annotations

import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Network
from typing import Self

from starlette.requests import Request

from gateway.metrics import LIMITED
from services.shared import ip_addresses
from services.shared.errors import ResourceExhausted
from services.shared.ip_addresses import Address

_RATE = re.compile(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,5})?(second|minute|hour|day)s?")
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}

_IPV6_BYTES = (ip_addresses.HOUSEHOLD_BITS // 8, ip_addresses.NETWORK_BITS // 8)
_NETWORK_SHARE = 16
"""How many times the limit of one address a whole network of IPv6 has."""
MOST_WINDOWS = 65_536
"""Most windows of one limit, which take 20 MB: 120 MB for the six limits."""

MAX_CONCURRENT = 256
MAX_CONCURRENT_BY_NETWORK = (16, 64)
"""Of one IPv4 address or IPv6 /64, and of one IPv6 /48."""

_LOOKED_AT = 512
"""Bytes at the end of an X-Forwarded-For header that are looked at."""
_MOST_HOPS = 10
"""Hops that are looked at, the connection's own included."""
_WITH_PORT = re.compile(r"(?:([0-9.]+)|\[([0-9A-Fa-f:.]+)\])(?::[0-9]{1,5})?")
"""An address as some proxies write it, an IPv6 one in brackets and either with a port."""

Networks = tuple[bytes, ...]
"""What a request is counted under: its IPv4 address, or of an IPv6 one the /64 and then the /48."""


@dataclass(frozen=True)
class Rate:
    """A rate: `amount` calls in `seconds` seconds."""

    amount: int
    seconds: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """A rate as settings write it, `300/minute` or `1/3seconds`. Raises ValueError."""
        match = _RATE.fullmatch(text.strip())
        if match is None:
            raise ValueError("a limit is written like 300/minute or 5/10seconds")
        amount, times, unit = match.groups()
        return cls(int(amount), int(times or 1) * _SECONDS[unit])


class _Window:
    """The calls of one address or network from its first one to `ends` (`clock`)."""

    __slots__ = ("count", "ends")

    def __init__(self, ends: float) -> None:
        self.ends = ends
        self.count = 0


class Limit:
    """A limit on the calls of one address in a window, which begins with its first call."""

    def __init__(self, name: str, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = rate.seconds
        self._most = (rate.amount, rate.amount * _NETWORK_SHARE)
        self._clock = clock
        self._limited = LIMITED.labels(name)
        # All windows last equally long, so the one that began first ends first.
        self._windows: OrderedDict[bytes, _Window] = OrderedDict()

    def hit(self, networks: Networks) -> None:
        """Count a call. Raises ResourceExhausted with the seconds until the window ends.

        A refused call is not counted. So a machine that goes on after its own limit does not use up
        what its network may have.
        """
        now = self._clock()
        self._forget(now)
        wait = 0.0
        for network, most in zip(networks, self._most, strict=False):
            window = self._windows.get(network)
            if window and window.count >= most:
                wait = max(wait, window.ends - now)
        if wait > 0:
            self._limited.inc()
            raise ResourceExhausted(
                "Too many requests from this address.",
                "TOO_MANY_REQUESTS",
                retry_after=max(1.0, wait),
            )
        for network in networks:
            self._window(network, now).count += 1

    def _forget(self, now: float) -> None:
        """Drop windows that have ended: more at a time than a hit adds, and never many."""
        for _ in range(len(_IPV6_BYTES) + 1):
            if not self._windows:
                return
            oldest = next(iter(self._windows))
            if self._windows[oldest].ends > now:
                return
            del self._windows[oldest]

    def _window(self, network: bytes, now: float) -> _Window:
        """The current window of a network. Where a new one has no room, the oldest is dropped."""
        window = self._windows.get(network)
        if window and window.ends > now:
            return window
        if window:
            del self._windows[network]
        elif len(self._windows) >= MOST_WINDOWS:
            self._windows.popitem(last=False)
        window = self._windows[network] = _Window(now + self._seconds)
        return window


class ConcurrencyLimit:
    """Limits the calls under way: of all clients, of an address, and of a network of IPv6."""

    def __init__(self, name: str, by_network: bool = True) -> None:
        self._max = (MAX_CONCURRENT, *(MAX_CONCURRENT_BY_NETWORK if by_network else ()))
        self._running: Counter[bytes | None] = Counter()
        self._limited = LIMITED.labels(name)

    @contextmanager
    def hold(self, networks: Networks) -> Iterator[None]:
        """Count a call for as long as the block runs. Raises ResourceExhausted."""
        keys = (None, *networks)
        if any(self._running[key] >= limit for key, limit in zip(keys, self._max, strict=False)):
            self._limited.inc()
            raise ResourceExhausted(
                "Too many requests are under way.", "TOO_MANY_REQUESTS", retry_after=1.0
            )
        self._running.update(keys)
        try:
            yield
        finally:
            self._running -= Counter(keys)  # Drops keys whose count is 0.


class ClientAddresses:
    """Finds the IP address of a request's client behind proxies.

    Each proxy appends the address that connected to it to X-Forwarded-For. Proxies are known by
    their networks (`trusted`) or by their number (`hops`). The client is

    - with networks, the right-most address that belongs to none of them, the connection's included;
    - with a number N, the N-th address from the right in the header, or the connection's own where
      that is missing or no address.

    nginx follows the same rule: deploy/nginx/start.sh. Both are tested with the cases of
    tests/gateway/functions/client_ip_cases.json.
    """

    def __init__(self, trusted: Sequence[IPv4Network | IPv6Network], hops: int = 0) -> None:
        self._trusted = trusted
        self._hops = hops

    def of(self, request: Request) -> str:
        """The address of the client, or empty where the connection has none."""
        client = self._client(request)
        return "" if client is None else str(client)

    def networks_of(self, request: Request) -> Networks:
        """What limits count the request under."""
        client = self._client(request)
        if client is None:
            return (b"",)
        if isinstance(client, IPv4Address):
            return (client.packed,)
        return tuple(client.packed[:length] for length in _IPV6_BYTES)

    def find(self, host: str, forwarded: bytes) -> Address | None:
        """The address of the client by the host of the connection and X-Forwarded-For, if any.

        Of the header its end is looked at, and no more than `_MOST_HOPS` hops.
        """
        if self._hops:
            entries = forwarded.decode("latin-1").rsplit(",", self._hops)[-self._hops :]
            is_there = len(entries) == self._hops
            return (_address(entries[0]) if is_there else None) or ip_addresses.parse(host)
        hops = forwarded.decode("latin-1")
        if len(hops) > _LOOKED_AT:  # What is cut may have been another address before.
            hops = hops[-_LOOKED_AT:].partition(",")[2]
        client = None
        # What stands left of a hop that is no address, or that is not trusted, cannot be believed.
        for _ in range(_MOST_HOPS):
            address = _address(host)
            if address is None:
                break
            client = address
            for network in self._trusted:
                if address in network:
                    break
            else:
                break
            hops, _, host = hops.rpartition(",")
        return client

    def _client(self, request: Request) -> Address | None:
        forwarded = b",".join(
            value for name, value in request.headers.raw if name == b"x-forwarded-for"
        )
        return self.find(request.client.host if request.client else "", forwarded)


def _address(entry: str) -> Address | None:
    """The address of an entry of X-Forwarded-For; None where there is none."""
    entry = entry.strip()
    if match := _WITH_PORT.fullmatch(entry):
        entry = match[1] or match[2]
    return None if "%" in entry else ip_addresses.parse(entry)  # A zone is the proxy's own.
