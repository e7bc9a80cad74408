"""Addresses of clients, and the household and the network that each belongs to.

An IPv4 address is a household and a network by itself. Of IPv6 a household, or a single machine,
has a /64 and picks addresses in it as it likes; a provider may hand a /48 to one customer, who then
has 65,536 of the /64.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from socket import AF_INET, inet_pton

Address = IPv4Address | IPv6Address

HOUSEHOLD_BITS = 64
NETWORK_BITS = 48


def parse(text: str) -> Address | None:
    """The address of a text; None for what is none.

    An IPv4 address that is written as an IPv6 one, such as `::ffff:192.0.2.1`, is the IPv4 one.
    """
    try:
        return IPv4Address(inet_pton(AF_INET, text))  # A fifth of what `ip_address` takes.
    except (OSError, ValueError):
        pass
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def household_of(address: Address) -> bytes:
    """Return the IPv4 address, or the /64 of an IPv6 address."""
    if isinstance(address, IPv6Address):
        return address.packed[: HOUSEHOLD_BITS // 8]
    return address.packed
