"""Hosts of URLs, as blocklists name them and as links are found by them."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network

import ada_url

_NAT64 = IPv6Network("64:ff9b::/96")
"""An IPv4 address as networks that have IPv6 alone reach it, by RFC 6052."""


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

    It has no dots at its ends, and an IPv6 address that leads to an IPv4 one is that.
    """
    hostname = url.hostname
    if hostname.startswith("["):
        address = IPv6Address(hostname[1:-1])
        if address in _NAT64:
            return str(IPv4Address(int(address) & 0xFFFFFFFF))
        return str(address.ipv4_mapped or address)
    return ".".join(filter(None, hostname.split(".")))


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
