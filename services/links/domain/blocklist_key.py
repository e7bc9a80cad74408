"""What a line of a blocklist names, and what of a URL a list may name.

Both become the same bytes, a key, so that what is one to a browser is one here. A key is a host as
ada writes it (WHATWG: lower case, punycode, an IPv4 address in dots however it was spelt), without
dots at its ends and without a port; behind it, where not the whole host is meant, the path and what
follows a question mark, decoded and without detours:

    phish.example                   the host, all hosts below it, and all that is on them
    phish.example/login             this path, those below it, with and without a query
    phish.example/login?id=7        this path with these parameters first

That hosts below a host are meant, too, and paths below a path, is seen to by who looks keys up: as
Safe Browsing does, with each parent of a host and each beginning of a path.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address
from posixpath import normpath
from urllib.parse import unquote_to_bytes

import ada_url

from services.links.domain.host import host_of

LONGEST_LINE = 4096
"""Bytes. No URL that Atajo takes is as long."""
_MOST_DECODINGS = 5
"""How often a path is decoded: that many wrappings no server takes off."""
# What most lines are, and ada would leave as it is: the last label begins with a letter, so that it
# is no number, and no label is punycode, which may be broken.
_PLAIN = re.compile(r"(?:(?!xn--)[a-z0-9_][a-z0-9_-]*\.)+(?!xn--)[a-z][a-z0-9-]*")
_NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)+")
_PARAMETERS = re.compile(rb";[^/]*")
"""What stands behind a semicolon in a part of a path (RFC 3986, 3.3)."""
_COMMENT = re.compile(r"(?:^|\s)#.*")
_SINKS = frozenset({"0.0.0.0", "127.0.0.1", "::", "::1"})  # noqa: S104


def digest_of(key: bytes) -> int:
    """64 bits that stand for a key in memory.

    In a list of a million, a host that is not in it is taken for one that is once in 2 * 10^13.
    """
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "little")


def pages_of(host: bytes) -> bytes:
    """What a list has beside the keys of single pages of a host: that there are some. No key."""
    return host + b"/"


def keys_of(line: str) -> list[bytes]:
    """What a line names: nothing where it is blank, a comment, or about this machine's own names.

    A line of the format of hosts files is an address with names behind it. Of names without a dot,
    which those files begin with (`localhost`), nothing is taken. Any other line is one host or one
    URL; `#` begins a comment at the start and after a blank.

    Raises ValueError for a line that cannot be read.
    """
    text = _COMMENT.sub("", line).strip()
    if not text:
        return []
    first, *names = text.split()
    if not names:
        return [key_of(first)]
    if first not in _SINKS:
        ip_address(first)
    return [key_of(name) for name in names if "." in name.strip(".") and not _is_address(name)]


def path_of(url: ada_url.URL) -> bytes:
    """The path of a URL as keys have it: empty for that of the whole host, else with `/` in front.

    Letters, slashes and dots may be encoded, once or over and over: servers decode them.
    """
    return _without_detours(_decoded_path(url))


def paths_of(url: ada_url.URL) -> list[bytes]:
    """The paths that a server may take that of a URL for, as keys have them.

    Some, of those written in Java all, look for `/shop;x=1` at `/shop`.
    """
    path = _decoded_path(url)
    paths = [path, _PARAMETERS.sub(b"", path)] if b";" in path else [path]
    return list(dict.fromkeys(map(_without_detours, paths)))


def query_of(url: ada_url.URL) -> bytes:
    """What follows the question mark of a URL, decoded; empty where nothing does."""
    return _decoded(url.search.removeprefix("?"))


def key_of(given: str) -> bytes:
    """The key of a host or a URL, with or without a scheme.

    Raises ValueError for what is no web address with a host of several labels or an IP address.
    """
    text = given.lower()
    if _PLAIN.fullmatch(text):
        return text.encode()
    if "://" not in given:
        is_ipv6 = given.count(":") > 1 and _is_address(given)
        given = f"http://[{given}]" if is_ipv6 else f"http://{given}"
    url = ada_url.URL(given)
    if url.protocol not in ("http:", "https:"):
        raise ValueError("no web address")
    host = host_of(url)
    if not _NAME.fullmatch(host):
        IPv6Address(host)
    query = query_of(url)
    return host.encode() + path_of(url) + (b"?" + query if query else b"")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _decoded_path(url: ada_url.URL) -> bytes:
    return _decoded(url.pathname).replace(b"\\", b"/")


def _without_detours(path: bytes) -> bytes:
    # Two slashes in front would stay two.
    return normpath(b"/" + path.lstrip(b"/")).rstrip(b"/")


def _decoded(text: str) -> bytes:
    found = text.encode()
    for _ in range(_MOST_DECODINGS):
        decoded = unquote_to_bytes(found)
        if decoded == found:
            break
        found = decoded
    return found
