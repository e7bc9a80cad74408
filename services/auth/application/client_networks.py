"""Groups client IP addresses into the networks that share limits and capacity."""

from __future__ import annotations

from ipaddress import IPv6Address

from services.shared import ip_addresses


def limit_network(client_ip: str) -> str:
    """Return the network by which failures are counted: an IPv4 address or an IPv6 /64."""
    return _network(client_ip, ip_addresses.SUBNET_BITS)


def capacity_network(client_ip: str, *, in_session: bool) -> str:
    """Return the network that has one share of the capacity: an IPv4 address or an IPv6 /48.

    Calls from sessions have a share separate from the log-ins of their network. Strangers behind
    the account owner's router therefore cannot use up the owner's share.
    """
    network = _network(client_ip, ip_addresses.SITE_BITS)
    return f"session {network}" if in_session else network


def _network(client_ip: str, prefix_bits: int) -> str:
    address = ip_addresses.parse(client_ip)
    if isinstance(address, IPv6Address):
        return f"{int(address) >> 128 - prefix_bits:x}/{prefix_bits}"
    return client_ip if address is None else str(address)
