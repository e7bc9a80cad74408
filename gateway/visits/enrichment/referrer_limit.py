"""Limits the referrer names that one client adds to the statistics.

A client can invent a referrer for each visit, and analytics stores each name. So only the first
names of a client (an IPv4 address or IPv6 /64) per link and day are sent; its other visits count
under one common name. N gateways allow N times as many.

Clients are stored as hashes in memory, which are dropped at the end of the UTC day.
"""

from __future__ import annotations

from collections.abc import Callable

from gateway.support.headers import MAX_HEADER_BYTES

MAX_NAMES_OF_LINK = 20
"""Maximum names of one client for one link in a day."""
MAX_NAMES_OF_CLIENT = 2000
"""Maximum names of one client for all links in a day: at most 0.2 MB. Many people may share an
address, so this is far above what one person opens."""
OTHER_NAMES = "*"
"""Common name of visits beyond the limit."""
_MAX_ENTRIES = 65_536
"""Maximum entries in each of two generations, which take 14 MB together."""
_MAX_CACHED_NAMES = 8192
"""Maximum cached names: 2 MB, or 7 MB if all headers are long."""


class ReferrerLimiter:
    """Decides which referrer names of a client are sent to analytics.

    When memory is full, the older generation of entries is dropped. One client cannot fill it,
    because a rejected name leaves no entry.
    """

    def __init__(self) -> None:
        # Python's string hashes have a random key in each process, so clients cannot predict them.
        self._recent: dict[int, int] = {}
        self._older: dict[int, int] = {}
        self._day = -1

    def begin(self, day: int) -> bool:
        """Begin a UTC day, and forget all clients of other days. Returns whether it is new."""
        if day == self._day:
            return False
        self._day = day
        self._recent = {}
        self._older = {}
        return True

    def name_for(self, client: bytes, code: str, host: str) -> str:
        """Return the name for a client's visit of a link: `host` or OTHER_NAMES."""
        name = hash((client, code, host))
        if name in self._recent:
            return host
        if name in self._older:
            self._keep(name, 1)
            return host
        of_link, of_client = hash((client, code)), hash((client,))
        names_of_link, names_of_client = self._count(of_link), self._count(of_client)
        if names_of_link >= MAX_NAMES_OF_LINK or names_of_client >= MAX_NAMES_OF_CLIENT:
            return OTHER_NAMES
        self._keep(name, 1)
        self._keep(of_link, names_of_link + 1)
        self._keep(of_client, names_of_client + 1)
        return host

    def _count(self, key: int) -> int:
        count = self._recent.get(key)
        return self._older.get(key, 0) if count is None else count

    def _keep(self, key: int, count: int) -> None:
        if len(self._recent) >= _MAX_ENTRIES:
            self._older, self._recent = self._recent, {}
        self._recent[key] = count


class ReferrerNames(dict[tuple[bytes, str, bytes], str]):
    """Caches the referrer names of people by client, link code and Referer header.

    Keeps a bounded number of them for one UTC day, and none for headers longer than
    `MAX_HEADER_BYTES`.
    """

    def __init__(self, name_of: Callable[[bytes], str]) -> None:
        super().__init__()
        self._name_of = name_of
        self._limiter = ReferrerLimiter()

    def begin(self, day: int) -> None:
        """Begin a UTC day, and forget all clients of other days."""
        if self._limiter.begin(day):
            self.clear()

    def __missing__(self, visit: tuple[bytes, str, bytes]) -> str:
        client, code, header = visit
        name = self._name_of(header)
        if name:
            name = self._limiter.name_for(client, code, name)
        if len(header) <= MAX_HEADER_BYTES:
            if len(self) >= _MAX_CACHED_NAMES:
                self.clear()  # Those in use return at once.
            self[visit] = name
        return name
