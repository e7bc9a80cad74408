"""The values that the gateway exchanges with the three services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import TypedDict

from gateway.backends.owners import Account
from gateway.redirects.resolution import BlockReason, LinkState, Resolutions
from services.shared.errors import AppError


class Role(Enum):
    """What an account may do. The values are those of the functions' payloads."""

    MEMBER = "member"
    ADMINISTRATOR = "administrator"


@dataclass(frozen=True, slots=True)
class Login:
    """The session that a log-in starts."""

    token: str
    expires_at: datetime
    username: str
    device: str
    """Device token, which the browser sends with its next log-in."""
    role: Role | None
    """None if a version of auth without roles answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session of an account. A field that is added here is shown to the account."""

    id: str
    created_at: datetime
    last_seen_at: datetime
    """In whole hours."""
    browser: str
    """Name of the browser, empty if unknown."""
    system: str
    """Name of the operating system, likewise."""
    current: bool
    """Whether it is the session of the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Creator:
    """The session that created a passkey or an API key, as it was then. It may have ended."""

    id: str
    created_at: datetime
    browser: str
    system: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Passkey:
    """A passkey of an account. A field that is added here is shown to the account."""

    id: str
    """The id of its WebAuthn credential."""
    name: str
    created_at: datetime
    last_used_at: datetime | None
    """The minute of its last log-in, None if there was none."""
    created_by: Creator | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A connection of an account with an identity at the OpenID Connect provider.

    A field that is added here is shown to the account.
    """

    id: str
    issuer: str
    email: str
    """The e-mail address that the provider named when the connection was made."""
    created_at: datetime
    last_used_at: datetime | None
    """The minute of its last log-in, None if there was none after the first."""


@dataclass(frozen=True, slots=True)
class OidcLink:
    """The offer to connect an account by its password."""

    link: str
    email: str
    """The e-mail address of the account."""


class Scope(Enum):
    """What an API key may do. The values are those of the functions' payloads."""

    LINKS_READ = "links:read"
    LINKS_WRITE = "links:write"
    STATISTICS_READ = "statistics:read"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key of an account, without the key itself.

    A field that is added here is shown to the account.
    """

    id: str
    name: str
    prefix: str
    """First 12 characters of the key."""
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    """The minute of its last use, None if it was never used."""
    created_by: Creator | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedKey:
    """A valid API key and its account."""

    id: str
    account: Account
    username: str
    name: str
    scopes: frozenset[Scope]
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPreview:
    """What anybody may know of a link. A field that is added here is shown to strangers."""

    code: str
    url: str
    title: str
    created_at: datetime
    changed_at: datetime | None
    """When its URL last changed."""
    state: LinkState
    reason: BlockReason | None
    """Why it is blocked, if it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(LinkPreview):
    """A link as its owner sees it."""

    tags: tuple[str, ...] = ()
    expires_at: datetime | None = None
    ended_url: str = ""
    """The URL that it redirects to once it is expired, empty for none."""
    public_statistics: bool = False
    scan_code: str = ""
    """The code of its QR codes, empty for none."""
    domain: str = ""
    """The domain of its short URL, empty for that of the public URL. It may no longer be listed."""


@dataclass(frozen=True, slots=True)
class FormerUrl:
    """A previous URL of a link, and when it was replaced."""

    url: str
    until: datetime


class LinkOrder(Enum):
    """The order of a list of links. The values are those of the functions' payloads."""

    NEWEST = "newest"
    OLDEST = "oldest"
    MOST_VIEWED = "most viewed"


@dataclass(frozen=True, slots=True)
class LinkQuery:
    """A query for some of an owner's links."""

    text: str = ""
    """Searched in codes, URLs, titles and tags; empty for all links."""
    state: LinkState | None = None
    """None for every state except removed."""
    order: LinkOrder = LinkOrder.NEWEST
    limit: int = 50
    cursor: str = ""
    """From the previous page, empty for the first."""
    with_total: bool = True
    """Whether to count all links. A list ordered by views always has its total."""


@dataclass(frozen=True, slots=True)
class LinkQueryResult:
    """A page of links. `total` counts the links of all pages; `cursor` is empty on the last one."""

    links: list[Link]
    total: int
    cursor: str


class LinkChanges(TypedDict, total=False):
    """Changes of a link. Absent keys stay as they are."""

    url: str
    title: str
    tags: list[str]
    expires_at: datetime | None
    """None for no expiry."""
    ended_url: str | None
    """None for no URL."""
    public_statistics: bool
    domain: str
    """One of the instance's domains, for links of accounts."""


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link to create. links validates every field."""

    url: str
    code: str | None = None
    """None for a random code."""
    title: str = ""
    tags: Sequence[str] = ()
    expires_at: datetime | None = None
    ended_url: str = ""
    domain: str = ""
    """Empty for that of the public URL."""


class ImportVerdict(Enum):
    """What an import does with a row. The values are those of the functions' answers."""

    NEW = "new"
    EXISTS = "exists"
    TAKEN = "taken"
    RESERVED = "reserved"
    NOT_A_CODE = "not a code"
    REFUSED = "refused"
    NOT_HTTP = "not http"
    DUPLICATE = "duplicate"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class ImportRow:
    """A row of an import. `number` identifies it within its import."""

    number: int
    code: str | None
    url: str
    title: str = ""
    tags: Sequence[str] = ()
    created_at: datetime | None = None
    expires_at: datetime | None = None
    domain: str = ""


@dataclass(frozen=True, slots=True)
class CreatedLinks:
    """What a call that creates links did."""

    outcomes: list[Link | AppError]
    """Each link, or why it was not created."""
    resolutions: Resolutions
    """The resolutions of the links that this call created."""
    is_repetition: bool
    """Whether the call repeats another, whose outcomes it returns."""


@dataclass(frozen=True, slots=True)
class RowAllowance:
    """What a call of an import may store, None for no limit. Rows that are sent again are free."""

    rows: int | None = None
    short_codes: int | None = None
    """Links with codes of the minimum length."""


UNLIMITED_ROWS = RowAllowance()


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The verdict on a row, and the code of the account's link to its destination, if any."""

    number: int
    verdict: ImportVerdict
    code: str | None


@dataclass(frozen=True, slots=True)
class Import:
    """An import, with the number of links that it created, and of those that were undone."""

    id: str
    started_at: datetime
    links: int
    removed: int


class RecentPeriod(Enum):
    """A period that ends now. The values are those of the functions' payloads."""

    HOURS_24 = "24 hours"
    DAYS_7 = "7 days"
    DAYS_30 = "30 days"
    DAYS_90 = "90 days"
    MONTHS_12 = "12 months"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class DateRange:
    """A period between two days (`2026-11-22`), both included. analytics validates them."""

    first: str
    last: str


Period = RecentPeriod | DateRange


class StepLength(Enum):
    """The length of the steps of a period."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class Figures:
    """Visits of people and bots, and visitors: distinct within a UTC day, summed over days."""

    people: int
    bots: int
    visitors: int


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a period. `start` is in ISO 8601 with the UTC offset of that time."""

    start: str
    people: int
    bots: int
    visitors: int | None
    """None for steps of an hour."""


class Dimension(Enum):
    """A dimension of visits. The values are those of the functions' payloads."""

    REFERRER = "referrer"
    DEVICE = "device"
    BROWSER = "browser"
    SYSTEM = "system"
    LANGUAGE = "language"
    COUNTRY = "country"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class VisitUsage:
    """Visits of people and bots to all links by UTC day, and the size of their store."""

    today: int
    yesterday: int
    store_bytes: int


People = list[tuple[str, int]]
"""Visits of people by name or link code, in descending order."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Visits over a period. Days are dates in the requested time zone."""

    first: str
    last: str
    step: StepLength
    totals: Figures
    previous: Figures | None
    """Of the previous period of the same length, None if there is none."""
    series: list[Step]
    """All steps, oldest first."""
    breakdowns: Mapping[Dimension, People]
    """All dimensions. The empty name stands for unknown values."""
    top: People
    """The most visited links, as many as requested."""
    kept_from: str = ""
    """The first day that analytics has, if the period begins before it, else empty."""
