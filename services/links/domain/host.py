"""Hosts of URLs, as blocklists name them and as links are found by them."""

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
"""Networks whose addresses end in the IPv4 address that they stand for."""
_NOT_IPV4 = (IPv6Address("::"), IPv6Address("::1"))
"""The unspecified address and loopback."""


@dataclass(frozen=True, slots=True)
class HostPlace:
    """Behind which link to go on, of those that lead to a host or below it.

    They stand in the order of their hosts' keys (`host_key`), and those of one host in that of
    their codes. A store of another kind of order has an empty key.
    """

    key: str
    code: str


def host_of(url: ada_url.URL) -> str:
    """The host of a URL as blocklists name it; '' where it has none.

    It has no dots at its ends, and an IPv6 address that stands for an IPv4 one is that.
    """
    hostname = url.hostname
    if hostname.startswith("["):
        return canonical_ip(hostname[1:-1])
    return ".".join(filter(None, hostname.split(".")))


def canonical_ip(text: str) -> str:
    """The IPv4 address that an IPv6 address stands for, else the IPv6 address.

    Covers mapped and compatible addresses, NAT64, 6to4 (RFC 3056), and Teredo (RFC 4380), whose
    client's address is meant. Raises ValueError.
    """
    address = IPv6Address(text)
    if address in _NOT_IPV4:
        return str(address)
    if any(address in network for network in _WITH_IPV4_AT_END):
        return str(IPv4Address(int(address) & 0xFFFFFFFF))
    _, teredo_client = address.teredo or (None, None)
    return str(address.sixtofour or teredo_client or address)


def host_key(host: str) -> str:
    """A host turned round, so that those below it stand right behind it: `example.evil.www.`"""
    return "".join(f"{label}." for label in reversed(host.split("."))) if host else ""


def host_of_key(key: str) -> str:
    """The host of such a key."""
    return ".".join(reversed(key.removesuffix(".").split(".")))


def keys_below(host: str) -> tuple[str, str]:
    """Between which two keys, the first included, those of a host and of all below it are."""
    key = host_key(host)
    return key, f"{key[:-1]}/"  # The slash comes right after the dot.


def host_at(url: str) -> str:
    """The host of a URL that is stored, as `host_of` has it."""
    try:
        return host_of(ada_url.URL(url))
    except ValueError:  # No version takes such a one.
        return ""
