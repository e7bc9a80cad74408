"""A short link and its states."""

from __future__ import annotations

from collections.abc import Callable, Sized
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from services.links.domain.block import BlockReason
from services.links.domain.blocklist import BlocklistMatch, UrlBlocklist
from services.links.domain.host import host_at
from services.links.domain.owner import Anonymous, Owner
from services.links.domain.resolution import LinkState, Resolution
from services.links.domain.text import (
    fold_case,
    parse_tags,
    parse_title,
    trimmed_tags,
    trimmed_title,
)
from services.shared.errors import InvalidArgument, NotFound, ResourceExhausted

MAX_CODES = 1000
"""Maximum codes in one lookup, and in one call of the operator or the reconciler."""
MAX_CREATIONS = 250
"""Maximum links created in one call. 250 resolutions with two 999-character URLs (4 bytes each) are
2 MB, half of gRPC's message limit."""
MAX_EDITED_CODES = 100
"""Maximum links that one call of an owner changes."""
MAX_ACCOUNT_LINKS = 1_000_000
"""Maximum links of an account, including removed ones that can be restored."""
MAX_OWNED_CODES = 100_000
"""Maximum codes of an owner that one call lists."""
MAX_FORMER_URLS = 500
"""Maximum previous URLs of a link: 2 MB, half of gRPC's message limit."""
RESTORABLE_FOR = timedelta(days=30)
"""How long a removal can be undone."""
PURGED_AFTER = RESTORABLE_FOR + timedelta(hours=1)
"""The age at which a removed link is purged. The extra hour allows for clock differences."""
WITHDRAWN_BEFORE = (RESTORABLE_FOR + PURGED_AFTER) / 2
"""How far a withdrawn link's removal is backdated. Replicas whose clocks differ by less than half
an hour agree that the link is gone and that it is not purgeable yet."""


class TooManyCodes(InvalidArgument):
    default_reason = "TOO_MANY_CODES"


class NoLink(NotFound):
    default_reason = "NO_LINK"


class TooManyLinks(InvalidArgument):
    default_reason = "TOO_MANY_LINKS"


class AccountFull(ResourceExhausted):
    """An account has as many links as it may have. Waiting does not help."""

    default_reason = "ACCOUNT_FULL"


class TooManyUrls(InvalidArgument):
    default_reason = "TOO_MANY_URLS"


class TooManyQueries(ResourceExhausted):
    default_reason = "TOO_MANY_QUERIES"


@dataclass(frozen=True, slots=True)
class Link:
    """A short link."""

    code: str
    url: str
    """Where it leads while it is active."""
    owner: Owner
    created_at: datetime
    title: str = ""
    tags: tuple[str, ...] = ()
    changed_at: datetime | None = None
    """When its URL last changed."""
    created_url: str = ""
    """The URL it was created with; empty if its URL never changed."""
    expires_at: datetime | None = None
    """When it expires, in whole seconds."""
    ended_url: str = ""
    """Where it leads after it expires; empty for nowhere."""
    public_statistics: bool = False
    removed_at: datetime | None = None
    blocked: BlockReason | None = None
    blocklist: str = ""
    """Name of the blocklist that blocked it; empty if the operator did or it is not blocked."""
    exempt: bool = False
    """Whether the operator unblocked it. No list in a file blocks it again."""
    exempt_since: datetime | None = None
    """When the operator unblocked it. Only a later decision of the operator blocks it again."""
    scan_code: str = ""
    """Its second code, used by QR symbols; empty if it has none."""
    domain: str = ""
    """The domain (host, with its port if it has one) of its short URL; empty for that of the public
    URL. If the instance no longer has it, the public URL's counts."""

    def repeats(self, other: Link) -> bool:
        """Return whether creating this link repeats the creation of `other`."""
        created = (other.code, other.created_url or other.url, other.owner)
        return (self.code, self.url, self.owner) == created and other.removed_at is None

    def state_at(self, now: datetime) -> LinkState:
        if self.blocked is not None:
            return LinkState.BLOCKED
        if self.removed_at is not None:
            return LinkState.REMOVED
        if self.expires_at is not None and self.expires_at <= now:
            return LinkState.EXPIRED
        return LinkState.ACTIVE

    def is_gone_at(self, now: datetime) -> bool:
        """Return whether its removal can no longer be undone. Its owner no longer sees it."""
        return self.removed_at is not None and self.removed_at + RESTORABLE_FOR <= now

    def shows_statistics_to(self, caller: Owner, now: datetime) -> bool:
        """Return whether a caller may see its statistics.

        Its owner always may until the link is gone; everybody may while the statistics are public
        and the link is not removed.
        """
        is_owner = not isinstance(caller, Anonymous) and caller == self.owner
        is_public = self.public_statistics and self.removed_at is None
        return is_public or (is_owner and not self.is_gone_at(now))

    def destinations(self) -> tuple[str, ...]:
        """Return the URLs it leads to, before and after its expiry."""
        return (self.url, self.ended_url) if self.ended_url else (self.url,)

    def hosts(self) -> tuple[str, ...]:
        """Return the hosts of its destinations, in the form of blocklists (`get_host`)."""
        return tuple(dict.fromkeys(map(host_at, self.destinations())))

    def blocklist_match(self, blocklist: UrlBlocklist) -> BlocklistMatch | None:
        """Return the blocklist entry that blocks the link; None if none does.

        An exempt link is blocked only by patterns that the operator blocked later. Raises
        Unavailable until every list is loaded.
        """
        matches = map(blocklist.match, self.destinations())
        return next((match for match in matches if match and not self.is_exempt_from(match)), None)

    def is_exempt_from(self, match: BlocklistMatch) -> bool:
        """Return whether the operator unblocked the link in spite of a blocklist entry."""
        if not self.exempt:
            return False
        decided_at = match.decided_at
        return decided_at is None or (
            self.exempt_since is not None and decided_at <= self.exempt_since
        )

    def search_text(self) -> str:
        """Return the case-folded text that searches scan: code, URL, title and tags, by line."""
        return fold_case("\n".join((self.code, self.url, self.title, *self.tags)))

    def resolution(self) -> Resolution:
        """Return what its short URL answers. Callers must check `expires_at`."""
        if self.blocked is not None:
            return Resolution(self.code, LinkState.BLOCKED, reason=self.blocked)
        if self.removed_at is not None:
            return Resolution(self.code, LinkState.REMOVED)
        return Resolution(self.code, LinkState.ACTIVE, self.url, self.expires_at, self.ended_url)


class OwnerField(NamedTuple):
    """A field of a link that its owner sets: how a given value becomes the one to store."""

    check: Callable[[Any], Any]
    """Returns the value to store. Raises InvalidArgument if the given one is invalid."""
    fit: Callable[[Any], Any]
    """Returns the nearest valid value, for imports."""


def _whole_seconds(moment: datetime | None) -> datetime | None:
    return moment and moment.replace(microsecond=0)


OWNER_FIELDS = {
    "title": OwnerField(parse_title, trimmed_title),
    "tags": OwnerField(parse_tags, trimmed_tags),
    "expires_at": OwnerField(_whole_seconds, _whole_seconds),
    "public_statistics": OwnerField(bool, bool),
}
"""The fields of `Link` that owners set, except for the URLs and the domain, which `UrlPolicy`
checks."""


@dataclass(frozen=True, slots=True)
class FormerUrl:
    """A previous URL of a link, and when it was replaced."""

    url: str
    until: datetime


def no_link() -> NoLink:
    """Return the error for a code under which the caller may see no link."""
    return NoLink("There is no such link.")


def check_room(room: int, links: int) -> None:
    """Raise AccountFull if there is no room for as many new links of an account."""
    if links > room:
        raise AccountFull(f"An account has at most {MAX_ACCOUNT_LINKS:,} links.")


def check_count(codes: Sized, limit: int) -> None:
    """Raise TooManyCodes if a call names more than `limit` codes."""
    if len(codes) > limit:
        raise TooManyCodes(f"A call can name at most {limit} codes.")
