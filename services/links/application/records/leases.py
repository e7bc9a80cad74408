"""Leases, which let one replica at a time do a job."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from services.links.application.records.session import Backend, Condition, Table
from services.shared.errors import InvalidArgument
from services.shared.timestamps import CLOCK_LEEWAY, to_micros

MAX_LEASE = timedelta(hours=1)
_JOB = re.compile(r"[a-z-]{1,64}")
_HOLDER = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LEASES = Table("leases", key=("job",), fields=("holder", "ends_at"))


class InvalidLease(InvalidArgument):
    default_reason = "INVALID_LEASE"


def check_lease(job: str, holder: str, duration: timedelta) -> None:
    """Check the parts of a lease. Raises InvalidLease."""
    named = _JOB.fullmatch(job) and _HOLDER.fullmatch(holder)
    if not named or not timedelta(0) <= duration <= MAX_LEASE:
        raise InvalidLease("A lease needs a job, a holder and a duration of up to an hour.")


class Leases:
    """The leases in a database."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def is_any_held(self, now: datetime, *, except_job: str) -> bool:
        """Return whether the lease of any other job is valid."""
        conditions: list[Condition] = [("ends_at", ">", to_micros(now)), ("job", "<>", except_job)]
        leases = await self._backend.read(
            "links_leases", lambda session: session.select(_LEASES, *conditions)
        )
        return bool(leases)

    async def take(self, job: str, holder: str, duration: timedelta, now: datetime) -> bool:
        """Take or renew a lease; return whether the holder has it. Zero duration releases it.

        Raises InvalidLease.
        """
        check_lease(job, holder, duration)
        is_own: Condition = ("holder", "=", holder)
        if not duration:
            await self._backend.write_one(
                "links_lease_end", lambda session: session.delete(_LEASES, [(job,)], is_own)
            )
            return False
        lease = {"job": job, "holder": holder, "ends_at": to_micros(now + duration)}
        # A later end was set by a clock that ran ahead; such a lease counts as expired.
        latest_end = to_micros(now + MAX_LEASE + CLOCK_LEEWAY)
        return await self._backend.write_one(
            "links_lease",
            lambda session: session.put_unless_held(
                _LEASES,
                lease,
                is_own,
                ("ends_at", "<=", to_micros(now)),
                ("ends_at", ">", latest_end),
            ),
        )
