"""Why a link is blocked or reported."""

from __future__ import annotations

from enum import Enum

from services.shared.errors import InvalidArgument


class InvalidReason(InvalidArgument):
    default_reason = "INVALID_REASON"


class BlockReason(Enum):
    """The reason of a block or report. The operator's commands call it the class."""

    PHISHING = "phishing"
    MALWARE = "malware"
    SPAM = "spam"
    ILLEGAL = "illegal"
    OTHER = "other"
