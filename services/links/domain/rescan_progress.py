"""How far a rescan of all links has come."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

RESCAN_ROUNDS = 2


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
