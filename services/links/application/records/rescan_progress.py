"""How far the last rescan of all links has come. The tables call it a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from services.links.application.records.session import Backend, Table

RESCAN_ROUNDS = 2
_SWEEP = Table(
    name="sweep", key=("id",), fields=("contents", "round", "stage", "after"), mark="sweep"
)
_ID = 1


class RescanPhase(Enum):
    """The phases of a round, in order."""

    BLOCKING = "blocking"
    """Block links that a blocklist names. `after` is a host."""
    FREEING = "freeing"
    """Unblock links that no blocklist names any more. `after` is a code."""


@dataclass(frozen=True, slots=True)
class RescanProgress:
    """The progress of a rescan for one version of the blocklists.

    A rescan has two rounds: the second one finds links created during the first by processes that
    had not loaded the new lists yet.
    """

    fingerprint: str
    """Of the blocklists (`VersionedBlocklist.fingerprint`)."""
    round: int = 0
    phase: RescanPhase = RescanPhase.BLOCKING
    after: str = ""
    """The host or code that was checked last."""

    @property
    def is_done(self) -> bool:
        return self.round >= RESCAN_ROUNDS


class RescanProgressStore:
    """The progress in a database."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def get(self) -> RescanProgress | None:
        """Return the progress that was stored last."""
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
        """Store the progress."""
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
