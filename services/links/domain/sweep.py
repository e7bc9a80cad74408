"""How far all links were looked through for blocklists."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

SWEEP_ROUNDS = 2


class Stage(Enum):
    """What is done in a round of a sweep, in this order."""

    BLOCKING = "blocking"
    """What lists name is blocked; `after` is a host."""
    FREEING = "freeing"
    """Of what lists have blocked, that is freed which none names any more; `after` is a code."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """How far all links were looked through for lists of some contents.

    `after` is what the stage looked at last. After two rounds it is done: the second one finds what
    was made meanwhile by processes that did not know the lists yet.
    """

    contents: str
    round: int = 0
    stage: Stage = Stage.BLOCKING
    after: str = ""

    @property
    def is_done(self) -> bool:
        return self.round >= SWEEP_ROUNDS
