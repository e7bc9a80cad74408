"""The progress of the last rescan of all links, which the tables call a sweep."""

from __future__ import annotations

from services.links.domain.rescan_progress import RescanPhase, RescanProgress
from services.links.storage.records import Backend, Table

_SWEEP = Table(
    name="sweep", key=("id",), fields=("contents", "round", "stage", "after"), mark="sweep"
)
_ID = 1


class RescanProgressStore:
    """The `RescanProgressStore` of a database."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def get(self) -> RescanProgress | None:
        found = await self._backend.read("links_sweep", lambda session: session.find(_SWEEP, _ID))
        if found is None:
            return None
        return RescanProgress(
            fingerprint=found["contents"],
            round=found["round"],
            phase=RescanPhase(found["stage"]),
            after=found["after"],
        )

    async def put(self, progress: RescanProgress) -> None:
        record = {
            "id": _ID,
            "contents": progress.fingerprint,
            "round": progress.round,
            "stage": progress.phase.value,
            "after": progress.after,
        }
        await self._backend.write_one(
            "links_sweep_progress", lambda session: session.put(_SWEEP, record)
        )
