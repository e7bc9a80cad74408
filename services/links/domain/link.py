"""Links, whose they are, and what their short addresses answer."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import NamedTuple

from services.links.domain.block import BlockReason, Refusal, UrlGate
from services.links.domain.host import host_at
from services.links.domain.text import folded
from services.shared.errors import InvalidArgument, NotFound, ResourceExhausted

MAX_CODES = 1000
"""Most codes in one look-up, and in one call of the operator."""
MAX_CREATIONS = 250
"""Most links that are made in one call. So many resolutions with the longest URLs are 2 MB, half of
gRPC's limit on a message."""
MAX_NAMED = 100
"""Most codes of one call of an owner."""
MAX_OWNED_CODES = 100_000
"""Most links of an owner whose codes are told all together."""
MAX_FORMER_URLS = 500
"""Most URLs that are kept of those that a link led to before: 2 MB, half of gRPC's limit on a
message."""
RESTORABLE_FOR = timedelta(days=30)
"""How long a removal can be undone."""
PURGED_AFTER = RESTORABLE_FOR + timedelta(hours=1)
"""When what was removed is deleted for good: an hour later, as clocks of replicas differ."""
WITHDRAWN_BEFORE = (RESTORABLE_FOR + PURGED_AFTER) / 2
"""How far the removal of a withdrawn link is dated back. Replicas whose clocks differ by less than
half an hour agree that it is gone and that it is not purgeable yet."""
GUEST_HASH_BYTES = 32
"""SHA-256 has so many."""


class InvalidOwner(InvalidArgument):
    default_reason = "INVALID_OWNER"


class TooManyCodes(InvalidArgument):
    default_reason = "TOO_MANY_CODES"


class NoLink(NotFound):
    default_reason = "NO_LINK"


class TooManyLinks(InvalidArgument):
    default_reason = "TOO_MANY_LINKS"


class TooManyUrls(InvalidArgument):
    default_reason = "TOO_MANY_URLS"


class TooManyQueries(ResourceExhausted):
    default_reason = "TOO_MANY_QUERIES"


@dataclass(frozen=True, slots=True)
class Account:
    """An owner with an account. Raises InvalidOwner for an empty id."""

    id: str

    def __post_init__(self) -> None:
        if not self.id:
            raise InvalidOwner("An account has an id.")


@dataclass(frozen=True, slots=True)
class Guest:
    """An owner without an account: a browser that keeps a key, of which this is the SHA-256.

    Raises InvalidOwner for a hash that has not 32 bytes.
    """

    key_hash: bytes

    def __post_init__(self) -> None:
        if len(self.key_hash) != GUEST_HASH_BYTES:
            raise InvalidOwner(f"The hash of a guest's key has {GUEST_HASH_BYTES} bytes.")


@dataclass(frozen=True, slots=True)
class Nobody:
    """What owns the link of a visitor who sent neither a session nor a key."""


NOBODY = Nobody()
Owner = Account | Guest | Nobody


class LinkState(Enum):
    """What a link is at a moment; where several hold, the first of blocked, removed, expired,
    active."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REMOVED = "removed"
    BLOCKED = "blocked"


class Resolution(NamedTuple):
    """What a short address answers.

    `url` is where an active link leads and empty in every other state. From `expires_at` on an
    active link is expired, and then leads to `ended_url`, or nowhere where that is empty. `reason`
    is there where the link is blocked, `link_code` where the address ends in its scan code.
    """

    code: str
    state: LinkState
    url: str = ""
    expires_at: datetime | None = None
    ended_url: str = ""
    reason: BlockReason | None = None
    link_code: str = ""

    @classmethod
    def active(cls, code: str, url: str) -> Resolution:
        """Of a link that leads to `url` and has no end."""
        return cls(code, LinkState.ACTIVE, url)

    def by(self, scan_code: str) -> Resolution:
        """What the address that ends in the link's scan code answers, where this is the link's."""
        return self._replace(code=scan_code, link_code=self.code)


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
    """When its URL changed last."""
    created_url: str = ""
    """The URL that it was made with; empty where it never had another."""
    expires_at: datetime | None = None
    """From when on it is expired, in whole seconds."""
    ended_url: str = ""
    """Where it leads once it is expired; empty for nowhere."""
    public_statistics: bool = False
    removed_at: datetime | None = None
    blocked: BlockReason | None = None
    listed: str = ""
    """The blocklist that blocked it; empty where the operator did, or nobody."""
    spared: bool = False
    """Whether the operator unblocked it. A blocklist does not block it again."""
    spared_at: datetime | None = None
    """When the operator unblocked it: only a later decision of the operator blocks it again."""
    scan_code: str = ""
    """Its second code, that of its QR symbols; empty where it has none."""

    def repeats(self, other: Link) -> bool:
        """Whether `other`, which holds the code, is what a repeated creation made before."""
        made = (other.code, other.created_url or other.url, other.owner)
        return (self.code, self.url, self.owner) == made and other.removed_at is None

    def state_at(self, now: datetime) -> LinkState:
        """What it is at a moment."""
        if self.blocked is not None:
            return LinkState.BLOCKED
        if self.removed_at is not None:
            return LinkState.REMOVED
        if self.expires_at is not None and self.expires_at <= now:
            return LinkState.EXPIRED
        return LinkState.ACTIVE

    def is_gone_at(self, now: datetime) -> bool:
        """Whether its removal cannot be undone any more: for its owner there is no such link."""
        return self.removed_at is not None and self.removed_at + RESTORABLE_FOR <= now

    def shows_statistics_to(self, caller: Owner, now: datetime) -> bool:
        """Whether somebody may see how it is visited: its owner, and everybody where it is public.

        What its owner removed is shown to its owner alone.
        """
        is_owner = not isinstance(caller, Nobody) and caller == self.owner
        is_public = self.public_statistics and self.removed_at is None
        return is_public or (is_owner and not self.is_gone_at(now))

    def hosts(self) -> tuple[str, ...]:
        """The hosts that it leads to, now and once it is expired, as blocklists name them."""
        return tuple(dict.fromkeys(host_at(url) for url in (self.url, self.ended_url) if url))

    def refusal(self, gate: UrlGate) -> Refusal | None:
        """What blocks it by where it leads, now or once it is expired; None where nothing does.

        Of a link that the operator freed that is a block which the operator made later, and no
        list. Raises Unavailable.
        """
        refusals = (gate.refusal(url) for url in (self.url, self.ended_url) if url)
        return next((one for one in refusals if one and not self._is_spared(one)), None)

    def _is_spared(self, refusal: Refusal) -> bool:
        if not self.spared:
            return False
        decided_at = refusal.decided_at
        return decided_at is None or (self.spared_at is not None and decided_at <= self.spared_at)

    def searched(self) -> str:
        """What a text is looked for in, folded: code, URL, title and tags, a line each."""
        return folded("\n".join((self.code, self.url, self.title, *self.tags)))

    def resolution(self) -> Resolution:
        """What its short address answers. That an active one expires is seen to by who asks."""
        if self.blocked is not None:
            return Resolution(self.code, LinkState.BLOCKED, reason=self.blocked)
        if self.removed_at is not None:
            return Resolution(self.code, LinkState.REMOVED)
        return Resolution(self.code, LinkState.ACTIVE, self.url, self.expires_at, self.ended_url)


@dataclass(frozen=True, slots=True)
class FormerUrl:
    """A URL that a link led to, and when another took its place."""

    url: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Changes:
    """Which short addresses answer differently than before a cursor.

    `resolutions` holds what they answer now, `gone` those whose link was purged. `cursor` is where
    the next question goes on, and `more` says that there is more at once. If `truncated` is true,
    changes since the requested cursor are lost, and `cursor` is that of now.
    """

    cursor: str
    resolutions: list[Resolution]
    gone: list[str]
    more: bool
    truncated: bool


def somebody(owner: Owner) -> Account | Guest:
    """Return the owner. Raises InvalidOwner for nobody."""
    if isinstance(owner, Nobody):
        raise InvalidOwner("Links are of an account or of a guest.")
    return owner


def no_link() -> NoLink:
    """Return the error for a code under which the caller may see no link."""
    return NoLink("There is no such link.")


def check_count(codes: Sized, limit: int) -> None:
    """Refuse more codes than a call may name. Raises TooManyCodes."""
    if len(codes) > limit:
        raise TooManyCodes(f"At most {limit} codes can be named at once.")
