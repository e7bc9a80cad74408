"""What the operator decides: blocks of links and of addresses, and what became of reports."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from services.links.domain.block import BlockReason, InvalidCause
from services.shared.text import CONTROLS

MAX_CAUSE_LENGTH = 1000
"""In Unicode code points."""
MAX_ADDRESSES = 10_000
"""Most addresses that are blocked by hand: each process has them in memory. For more there are
lists."""
DECISIONS_A_PAGE = 100


class DecisionKind(Enum):
    """What was decided."""

    BLOCK = "block"
    UNBLOCK = "unblock"
    DISMISS = "dismiss"


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision of the operator, about the link under `code` or else about `address`.

    `reason` is there for a block alone. `cause` is in the operator's words, empty for none.
    """

    kind: DecisionKind
    at: datetime
    code: str = ""
    address: str = ""
    reason: BlockReason | None = None
    cause: str = ""
    reports: int = 0
    """How many reports were decided on by it."""


@dataclass(frozen=True, slots=True)
class BlockedAddress:
    """A host, or the beginning of a path on one, to which no link may lead.

    `address` is in the one form that `services.links.domain.pattern` gives it.
    """

    address: str
    reason: BlockReason
    blocked_at: datetime


def check_cause(cause: str) -> None:
    """Refuse what cannot be kept as a cause. Raises InvalidCause."""
    if len(cause) > MAX_CAUSE_LENGTH or CONTROLS.search(cause):
        raise InvalidCause(
            f"A cause has up to {MAX_CAUSE_LENGTH} characters and no control characters."
        )
