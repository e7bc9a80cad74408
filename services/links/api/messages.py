"""Converts between the domain of links and protobuf messages."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from atajo.links.v1 import links_pb2 as pb
from services.links.application.administration import LinkFile, ReportedLink
from services.links.application.moderation import Explanation
from services.links.domain.block import BlockReason, InvalidReason
from services.links.domain.creations import NewLink, Outcome
from services.links.domain.decision import Decision, DecisionKind
from services.links.domain.edit import InvalidExpiry, LinkChanges
from services.links.domain.imports import ImportRow, InvalidImport
from services.links.domain.link import Link
from services.links.domain.owner import ANONYMOUS, Account, Anonymous, Guest, Owner
from services.links.domain.query import LinkOrder
from services.links.domain.report import Report
from services.links.domain.resolution import LinkState, Resolution
from services.shared.errors import AppError
from services.shared.rpc import status
from services.shared.rpc.fields import (
    TIME_ERRORS,
    enum_members,
    enum_numbers,
    read_fields,
    to_message,
    to_timestamp,
)

STATES = enum_members(LinkState, pb.LinkState)
REASONS = enum_members(BlockReason, pb.BlockReason)
ACTIONS = enum_members(DecisionKind, pb.DecisionKind)
ORDERS = {
    pb.LINK_ORDER_UNSPECIFIED: LinkOrder.NEWEST,
    **enum_members(LinkOrder, pb.LinkOrder),
}
_STATE_NUMBERS = enum_numbers(LinkState, pb.LinkState)
_REASON_NUMBERS = enum_numbers(BlockReason, pb.BlockReason)
_LINK_FIELDS = [
    name for name in pb.Link.DESCRIPTOR.fields_by_name if name not in {"tags", "state", "reason"}
]


def parse_owner(request: pb.CreateLinkRequest | pb.Owner) -> Owner:
    match request.WhichOneof("owner"):
        case "account_id":
            return Account(request.account_id)
        case "guest_key_hash":
            return Guest(request.guest_key_hash)
        case _:
            return ANONYMOUS


def parse_link_changes(message: pb.LinkChanges) -> LinkChanges:
    """Return the changes of a message: the values of its fields, by name. Raises InvalidExpiry."""
    changes = LinkChanges(read_fields(message))
    if "tags" in changes:
        changes["tags"] = message.tags.tags
    if "expiry" in changes:
        del changes["expiry"]
        try:
            changes["expires_at"] = read_fields(message.expiry).get("expires_at")
        except TIME_ERRORS:
            raise _invalid_expiry() from None
    return changes


def parse_new_link(message: pb.NewLink) -> NewLink | InvalidExpiry:
    """Return a link to create, or what makes it unreadable."""
    try:
        values = read_fields(message)
    except TIME_ERRORS:
        return _invalid_expiry()
    return NewLink(values.pop("url", ""), values.pop("code", None), values)


def parse_import_row(message: pb.ImportRow) -> ImportRow:
    """Return a row of an import. Raises InvalidImport for a time outside the years 1 to 9999."""
    try:
        values = read_fields(message)
    except TIME_ERRORS:
        raise InvalidImport("A time is not within the years 1 to 9999.") from None
    return ImportRow(
        values.pop("number", 0),
        values.pop("code", None),
        values.pop("url", ""),
        values.pop("created_at", None),
        values,
    )


def _invalid_expiry() -> InvalidExpiry:
    return InvalidExpiry("The expiry is not a valid time.")


def parse_reason(number: pb.BlockReason.ValueType) -> BlockReason:
    """Return the reason of a block. Raises InvalidReason."""
    reason = REASONS.get(number)
    if reason is None:
        raise InvalidReason("A block needs a reason.")
    return reason


def to_decision(decision: Decision) -> pb.Decision:
    """Return the message of a decision, which has at most one subject."""
    return to_message(
        pb.Decision,
        decision,
        code=decision.code or None,
        address=decision.pattern or None,
        account_id=decision.account_id or None,
        cause=decision.comment,
    )


def to_explanation(explanation: Explanation, now: datetime) -> pb.ExplainBlockResponse:
    """Return the message that explains why a link or URL is blocked, or not."""
    link, decision = explanation.link, explanation.decision
    response = pb.ExplainBlockResponse(
        matches=[
            to_message(
                pb.BlocklistMatch,
                explained.match,
                url=explained.url,
                exempt=link is not None and link.is_exempt_from(explained.match),
                decision=to_decision(explained.decision) if explained.decision else None,
            )
            for explained in explanation.matches
        ],
        decision=to_decision(decision) if decision else None,
    )
    if link is not None:
        response.link.CopyFrom(to_link(link, now))
        response.gone = link.is_gone_at(now)
        response.blocklist = link.blocklist
        response.exempt = link.exempt
        if link.removed_at is not None and not response.gone:
            response.removed_at.FromDatetime(link.removed_at)
        if link.exempt_since is not None:
            response.exempt_since.FromDatetime(link.exempt_since)
    return response


def to_account_creation(outcome: Outcome, created_at: datetime) -> pb.AccountCreation:
    """Return the message of the outcome of a creation. A link has its state at its creation."""
    if isinstance(outcome, Link):
        return pb.AccountCreation(link=to_link(outcome, created_at))
    return pb.AccountCreation(error=to_error(outcome))


def to_error(error: AppError) -> pb.Error:
    """Return the message of why a creation failed."""
    return to_message(pb.Error, error, code=status.number_of(status.code_of(error)))


def to_link(link: Link, now: datetime) -> pb.Link:
    """Return the message of a link.

    All fields but tags, state and reason have the value of the link's field.
    """
    message = pb.Link(tags=link.tags, state=_STATE_NUMBERS[link.state_at(now)])
    for name in _LINK_FIELDS:
        if value := getattr(link, name):
            setattr(message, name, value)
    if link.blocked is not None:
        message.reason = _REASON_NUMBERS[link.blocked]
    return message


def to_report(link: Link, report: Report, now: datetime) -> pb.Report:
    """Return the message of a report with its link."""
    return to_message(pb.Report, report, link=to_link(link, now))


def to_reported_link(reported: ReportedLink, now: datetime) -> pb.ReportedLink:
    """Return the message of a link with its pending reports added up."""
    reports = reported.reports
    return pb.ReportedLink(
        link=to_link(reported.link, now),
        count=sum(report.count for report in reports),
        reasons=[_REASON_NUMBERS[report.reason] for report in reports],
        first_at=to_timestamp(min(report.first_at for report in reports)),
        last_at=to_timestamp(max(report.last_at for report in reports)),
    )


def to_link_file(file: LinkFile, now: datetime) -> pb.GetReportedLinkResponse:
    """Return the message of what is known about a link."""
    owners = {
        Account: pb.OWNER_KIND_ACCOUNT,
        Guest: pb.OWNER_KIND_GUEST,
        Anonymous: pb.OWNER_KIND_NOBODY,
    }
    return pb.GetReportedLinkResponse(
        link=to_link(file.link, now),
        owner=owners[type(file.link.owner)],
        reports=[to_message(pb.Report, report, link=None) for report in file.reports],
        decisions=map(to_decision, file.decisions),
        history=[to_message(pb.FormerUrl, former) for former in file.history],
    )


def to_resolutions(links: Iterable[Link]) -> list[pb.Resolution]:
    """Return the messages of the resolutions of links, for their codes and their scan codes."""
    messages: list[pb.Resolution] = []
    for link in links:
        resolution = link.resolution()
        messages.append(to_resolution(resolution))
        if link.scan_code:
            messages.append(to_resolution(resolution.via_scan_code(link.scan_code)))
    return messages


def to_resolution(resolution: Resolution) -> pb.Resolution:
    """Return the message of a resolution."""
    message = pb.Resolution(
        code=resolution.code, url=resolution.url, state=_STATE_NUMBERS[resolution.state]
    )
    if resolution.expires_at is not None:
        message.expires_at.FromDatetime(resolution.expires_at)
    if resolution.ended_url:
        message.ended_url = resolution.ended_url
    if resolution.reason is not None:
        message.reason = _REASON_NUMBERS[resolution.reason]
    if resolution.link_code:
        message.link_code = resolution.link_code
    return message
