"""A URL as blocklists see it: its host with parents, and its path and query with prefixes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, cached_property
from typing import NamedTuple

import ada_url
from publicsuffixlist import PublicSuffixList

from services.links.domain.blocklist_key import decode_paths, decode_query, hash_key, pages_marker
from services.links.domain.host import canonical_ip, get_host

MAX_LABELS = 127
"""Of a host that DNS resolves: each takes two of its 255 bytes (RFC 1035, 2.3.4)."""


class HostKey(NamedTuple):
    """The key of a host with the digests to look up in blocklists."""

    digest: int
    pages_digest: int
    """Of the marker that a list has entries for pages on the host (`pages_marker`)."""
    key: bytes


class Target:
    """The destination of a URL."""

    def __init__(self, url: str) -> None:
        self._url = ada_url.URL(url)
        self.hosts = host_keys(get_host(self._url))

    def keys(self, has_pages: Callable[[int], bool]) -> Iterator[tuple[int, bytes]]:
        """Yield the keys that match the URL, each after its digest.

        A host comes before the page on it and its prefixes. These are left out unless `has_pages`,
        which is given the host's `pages_digest`.
        """
        for host in self.hosts:
            yield host.digest, host.key
            if has_pages(host.pages_digest):
                for page in self._pages:
                    yield hash_key(host.key + page), host.key + page

    @cached_property
    def _pages(self) -> list[bytes]:
        query = decode_query(self._url)
        return [page for path in decode_paths(self._url) for page in _prefixes(path, query)]


def _prefixes(path: bytes, query: bytes) -> Iterator[bytes]:
    """Yield a path's prefixes, and the path with each prefix of the query, as parts of keys."""
    if path:
        yield from (path[:end] for end in _ends(path, "/"))
    if query:
        yield from (path + b"?" + query[:end] for end in _ends(query, "&"))


def _ends(text: bytes, separator: str) -> Iterator[int]:
    yield from (index for index, byte in enumerate(text) if byte == ord(separator) and index)
    yield len(text)


def host_keys(host: str) -> list[HostKey]:
    """Return the keys of a host and of its parents down to the registrable domain.

    `host` may come from a version that recognized fewer spellings of IPv4 addresses.
    """
    names = (name.encode() for name in _with_parents(canonical_ip(host) if ":" in host else host))
    return [HostKey(hash_key(name), hash_key(pages_marker(name)), name) for name in names]


def is_public_suffix(host: str) -> bool:
    """Return whether unrelated people register names below a host (public suffix list)."""
    return not _is_address(host) and _suffixes().privatesuffix(host) is None


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def _with_parents(host: str) -> list[str]:
    """Return a host and its parents down to the registrable domain (public suffix list).

    An IP address has no parents, nor does a public suffix. Of a host that is too long for DNS,
    returns the parents that are not.
    """
    labels = host.split(".")[-MAX_LABELS:]
    registrable = None if _is_address(host) else _suffixes().privatesuffix(".".join(labels))
    min_labels = registrable.count(".") + 1 if registrable else len(labels)
    return [".".join(labels[start:]) for start in range(len(labels) - min_labels + 1)]


def _is_address(host: str) -> bool:
    return ":" in host or host.rpartition(".")[2].isdigit()
