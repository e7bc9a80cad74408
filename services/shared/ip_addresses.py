"""Client IP addresses, and the prefixes that identify one client.

An IPv4 address identifies a client by itself. With IPv6, a household or a single machine has a /64
subnet and picks any addresses in it. A provider may assign a /48 site prefix to one customer, who
then has 65,536 subnets.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from socket import AF_INET, inet_pton

IpAddress = IPv4Address | IPv6Address

SUBNET_BITS = 64
SITE_BITS = 48


def parse(text: str) -> IpAddress | None:
    """Parse an IP address; return None if the text is not one.

    Returns an IPv4-mapped IPv6 address, such as `::ffff:192.0.2.1`, as the IPv4 address.
    """
    try:
        return IPv4Address(inet_pton(AF_INET, text))  # Takes a fifth of the time of `ip_address`.
    except (OSError, ValueError):
        pass
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def get_subnet(address: IpAddress) -> bytes:
    """Return the /64 subnet of an IPv6 address, or the whole IPv4 address."""
    if isinstance(address, IPv6Address):
        return address.packed[: SUBNET_BITS // 8]
    return address.packed
