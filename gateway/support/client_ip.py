"""Finds the IP address of a request's client, also behind proxies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network

from starlette.requests import Request

from services.shared import ip_addresses
from services.shared.ip_addresses import IpAddress

_MAX_FORWARDED_BYTES = 512
"""Bytes that are read at the end of an X-Forwarded-For header."""
_MAX_HOPS = 10
"""Maximum hops that are read, including that of the connection."""
_WITH_PORT = re.compile(r"(?:([0-9.]+)|\[([0-9A-Fa-f:.]+)\])(?::[0-9]{1,5})?")
"""An address as some proxies write it: IPv6 in brackets, either with a port."""


class ClientIpFinder:
    """Finds the client's IP address.

    Each proxy appends the address that connected to it to X-Forwarded-For. Proxies are configured
    by their networks (`trusted`) or by their number (`hops`). The client is

    - with networks, the right-most address that belongs to none of them, starting with that of the
      connection;
    - with a number N, the N-th address from the right in the header, or that of the connection if
      that entry is missing or is not an address.

    nginx follows the same rule (deploy/nginx/start.sh). Both are tested with the cases of
    tests/gateway/support/client_ip_cases.json.
    """

    def __init__(self, trusted: Sequence[IPv4Network | IPv6Network], hops: int = 0) -> None:
        self._trusted = trusted
        self._hops = hops

    def of(self, request: Request) -> IpAddress | None:
        """Return the client's address, None if the connection has none."""
        forwarded = b",".join(
            value for name, value in request.headers.raw if name == b"x-forwarded-for"
        )
        return self.find(request.client.host if request.client else "", forwarded)

    def text_of(self, request: Request) -> str:
        """Return the client's address as text, empty if the connection has none."""
        client = self.of(request)
        return "" if client is None else str(client)

    def find(self, host: str, forwarded: bytes) -> IpAddress | None:
        """Return the client's address by the host of the connection and X-Forwarded-For.

        Reads only the end of the header, and at most `_MAX_HOPS` hops.
        """
        if self._hops:
            entries = forwarded.decode("latin-1").rsplit(",", self._hops)[-self._hops :]
            is_complete = len(entries) == self._hops
            return (_address(entries[0]) if is_complete else None) or ip_addresses.parse(host)
        hops = forwarded.decode("latin-1")
        if len(hops) > _MAX_FORWARDED_BYTES:  # Drop the first entry, which may be cut.
            hops = hops[-_MAX_FORWARDED_BYTES:].partition(",")[2]
        client = None
        # Entries left of an invalid or untrusted hop cannot be trusted.
        for _ in range(_MAX_HOPS):
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


def _address(entry: str) -> IpAddress | None:
    """Return the address of an X-Forwarded-For entry, None if it has none."""
    entry = entry.strip()
    if match := _WITH_PORT.fullmatch(entry):
        entry = match[1] or match[2]
    return None if "%" in entry else ip_addresses.parse(entry)  # A zone has meaning only locally.
