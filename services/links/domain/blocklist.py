"""Blocklists as the rules of links see them: which URLs no link may lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.links.domain.block import BlockReason

OPERATOR_PREFIX = "operator/"
"""In front of a pattern as the name of a list. File names contain no slash."""


def to_pattern(name: str) -> str:
    """Return the pattern of a list that is one of the operator's, or an empty string."""
    return name.removeprefix(OPERATOR_PREFIX) if name.startswith(OPERATOR_PREFIX) else ""


@dataclass(frozen=True, slots=True)
class BlocklistMatch:
    """The entry of a blocklist that matches a URL.

    A pattern that the operator blocked is a list of its own with one line, named
    `OPERATOR_PREFIX` and the pattern.
    """

    reason: BlockReason
    list: str
    line: int
    """Line number, from 1 on."""
    key: str = ""
    """What of the URL matches: a host, or a host with a path and query (`blocklist_key`)."""
    decided_at: datetime | None = None
    """When the operator blocked the pattern; None for a list in a file."""


class UrlBlocklist(Protocol):
    """Hosts and paths that no link may lead to."""

    def match(self, url: str) -> BlocklistMatch | None:
        """Return the entry that decides about a normalized URL; None if none matches it.

        Raises Unavailable until every list is loaded.
        """


class VersionedBlocklist(UrlBlocklist, Protocol):
    """A blocklist that changes over time and is applied to existing links."""

    @property
    def fingerprint(self) -> str | None:
        """64 characters that identify the entries; None until every list is loaded."""

    @property
    def settled_at(self) -> float:
        """The time (`time.monotonic`) from which on every process has loaded these entries."""

    def may_match_host(self, host: str) -> bool:
        """Return whether an entry names a host, a parent of it, or pages on one of them."""

    def matches(self, url: str) -> Sequence[BlocklistMatch]:
        """Return one matching entry of each list; the first is the one that decides.

        Raises Unavailable until every list is loaded.
        """
