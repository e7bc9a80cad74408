"""Links and the rules a link keeps to."""

from __future__ import annotations

import json
import re
import secrets
import string
import unicodedata
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from hashlib import sha256
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from posixpath import normpath
from typing import Protocol
from urllib.parse import unquote

import ada_url

from services.runtime.codes import (
    CODE_LENGTH,
    MAX_LENGTH,
    MIN_LENGTH,
    is_code,
    is_reserved,
    is_route,
)
from services.runtime.errors import (
    AlreadyExists,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    Unavailable,
)
from services.runtime.feed import Feed
from services.runtime.moments import micros_of, moment_of
from services.runtime.text import BLANKS, CONTROLS

MIN_URL_LENGTH = 3
MAX_URL_LENGTH = 999
MAX_CODES = 1000
"""Most codes in one look-up, and in one call of the operator."""
MAX_NAMED = 100
"""Most codes of one call of an owner."""
MAX_OWNED_CODES = 100_000
"""Most links of an owner whose codes are told all together."""
MAX_TITLE_LENGTH = 100
MAX_TAGS = 10
MAX_TAG_LENGTH = 30
MAX_TEXT_LENGTH = 999
"""Of a text that links are searched for. This and the three above: in Unicode code points."""
MAX_LIMIT = 100
"""Most links on one page of a list."""
MAX_FORMER_URLS = 500
"""Most URLs that are kept of those that a link led to before: 2 MB, half of gRPC's limit on a
message."""
RESTORABLE_FOR = timedelta(days=30)
"""How long a removal can be undone."""
PURGED_AFTER = RESTORABLE_FOR + timedelta(hours=1)
"""When what was removed is deleted for good: an hour later, as clocks of replicas differ."""
FEED = Feed(most_keys=250, kept_for=timedelta(days=1), kept_least=1000)
"""The feed of changed links. The resolutions of 250 codes, URL and ended URL of 999 characters of
four bytes, are 2 MB, half of gRPC's limit on a message."""
KEPT_RANKINGS = 32
"""How many rankings of an owner are kept. Each order and search that is looked at is another one,
and so is one in which a visit has changed the places."""
RANKING_KEPT_FOR = timedelta(hours=1)
GUEST_HASH_BYTES = 32
"""SHA-256 has so many."""
MAX_LEASE = timedelta(hours=1)
MAX_DRAWN = 100
"""Most scan codes that are drawn for one link. Even if every second code were taken, none of them
would be free once in 10^30 links."""

SWEEP_ROUNDS = 2

_NAT64 = IPv6Network("64:ff9b::/96")
"""An IPv4 address as networks that have IPv6 alone reach it, by RFC 6052."""
_DIGEST_BYTES = 12
_MAX_CURSOR_LENGTH = 200
_MAX_PLACE = 1 << 31
_JOB = re.compile(r"[a-z-]{1,64}")
_HOLDER = re.compile(r"[A-Za-z0-9_-]{1,64}")
# Of the characters of a code, those of QR's alphanumeric mode, which takes 5.5 bits for each.
_SCAN_ENDS = string.digits + string.ascii_uppercase
_SCAN_CHARACTERS = f"{_SCAN_ENDS}-"
_SCAN_CODE = re.compile(rf"[0-9A-Z-]{{{CODE_LENGTH}}}")

# An i with its dot apart, as the capital with a dot folds to, or without any.
_DOTS = re.compile("[i\u0131]\u0307*")
# `mailto:x` has a scheme; in `example.com:8081/x` what follows the colon is a port.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?![0-9]+(?:[/?#]|$))")
_HTTP = re.compile(r"https?://[^/\\?#]", re.IGNORECASE)
_AUTHORITY = re.compile(r"[^/\\?#]*")
_DEFAULT_PORTS = {"http:": 80, "https:": 443}


class InvalidCode(InvalidArgument):
    default_reason = "INVALID_CODE"


class InvalidUrl(InvalidArgument):
    default_reason = "INVALID_URL"


class InvalidOwner(InvalidArgument):
    default_reason = "INVALID_OWNER"


class TooManyCodes(InvalidArgument):
    default_reason = "TOO_MANY_CODES"


class InvalidTitle(InvalidArgument):
    default_reason = "INVALID_TITLE"


class InvalidTags(InvalidArgument):
    default_reason = "INVALID_TAGS"


class InvalidExpiry(InvalidArgument):
    default_reason = "INVALID_EXPIRY"


class InvalidEndedUrl(InvalidArgument):
    default_reason = "INVALID_ENDED_URL"


class NoChanges(InvalidArgument):
    default_reason = "NO_CHANGES"


class InvalidQuery(InvalidArgument):
    default_reason = "INVALID_QUERY"


class InvalidLimit(InvalidArgument):
    default_reason = "INVALID_LIMIT"


class InvalidCursor(InvalidArgument):
    default_reason = "INVALID_CURSOR"


class InvalidReason(InvalidArgument):
    default_reason = "INVALID_REASON"


class InvalidCause(InvalidArgument):
    default_reason = "INVALID_CAUSE"


class InvalidAddress(InvalidArgument):
    default_reason = "INVALID_ADDRESS"


class TooManyAddresses(InvalidArgument):
    default_reason = "TOO_MANY_ADDRESSES"


class InvalidLease(InvalidArgument):
    default_reason = "INVALID_LEASE"


class CodeTaken(AlreadyExists):
    default_reason = "CODE_TAKEN"


class UrlRefused(InvalidArgument):
    """A URL that a list names; `refusal` says which."""

    default_reason = "URL_REFUSED"

    def __init__(self, refusal: Refusal) -> None:
        super().__init__("This link cannot be shortened.")
        self.refusal = refusal


class NoLink(NotFound):
    default_reason = "NO_LINK"


class NoBlock(NotFound):
    default_reason = "NO_BLOCK"


class NoFreeCode(Unavailable):
    default_reason = "NO_FREE_CODE"


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


class BlockReason(Enum):
    """Why the operator blocked a link."""

    PHISHING = "phishing"
    MALWARE = "malware"
    SPAM = "spam"
    ILLEGAL = "illegal"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Resolution:
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
        return replace(self, code=scan_code, link_code=self.code)


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
    """Whether the operator took a block away: then no blocklist blocks it."""
    spared_at: datetime | None = None
    """When, as only a later word of the operator's counts; None where the version before did."""
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
class Edit:
    """What is done to links: from what a link is to what it is to be.

    `of` is pure and may be asked again. Where its outcome is what the link is already, nothing is
    written. `is_announced` says that short addresses may answer otherwise afterwards; it is so
    also where nothing changes, as the change before may have ended ahead of its announcement.
    """

    of: Callable[[Link], Link]
    is_announced: bool


def removal(now: datetime) -> Edit:
    """A link is removed. One that was removed before stays so from then on."""
    return Edit(
        lambda link: link if link.removed_at is not None else replace(link, removed_at=now),
        is_announced=True,
    )


def restoration() -> Edit:
    """A link is not removed."""
    return Edit(lambda link: replace(link, removed_at=None), is_announced=True)


def block(reason: BlockReason | None, now: datetime | None = None) -> Edit:
    """A link is blocked for a reason, or for none is not blocked, whatever blocklists say.

    `now` is when it was freed.
    """
    freed_at = now if reason is None else None
    return Edit(
        lambda link: replace(
            link, blocked=reason, listed="", spared=reason is None, spared_at=freed_at
        ),
        is_announced=True,
    )


def heed(lists: Lists) -> Edit:
    """A link is blocked where a blocklist names where it leads, and freed where none does any more.

    The operator's blocks of addresses are lists, too. A link that the operator blocked stays so,
    and one that the operator freed is blocked by a later block of an address alone.
    """

    def of(link: Link) -> Link:
        if link.blocked is not None and not link.listed:
            return link
        if refusal := link.refusal(lists):
            return replace(link, blocked=refusal.reason, listed=refusal.list)
        if lists.contents is None:  # One of those that were not read yet may name it.
            return link
        return replace(link, blocked=None, listed="")

    return Edit(of, is_announced=True)


@dataclass(frozen=True, slots=True)
class Expiry:
    """The end of a link; None for a link without one."""

    at: datetime | None


@dataclass(frozen=True, slots=True)
class LinkChanges:
    """What an owner wants to be otherwise, as it was given; what is None stays as it is."""

    url: str | None = None
    title: str | None = None
    tags: Sequence[str] | None = None
    expiry: Expiry | None = None
    ended_url: str | None = None
    public_statistics: bool | None = None

    def edit(self, urls: UrlPolicy, now: datetime) -> Edit:
        """The edit that makes the changes.

        Raises NoChanges where nothing is to change, InvalidUrl, InvalidTitle, InvalidTags,
        InvalidEndedUrl, UrlRefused, Unavailable.
        """
        if self == LinkChanges():
            raise NoChanges("Say what is to change.")
        url = None if self.url is None else urls.normalize(self.url)
        title = None if self.title is None else title_of(self.title)
        tags = None if self.tags is None else tags_of(self.tags)
        ended_url = self.ended_url and urls.normalize_ended(self.ended_url)

        def of(link: Link) -> Link:
            if url is not None and url != link.url:
                made_with = link.created_url or link.url
                link = replace(link, url=url, created_url=made_with, changed_at=now)
            link = replace(
                link,
                title=link.title if title is None else title,
                tags=link.tags if tags is None else tags,
                expires_at=link.expires_at if self.expiry is None else _second_of(self.expiry.at),
                ended_url=link.ended_url if ended_url is None else ended_url,
                public_statistics=(
                    link.public_statistics
                    if self.public_statistics is None
                    else self.public_statistics
                ),
            )
            return urls.freed(link) if url is not None or ended_url is not None else link

        resolved = (url, self.expiry, ended_url)
        return Edit(of, is_announced=any(one is not None for one in resolved))


class LinkOrder(Enum):
    """In which order links are listed. Of those that are alike in it, the newer comes first."""

    NEWEST = "newest"
    OLDEST = "oldest"
    MOST_VIEWED = "most viewed"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which of an owner's links are asked for.

    `text` is folded (`folded`) and empty for all of them. `state` None stands for every state but
    removed. A removed link is in no other list than that of the removed ones, blocked or not.
    """

    text: str = ""
    state: LinkState | None = None

    def includes(self, link: Link, now: datetime) -> bool:
        """Whether a link is asked for at a moment."""
        if link.removed_at is not None:
            in_state = self.state is LinkState.REMOVED and not link.is_gone_at(now)
        else:
            in_state = self.state in (None, link.state_at(now))
        return in_state and self.text in link.searched()


@dataclass(frozen=True, slots=True)
class Position:
    """Behind which link of a list by age to go on."""

    created_at: datetime
    code: str


@dataclass(frozen=True, slots=True)
class Place:
    """From which place of a ranking that is kept under a key to go on."""

    key: str
    start: int


@dataclass(frozen=True, slots=True)
class Listing:
    """Whose links are asked for, which of them and in which order: what a cursor is made for."""

    owner: Account | Guest
    wanted: Wanted
    order: LinkOrder

    def cursor(self, end: Position | Place) -> str:
        """The cursor that goes on from where a page ended."""
        if isinstance(end, Position):
            told = f"{micros_of(end.created_at)} {end.code}"
        else:
            told = f"{end.start} {end.key}"
        payload = told.encode()
        return urlsafe_b64encode(self._digest(payload) + payload).decode().rstrip("=")

    def end(self, cursor: str) -> Position | Place:
        """Where the page ended that a cursor was made for.

        Raises InvalidCursor for what is none, or one of another listing.
        """
        try:
            if len(cursor) > _MAX_CURSOR_LENGTH:
                raise ValueError
            given = urlsafe_b64decode(f"{cursor}{'=' * (-len(cursor) % 4)}")
            digest, payload = given[:_DIGEST_BYTES], given[_DIGEST_BYTES:]
            if digest != self._digest(payload):
                raise ValueError
            number, _, name = payload.decode().partition(" ")
            end: Position | Place
            if self.order is LinkOrder.MOST_VIEWED:
                end = Place(name, int(number))
                if not 0 < end.start < _MAX_PLACE:
                    raise ValueError
            else:
                end = Position(moment_of(int(number)), name)
            if self.cursor(end) != cursor:  # One end has one cursor.
                raise ValueError
        except (ValueError, OverflowError):
            raise InvalidCursor("This cursor was not made for these links.") from None
        return end

    def _digest(self, payload: bytes) -> bytes:
        """Binds a cursor to its listing. It is no secret: who makes one up reads the own links."""
        match self.owner:
            case Account(id=account):
                owner = ["account", account]
            case Guest(key_hash=key_hash):
                owner = ["guest", key_hash.hex()]
        state = self.wanted.state and self.wanted.state.value
        listing = json.dumps([*owner, self.wanted.text, state, self.order.value])
        return sha256(f"{listing}\n".encode() + payload).digest()[:_DIGEST_BYTES]


@dataclass(frozen=True, slots=True)
class HostPlace:
    """Behind which link to go on, of those that lead to a host or below it.

    They stand in the order of their hosts' keys (`host_key`), and those of one host in that of
    their codes. A store of another kind of order has an empty key.
    """

    key: str
    code: str


@dataclass(frozen=True, slots=True)
class Changes:
    """Which short addresses answer otherwise than before a mark.

    `resolutions` has what they answer now, `gone` those whose link was removed for good. The rest
    is as in `services.runtime.feed.Told`.
    """

    mark: int
    resolutions: list[Resolution]
    gone: list[str]
    more: bool
    lost: bool


def check_code(code: str, owner: Owner) -> None:
    """Refuse what cannot be the code of an owner's new link.

    An account chooses its codes and may have any length of them; everybody else has codes of the
    length that the page makes. Raises CodeTaken for a reserved name, however long it is, and
    InvalidCode for what is no code or has a length that the owner cannot have.
    """
    if is_reserved(code):
        raise CodeTaken("This code is taken.")
    chooses = isinstance(owner, Account)
    if not is_code(code) or (not chooses and len(code) != CODE_LENGTH):
        lengths = f"{MIN_LENGTH} to {MAX_LENGTH}" if chooses else f"{CODE_LENGTH}"
        raise InvalidCode(f"A code has {lengths} characters of A-Z, a-z, 0-9, - and _.")


def drawn_scan_codes() -> Iterator[str]:
    """Random codes, some of which may be taken, for a link's QR symbols.

    They have 8 characters of 0-9 A-Z -, no - at an end, where people who read one out would lose
    it, and none of them is a reserved name.
    """
    for _ in range(MAX_DRAWN):
        middle = (secrets.choice(_SCAN_CHARACTERS) for _ in range(CODE_LENGTH - 2))
        code = "".join((secrets.choice(_SCAN_ENDS), *middle, secrets.choice(_SCAN_ENDS)))
        if not is_reserved(code):
            yield code


def may_be_scan_code(code: str) -> bool:
    """Whether a code has the shape of a scan code, which that of a link can have as well."""
    return _SCAN_CODE.fullmatch(code) is not None


def codes_of(links: Iterable[Link]) -> list[str]:
    """What the short addresses of links end in: their codes, and scan codes where they have one."""
    return [code for link in links for code in (link.code, link.scan_code) if code]


def folded(text: str) -> str:
    """A text in which case makes no difference: `É` is `é`, and `ß` is `ss`.

    Turkish has an i with a dot and one without, each with a capital of its own. All four are one:
    who searches for `istanbul` means `İstanbul`, too.
    """
    cased = unicodedata.normalize("NFC", text).casefold()
    return unicodedata.normalize("NFC", _DOTS.sub("i", cased))


def title_of(given: str) -> str:
    """The title to store: without the blanks around it. Raises InvalidTitle."""
    title = given.strip(BLANKS)
    if len(title) > MAX_TITLE_LENGTH or CONTROLS.search(title):
        raise InvalidTitle(
            f"A title has up to {MAX_TITLE_LENGTH} characters and no control characters."
        )
    return title


def tags_of(given: Sequence[str]) -> tuple[str, ...]:
    """The tags to store: without the blanks around each, in the order given, none twice.

    One that is given twice is no mistake of its owner, and kept once. Raises InvalidTags.
    """
    tags = [tag.strip(BLANKS) for tag in given]
    if len(tags) > MAX_TAGS:
        raise InvalidTags(f"A link has up to {MAX_TAGS} tags.")
    if any(not 1 <= len(tag) <= MAX_TAG_LENGTH or CONTROLS.search(tag) for tag in tags):
        raise InvalidTags(f"A tag has 1 to {MAX_TAG_LENGTH} characters and no control characters.")
    return tuple(dict.fromkeys(tags))


def text_of(given: str) -> str:
    """The text to look for, folded. Raises InvalidQuery."""
    if len(given) > MAX_TEXT_LENGTH or CONTROLS.search(given):
        raise InvalidQuery(
            f"A text to look for has up to {MAX_TEXT_LENGTH} characters and no control characters."
        )
    return folded(given)


def check_limit(limit: int) -> None:
    """Refuse what cannot be the number of links on a page. Raises InvalidLimit."""
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidLimit(f"A page has 1 to {MAX_LIMIT} links.")


def check_lease(job: str, holder: str, duration: timedelta) -> None:
    """Refuse what is no lease. Raises InvalidLease."""
    named = _JOB.fullmatch(job) and _HOLDER.fullmatch(holder)
    if not named or not timedelta(0) <= duration <= MAX_LEASE:
        raise InvalidLease("A lease has a job, a holder and up to an hour.")


@dataclass(frozen=True, slots=True)
class Refusal:
    """What names a URL that is refused: the list, its class, and the line, from 1 on.

    A block of an address by the operator is a list of one line, with the moment of the decision.
    """

    reason: BlockReason
    list: str
    line: int
    decided_at: datetime | None = None


class UrlGate(Protocol):
    """Knows the hosts and paths to which no link may lead."""

    def refusal(self, url: str) -> Refusal | None:
        """What names a URL that could be stored otherwise; None where nothing does.

        Raises Unavailable while that is not known yet.
        """
        ...


class Lists(UrlGate, Protocol):
    """The gate, as it is asked of links that are there already."""

    @property
    def contents(self) -> str | None:
        """What tells these lists from others: 64 characters; None until each of them was read."""
        ...

    @property
    def settled_at(self) -> float:
        """From when on, by `time.monotonic`, every process knows what these lists name."""
        ...

    def concerns(self, host: str) -> bool:
        """Whether a list names a host, a parent of it, or pages of them."""
        ...


class Stage(Enum):
    """What is done in a round of a sweep, in this order."""

    NOTING = "noting"
    """The hosts of links that another version made are noted; `after` is a code."""
    BLOCKING = "blocking"
    """What lists name is blocked; `after` is a host."""
    FREEING = "freeing"
    """Of what lists have blocked, that is freed which none names any more; `after` is a code."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """How far all links were looked through for lists of some contents.

    `after` is what the stage looked at last. After two rounds it is done: the second one finds what
    was made meanwhile by processes that did not know the lists yet.
    """

    contents: str
    round: int = 0
    stage: Stage = Stage.NOTING
    after: str = ""

    @property
    def is_done(self) -> bool:
        return self.round >= SWEEP_ROUNDS


def host_of(url: ada_url.URL) -> str:
    """The host of a URL as blocklists name it; '' where it has none.

    It has no dots at its ends, and an IPv6 address that leads to an IPv4 one is that.
    """
    hostname = url.hostname
    if hostname.startswith("["):
        address = IPv6Address(hostname[1:-1])
        if address in _NAT64:
            return str(IPv4Address(int(address) & 0xFFFFFFFF))
        return str(address.ipv4_mapped or address)
    return ".".join(filter(None, hostname.split(".")))


def host_key(host: str) -> str:
    """A host turned round, so that those below it stand right behind it: `example.evil.www.`"""
    return "".join(f"{label}." for label in reversed(host.split("."))) if host else ""


def host_of_key(key: str) -> str:
    """The host of such a key."""
    return ".".join(reversed(key.removesuffix(".").split(".")))


def keys_below(host: str) -> tuple[str, str]:
    """Between which two keys, the first included, those of a host and of all below it are."""
    key = host_key(host)
    return key, f"{key[:-1]}/"  # The slash comes right after the dot.


def host_at(url: str) -> str:
    """The host of a URL that is stored, as `host_of` has it."""
    try:
        return host_of(ada_url.URL(url))
    except ValueError:  # No version takes such a one.
        return ""


class UrlPolicy:
    """Which URLs can be stored by a product that is reached at `public_url`.

    Without a gate, all can be that have the form.
    """

    def __init__(self, public_url: str, gate: UrlGate | None = None) -> None:
        self._gate = gate
        own = ada_url.URL(public_url)
        self._own = host_of(own)
        self._host = _folded(own.hostname)
        self._ports = _own_ports(_port(own))

    def normalize(self, given: str) -> str:
        """The URL to store for what a visitor gave, unchanged but for three things.

        Blanks around it go, `http://` comes in front where it has no scheme, and a Unicode host
        becomes punycode. Parsing is that of browsers (WHATWG URL), by ada.

        Raises InvalidUrl, UrlRefused, Unavailable.
        """
        url = given.strip(BLANKS)
        if not MIN_URL_LENGTH <= len(url) <= MAX_URL_LENGTH:
            raise InvalidUrl(f"A URL has {MIN_URL_LENGTH} to {MAX_URL_LENGTH} characters.")
        if CONTROLS.search(url):
            raise InvalidUrl("A URL has no control characters.")
        if not _SCHEME.match(url):
            url = f"http://{url}"
        if not _HTTP.match(url):
            raise InvalidUrl("Only http and https URLs with a host can be stored.")
        try:
            parsed = ada_url.URL(url)
        except ValueError:
            raise InvalidUrl("This is not a URL.") from None
        if not parsed.hostname.strip("."):
            raise InvalidUrl("A URL has a host.")
        if _has_broken_punycode(parsed.hostname):
            raise InvalidUrl("This is not a URL.")
        if self._is_short_address(parsed):
            raise InvalidUrl("This is a short address already.")
        url = _with_ascii_host(url, parsed.hostname)
        if self._gate is not None and (refusal := self._gate.refusal(url)):
            raise UrlRefused(refusal)
        return url

    def normalize_ended(self, given: str) -> str:
        """The same for where a link leads once it is expired.

        Raises InvalidEndedUrl, UrlRefused, Unavailable.
        """
        try:
            return self.normalize(given)
        except InvalidUrl as error:
            raise InvalidEndedUrl(error.message) from None

    def freed(self, link: Link) -> Link:
        """A link, freed where it is blocked for a list and no list names where it leads.

        Raises Unavailable.
        """
        if not link.listed or (self._gate is not None and link.refusal(self._gate)):
            return link
        return replace(link, blocked=None, listed="")

    def is_within(self, host: str) -> bool:
        """Whether the product is reached at a host, as `host_of` has it, or below it."""
        return f".{self._own}".endswith(f".{host}")

    def _is_short_address(self, url: ada_url.URL) -> bool:
        host = _folded(url.hostname)
        same_host = host == self._host or (_is_loopback(host) and _is_loopback(self._host))
        if not same_host or _port(url) not in self._ports:
            return False
        # Dots are resolved after decoding: an encoded slash or dot leads to the same place.
        path = normpath(unquote(url.pathname).replace("\\", "/")).strip("/")
        return is_code(path) and not is_route(path)


def _second_of(moment: datetime | None) -> datetime | None:
    return moment and moment.replace(microsecond=0)


def _with_ascii_host(url: str, ascii_host: str) -> str:
    start = url.index("//") + 2
    match = _AUTHORITY.match(url, start)
    authority = match.group() if match else ""
    userinfo, at, hostport = authority.rpartition("@")
    host, colon, port = hostport.partition(":")
    if hostport.startswith("[") or host.isascii():
        return url
    return f"{url[:start]}{userinfo}{at}{ascii_host}{colon}{port}{url[start + len(authority) :]}"


def _has_broken_punycode(host: str) -> bool:
    """Whether a label only looks like punycode: ada lets it pass, browsers refuse to go there."""
    return any(
        label.startswith("xn--") and ada_url.idna.decode(label) == label
        for label in host.split(".")
    )


def _folded(hostname: str) -> str:
    return hostname.rstrip(".")


def _port(url: ada_url.URL) -> int:
    return int(url.port) if url.port else _DEFAULT_PORTS.get(url.protocol, 0)


def _own_ports(port: int) -> frozenset[int]:
    """A product on a default port is reached on the other one too."""
    defaults = frozenset(_DEFAULT_PORTS.values())
    return defaults if port in defaults else frozenset({port})


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return False
    mapped = address if isinstance(address, IPv4Address) else address.ipv4_mapped
    return address.is_loopback or address.is_unspecified or bool(mapped and mapped.is_loopback)
