"""Limits calls by client IP address or account, in this gateway's memory.

N gateways allow N times as much.

The `limits` library is not used: its in-memory stores keep every address, and walk over all of them
after each hit or a hundred times a second.
"""

from __future__ import annotations

import collections
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Self

from prometheus_client import Counter

from services.shared import ip_addresses
from services.shared.errors import ResourceExhausted
from services.shared.ip_addresses import IpAddress

LIMITED = Counter(
    "atajo_limited",
    "Calls rejected by a limit: of a rate, or of running calls (call, large, large_account and "
    "profile). Calls that nginx rejects are not counted.",
    ["limit"],
)
_RATE = re.compile(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,5})?(second|minute|hour|day)s?")
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}

_IPV6_BYTES = (ip_addresses.SUBNET_BITS // 8, ip_addresses.SITE_BITS // 8)
_NETWORK_FACTOR = 16
"""The limit of an IPv6 /48 as a multiple of that of one address."""
MAX_WINDOWS = 65_536
"""Maximum windows of one limiter, which take 20 MB."""


@dataclass(frozen=True)
class Concurrency:
    """How many calls of a kind may run at once."""

    total: int
    by_network: tuple[int, ...]
    """How many calls one IPv4 address or IPv6 /64 may have, and how many one IPv6 /48."""


PROFILES = Concurrency(256, (16, 64))
CALLS = Concurrency(1024, (512, 768))
"""Calls of functions, and requests of the REST API with a body. The memory limit of the chart's
gateway covers all of them (tests/deployment/chart/test_call_memory.py)."""
LARGE_CALLS = Concurrency(32, (8, 16))
"""Those among them whose body may have 512 KiB."""
MAX_LARGE_CALLS_BY_ACCOUNT = 8

Networks = tuple[bytes, ...]
"""What a call is counted under: its IPv4 address, or the /64 and the /48 of its IPv6 address."""


def to_networks(client: IpAddress | None) -> Networks:
    """Return what calls of a client are counted under. Unknown clients share one limit."""
    if client is None:
        return (b"",)
    if isinstance(client, IPv4Address):
        return (client.packed,)
    return tuple(client.packed[:length] for length in _IPV6_BYTES)


@dataclass(frozen=True)
class Rate:
    """A rate: `amount` calls in `seconds` seconds."""

    amount: int
    seconds: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a rate from settings: `300/minute` or `1/3seconds`. Raises ValueError."""
        match = _RATE.fullmatch(text.strip())
        if match is None:
            raise ValueError("a limit is written like 300/minute or 5/10seconds")
        amount, times, unit = match.groups()
        return cls(int(amount), int(times or 1) * _SECONDS[unit])


@dataclass(slots=True, eq=False)
class _Window:
    """Counts the calls of one address or network until `ends` (by the limiter's clock)."""

    ends: float
    count: int = 0


@dataclass(frozen=True)
class Hit:
    """Calls that a limiter counted, in the windows of that moment."""

    calls: int
    windows: tuple[_Window, ...]

    def take_back(self, calls: int) -> None:
        """Uncount calls that should not have counted. Later windows keep their counts."""
        for window in self.windows:
            window.count = max(0, window.count - calls)


class RateLimiter:
    """Limits the calls per client in a fixed window, which begins with the client's first call.

    `message` is what a client reads that is above its limit, and `reason` its stable code.
    """

    def __init__(
        self,
        name: str,
        rate: Rate,
        clock: Callable[[], float] = time.monotonic,
        message: str = "Too many requests from this address.",
        reason: str = "TOO_MANY_REQUESTS",
    ) -> None:
        self.rate = rate
        self._reason = reason
        self._max_calls = (rate.amount, rate.amount * _NETWORK_FACTOR)
        self._clock = clock
        self._message = message
        self._limited = LIMITED.labels(name)
        # All windows last equally long, so the one that began first ends first.
        self._windows: OrderedDict[bytes, _Window] = OrderedDict()

    def hit(self, networks: Networks, calls: int = 1) -> Hit:
        """Count calls. Raises ResourceExhausted with the seconds until the window ends.

        Rejected calls are not counted, so that one machine cannot use up the limit of its network.
        """
        if not calls:
            return Hit(0, ())
        now = self._clock()
        self._drop_ended(now)
        self.check(networks, calls)
        windows = tuple(self._window(network, now) for network in networks)
        for window in windows:
            window.count += calls
        return Hit(calls, windows)

    def check(self, networks: Networks, calls: int = 1) -> None:
        """Raise ResourceExhausted if `hit` would. Counts nothing."""
        if self._left(networks) < calls:
            raise self.refusal(networks, calls)

    def reserve(self, networks: Networks, calls: int) -> Hit:
        """Count as many of the calls as the limit permits, perhaps none."""
        return self.hit(networks, min(calls, self._left(networks)))

    def refusal(self, networks: Networks, calls: int = 1) -> ResourceExhausted:
        """Count a rejection of calls; return its error with the seconds until they may be made."""
        waits = [reset for left, reset in self._states(networks) if left < calls]
        self._limited.inc()
        return ResourceExhausted(self._message, self._reason, retry_after=max([1.0, *waits]))

    def usage(self, networks: Networks) -> tuple[int, float]:
        """Return how many calls a client may still make, and the seconds until its window ends.

        That is the least that one of its networks allows.
        """
        usages = [(min(self.rate.amount, left), reset) for left, reset in self._states(networks)]
        return min(usages, key=lambda usage: usage[0])

    def _left(self, networks: Networks) -> int:
        """Return how many calls the limit permits now."""
        return min(left for left, _ in self._states(networks))

    def _states(self, networks: Networks) -> list[tuple[int, float]]:
        """Return how many calls each network may still make, and the seconds until it may more."""
        now = self._clock()
        states = []
        for network, max_calls in zip(networks, self._max_calls, strict=False):
            window = self._windows.get(network)
            if window is None or window.ends <= now:
                states.append((max_calls, self._seconds_left(now)))
            else:
                states.append((max(0, max_calls - window.count), window.ends - now))
        return states

    def _drop_ended(self, now: float) -> None:
        """Drop a few windows that have ended, and more of them than a hit adds."""
        for _ in range(len(_IPV6_BYTES) + 1):
            if not self._windows:
                return
            oldest = next(iter(self._windows))
            if self._windows[oldest].ends > now:
                return
            del self._windows[oldest]

    def _window(self, network: bytes, now: float) -> _Window:
        """Return the current window of a network. A new window may replace the oldest one."""
        window = self._windows.get(network)
        if window and window.ends > now:
            return window
        if window:
            del self._windows[network]
        elif len(self._windows) >= MAX_WINDOWS:
            self._windows.popitem(last=False)
        window = self._windows[network] = _Window(now + self._seconds_left(now))
        return window

    def _seconds_left(self, now: float) -> float:
        """Return how long a window lasts that begins now."""
        return float(self.rate.seconds)


class CalendarRateLimiter(RateLimiter):
    """Limits the calls per client in windows of the calendar: those of a day are UTC days."""

    def __init__(self, name: str, rate: Rate, message: str, reason: str) -> None:
        super().__init__(name, rate, time.time, message, reason)

    def _seconds_left(self, now: float) -> float:
        return self.rate.seconds - now % self.rate.seconds


def too_many_calls() -> ResourceExhausted:
    """Return the error for a call beyond those that may run at once."""
    return ResourceExhausted("Too many concurrent requests.", "TOO_MANY_REQUESTS", retry_after=1.0)


class ClientConcurrencyLimiter:
    """Limits the running calls: of all clients, of one address, and of one IPv6 network."""

    def __init__(self, name: str, limit: Concurrency, by_network: bool = True) -> None:
        self._max = (limit.total, *(limit.by_network if by_network else ()))
        self._running: collections.Counter[bytes | None] = collections.Counter()
        self._limited = LIMITED.labels(name)

    @contextmanager
    def hold(self, networks: Networks) -> Iterator[None]:
        """Count a call while the block runs. Raises ResourceExhausted."""
        keys = (None, *networks)
        if any(self._running[key] >= limit for key, limit in zip(keys, self._max, strict=False)):
            self._limited.inc()
            raise too_many_calls()
        self._running.update(keys)
        try:
            yield
        finally:
            for key in keys:
                self._running[key] -= 1
                if not self._running[key]:
                    del self._running[key]


class CallLimiter:
    """Limits the running calls with a body: all of them, and those that may be large.

    Large calls are also limited by client and by account. A call counts for its client before its
    body is read, and for its account once that is known.
    """

    def __init__(self, by_network: bool = True) -> None:
        by_account = Concurrency(LARGE_CALLS.total, (MAX_LARGE_CALLS_BY_ACCOUNT,))
        self._calls = ClientConcurrencyLimiter("call", CALLS, by_network)
        self._clients = ClientConcurrencyLimiter("large", LARGE_CALLS, by_network)
        self._accounts = ClientConcurrencyLimiter("large_account", by_account, by_network)

    @contextmanager
    def hold(self, networks: Networks, *, is_large: bool) -> Iterator[None]:
        """Count a call of a client while the block runs. Raises ResourceExhausted."""
        large = self._clients.hold(networks) if is_large else nullcontext()
        with self._calls.hold(networks), large:
            yield

    def hold_account(self, account: str) -> AbstractContextManager[None]:
        """Count a large call of an account while the block runs. Raises ResourceExhausted."""
        return self._accounts.hold((account.encode(),))
