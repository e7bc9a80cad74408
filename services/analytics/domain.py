"""Visits, how they are added up, and the rules a batch of them keeps to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum

from services.runtime.codes import MAX_LENGTH, MIN_LENGTH, is_code
from services.runtime.errors import InvalidArgument
from services.runtime.moments import EPOCH

MAX_VISITS = 20_000
"""Most rows in one batch."""
MAX_COUNT = 1_000_000_000
"""Most visits in one row: sums of sums stay far from 64 bits."""
MAX_CODES = 1000
"""Most codes in one look-up of totals."""
MAX_REMOVED = 100
"""Most codes whose counts are removed at once: each has a row for every hour of ten years."""
MAX_DAYS = 92
"""Most days in one look-up of days: with 101 hosts each they are 2.5 MB of gRPC's 4."""
MAX_REFERRERS = 100
"""Most hosts that are told apart for one link on one day: hosts come from strangers."""
OTHER_REFERRERS = "*"
"""Gathers the people whose host came after `MAX_REFERRERS` others."""
HOURS_A_DAY = 24
GATEWAY_IDLE = timedelta(days=30)
"""After so long without a batch, nothing a gateway sent before is taken from it again."""
CLOSED_IDLE = timedelta(hours=1)
"""The same for a gateway that closed with nothing left to send: whatever call of it may still be
under way somewhere has ended by then."""

# Any hour a calendar can show. A gateway whose clock is wrong still gets rid of its visits: to
# refuse its batch would keep back all that come after it.
_LAST_HOUR = (datetime.max.replace(tzinfo=UTC) - EPOCH) // timedelta(hours=1)
_LAST_DAY = _LAST_HOUR // HOURS_A_DAY
_MAX_HOST_LENGTH = 253

_GATEWAY_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class InvalidBatch(InvalidArgument):
    default_reason = "INVALID_BATCH"


class GatewayForgotten(InvalidBatch):
    """The batch was sent before, so long ago that nobody knows any more what became of it."""

    default_reason = "GATEWAY_FORGOTTEN"


class TooManyCodes(InvalidArgument):
    default_reason = "TOO_MANY_CODES"


class InvalidRange(InvalidArgument):
    default_reason = "INVALID_RANGE"


class VisitKind(Enum):
    """Who visited."""

    PERSON = "person"
    BOT = "bot"


@dataclass(frozen=True, slots=True)
class VisitCount:
    """Visits that are alike. `hour` is in whole UTC hours since the Unix epoch.

    `referrer_host` is empty where they came from no page or it did not say.
    """

    code: str
    hour: int
    kind: VisitKind
    referrer_host: str
    count: int

    @property
    def day(self) -> int:
        """The UTC day of the visits, in whole days since the Unix epoch."""
        return self.hour // HOURS_A_DAY


@dataclass(frozen=True, slots=True)
class Batch:
    """One numbered batch of a gateway. A resend has the same number and the same visits."""

    gateway_id: str
    number: int
    visits: tuple[VisitCount, ...]


@dataclass(frozen=True, slots=True)
class Totals:
    """Visits of a link since it exists."""

    people: int
    bots: int


@dataclass(frozen=True, slots=True)
class Day:
    """One UTC day of a link, in whole days since the Unix epoch.

    `people_by_hour` has 24 values. `people_by_referrer` leaves out those from no page.
    """

    day: int
    people: int
    bots: int
    people_by_hour: tuple[int, ...]
    people_by_referrer: Mapping[str, int]


def check_batch(batch: Batch) -> None:
    """Refuse a batch that no gateway of ours makes, as a whole. Raises InvalidBatch."""
    check_number(batch.gateway_id, batch.number)
    if len(batch.visits) > MAX_VISITS:
        raise InvalidBatch(f"A batch has at most {MAX_VISITS} rows.")
    for visit in batch.visits:
        if fault := _fault(visit):
            raise InvalidBatch(fault)


def check_number(gateway_id: str, number: int) -> None:
    """Refuse what names no batch of a gateway of ours. Raises InvalidBatch."""
    if not _GATEWAY_ID.fullmatch(gateway_id):
        raise InvalidBatch("A gateway's id has 1 to 64 characters of A-Z, a-z, 0-9, - and _.")
    if number < 1:
        raise InvalidBatch("Batches are numbered from 1.")


def closed_seen_at(now: datetime) -> int:
    """When a gateway that closes now is taken to have been seen, in seconds since the Unix epoch:
    so long ago that it is idle for long once `CLOSED_IDLE` is over."""
    return int((now - GATEWAY_IDLE + CLOSED_IDLE).timestamp())


def check_replay(batch: Batch, last: int, seen_at: int | None, now: datetime) -> None:
    """Refuse a batch sent again by a gateway that was idle for long. Raises GatewayForgotten.

    `last` is the number of the last batch it began to send and `seen_at` when that was, in
    seconds since the Unix epoch; None says that the gateway was dropped since.
    """
    idle = seen_at is None or now.timestamp() - seen_at >= GATEWAY_IDLE.total_seconds()
    if idle and batch.number <= last:
        raise GatewayForgotten("This batch was sent before, too long ago.")


def check_range(first: int, last: int) -> None:
    """Refuse a span of days that is turned round, too long or off the calendar.

    Raises InvalidRange.
    """
    if not 0 <= first <= last <= _LAST_DAY:
        raise InvalidRange("The first day comes before the last, both on the calendar.")
    if last - first >= MAX_DAYS:
        raise InvalidRange(f"At most {MAX_DAYS} days can be read at once.")


def _fault(visit: VisitCount) -> str | None:
    if not is_code(visit.code):
        return f"A code has {MIN_LENGTH} to {MAX_LENGTH} characters of A-Z, a-z, 0-9, - and _."
    if not 0 <= visit.hour <= _LAST_HOUR:
        return "An hour is on the calendar."
    if not 1 <= visit.count <= MAX_COUNT:
        return f"A row counts 1 to {MAX_COUNT} visits."
    if len(visit.referrer_host) > _MAX_HOST_LENGTH or _CONTROLS.search(visit.referrer_host):
        return f"A host has at most {_MAX_HOST_LENGTH} characters, none of them a control."
    return None
