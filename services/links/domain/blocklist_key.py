"""Keys: the canonical form in which lines of blocklists are compared with URLs.

Spellings that browsers treat alike have the same key. A key is a host as ada writes it (WHATWG:
lower case, punycode, an IPv4 address in dotted form however it was spelled), without leading or
trailing dots and without a port. If the entry does not cover the whole host, the path and query
follow, percent-decoded and without dot segments:

    phish.example                   the host, its subdomains, and every page on them
    phish.example/login             this path and those below it, with or without a query
    phish.example/login?id=7        this path with a query that begins with these parameters

Lookups try each parent of a host and each prefix of a path, as Safe Browsing does. That is how an
entry covers subdomains and paths below it.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address
from posixpath import normpath
from urllib.parse import unquote_to_bytes

import ada_url

from services.links.domain.host import get_host

MAX_LINE_BYTES = 4096
"""No URL that Atajo accepts is as long."""
_MAX_DECODINGS = 5
"""How often a path is percent-decoded. No server decodes more often."""
# Matches most lines, which ada would return unchanged: the last label starts with a letter, so it
# is not a number, and no label is punycode, which may be invalid.
_PLAIN = re.compile(r"(?:(?!xn--)[a-z0-9_][a-z0-9_-]*\.)+(?!xn--)[a-z][a-z0-9-]*")
_NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)+")
_PARAMETERS = re.compile(rb";[^/]*")
"""Parameters of a path segment (RFC 3986, 3.3)."""
_COMMENT = re.compile(r"(?:^|\s)#.*")
_SINKS = frozenset({"0.0.0.0", "127.0.0.1", "::", "::1"})  # noqa: S104


def hash_key(key: bytes) -> int:
    """Return 64 bits that represent a key in memory.

    In a list of a million, a host that is not listed matches once in 2 * 10^13.
    """
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "little")


def pages_marker(host: bytes) -> bytes:
    """Return the marker that a list stores with keys of pages on a host. It is not a key."""
    return host + b"/"


def parse_line(line: str) -> list[bytes]:
    """Return the keys that a line of a blocklist names; none for a blank line or a comment.

    A line in hosts-file format is an IP address followed by names; names without a dot
    (`localhost`) are skipped. Any other line is one host or one URL. `#` starts a comment at the
    beginning of a line or after white space.

    Raises ValueError for a line that is none of these.
    """
    text = _COMMENT.sub("", line).strip()
    if not text:
        return []
    first, *names = text.split()
    if not names:
        return [parse_key(first)]
    if first not in _SINKS:
        ip_address(first)
    return [parse_key(name) for name in names if "." in name.strip(".") and not _is_address(name)]


def decode_path(url: ada_url.URL) -> bytes:
    """Return the path part of a URL's key: empty for the root, else with a leading slash.

    Letters, slashes and dots may be percent-encoded several times: servers decode them.
    """
    return _without_dot_segments(_decoded_path(url))


def decode_paths(url: ada_url.URL) -> list[bytes]:
    """Return the path parts of keys for the paths that a server may serve for a URL.

    Some servers, among them all Java ones, serve `/shop` for `/shop;x=1`.
    """
    path = _decoded_path(url)
    paths = [path, _PARAMETERS.sub(b"", path)] if b";" in path else [path]
    return list(dict.fromkeys(map(_without_dot_segments, paths)))


def decode_query(url: ada_url.URL) -> bytes:
    """Return the percent-decoded query of a URL, without the question mark."""
    return _decoded(url.search.removeprefix("?"))


def parse_key(given: str) -> bytes:
    """Return the key of a host or URL. Raises ValueError as `parse_web_url` does."""
    text = given.lower()
    if _PLAIN.fullmatch(text):
        return text.encode()
    url = parse_web_url(given)
    query = decode_query(url)
    return get_host(url).encode() + decode_path(url) + (b"?" + query if query else b"")


def parse_web_url(given: str) -> ada_url.URL:
    """Parse a host or URL, with or without a scheme.

    Raises ValueError unless it is an http or https URL whose host is an IP address or has several
    labels.
    """
    if "://" not in given:
        is_ipv6 = given.count(":") > 1 and _is_address(given)
        given = f"http://[{given}]" if is_ipv6 else f"http://{given}"
    url = ada_url.URL(given)
    if url.protocol not in ("http:", "https:"):
        raise ValueError("not an http or https URL")
    host = get_host(url)
    if not _NAME.fullmatch(host):
        IPv6Address(host)
    return url


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _decoded_path(url: ada_url.URL) -> bytes:
    return _decoded(url.pathname).replace(b"\\", b"/")


def _without_dot_segments(path: bytes) -> bytes:
    # normpath() keeps two leading slashes.
    return normpath(b"/" + path.lstrip(b"/")).rstrip(b"/")


def _decoded(text: str) -> bytes:
    found = text.encode()
    for _ in range(_MAX_DECODINGS):
        decoded = unquote_to_bytes(found)
        if decoded == found:
            break
        found = decoded
    return found
