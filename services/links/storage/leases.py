"""Leases of jobs."""

from __future__ import annotations

from datetime import datetime, timedelta

from services.links.domain.lease import latest_end
from services.links.storage.records import Backend, Condition, Table
from services.shared.timestamps import to_micros

_LEASES = Table("leases", key=("job",), fields=("holder", "ends_at"))


class Leases:
    """The `Leases` of a database."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def take(self, job: str, holder: str, duration: timedelta, now: datetime) -> bool:
        is_own: Condition = ("holder", "=", holder)
        if not duration:
            await self._backend.write_one(
                "links_lease_end", lambda session: session.delete(_LEASES, [(job,)], is_own)
            )
            return False
        lease = {"job": job, "holder": holder, "ends_at": to_micros(now + duration)}
        return await self._backend.write_one(
            "links_lease",
            lambda session: session.put_unless_held(
                _LEASES,
                lease,
                is_own,
                ("ends_at", "<=", to_micros(now)),
                ("ends_at", ">", to_micros(latest_end(now))),
            ),
        )
