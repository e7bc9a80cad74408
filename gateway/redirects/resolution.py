"""Values of redirects: what a short URL resolves to, and the port that resolves it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import NamedTuple, Protocol

from services.shared.errors import Internal


class LinkState(Enum):
    """The state of a link at a moment. The values are those of the functions' payloads."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REMOVED = "removed"
    BLOCKED = "blocked"


class BlockReason(Enum):
    """Why a link is blocked. The values are those of the functions' payloads."""

    PHISHING = "phishing"
    MALWARE = "malware"
    SPAM = "spam"
    ILLEGAL = "illegal"
    OTHER = "other"


class Resolution(NamedTuple):
    """What a short URL resolves to.

    An active link redirects to `url` until `expires_at`. An expired one has no `url`, and redirects
    to `ended_url` if that is not empty. Links in other states redirect nowhere. `reason` is set for
    blocked links. `link_code` is set if the short URL has the scan code of a link.
    """

    state: LinkState
    url: str = ""
    expires_at: datetime | None = None
    ended_url: str = ""
    reason: BlockReason | None = None
    link_code: str = ""

    @classmethod
    def active(cls, url: str) -> Resolution:
        """Return the resolution of a link to `url` that does not expire."""
        return cls(LinkState.ACTIVE, url)

    @property
    def target(self) -> str:
        """The URL that visitors are redirected to, empty if there is none."""
        return self.ended_url if self.state is LinkState.EXPIRED else self.url

    def at(self, moment: float) -> Resolution:
        """Return the resolution at a Unix time: an active link may have expired by then."""
        if (
            self.state is LinkState.ACTIVE
            and self.expires_at is not None
            and self.expires_at.timestamp() <= moment
        ):
            return self._replace(state=LinkState.EXPIRED, url="")
        return self


Resolutions = Mapping[str, Resolution]
"""Resolutions by the code of the short URL."""


@dataclass(frozen=True, slots=True)
class ChangeFeedPage:
    """Which short URLs resolve differently than before a cursor of the change feed.

    `cursor` continues the feed, and `more` says to do so at once. `resolutions` holds the current
    resolutions of changed short URLs by code, and `gone` the codes of purged links. If `truncated`
    is true, nothing that was cached before this response may be used without looking it up.
    """

    cursor: str
    resolutions: Resolutions
    gone: frozenset[str]
    more: bool
    truncated: bool


class UnreadableLinks(Internal):
    """Links cannot read some of the links in a call. `found` are the resolutions of the others."""

    def __init__(self, codes: Collection[str], found: Resolutions) -> None:
        super().__init__()
        self.codes = codes
        self.found = found


class LinkSource(Protocol):
    """Where codes are looked up: the links service. Both methods raise AppError."""

    async def resolve(self, codes: Sequence[str]) -> Resolutions:
        """Return the resolutions of codes, leaving out codes without a link.

        Raises UnreadableLinks with the others if some links cannot be read.
        """

    async def changes(self, cursor: str | None) -> ChangeFeedPage:
        """Return what changed after a cursor, or without one only the current cursor."""


_ENCODED = re.compile(rb"[^!-~]+")
"""Bytes that a Location header must percent-encode."""


def to_location(url: str) -> bytes:
    """Return a URL as the value of a Location header, percent-encoded where it is not ASCII."""
    plain = url.encode()
    if url.isascii() and url.isprintable() and " " not in url:
        return plain
    return _ENCODED.sub(lambda run: b"%" + run[0].hex("%").upper().encode(), plain)
