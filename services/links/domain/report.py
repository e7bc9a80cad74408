"""Reports of links by visitors.

All reports of a link for one reason form one report, which counts them. It is pending until the
operator decides on the link. If the link is reported again for the same reason afterwards, the
report becomes pending again under the same id, with its count starting at one. A report alone
changes nothing about a link.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from services.links.domain.block import BlockReason
from services.links.domain.link import Link
from services.links.domain.query import InvalidCursor
from services.shared.characters import CONTROL_CHARACTERS, WHITESPACE
from services.shared.email_addresses import parse_email_address
from services.shared.errors import InvalidArgument, NotFound
from services.shared.link_codes import is_code

MAX_DETAILS_LENGTH = 1000
"""In Unicode code points."""
MAX_STATEMENTS = 5
"""Maximum statements stored for each report."""
MAX_REPORTS_PER_PAGE = 100
"""With their links and full statements in 4-byte characters, 3.5 MB. gRPC's message limit is
4 MiB."""
REPORT_RETENTION = timedelta(days=90)
"""How long a report is kept after the decision, for questions by or to its reporter."""

_NUMBER = re.compile("[1-9][0-9]{0,17}")
_LAYOUT = re.compile("[\t\n\r]")
"""Control characters that are allowed in details."""


class InvalidDetails(InvalidArgument):
    default_reason = "INVALID_DETAILS"


class InvalidContact(InvalidArgument):
    default_reason = "INVALID_CONTACT"


class NoReport(NotFound):
    default_reason = "NO_REPORT"


@dataclass(frozen=True, slots=True)
class Statement:
    """What one reporter wrote."""

    details: str = field(repr=False)
    contact: str = field(repr=False)
    """E-mail address for questions to the reporter; empty for none."""
    at: datetime

    @property
    def is_empty(self) -> bool:
        """Whether the reporter only chose a reason."""
        return not self.details and not self.contact


@dataclass(frozen=True, slots=True)
class Report:
    """The reports of a link for one reason since the last decision."""

    id: str
    """Random; every reporter is given the same id."""
    code: str
    """The link's."""
    reason: BlockReason
    count: int
    first_at: datetime
    last_at: datetime
    statements: tuple[Statement, ...] = ()
    """The first statements that were not empty, oldest first."""


@dataclass(frozen=True, slots=True)
class ReportCursor:
    """The last link of a page of reports, ordered by number of reports, then by code.

    The number of reports of a link only grows while they are pending. So no link comes twice, and
    paging misses only links that were reported more often meanwhile and moved to the front.
    """

    reported: int
    code: str

    @classmethod
    def parse(cls, text: str) -> ReportCursor:
        """Return the cursor that `text` is the text of. Raises InvalidCursor."""
        reported, _, code = text.partition(".")
        if not is_code(code) or not _NUMBER.fullmatch(reported):
            raise InvalidCursor("This is not a cursor of a list of reports.")
        return cls(int(reported), code)

    @property
    def text(self) -> str:
        """The cursor as the operator types it."""
        return f"{self.reported}.{self.code}"


ReportPage = tuple[list[tuple[Link, Report]], ReportCursor | None]
"""Reports with their links, and the cursor of the next page, None at the end."""


def to_statement(details: str, contact: str, at: datetime) -> Statement:
    """Return a statement, trimmed. Raises InvalidDetails, InvalidContact.

    The operator reads statements on a terminal, so line breaks and tabs are the only control
    characters that are allowed.
    """
    words = details.strip(WHITESPACE)
    if len(words) > MAX_DETAILS_LENGTH or CONTROL_CHARACTERS.search(_LAYOUT.sub("", words)):
        raise InvalidDetails(
            f"Details have up to {MAX_DETAILS_LENGTH} characters and no control characters."
        )
    if not contact.strip(WHITESPACE):
        return Statement(words, "", at)
    try:
        return Statement(words, parse_email_address(contact), at)
    except ValueError as error:
        raise InvalidContact(str(error)) from None
