"""What a short address answers, as the gateway knows it: told by links, kept, and answered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import NamedTuple


class LinkState(Enum):
    """What a link is at a moment; the values are the words that callers of functions see."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REMOVED = "removed"
    BLOCKED = "blocked"


class BlockReason(Enum):
    """Why the operator blocked a link; the values are the words that people see."""

    PHISHING = "phishing"
    MALWARE = "malware"
    SPAM = "spam"
    ILLEGAL = "illegal"
    OTHER = "other"


class Resolution(NamedTuple):
    """What a short address answers.

    `url` is where an active link leads and empty in every other state. From `expires_at` on an
    active link is expired, and then leads to `ended_url`, or nowhere where that is empty. `reason`
    is there where the link is blocked, `link_code` where the address ends in its scan code.
    """

    state: LinkState
    url: str = ""
    expires_at: datetime | None = None
    ended_url: str = ""
    reason: BlockReason | None = None
    link_code: str = ""

    @classmethod
    def active(cls, url: str) -> Resolution:
        """Of a link that leads to `url` and has no end."""
        return cls(LinkState.ACTIVE, url)

    @property
    def target(self) -> str:
        """The URL that its visitors are sent to; empty where they are told why there is none."""
        return self.ended_url if self.state is LinkState.EXPIRED else self.url

    def at(self, moment: float) -> Resolution:
        """The same at a moment, in seconds since 1970: an active link may have expired by then."""
        if (
            self.state is LinkState.ACTIVE
            and self.expires_at is not None
            and self.expires_at.timestamp() <= moment
        ):
            return self._replace(state=LinkState.EXPIRED, url="")
        return self


Resolutions = Mapping[str, Resolution]
"""Resolutions by short address."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Which short addresses answer differently than before a cursor.

    `cursor` continues the feed, and `more` says to do so at once. `resolutions` holds what changed
    short addresses answer now, by code, and `gone` those whose link was purged. If `truncated` is
    true, nothing that was cached before this answer may be used without looking it up.
    """

    cursor: str
    resolutions: Resolutions
    gone: frozenset[str]
    more: bool
    truncated: bool


_ENCODED = re.compile(rb"[^!-~]+")
"""What a Location header does not carry as it is."""


def location_of(url: str) -> bytes:
    """A URL as a Location header carries it: what ASCII has no place for is percent-encoded."""
    plain = url.encode()
    if url.isascii() and url.isprintable() and " " not in url:
        return plain
    return _ENCODED.sub(lambda run: b"%" + run[0].hex("%").upper().encode(), plain)
