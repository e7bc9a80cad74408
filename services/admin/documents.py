"""The JSON documents that the operator's command prints with `--json`.

Their fields are stable: scripts read them. `make reference` writes them to
docs/reference/operator.md. Times are ISO 8601 in UTC.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from atajo.links.v1 import links_pb2 as pb
from services.admin.clients import CLASSES
from services.shared.rpc.fields import from_message

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_REASONS = {number: name for name, number in CLASSES.items()}
_STATES = {
    pb.LINK_STATE_ACTIVE: "active",
    pb.LINK_STATE_EXPIRED: "expired",
    pb.LINK_STATE_REMOVED: "removed",
    pb.LINK_STATE_BLOCKED: "blocked",
}
_KINDS = {
    pb.DECISION_KIND_BLOCK: "block",
    pb.DECISION_KIND_UNBLOCK: "unblock",
    pb.DECISION_KIND_DISMISS: "dismiss",
    pb.DECISION_KIND_RESET_LINK: "reset-link",
}


@dataclass(frozen=True)
class Link:
    """A link as it is now."""

    code: str
    """Its code."""
    state: str
    """`active`, `expired`, `removed` or `blocked`."""
    reason: str | None
    """Class of its block; null if it is not blocked."""
    url: str
    """Where it leads."""
    ended_url: str | None
    """Where it leads after it expired; null if nowhere."""
    created_at: datetime
    """When it was created."""
    expires_at: datetime | None
    """When it expires; null for never."""


@dataclass(frozen=True)
class Statement:
    """What one reporter wrote."""

    at: datetime
    """When it was reported."""
    details: str
    """In the reporter's words; may be empty."""
    contact: str
    """E-mail address of the reporter; may be empty."""


@dataclass(frozen=True)
class Report:
    """The reports of a link for one reason."""

    id: str
    """The id that its reporters were given."""
    link: Link
    """The reported link."""
    reason: str
    """`phishing`, `malware`, `spam`, `illegal` or `other`."""
    count: int
    """How often it was reported."""
    first_at: datetime
    """When it was first reported."""
    last_at: datetime
    """When it was last reported."""
    statements: list[Statement]
    """The first that were not empty, oldest first."""


@dataclass(frozen=True)
class Reports:
    """A page of pending reports: `reports`."""

    reports: list[Report]
    """The most often reported links come first. All reports of a link are on one page."""
    waiting: int
    """Number of pending reports on all pages."""
    next: str | None
    """AFTER of the next page; null on the last page."""


@dataclass(frozen=True)
class Decision:
    """A decision of the operator or an administrator."""

    at: datetime
    """When it was made."""
    kind: str
    """`block`, `unblock`, `dismiss` or `reset-link`."""
    code: str | None
    """The link that it is about; null if it is not about a link."""
    pattern: str | None
    """The host or path that it is about; null if it is about neither."""
    account: str | None
    """Id of the account all links of which it is about; null if it is about something else."""
    reason: str | None
    """Class of a block; null for other kinds."""
    comment: str
    """The operator's comment, or the account of a reset link; may be empty."""
    reports: int
    """Number of reports that it settled."""
    by: str | None
    """E-mail address of the administrator who made it; null if the operator did."""


@dataclass(frozen=True)
class Decisions:
    """A page of decisions: `decisions`."""

    decisions: list[Decision]
    """Newest first."""
    next_page: int | None
    """PAGE of older ones, which may be empty; null if there are none."""


@dataclass(frozen=True)
class Match:
    """An entry of a blocklist that matches a URL."""

    blocklist: str
    """Name of the list; `operator/` and the pattern for a host or path that you blocked."""
    line: int
    """Number of the line in the list, from 1."""
    key: str
    """The host or path that the line names."""
    reason: str
    """Class of the list."""
    url: str
    """The URL that it matches."""
    exempt: bool
    """Whether you unblocked the link in spite of this entry."""
    decision: Decision | None
    """Your decision to block the pattern; null for a list in a file."""


@dataclass(frozen=True)
class Explanation:
    """Why a link, host or URL is blocked, or not: `why`."""

    subject: str
    """The code, host or URL that was asked about."""
    blocked: bool
    """Whether it is blocked now."""
    link: Link | None
    """The link; null for a host or URL."""
    blocklist: str | None
    """Name of the list that blocked the link; null if you did, or it is not blocked."""
    removed_at: datetime | None
    """When its owner removed the link; null if not, or if that can no longer be undone."""
    removed_permanently: bool
    """Whether the removal of the link can no longer be undone."""
    exempt: bool
    """Whether you unblocked the link, so that no list in a file blocks it."""
    exempt_since: datetime | None
    """When you unblocked it; null if you did not, or the time is unknown."""
    matches: list[Match]
    """Entries of blocklists that match."""
    decision: Decision | None
    """The latest decision to block or unblock exactly this; null if there is none."""


@dataclass(frozen=True)
class Block:
    """A block that was made: `block`."""

    code: str | None
    """The link; null if a host or path was blocked."""
    pattern: str | None
    """The host or path, as it was given; null if a link was blocked."""
    reason: str
    """Its class."""


@dataclass(frozen=True)
class Unblock:
    """A block that was removed: `unblock`."""

    code: str | None
    """The link; null if a host or path was unblocked."""
    pattern: str | None
    """The host or path, as it was given; null if a link was unblocked."""


@dataclass(frozen=True)
class Dismissal:
    """Reports that were dismissed: `dismiss`."""

    code: str
    """The link, as it was named."""
    reports: int
    """Number of dismissed reports."""


@dataclass(frozen=True)
class RemovedLink:
    """A link that was removed for good: `remove-link`."""

    code: str
    """Its code or scan code, as it was given."""


@dataclass(frozen=True)
class RemovedAccount:
    """An account that was removed for good: `remove-account`."""

    links: int
    """Number of its links that this run of the command removed."""


@dataclass(frozen=True)
class ResetLink:
    """A URL with which the owner of an account sets a new password: `reset-link`."""

    url: str
    """The URL. It works once."""
    expires_at: datetime
    """When it stops working."""


@dataclass(frozen=True)
class Invitation:
    """A URL with which somebody registers an account: `invite`."""

    id: str
    """The id of the invitation."""
    url: str
    """The URL. It works once."""
    expires_at: datetime
    """When it stops working."""


@dataclass(frozen=True)
class RoleSet:
    """The role of an account that was set: `role`."""

    role: str
    """`administrator` or `member`."""


DOCUMENTS: tuple[type[DataclassInstance], ...] = (
    *(Reports, Report, Statement, Link),
    *(Decisions, Decision),
    *(Explanation, Match),
    *(Block, Unblock, Dismissal, RemovedLink, RemovedAccount, ResetLink),
    *(Invitation, RoleSet),
)
"""The documents and the objects in them, in the order of the reference."""


def encode(document: DataclassInstance) -> str:
    """Return a document as one line of ASCII: text by strangers cannot control a terminal."""
    return json.dumps(asdict(document), default=_encode_time)


def parse_reports(page: pb.ListReportsResponse) -> Reports:
    """Return the document of a page of reports."""
    reports = [
        from_message(
            Report,
            report,
            link=_parse_link(report.link),
            reason=_name(_REASONS, report.reason),
            statements=[from_message(Statement, statement) for statement in report.statements],
        )
        for report in page.reports
    ]
    return Reports(reports, page.waiting, page.next or None)


def parse_decisions(page: pb.ListDecisionsResponse, number: int, page_size: int) -> Decisions:
    """Return the document of a page of decisions."""
    decisions = [_parse_decision(decision) for decision in page.decisions]
    return Decisions(decisions, number + 1 if len(decisions) == page_size else None)


def parse_explanation(reply: pb.ExplainBlockResponse, subject: str) -> Explanation:
    """Return the document of why a link, or the host or URL that was given, is blocked."""
    link = _parse_link(reply.link) if reply.HasField("link") else None
    return from_message(
        Explanation,
        reply,
        subject=subject,
        blocked=link.state == "blocked" if link else bool(reply.matches),
        link=link,
        blocklist=reply.blocklist or None,
        removed_permanently=reply.gone,
        matches=[
            from_message(
                Match,
                match,
                blocklist=match.list,
                reason=_name(_REASONS, match.reason),
                decision=_parse_decision(match.decision) if match.HasField("decision") else None,
            )
            for match in reply.matches
        ],
        decision=_parse_decision(reply.decision) if reply.HasField("decision") else None,
    )


def _parse_link(link: pb.Link) -> Link:
    return from_message(
        Link,
        link,
        state=_name(_STATES, link.state),
        reason=_name(_REASONS, link.reason) if link.reason else None,
        ended_url=link.ended_url or None,
    )


def _parse_decision(decision: pb.Decision) -> Decision:
    return from_message(
        Decision,
        decision,
        kind=_name(_KINDS, decision.kind),
        pattern=decision.address or None,
        account=decision.account_id or None,
        reason=_name(_REASONS, decision.reason) if decision.reason else None,
        comment=decision.cause,
        by=decision.by or None,
    )


def _name(names: Mapping[Any, str], number: int) -> str:
    """Return the name of a value; `unknown` for one that only a newer links knows."""
    return names.get(number, "unknown")


def _encode_time(value: object) -> str:
    """Return a time as REST API and functions have it, `2026-03-01T12:30:00.000Z`."""
    assert isinstance(value, datetime)
    return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
