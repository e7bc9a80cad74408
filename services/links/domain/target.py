"""Where a URL leads, as blocklists and the operator name it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property

import ada_url
from publicsuffixlist import PublicSuffixList

from services.links.domain.blocklist_key import digest_of, pages_of, paths_of, query_of
from services.links.domain.host import canonical_ip, host_of

Host = tuple[int, int, bytes]
"""The digest of a host, that of what says that single pages of it are named, and the host."""


class Target:
    """Where a URL leads."""

    def __init__(self, url: str) -> None:
        self._url = ada_url.URL(url)
        self.hosts = hosts_of(host_of(self._url))

    def pages_on(self, host: bytes) -> Iterator[int]:
        """The digests of the keys that name the page or what it lies in, were it on that host."""
        for page in self._pages:
            yield digest_of(host + page)

    @cached_property
    def _pages(self) -> list[bytes]:
        query = query_of(self._url)
        return [page for path in paths_of(self._url) for page in _beginnings(path, query)]


def _beginnings(path: bytes, query: bytes) -> Iterator[bytes]:
    """A path and what it lies in, and the path with the beginnings of a query, as keys have it."""
    if path:
        yield from (path[:end] for end in _ends(path, "/"))
    if query:
        yield from (path + b"?" + query[:end] for end in _ends(query, "&"))


def _ends(text: bytes, sign: str) -> Iterator[int]:
    yield from (place for place, one in enumerate(text) if one == ord(sign) and place)
    yield len(text)


def hosts_of(host: str) -> list[Host]:
    """A host and its parents down to the registrable domain.

    `host` may be stored by a version that knew fewer spellings of IPv4 addresses.
    """
    names = (each.encode() for each in _with_parents(canonical_ip(host) if ":" in host else host))
    return [(digest_of(name), digest_of(pages_of(name)), name) for name in names]


def is_public_suffix(host: str) -> bool:
    """Whether unrelated people register names below a host, by the public suffix list."""
    return not _is_address(host) and _suffixes().privatesuffix(host) is None


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def _with_parents(host: str) -> list[str]:
    """A host and its parents down to the one that somebody registered, by the public suffix list.

    An address has no parents, and neither has what lies at or above a public suffix.
    """
    labels = host.split(".")
    registrable = None if _is_address(host) else _suffixes().privatesuffix(host)
    least = registrable.count(".") + 1 if registrable else len(labels)
    return [".".join(labels[start:]) for start in range(len(labels) - least + 1)]


def _is_address(host: str) -> bool:
    return ":" in host or host.rpartition(".")[2].isdigit()
