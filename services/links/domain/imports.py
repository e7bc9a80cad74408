"""Imports of links from elsewhere: the rows, and the verdict on each of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from services.links.domain.blocklist import BlocklistMatch
from services.links.domain.link import OWNER_FIELDS, Link
from services.links.domain.owner import Account
from services.links.domain.url import (
    InvalidUrl,
    InvalidUrlLength,
    OwnShortUrl,
    UrlPolicy,
    UrlRefused,
)
from services.shared.errors import InvalidArgument, NotFound, ResourceExhausted
from services.shared.link_codes import MIN_LENGTH, is_code, is_reserved
from services.shared.timestamps import EPOCH, to_micros

MAX_CHECKED_ROWS = 500
"""Maximum rows that one call checks."""
MAX_IMPORTED_ROWS = 200
"""Maximum rows that one call imports, in one transaction."""
MAX_ROWS_PER_DAY = 100_000
"""Maximum rows that an account imports in a UTC day. Rows that are sent again do not count."""
MAX_ROW_NUMBER = 2**31 - 1
MAX_LISTED_IMPORTS = 100
IMPORT_RETENTION = timedelta(days=30)
"""How long an import can be undone, from its first row. Afterwards its rows are deleted."""
_IMPORT_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_FINGERPRINT_BYTES = 16
_DAY = timedelta(days=1)
_FIRST_FIELDS = ("title", "tags", "expires_at", "public_statistics")
_LATER_FIELDS = [*(name for name in OWNER_FIELDS if name not in _FIRST_FIELDS), "domain"]
"""The fields that the first fingerprints lacked, in their order."""


class InvalidImport(InvalidArgument):
    default_reason = "INVALID_IMPORT"


class TooManyRows(ResourceExhausted):
    """An account has imported as many rows as it may in a day."""

    default_reason = "TOO_MANY_ROWS"


class ClientLimit(ResourceExhausted):
    """A call has more new rows than the gateway allows its client."""

    default_reason = "CLIENT_LIMIT"


@dataclass(frozen=True, slots=True)
class RowAllowance:
    """What a call of an import may store, None for no limit. Rows that are sent again are free."""

    rows: int | None = None
    short_codes: int | None = None
    """Links with codes of the minimum length."""

    def check_rows(self, count: int) -> None:
        """Raise ClientLimit for more new rows."""
        if self.rows is not None and count > self.rows:
            raise ClientLimit("The client may not import as many rows.")

    def check_links(self, links: Iterable[Link]) -> None:
        """Raise ClientLimit for more links with short codes."""
        if self.short_codes is None:
            return
        if sum(len(link.code) == MIN_LENGTH for link in links) > self.short_codes:
            raise ClientLimit("The client may not choose as many short codes.")


UNLIMITED_ROWS = RowAllowance()


class NoImport(NotFound):
    default_reason = "NO_IMPORT"


class Verdict(Enum):
    """What an import does with a row. Only NEW creates a link."""

    NEW = "new"
    EXISTS = "exists"
    """The account has a link with this code and destination."""
    TAKEN = "taken"
    RESERVED = "reserved"
    NOT_A_CODE = "not a code"
    """The row has no code or a malformed one."""
    REFUSED = "refused"
    """The destination is on a blocklist, or a short URL of this product."""
    NOT_HTTP = "not http"
    DUPLICATE = "duplicate"
    """An earlier row has the same code and destination."""
    UNREADABLE = "unreadable"
    """The destination is empty or too long."""


@dataclass(frozen=True, slots=True)
class ImportRow:
    """A row as the caller sent it, unchecked. `number` identifies it within its import."""

    number: int
    code: str | None
    url: str
    created_at: datetime | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    """Values of `domain` and of fields in `OWNER_FIELDS`. The link has the defaults of `Link` in
    the others."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row whose destination was checked."""

    row: ImportRow
    url: str = ""
    """The URL to store; empty if there is a fault."""
    domain: str = ""
    """The domain to store."""
    fault: Verdict | None = None
    refusal: BlocklistMatch | None = None
    """The blocklist entry that names the destination."""

    def link(self, owner: Account, now: datetime) -> Link:
        """Return the link that the row creates.

        It keeps the creation time of its source. A time in the future or before 1970 counts as
        unknown: the link then dates from now. Other values are made to fit the limits.
        """
        row, created_at = self.row, self.row.created_at
        known = created_at is not None and EPOCH <= created_at <= now
        return Link(
            code=row.code or "",
            url=self.url,
            owner=owner,
            created_at=created_at if created_at is not None and known else now,
            domain=self.domain,
            **{
                name: OWNER_FIELDS[name].fit(value)
                for name, value in row.values.items()
                if name != "domain"
            },
        )


@dataclass(frozen=True, slots=True)
class CodeHolders:
    """What holds some codes in the store."""

    links: Mapping[str, Link]
    """Links by code."""
    others: AbstractSet[str] = frozenset()
    """Codes that are taken otherwise: scan codes, and codes of purged links."""
    imported: AbstractSet[str] = frozenset()
    """Codes of links that earlier rows of the same import created."""

    @property
    def taken(self) -> AbstractSet[str]:
        """The codes that are held by anything."""
        return self.links.keys() | self.others


@dataclass(frozen=True, slots=True)
class RowResult:
    """The verdict on a row, and the code of the account's link to its destination, if there is one.

    Rows that are NEW, EXISTS or DUPLICATE may have such a link.
    """

    number: int
    verdict: Verdict
    code: str | None = None


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A row of an import as it is stored."""

    result: RowResult
    fingerprint: bytes = b""
    """That of the link that the row created; empty if it created none."""


@dataclass(frozen=True, slots=True)
class Import:
    """An import of an account."""

    account: Account
    id: str
    started_at: datetime
    links: int = 0
    """Number of links that it created."""
    removed: int = 0
    """Number of those that were removed again when it was undone."""

    def is_over_at(self, now: datetime) -> bool:
        """Return whether it can no longer be undone."""
        return self.started_at + IMPORT_RETENTION <= now


@dataclass(slots=True)
class _Judge:
    """Judges rows in their order: each takes its code from the rows after it."""

    owner: Account
    holders: CodeHolders
    _judged: dict[tuple[str, str], RowResult] = field(default_factory=dict)
    _created: set[str] = field(default_factory=set)

    def judge(self, candidate: Candidate) -> RowResult:
        row = candidate.row
        if candidate.fault is not None:
            return RowResult(row.number, candidate.fault)
        if row.code is None or not is_code(row.code):
            return RowResult(row.number, Verdict.NOT_A_CODE)
        content = (row.code, candidate.url)
        if earlier := self._judged.get(content):
            return RowResult(row.number, Verdict.DUPLICATE, earlier.code)
        verdict = self._verdict_on_code(row.code, candidate.url)
        has_link = verdict in (Verdict.NEW, Verdict.EXISTS, Verdict.DUPLICATE)
        result = RowResult(row.number, verdict, row.code if has_link else None)
        self._judged[content] = result
        if verdict is Verdict.NEW:
            self._created.add(row.code)
        return result

    def _verdict_on_code(self, code: str, url: str) -> Verdict:
        if is_reserved(code):
            return Verdict.RESERVED
        link = self.holders.links.get(code)
        if link is None:
            is_taken = code in self.holders.others or code in self._created
            return Verdict.TAKEN if is_taken else Verdict.NEW
        if (link.owner, link.url, link.removed_at) != (self.owner, url, None):
            return Verdict.TAKEN
        return Verdict.DUPLICATE if code in self.holders.imported else Verdict.EXISTS


def check_row(row: ImportRow, urls: UrlPolicy) -> Candidate:
    """Check the destination of a row. Raises Unavailable until the blocklists are loaded."""
    try:
        url = urls.normalize(row.url)
        return Candidate(row, url, urls.fit_domain(row.values.get("domain", "")))
    except UrlRefused as error:
        return Candidate(row, fault=Verdict.REFUSED, refusal=error.match)
    except OwnShortUrl:
        return Candidate(row, fault=Verdict.REFUSED)
    except InvalidUrlLength:
        return Candidate(row, fault=Verdict.UNREADABLE)
    except InvalidUrl:
        return Candidate(row, fault=Verdict.NOT_HTTP)


def list_row_codes(candidates: Iterable[Candidate]) -> list[str]:
    """Return the well-formed codes whose holders decide on the candidates."""
    codes = (candidate.row.code for candidate in candidates if candidate.fault is None)
    return list(dict.fromkeys(code for code in codes if code is not None and is_code(code)))


def judge(candidates: Iterable[Candidate], owner: Account, holders: CodeHolders) -> list[RowResult]:
    """Return the results of rows in their order.

    `holders` has what holds the codes of the candidates. A fault of the destination comes before
    one of the code: a row whose only fault is its code can be imported under another one.
    """
    judge = _Judge(owner, holders)
    return [judge.judge(candidate) for candidate in candidates]


def unique_rows(rows: Iterable[ImportRow]) -> list[ImportRow]:
    """Return the first row with each number. Raises InvalidImport for a number out of range."""
    first: dict[int, ImportRow] = {}
    for row in rows:
        if not 0 <= row.number <= MAX_ROW_NUMBER:
            raise InvalidImport(f"A row number is between 0 and {MAX_ROW_NUMBER}.")
        first.setdefault(row.number, row)
    return list(first.values())


def check_import_id(import_id: str) -> None:
    """Raise InvalidImport for a malformed id."""
    if not _IMPORT_ID.fullmatch(import_id):
        raise InvalidImport("The id of an import has 22 characters of A-Z, a-z, 0-9, - and _.")


def check_row_count(rows: Sequence[ImportRow], limit: int) -> None:
    """Raise InvalidImport if a call has no rows or more than `limit`."""
    if not 1 <= len(rows) <= limit:
        raise InvalidImport(f"A call has 1 to {limit} rows.")


def fingerprint(link: Link) -> bytes:
    """Return a hash of all that an owner can change in a link, to detect later changes.

    It is stored. So that stored ones stay valid, a later field is part of it only while it is set.
    """
    parts = [
        link.url,
        link.title,
        "\n".join(link.tags),
        _format_moment(link.changed_at),
        _format_moment(link.expires_at),
        link.ended_url,
        str(link.public_statistics),
        link.scan_code,
        *(f"{name}={value}" for name in _LATER_FIELDS if (value := getattr(link, name))),
    ]
    return hashlib.sha256("\0".join(parts).encode()).digest()[:_FINGERPRINT_BYTES]


def is_unchanged(link: Link, row: StoredRow) -> bool:
    """Return whether a link is as a row of an import created it, and not removed."""
    return link.removed_at is None and fingerprint(link) == row.fingerprint


def to_day(now: datetime) -> int:
    """Return the UTC day of a time, counted from the Unix epoch."""
    return (now - EPOCH) // _DAY


def get_day_end(day: int) -> datetime:
    """Return when a UTC day ends."""
    return EPOCH + (day + 1) * _DAY


def _format_moment(time: datetime | None) -> str:
    return "" if time is None else str(to_micros(time))
