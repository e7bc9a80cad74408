"""Patterns that the operator blocks: a host with its subdomains, or a path prefix on one.

A pattern is parsed like a line of a blocklist, so every spelling that browsers treat alike has the
same canonical form.
"""

from __future__ import annotations

from urllib.parse import quote_from_bytes

from services.links.domain.blocklist_key import parse_key
from services.links.domain.target import is_public_suffix
from services.shared.characters import CONTROL_CHARACTERS
from services.shared.errors import InvalidArgument

MAX_LENGTH = 999
"""In Unicode code points, as for a URL."""
# The characters that need no escape in a path (RFC 3986), so that a pattern stays readable.
_PLAIN = "/!$&'()*+,;=:@"


class InvalidPattern(InvalidArgument):
    default_reason = "INVALID_ADDRESS"


def normalize_pattern(given: str) -> str:
    """Return the canonical form of a pattern: `evil.example`, or `evil.example/shop` for a path.

    Ignores scheme, user info, port and fragment. Raises InvalidPattern for anything but an IP
    address or a host of several labels, for a query, and for a public suffix such as `co.uk`.
    """
    host, path = _parse(given)
    if not path and is_public_suffix(host):
        raise InvalidPattern("This is a public suffix; blocking it would affect unrelated sites.")
    name = f"[{host}]" if ":" in host else host
    pattern = name + quote_from_bytes(path, safe=_PLAIN)
    # A path that is percent-encoded many times over has no canonical form.
    if _parse(pattern) != (host, path):
        raise _invalid_pattern()
    return pattern


def parse_pattern(pattern: str) -> tuple[bytes, bytes]:
    """Return the host and the key (`blocklist_key`) of a pattern in canonical form."""
    key = parse_key(pattern)
    return key.partition(b"/")[0], key


def get_pattern_host(pattern: str) -> str:
    """Return the host of a pattern in canonical form, in the form of `get_host`."""
    return parse_pattern(pattern)[0].decode()


def _parse(given: str) -> tuple[str, bytes]:
    if len(given) > MAX_LENGTH or CONTROL_CHARACTERS.search(given) or any(map(str.isspace, given)):
        raise _invalid_pattern()
    try:
        key = parse_key(given)
    except ValueError:
        raise _invalid_pattern() from None
    host, slash, path = key.partition(b"/")
    if b"?" in host or "?" in given:
        raise _invalid_pattern()
    return host.decode(), slash + path


def _invalid_pattern() -> InvalidPattern:
    return InvalidPattern("A pattern is a host, or a host and the beginning of a path.")
