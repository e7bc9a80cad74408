"""Limits by client address, in this gateway's memory: N gateways allow N times as much."""

from __future__ import annotations

import time
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from limits import parse
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import FixedWindowRateLimiter
from starlette.requests import Request

from gateway.metrics import LIMITED
from services.runtime.errors import ResourceExhausted

_IPV6_PREFIX = 64
"""Bits of an IPv6 address that stand for one household or machine."""


class Limit:
    """At most so many of something by one address in a window, e.g. `300/minute`."""

    def __init__(self, name: str, rate: str, storage: MemoryStorage) -> None:
        self._name = name
        self._item = parse(rate)
        self._strategy = FixedWindowRateLimiter(storage)
        self._limited = LIMITED.labels(name)

    async def hit(self, address: str) -> None:
        """Count one. Raises ResourceExhausted with the seconds until the window ends."""
        if await self._strategy.hit(self._item, self._name, address):
            return
        self._limited.inc()
        stats = await self._strategy.get_window_stats(self._item, self._name, address)
        raise ResourceExhausted(
            "Too many requests from this address.",
            "TOO_MANY_REQUESTS",
            retry_after=max(1.0, stats.reset_time - time.time()),
        )


class NoLimit:
    """Lets everything through: for load tests."""

    async def hit(self, address: str) -> None:
        """Count nothing."""


class ClientAddresses:
    """Finds whose request it is, through proxies that are trusted and no others."""

    def __init__(self, trusted: Sequence[IPv4Network | IPv6Network]) -> None:
        self._trusted = trusted

    def of(self, request: Request) -> str:
        """The right-most address on the way that is no trusted proxy; empty when unknown."""
        peer = request.client.host if request.client else ""
        forwarded = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
        client = peer
        for hop in (peer, *(hop.strip() for hop in reversed(forwarded))):
            address = _parsed(hop)
            if address is None:
                break  # Nothing left of it can be believed.
            client = str(address)
            if not any(address in network for network in self._trusted):
                break
        return client

    def key_of(self, request: Request) -> str:
        """What limits count by: the address, of IPv6 its /64."""
        client = self.of(request)
        if ":" in client:
            return str(IPv6Network((client, _IPV6_PREFIX), strict=False))
        return client


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address
