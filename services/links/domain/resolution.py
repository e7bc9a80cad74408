"""What a short URL answers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from services.links.domain.block import BlockReason
from services.shared.errors import Internal


class LinkState(Enum):
    """The state of a link at a moment.

    If several apply, the first of blocked, removed, expired and active holds.
    """

    ACTIVE = "active"
    EXPIRED = "expired"
    REMOVED = "removed"
    BLOCKED = "blocked"


class Resolution(NamedTuple):
    """What a short URL answers."""

    code: str
    """The code or scan code at the end of the short URL."""
    state: LinkState
    """Never EXPIRED: callers must check `expires_at`."""
    url: str = ""
    """Where an active link leads; empty in every other state."""
    expires_at: datetime | None = None
    ended_url: str = ""
    """Where an expired link leads; empty for nowhere."""
    reason: BlockReason | None = None
    """Set if the link is blocked."""
    link_code: str = ""
    """The link's own code if `code` is its scan code; else empty."""

    def via_scan_code(self, scan_code: str) -> Resolution:
        """Return this link's resolution for the short URL that ends in its scan code."""
        return self._replace(code=scan_code, link_code=self.code)


class UnreadableLinks(Internal):
    """Some of the links in a call cannot be read. `found` are the resolutions of the others."""

    def __init__(self, codes: Collection[str], found: list[Resolution]) -> None:
        super().__init__()
        self.codes = codes
        self.found = found


@dataclass(frozen=True, slots=True)
class ResolutionChanges:
    """One page of the change feed: the short URLs whose answers changed after a cursor."""

    cursor: str
    """Where the next page starts. If `truncated`, the cursor of now."""
    resolutions: list[Resolution]
    """The current answers."""
    gone: list[str]
    """Codes of purged links, and of links that cannot be read."""
    more: bool
    """Whether another page is ready."""
    truncated: bool
    """Whether changes since the requested cursor are lost."""
