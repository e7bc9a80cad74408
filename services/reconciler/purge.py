"""Deletes links for good whose removal cannot be undone any more, with their counts."""

from __future__ import annotations

from services.admin import removal
from services.reconciler.metrics import LINKS_PURGEABLE, LINKS_PURGED
from services.reconciler.ports import Services


class Purge:
    """The job."""

    name = "purge"
    every = 10.0

    def __init__(self, services: Services) -> None:
        self._services = services

    def begin(self) -> None:
        """Nothing is known from run to run."""

    async def run(self) -> bool:
        """Purge up to 1000 links. Raises AppError."""
        codes = await self._services.links.purgeable()
        LINKS_PURGEABLE.set(len(codes))
        if not codes:
            return False
        await removal.purge(self._services, codes)
        LINKS_PURGED.labels("removed").inc(len(codes))
        return True
