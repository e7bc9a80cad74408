"""Deletes links whose removal can no longer be undone, with their statistics."""

from __future__ import annotations

from services.admin import removal
from services.reconciler.metrics import LINKS_PURGEABLE, LINKS_PURGED
from services.reconciler.ports import Services


class LinkPurge:
    """A job. See `services.reconciler.job_runner.Job`."""

    name = "purge"
    interval_seconds = 10.0

    def __init__(self, services: Services) -> None:
        self._services = services

    def reset(self) -> None:
        """Do nothing: the job keeps no state between runs."""

    async def run(self) -> bool:
        """Delete up to 1000 links. Return whether there were any. Raises AppError."""
        codes = await self._services.links.purgeable_links()
        LINKS_PURGEABLE.set(len(codes))
        if not codes:
            return False
        await removal.purge(self._services, codes)
        LINKS_PURGED.labels("removed").inc(len(codes))
        return True
