"""Decisions of the operator and of administrators about links, patterns and reports."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from services.links.domain.block import BlockReason
from services.links.domain.query import InvalidCursor, InvalidQuery
from services.shared.characters import CONTROL_CHARACTERS
from services.shared.errors import InvalidArgument, NotFound
from services.shared.timestamps import from_micros, to_micros

MAX_COMMENT_LENGTH = 1000
"""In Unicode code points."""
MAX_ADMINISTRATOR_COMMENT_LENGTH = 500
"""The same for administrators."""
MAX_BLOCKED_PATTERNS = 10_000
"""Every process holds all blocked patterns in memory. List files scale further."""
DECISIONS_PAGE_SIZE = 100
SEARCH_PAGE_SIZE = 50
"""Decisions on a page for administrators."""
MAX_SEARCHED_DECISIONS = 100_000
"""A search reads at most this many decisions, the newest."""
MAX_SEARCH_LENGTH = 999
"""In Unicode code points, as long as a pattern may be."""
OPERATOR = "operator"
"""Stands for the operator where the e-mail address of an administrator is expected."""
_CURSOR = re.compile(r"([0-9]{1,17})\.([0-9a-z]{1,32})")


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
    """A decision about the link under `code`, about `pattern`, or about all links of an account.

    A reset link has none of them: its comment names the account.
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
    account_id: str = ""
    by: str = ""
    """E-mail address of the administrator who made it; empty for the operator."""
    key: bytes = b""
    """The idempotency key of the call that made it; empty for a call of the operator."""
    id: str = ""
    """Given by the store; empty before that."""

    def repeats(self, other: Decision) -> bool:
        """Return whether a call that makes this decision repeats the one that made `other`."""
        return replace(self, at=other.at, reports=other.reports, id=other.id) == other


@dataclass(frozen=True, slots=True)
class DecisionCursor:
    """The last decision of a page, newest first."""

    at: datetime
    id: str

    @classmethod
    def parse(cls, text: str) -> DecisionCursor:
        """Return the cursor of `<microseconds since the Unix epoch>.<id>`. Raises InvalidCursor."""
        found = _CURSOR.fullmatch(text)
        if not found:
            raise InvalidCursor("This is not a cursor of a list of decisions.")
        return cls(from_micros(int(found[1])), found[2])

    @property
    def text(self) -> str:
        """The text that `parse` reads."""
        return f"{to_micros(self.at)}.{self.id}"


@dataclass(frozen=True, slots=True)
class BlockedPattern:
    """A host, or a path prefix on one, that no link may lead to."""

    pattern: str
    """In the canonical form (`normalize_pattern`)."""
    reason: BlockReason
    blocked_at: datetime


def check_comment(comment: str, max_length: int = MAX_COMMENT_LENGTH) -> None:
    """Raise InvalidComment for a comment that is too long or has control characters."""
    if len(comment) > max_length or CONTROL_CHARACTERS.search(comment):
        raise InvalidComment(
            f"A comment has up to {max_length} characters and no control characters."
        )


def decision_search(text: str) -> re.Pattern[str] | None:
    """Return what to search a decision's subject, class, comment and administrator for; None for
    an empty text.

    Raises InvalidQuery. The expression ignores case, as MongoDB does with the option `i`.
    """
    if len(text) > MAX_SEARCH_LENGTH or CONTROL_CHARACTERS.search(text):
        raise InvalidQuery(
            f"A search text has up to {MAX_SEARCH_LENGTH} characters and no control characters."
        )
    return re.compile(re.escape(text), re.IGNORECASE) if text else None
