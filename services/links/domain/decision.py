"""The operator's decisions about links, patterns and reports."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from services.links.domain.block import BlockReason
from services.links.domain.query import InvalidQuery
from services.shared.characters import CONTROL_CHARACTERS
from services.shared.errors import InvalidArgument, NotFound

MAX_COMMENT_LENGTH = 1000
"""In Unicode code points."""
MAX_BLOCKED_PATTERNS = 10_000
"""Every process holds all blocked patterns in memory. List files scale further."""
DECISIONS_PAGE_SIZE = 100
MAX_SEARCHED_DECISIONS = 100_000
"""A search reads at most this many decisions, the newest."""
MAX_SEARCH_LENGTH = 999
"""In Unicode code points, as long as a pattern may be."""


class InvalidComment(InvalidArgument):
    default_reason = "INVALID_CAUSE"


class TooManyPatterns(InvalidArgument):
    default_reason = "TOO_MANY_ADDRESSES"


class NoBlock(NotFound):
    default_reason = "NO_BLOCK"


class DecisionKind(Enum):
    """What was decided."""

    BLOCK = "block"
    UNBLOCK = "unblock"
    DISMISS = "dismiss"
    RESET_LINK = "reset link"


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision about the link under `code`, or else about `pattern`.

    A reset link has neither: its comment names the account.
    """

    kind: DecisionKind
    at: datetime
    code: str = ""
    pattern: str = ""
    reason: BlockReason | None = None
    """Set if something was blocked."""
    comment: str = ""
    """In the operator's words; may be empty."""
    reports: int = 0
    """Number of reports that it settled."""


@dataclass(frozen=True, slots=True)
class BlockedPattern:
    """A host, or a path prefix on one, that no link may lead to."""

    pattern: str
    """In the canonical form (`normalize_pattern`)."""
    reason: BlockReason
    blocked_at: datetime


def check_comment(comment: str) -> None:
    """Raise InvalidComment for a comment that is too long or has control characters."""
    if len(comment) > MAX_COMMENT_LENGTH or CONTROL_CHARACTERS.search(comment):
        raise InvalidComment(
            f"A comment has up to {MAX_COMMENT_LENGTH} characters and no control characters."
        )


def decision_search(text: str) -> re.Pattern[str] | None:
    """Return what to search a decision's code, pattern, class and comment for; None for an empty
    text.

    Raises InvalidQuery. The expression ignores case, as MongoDB does with the option `i`.
    """
    if len(text) > MAX_SEARCH_LENGTH or CONTROL_CHARACTERS.search(text):
        raise InvalidQuery(
            f"A search text has up to {MAX_SEARCH_LENGTH} characters and no control characters."
        )
    return re.compile(re.escape(text), re.IGNORECASE) if text else None
