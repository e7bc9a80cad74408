"""Hosts of URLs in canonical form, and the keys that order them for the host index."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network

import ada_url

_WITH_IPV4_AT_END = (
    IPv6Network("::ffff:0:0/96"),  # IPv4-mapped, RFC 4291 2.5.5.2
    IPv6Network("::/96"),  # IPv4-compatible, RFC 4291 2.5.5.1
    IPv6Network("64:ff9b::/96"),  # NAT64, RFC 6052
    IPv6Network("64:ff9b:1::/48"),  # NAT64 for local use, RFC 8215; here with a prefix of 96 bits
)
"""Networks whose addresses embed an IPv4 address in their last 32 bits."""
_NOT_IPV4 = (IPv6Address("::"), IPv6Address("::1"))
"""The unspecified address and loopback."""


@dataclass(frozen=True, slots=True)
class HostCursor:
    """The last entry of a page of the host index, which is ordered by host key, then by code."""

    key: str
    code: str


def get_host(url: ada_url.URL) -> str:
    """Return the host of a URL in canonical form; '' if it has none.

    It has no leading or trailing dots, and an IPv6 address that embeds an IPv4 address becomes
    that.
    """
    hostname = url.hostname
    if hostname.startswith("["):
        return canonical_ip(hostname[1:-1])
    return ".".join(filter(None, hostname.split(".")))


def canonical_ip(text: str) -> str:
    """Return the IPv4 address that an IPv6 address embeds, else the IPv6 address.

    Covers mapped and compatible addresses, NAT64, 6to4 (RFC 3056) and the client's address in
    Teredo (RFC 4380). Raises ValueError.
    """
    address = IPv6Address(text)
    if address in _NOT_IPV4:
        return str(address)
    if any(address in network for network in _WITH_IPV4_AT_END):
        return str(IPv4Address(int(address) & 0xFFFFFFFF))
    _, teredo_client = address.teredo or (None, None)
    return str(address.sixtofour or teredo_client or address)


def host_key(host: str) -> str:
    """Return a host with reversed labels, which sorts subdomains next to it: `example.evil.www.`"""
    return "".join(f"{label}." for label in reversed(host.split("."))) if host else ""


def to_host(key: str) -> str:
    """Return the host of a key."""
    return ".".join(reversed(key.removesuffix(".").split(".")))


def key_range(host: str, *, with_subdomains: bool) -> tuple[str, str]:
    """Return the half-open range of the keys of a host, and of its subdomains."""
    key = host_key(host)
    return key, f"{key[:-1]}/" if with_subdomains else f"{key}\0"  # `/` follows the dot in ASCII.


def host_at(url: str) -> str:
    """Return the host of a stored URL in canonical form."""
    try:
        return get_host(ada_url.URL(url))
    except ValueError:  # No version has accepted such a URL.
        return ""
