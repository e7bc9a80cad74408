"""Addresses that the operator blocks: a host with all below it, or the beginning of a path.

They are read as lines of blocklists are, so that what is one to a browser is one here: however a
host or a path is spelt, the address has one form.
"""

from __future__ import annotations

from urllib.parse import quote_from_bytes

from services.links.domain.block import InvalidAddress
from services.links.domain.blocklist_key import key_of
from services.links.domain.target import is_public_suffix
from services.shared.text import CONTROLS

MAX_LENGTH = 999
"""In Unicode code points, as of a URL."""
# What stands for itself in a path (RFC 3986), so that an address can be read.
_PLAIN = "/!$&'()*+,;=:@"


def address_of(given: str) -> str:
    """The one form of an address: `evil.example`, or `evil.example/shop` for a path.

    Scheme, user info, port and fragment name nothing and may be there. Raises InvalidAddress for
    what is no host of several labels or an IP address, has a query, or is a public suffix: below
    `co.uk` there is everybody.
    """
    host, path = _parts(given)
    if not path and is_public_suffix(host):
        raise InvalidAddress("People who have nothing to do with each other are below this host.")
    address = _written(host, path)
    # A path that is encoded over and over has no form that is read as the same again.
    if _parts(address) != (host, path):
        raise _no_address()
    return address


def key_of_address(address: str) -> tuple[bytes, bytes]:
    """The host of an address in its one form, and its key (`blocklist_key`)."""
    key = key_of(address)
    return key.partition(b"/")[0], key


def host_of_address(address: str) -> str:
    """The host of an address in its one form, as `services.links.domain.host.host_of` has it."""
    return key_of_address(address)[0].decode()


def _parts(given: str) -> tuple[str, bytes]:
    if len(given) > MAX_LENGTH or CONTROLS.search(given) or any(map(str.isspace, given)):
        raise _no_address()
    try:
        key = key_of(given)
    except ValueError:
        raise _no_address() from None
    host, slash, path = key.partition(b"/")
    if b"?" in host or "?" in given:
        raise _no_address()
    return host.decode(), slash + path


def _written(host: str, path: bytes) -> str:
    name = f"[{host}]" if ":" in host else host
    return name + quote_from_bytes(path, safe=_PLAIN)


def _no_address() -> InvalidAddress:
    return InvalidAddress("An address is a host, or a host and the beginning of a path.")
