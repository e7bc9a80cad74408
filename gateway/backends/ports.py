"""What the gateway calls on the three services, as protocols, and the values it exchanges.

The gRPC clients are in `auth.py`, `links.py` and `analytics.py`. A package that needs a service
defines the protocol that it calls, as redirects do with `LinkSource`; a port here joins all
protocols of one service.

Every method may raise Unavailable and DeadlineExceeded. Docstrings list the reasons of other
errors (`services.shared.errors.AppError`), which callers branch on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Protocol, TypedDict

from gateway.backends.owners import Account, Guest, Owner
from gateway.backends.view_counts import ViewCountSource
from gateway.redirects.resolution import (
    BlockReason,
    LinkSource,
    LinkState,
    Resolution,
    Resolutions,
)
from gateway.visits.enrichment.visitor_key import KeySource
from gateway.visits.sender import VisitSink
from services.shared.errors import AppError


@dataclass(frozen=True, slots=True)
class Login:
    """The session that a log-in starts."""

    token: str
    expires_at: datetime
    username: str
    device: str
    """Device token, which the browser sends with its next log-in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session of an account."""

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
    """A passkey of an account."""

    id: str
    """The id of its WebAuthn credential."""
    name: str
    created_at: datetime
    last_used_at: datetime | None
    """The minute of its last log-in, None if there was none."""
    created_by: Creator | None


class Scope(Enum):
    """What an API key may do. The values are those of the functions' payloads."""

    LINKS_READ = "links:read"
    LINKS_WRITE = "links:write"
    STATISTICS_READ = "statistics:read"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key of an account, without the key itself."""

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


class Service(Protocol):
    """Methods of all three services."""

    async def check(self) -> None:
        """Raise AppError, whose reason says why, unless the service is ready.

        Called once a second.
        """


class Auth(Service, Protocol):
    """The auth service: accounts, sessions, recovery codes, passkeys and API keys."""

    async def register(self, email: str, password_hash: str, salt: str, username: str) -> None:
        """Create an account. Reasons: EMAIL_TAKEN, INVALID_*."""

    async def login(
        self,
        email: str,
        password: str,
        client_ip: str,
        device: str,
        browser: str = "",
        system: str = "",
    ) -> Login:
        """Check a password, and start a session.

        `device` is the browser's device token, or empty. `browser` and `system` are names for the
        list of sessions, empty if unknown. Reasons: NO_ACCOUNT, WRONG_PASSWORD,
        TOO_MANY_ATTEMPTS.
        """
        ...

    async def account_of(self, token: str) -> str:
        """Return the account id of a session token. Reason: INVALID_TOKEN."""
        ...

    async def sessions(self, token: str) -> list[Session]:
        """Return the sessions of a token's account, newest first. Reason: INVALID_TOKEN."""
        ...

    async def end_session(self, token: str, session_id: str | None) -> None:
        """End a session of a token's account, None for its own. Reason: INVALID_TOKEN."""

    async def end_other_sessions(self, token: str) -> None:
        """End all sessions of a token's account but its own. Reason: INVALID_TOKEN."""

    async def change_password(
        self,
        token: str,
        password: str,
        new_hash: str,
        new_salt: str,
        client_ip: str,
        browser: str = "",
        system: str = "",
        revoke: bool = False,
    ) -> tuple[str, datetime]:
        """Change the password of a token's account.

        Ends its sessions and deletes its recovery codes; with `revoke`, also its API keys and
        passkeys.

        Returns the token and the expiry of a new session. Reasons: INVALID_TOKEN,
        WRONG_PASSWORD, TOO_MANY_ATTEMPTS, INVALID_PASSWORD_HASH.
        """
        ...

    async def close_account(self, token: str, password: str, client_ip: str) -> None:
        """Close the account of a token: end its sessions, and allow no further log-in.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, TOO_MANY_ATTEMPTS.
        """

    async def create_recovery_codes(self, token: str, password: str, client_ip: str) -> list[str]:
        """Replace the recovery codes of a token's account. Return the new ones.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, TOO_MANY_ATTEMPTS.
        """
        ...

    async def count_recovery_codes(self, token: str) -> tuple[int, datetime | None]:
        """Return how many recovery codes of a token's account are left, and when they were created.

        The time is None if it is not known, or there are none. Reason: INVALID_TOKEN.
        """
        ...

    async def reset_password(
        self,
        email: str,
        recovery_code: str,
        new_hash: str,
        new_salt: str,
        client_ip: str,
        device: str,
        revoke: bool = False,
    ) -> None:
        """Set the password of an account by a recovery code, and end its sessions.

        With `revoke`, delete its API keys and passkeys, too. A code of the operator always does,
        and deletes the recovery codes.

        `device` is as for `login`. Reasons: WRONG_RECOVERY_CODE, TOO_MANY_ATTEMPTS,
        INVALID_PASSWORD_HASH.
        """

    async def begin_passkey(self, token: str, password: str, client_ip: str) -> str:
        """Return the JSON with which a browser creates a passkey of a token's account.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, TOO_MANY_ATTEMPTS, TOO_MANY_PASSKEYS.
        """
        ...

    async def finish_passkey(self, token: str, name: str, credential: str) -> str:
        """Add the passkey that a browser created. `credential` is its JSON. Return the id.

        Reasons: INVALID_TOKEN, INVALID_PASSKEY_NAME, INVALID_PASSKEY, TOO_MANY_PASSKEYS.
        """
        ...

    async def passkeys(self, token: str) -> list[Passkey]:
        """Return the passkeys of a token's account, newest first. Reason: INVALID_TOKEN."""
        ...

    async def remove_passkey(
        self, token: str, passkey_id: str, password: str, client_ip: str
    ) -> None:
        """Remove a passkey of a token's account. May be repeated.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, TOO_MANY_ATTEMPTS.
        """

    async def begin_login(self) -> str:
        """Return the JSON with which a browser logs in with a passkey."""
        ...

    async def finish_login(
        self, credential: str, device: str, browser: str = "", system: str = ""
    ) -> Login:
        """Check a browser's answer, `credential` in JSON, and start a session, as `login` does.

        Reasons: NO_PASSKEY, WRONG_PASSKEY.
        """
        ...

    async def create_key(
        self,
        token: str,
        password: str,
        name: str,
        scopes: Sequence[Scope],
        expires_at: datetime | None,
        client_ip: str,
    ) -> tuple[str, str]:
        """Create an API key of a token's account. Return its id and the key.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, TOO_MANY_ATTEMPTS, INVALID_KEY_NAME,
        INVALID_SCOPES, INVALID_EXPIRY, TOO_MANY_KEYS.
        """
        ...

    async def keys(self, token: str) -> list[ApiKey]:
        """Return the keys of a token's account, newest first. Reason: INVALID_TOKEN."""
        ...

    async def revoke_key(self, token: str, key_id: str) -> None:
        """Revoke a key of a token's account. May be repeated. Reason: INVALID_TOKEN."""

    async def verify_key(self, key_hash: bytes) -> VerifiedKey:
        """Return the key with a SHA-256, and note its use. Reason: INVALID_KEY."""
        ...


class Links(Service, LinkSource, Protocol):
    """The links service. The reason is NO_LINK for links that an owner does not have.

    Returned `Resolutions` are the new resolutions of edited short URLs, including scan codes.
    """

    async def create(self, code: str, url: str, owner: Owner | None) -> Resolution:
        """Create a link, without an owner for None, and return its resolution.

        Reasons: CODE_TAKEN, INVALID_*, ACCOUNT_FULL.
        """
        ...

    async def create_all(
        self,
        account: Account,
        links: Sequence[NewLink],
        idempotency_key: bytes,
        fingerprint: bytes,
    ) -> tuple[list[Link | AppError], Resolutions]:
        """Create up to 100 links; return each link, or why it was not created.

        The resolutions are those of the links that this call created. For 24 hours, a call with the
        same idempotency key and fingerprint (SHA-256 of the request) changes nothing, and returns
        the outcomes of the first. Reasons: IDEMPOTENCY_MISMATCH, IN_PROGRESS, TOO_MANY_CODES,
        ACCOUNT_FULL; of a link: CODE_TAKEN, CODE_RESERVED, URL_REFUSED, INVALID_*.
        """
        ...

    async def get(self, owner: Owner, code: str) -> tuple[Link, list[FormerUrl]]:
        """Return an owner's link, and its previous URLs, the most recent first."""
        ...

    async def preview(self, code: str) -> LinkPreview:
        """Return a preview of any link, regardless of owner."""
        ...

    async def query(self, owner: Owner, query: LinkQuery) -> LinkQueryResult:
        """Return a page of an owner's links. Reasons: INVALID_*, TOO_MANY_QUERIES."""
        ...

    async def owned_codes(self, owner: Owner) -> list[str]:
        """Return the codes of an owner's links that are not removed, at most 100,000.

        Reasons: TOO_MANY_LINKS, TOO_MANY_QUERIES.
        """
        ...

    async def check_statistics_access(self, caller: Owner | None, code: str) -> None:
        """Raise NotFound unless a caller (None: no owner) may see the statistics of a link."""

    async def change(
        self, owner: Owner, code: str, changes: LinkChanges
    ) -> tuple[Link, Resolutions]:
        """Apply all changes to a link, or none, and return the changed link.

        Reasons: NO_CHANGES, INVALID_*, TOO_MANY_URLS.
        """
        ...

    async def remove(self, owner: Owner, codes: Sequence[str]) -> Resolutions:
        """Remove all links, or none. They can be restored. Reason: TOO_MANY_CODES."""
        ...

    async def restore(self, owner: Owner, codes: Sequence[str]) -> Resolutions:
        """Restore all links, or none, that were removed in the last 30 days.

        Reason: TOO_MANY_CODES.
        """
        ...

    async def report(self, code: str, reason: BlockReason, details: str, contact: str) -> str:
        """Report any link to the operator, regardless of owner and state.

        `details` and `contact` (an e-mail address) may be empty. Returns the report id, which all
        reports of a link for the same reason share. Reasons: NO_LINK, INVALID_*.
        """
        ...

    async def create_scan_code(self, owner: Owner, code: str) -> tuple[str, Resolutions]:
        """Return the scan code of an owner's link, which is created by the first call."""
        ...

    async def claim(self, guest: Guest, account: Account) -> tuple[int, bool]:
        """Move some of a guest's links to an account.

        Returns how many moved, and whether there may be more, which takes another call. Reason:
        ACCOUNT_FULL.
        """
        ...

    async def check_import(self, account: Account, rows: Sequence[ImportRow]) -> list[ImportResult]:
        """Return the results that up to 500 rows of a new import would have.

        Reason: INVALID_IMPORT.
        """
        ...

    async def import_links(
        self,
        account: Account,
        import_id: str,
        rows: Sequence[ImportRow],
        allowance: RowAllowance = UNLIMITED_ROWS,
    ) -> tuple[list[ImportResult], Resolutions, int]:
        """Import up to 200 rows.

        Returns their results, the links that this call created, and how many rows it stored. A row
        that was imported before has its first result, and is not stored again. Reasons:
        INVALID_IMPORT, TOO_MANY_ROWS, ACCOUNT_FULL, CLIENT_LIMIT.
        """
        ...

    async def undo_import(
        self, account: Account, import_id: str, after: int | None
    ) -> tuple[int, Resolutions, int | None]:
        """Remove some unchanged links of an import, after a row number if one is given.

        Returns how many of its links undoing has removed so far, their resolutions, and where to
        continue, which is None at the end. Reasons: INVALID_IMPORT, NO_IMPORT.
        """
        ...

    async def imports(self, account: Account) -> list[Import]:
        """Return an account's imports of the last 30 days, newest first, at most 100."""
        ...


class Analytics(Service, VisitSink, KeySource, ViewCountSource, Protocol):
    """The analytics service: visits."""

    async def statistics(
        self,
        codes: Sequence[str],
        period: Period,
        timezone: str,
        top: int,
        owner: Owner | None = None,
    ) -> Statistics:
        """Return the visits of at most 100,000 links over a period, in an IANA time zone.

        `top` is the number of most visited links to list. Owners share the capacity fairly; without
        one, the first link stands for its owner. Reasons: INVALID_RANGE, INVALID_TIMEZONE,
        TOO_MANY_CODES, and TOO_MANY_READS if analytics is at its capacity.
        """
        ...
