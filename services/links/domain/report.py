"""What people report of links to the operator, and the rules of it.

All who report a link for one reason make one report, which counts them. It waits until the operator
decides on its link; who reports the link for that reason afterwards lets it wait anew, under the
same id, counted from one. A report by itself changes nothing of a link.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from services.links.domain.block import BlockReason
from services.links.domain.query import InvalidCursor
from services.shared.codes import is_code
from services.shared.emails import email_of
from services.shared.errors import InvalidArgument, NotFound
from services.shared.text import BLANKS, CONTROLS

MAX_DETAILS_LENGTH = 1000
"""In Unicode code points."""
MAX_STATEMENTS = 5
"""Most that is kept of what people wrote, for each report."""
MAX_REPORTS = 100
"""Most reports on a page of the operator's: with their links and all that was written, in letters
of four bytes, 3.5 MB, while gRPC's limit on a message is 4 MiB."""
KEPT_AFTER_DECISION = timedelta(days=90)
"""How long a report is kept once it is decided on: a reporter may ask, or have to be asked."""

_NUMBER = re.compile("[1-9][0-9]{0,17}")
_LAYOUT = re.compile("[\t\n\r]")
"""Control characters that a text of several lines is made with."""


class InvalidDetails(InvalidArgument):
    default_reason = "INVALID_DETAILS"


class InvalidContact(InvalidArgument):
    default_reason = "INVALID_CONTACT"


class NoReport(NotFound):
    default_reason = "NO_REPORT"


@dataclass(frozen=True, slots=True)
class Statement:
    """What one reporter said."""

    details: str = field(repr=False)
    """In the reporter's words; empty for nothing."""
    contact: str = field(repr=False)
    """E-mail address under which the reporter can be asked; empty for none."""
    at: datetime

    @property
    def is_empty(self) -> bool:
        """Whether the reporter chose a reason and wrote nothing."""
        return not self.details and not self.contact


@dataclass(frozen=True, slots=True)
class Report:
    """What was said of a link for one reason, since it waits."""

    id: str
    """What reporters are given: random, and the same for all of them."""
    code: str
    """The link's."""
    reason: BlockReason
    count: int
    """How often it was said."""
    first_at: datetime
    last_at: datetime
    statements: tuple[Statement, ...] = ()
    """What the first of those who wrote something said, oldest first."""


@dataclass(frozen=True, slots=True)
class ReportPlace:
    """Behind which link to go on: of those that are reported as often, that is told by its code.

    How often a link is reported only grows while it waits. So none comes twice, and what is passed
    over is only what was reported more often meanwhile, and stands further in front.
    """

    reported: int
    code: str

    @classmethod
    def of(cls, text: str) -> ReportPlace:
        """The place that a text names. Raises InvalidCursor."""
        reported, _, code = text.partition(".")
        if not is_code(code) or not _NUMBER.fullmatch(reported):
            raise InvalidCursor("This is no place in a list of reports.")
        return cls(int(reported), code)

    @property
    def text(self) -> str:
        """The place as people can name it."""
        return f"{self.reported}.{self.code}"


def statement_of(details: str, contact: str, at: datetime) -> Statement:
    """What a reporter wrote, without the blanks around it. Raises InvalidDetails, InvalidContact.

    The operator reads it on a terminal: it has no control characters but those of lines and tabs.
    """
    words = details.strip(BLANKS)
    if len(words) > MAX_DETAILS_LENGTH or CONTROLS.search(_LAYOUT.sub("", words)):
        raise InvalidDetails(
            f"Details have up to {MAX_DETAILS_LENGTH} characters and no control characters."
        )
    if not contact.strip(BLANKS):
        return Statement(words, "", at)
    try:
        return Statement(words, email_of(contact), at)
    except ValueError as error:
        raise InvalidContact(str(error)) from None
