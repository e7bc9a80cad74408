"""Why a link is blocked, and who knows where no link may lead."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Protocol

from services.shared.errors import InvalidArgument, NotFound


class InvalidReason(InvalidArgument):
    default_reason = "INVALID_REASON"


class InvalidCause(InvalidArgument):
    default_reason = "INVALID_CAUSE"


class InvalidAddress(InvalidArgument):
    default_reason = "INVALID_ADDRESS"


class TooManyAddresses(InvalidArgument):
    default_reason = "TOO_MANY_ADDRESSES"


class NoBlock(NotFound):
    default_reason = "NO_BLOCK"


class BlockReason(Enum):
    """Why the operator blocked a link."""

    PHISHING = "phishing"
    MALWARE = "malware"
    SPAM = "spam"
    ILLEGAL = "illegal"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Refusal:
    """What names a URL that is refused: the list, its class, and the line, from 1 on.

    A block of an address by the operator is a list of one line, with the moment of the decision.
    """

    reason: BlockReason
    list: str
    line: int
    decided_at: datetime | None = None


class UrlGate(Protocol):
    """Knows the hosts and paths to which no link may lead."""

    def refusal(self, url: str) -> Refusal | None:
        """What names a URL that could be stored otherwise; None where nothing does.

        Raises Unavailable while that is not known yet.
        """
        ...


class Lists(UrlGate, Protocol):
    """The gate, as it is asked of links that are there already."""

    @property
    def contents(self) -> str | None:
        """What tells these lists from others: 64 characters; None until each of them was read."""
        ...

    @property
    def settled_at(self) -> float:
        """From when on, by `time.monotonic`, every process knows what these lists name."""
        ...

    def concerns(self, host: str) -> bool:
        """Whether a list names a host, a parent of it, or pages of them."""
        ...
