"""Limits the referrer names that one client adds to the statistics.

A stranger can invent a referrer for each visit, and analytics stores each name. So of one client
(an IPv4 address or the /64 of an IPv6 address) only the first names of a link and day are sent on;
its other visits count without their own name. N gateways allow N times as many.

Clients are known here as hashes in memory, which are forgotten when the UTC day ends.
"""

from __future__ import annotations

MAX_NAMES_OF_LINK = 20
"""Maximum names that one client adds to one link in a day."""
MAX_NAMES_OF_CLIENT = 2000
"""Maximum names that one client adds to all links in a day: 0.2 MB if all are as long as can be.
Many people may share an address, so this is far above what one person opens."""
OTHER_NAMES = "*"
"""The name under which analytics counts people whose own name is not stored."""
_MAX_ENTRIES = 65_536
"""Entries after which the older half is dropped: two times that take 14 MB."""


class ReferrerLimit:
    """Decides which referrer names of a client are sent on.

    Recent entries survive when old ones are dropped. One client cannot fill the memory, because a
    name that is refused leaves no entry.
    """

    def __init__(self) -> None:
        # Python's hashes of texts have a random key in each process: no stranger can foresee them.
        self._recent: dict[int, int] = {}
        self._older: dict[int, int] = {}
        self._day = -1

    def begin(self, day: int) -> bool:
        """Forget all clients unless this UTC day has begun already; returns whether it did so."""
        if day == self._day:
            return False
        self._day = day
        self._recent = {}
        self._older = {}
        return True

    def name_for(self, client: bytes, code: str, host: str) -> str:
        """Return the name under which a client's visit to a link counts: `host` or OTHER_NAMES."""
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
