"""Leases, which let one replica at a time do a job."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from services.shared.errors import InvalidArgument
from services.shared.timestamps import CLOCK_LEEWAY

MAX_LEASE = timedelta(hours=1)
_JOB = re.compile(r"[a-z-]{1,64}")
_HOLDER = re.compile(r"[A-Za-z0-9_-]{1,64}")


class InvalidLease(InvalidArgument):
    default_reason = "INVALID_LEASE"


def check_lease(job: str, holder: str, duration: timedelta) -> None:
    """Check the parts of a lease. Raises InvalidLease."""
    named = _JOB.fullmatch(job) and _HOLDER.fullmatch(holder)
    if not named or not timedelta(0) <= duration <= MAX_LEASE:
        raise InvalidLease("A lease needs a job, a holder and a duration of up to an hour.")


def latest_end(now: datetime) -> datetime:
    """Return the latest end that a lease can have.

    A later end was set by a clock that ran ahead; such a lease counts as expired.
    """
    return now + MAX_LEASE + CLOCK_LEEWAY
