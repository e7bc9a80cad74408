"""What the gateway calls on the three services, as protocols. It knows nothing else of them.

`gateway/backends/clients.py` has the adapters that call the services over gRPC.

A part of the gateway that needs a service defines the protocol that it calls, as the resolver does
with `LinkSource`. A port joins all protocols that one service fulfils. Every method may raise
Unavailable and DeadlineExceeded, and other kinds of `services.shared.errors.AppError` where it
says so. Callers branch on an error's `reason`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Protocol, TypedDict

from gateway.backends.owners import Account, Guest, Owner
from gateway.backends.view_counts import ViewCounts
from gateway.redirects.resolution import BlockReason, LinkState, Resolution, Resolutions
from gateway.redirects.resolver import LinkSource
from gateway.visits.enrichment.visitor_key import KeySource
from gateway.visits.sender import VisitSink


@dataclass(frozen=True, slots=True)
class Session:
    """What a log-in gives."""

    token: str
    expires_at: datetime
    username: str
    device: str
    """Device token for the browser to send with its next log-in."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link as its owner sees it."""

    code: str
    url: str
    created_at: datetime
    title: str = ""
    tags: tuple[str, ...] = ()
    state: LinkState = LinkState.ACTIVE
    reason: BlockReason | None = None
    """There where it is blocked."""
    changed_at: datetime | None = None
    """When its URL changed last."""
    expires_at: datetime | None = None
    ended_url: str = ""
    public_statistics: bool = False
    scan_code: str = ""
    """Empty where it has none."""


@dataclass(frozen=True, slots=True)
class FormerUrl:
    """A URL that a link led to, and when another took its place."""

    url: str
    until: datetime


class LinkOrder(Enum):
    """In which order links are listed; the values are the words that callers of functions use."""

    NEWEST = "newest"
    OLDEST = "oldest"
    MOST_VIEWED = "most viewed"


@dataclass(frozen=True, slots=True)
class Query:
    """Which of an owner's links are asked for."""

    text: str = ""
    """In code, URL, title or a tag; empty for all."""
    state: LinkState | None = None
    """None for those in every state but removed."""
    order: LinkOrder = LinkOrder.NEWEST
    limit: int = 50
    cursor: str = ""
    """Of the page before; empty for the first."""
    with_total: bool = True
    """Whether the links are counted. A list in the order of views has its total anyway."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of links. `total` counts those of all pages; `cursor` is empty at the end."""

    links: list[Link]
    total: int
    cursor: str


class LinkChanges(TypedDict, total=False):
    """What is to change of a link; what is left out stays as it is."""

    url: str
    title: str
    tags: list[str]
    expires_at: datetime | None
    """None for no end."""
    ended_url: str | None
    """None for nowhere."""
    public_statistics: bool


class RecentSpan(Enum):
    """A span of time that ends now; the values are the words that callers of functions use."""

    HOURS_24 = "24 hours"
    DAYS_7 = "7 days"
    DAYS_30 = "30 days"
    DAYS_90 = "90 days"
    MONTHS_12 = "12 months"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Dates:
    """A span between two days, both included, as `2026-11-22`; analytics knows which are good."""

    first: str
    last: str


Span = RecentSpan | Dates


class StepLength(Enum):
    """How long the steps of a span are."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class Figures:
    """How many visited. Visitors are told apart within a UTC day, and added up over days."""

    people: int
    bots: int
    visitors: int


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a span. `start` is in ISO 8601 with the offset of the time zone then."""

    start: str
    people: int
    bots: int
    visitors: int | None
    """None where a step is an hour."""


class Dimension(Enum):
    """What people are told apart by; the values are the words that callers of functions know."""

    REFERRER = "referrer"
    DEVICE = "device"
    BROWSER = "browser"
    SYSTEM = "system"
    LANGUAGE = "language"
    COUNTRY = "country"
    SOURCE = "source"


People = list[tuple[str, int]]
"""People by name or by the code of a link, the largest number first."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Visits over a span, whose days are dates in the time zone that was asked for."""

    first: str
    last: str
    step: StepLength
    totals: Figures
    previous: Figures | None
    """Of the span of the same length before; None where there is none."""
    series: list[Step]
    """Every step, oldest first."""
    breakdowns: Mapping[Dimension, People]
    """Every dimension. The empty name is for people whose name is unknown."""
    top: People
    """Links, as many as were asked for."""
    kept_from: str = ""
    """The first day that is kept, where the span begins before it; empty otherwise."""


class Service(Protocol):
    """What all three services can do."""

    async def check(self) -> None:
        """Return if the service says that it is ready. Raises AppError, whose reason says why not.

        To be called once a second.
        """


class Auth(Service, Protocol):
    """Who somebody is: the auth service."""

    async def register(self, email: str, password_hash: str, salt: str, username: str) -> None:
        """Make an account. Reasons: EMAIL_TAKEN, INVALID_*."""

    async def login(self, email: str, password: str, client_address: str, device: str) -> Session:
        """Check a password; `device` is the device token last given to the browser, or empty.

        Reasons: NO_ACCOUNT, WRONG_PASSWORD, TOO_MANY_ATTEMPTS.
        """
        ...

    async def account_of(self, token: str) -> str:
        """Identifier of the account a session token belongs to. Reason: INVALID_TOKEN."""
        ...

    async def change_password(
        self, token: str, password: str, new_hash: str, new_salt: str, client_address: str
    ) -> tuple[str, datetime]:
        """Give the account of a token another password; its tokens of before stop.

        Returns the token of a new session, and when it expires. Reasons: INVALID_TOKEN,
        WRONG_PASSWORD, TOO_MANY_ATTEMPTS, INVALID_PASSWORD_HASH.
        """
        ...

    async def close_account(self, token: str, password: str, client_address: str) -> None:
        """Close the account of a token: its tokens stop, and nobody logs in to it any more.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, TOO_MANY_ATTEMPTS.
        """


class Links(Service, LinkSource, Protocol):
    """The links service. For what an owner does not have, the reason is NO_LINK.

    `Resolutions` in a result are what the edited short addresses answer now, scan codes included.
    """

    async def create(self, code: str, url: str, owner: Owner | None) -> Resolution:
        """Store a link, None standing for nobody; returns what its short address answers now.

        Reasons: CODE_TAKEN, INVALID_*.
        """
        ...

    async def get(self, owner: Owner, code: str) -> tuple[Link, list[FormerUrl]]:
        """A link of an owner, and the URLs that it led to before, the last one first."""
        ...

    async def preview(self, code: str) -> Link:
        """A link as anybody may know it before following it: without its tags."""
        ...

    async def query(self, owner: Owner, query: Query) -> Page:
        """One page of an owner's links. Reasons: INVALID_*, TOO_MANY_QUERIES."""
        ...

    async def owned_codes(self, owner: Owner) -> list[str]:
        """The codes of an owner's links in every state but removed, at most 100,000.

        Reasons: TOO_MANY_LINKS, TOO_MANY_QUERIES.
        """
        ...

    async def check_statistics_access(self, caller: Owner | None, code: str) -> None:
        """Return if a caller, None standing for no owner, may see the statistics of a link."""

    async def change(
        self, owner: Owner, code: str, changes: LinkChanges
    ) -> tuple[Link, Resolutions]:
        """Change what belongs to a link, all of it or nothing; returns the link as it is now.

        Reasons: NO_CHANGES, INVALID_*, TOO_MANY_URLS.
        """
        ...

    async def remove(self, owner: Owner, codes: Sequence[str]) -> Resolutions:
        """Remove links until they are restored, all or none. Reason: TOO_MANY_CODES."""
        ...

    async def restore(self, owner: Owner, codes: Sequence[str]) -> Resolutions:
        """Restore links that were removed in the last 30 days, all or none.

        Reason: TOO_MANY_CODES.
        """
        ...

    async def report(self, code: str, reason: BlockReason, details: str, contact: str) -> str:
        """Keep a report of a link, whoever's and in whatever state, for the operator.

        `details` and `contact`, an e-mail address, are empty for none. Returns the report's id,
        which is the same for all reports of the link for the reason. Reasons: NO_LINK, INVALID_*.
        """
        ...

    async def create_scan_code(self, owner: Owner, code: str) -> tuple[str, Resolutions]:
        """The scan code of an owner's link, which is made once."""
        ...

    async def claim(self, guest: Guest, account: Account) -> tuple[int, bool]:
        """Give some of a guest's links to an account.

        Returns how many moved, and whether there may be more: then it is to be asked again.
        """
        ...


class Analytics(Service, VisitSink, KeySource, ViewCounts, Protocol):
    """How often links are followed: the analytics service."""

    async def statistics(
        self, codes: Sequence[str], span: Span, timezone: str, top: int, owner: Owner | None = None
    ) -> Statistics:
        """Visits of at most 100,000 links over a span, in a time zone of the IANA database.

        `top` is how many of the links are told apart. Owners share the capacity fairly; for None,
        the first link stands for its owner. Reasons: INVALID_RANGE, INVALID_TIMEZONE,
        TOO_MANY_CODES, and where too many ask at once TOO_MANY_READS.
        """
        ...
