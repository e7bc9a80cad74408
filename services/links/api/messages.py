"""Converts between the domain of links and protobuf messages.

Functions fill existing messages, since assigning a message to a field copies it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from atajo.links.v1 import links_pb2 as pb
from services.links.application.explanation import Explanation
from services.links.domain.block import BlockReason, InvalidReason
from services.links.domain.creations import NewLink, Outcome
from services.links.domain.decision import Decision, DecisionKind
from services.links.domain.edit import InvalidExpiry, LinkChanges
from services.links.domain.imports import ImportRow, InvalidImport, RowResult, Verdict
from services.links.domain.link import Link
from services.links.domain.owner import ANONYMOUS, Account, Guest, Owner
from services.links.domain.query import LinkOrder
from services.links.domain.report import Report
from services.links.domain.resolution import LinkState, Resolution
from services.shared.errors import AppError
from services.shared.rpc import status
from services.shared.rpc.fields import TIME_ERRORS, read_fields

_STATES = {
    LinkState.ACTIVE: pb.LINK_STATE_ACTIVE,
    LinkState.EXPIRED: pb.LINK_STATE_EXPIRED,
    LinkState.REMOVED: pb.LINK_STATE_REMOVED,
    LinkState.BLOCKED: pb.LINK_STATE_BLOCKED,
}
_REASONS = {
    BlockReason.PHISHING: pb.BLOCK_REASON_PHISHING,
    BlockReason.MALWARE: pb.BLOCK_REASON_MALWARE,
    BlockReason.SPAM: pb.BLOCK_REASON_SPAM,
    BlockReason.ILLEGAL: pb.BLOCK_REASON_ILLEGAL,
    BlockReason.OTHER: pb.BLOCK_REASON_OTHER,
}
_KINDS = {
    DecisionKind.BLOCK: pb.DECISION_KIND_BLOCK,
    DecisionKind.UNBLOCK: pb.DECISION_KIND_UNBLOCK,
    DecisionKind.DISMISS: pb.DECISION_KIND_DISMISS,
    DecisionKind.RESET_LINK: pb.DECISION_KIND_RESET_LINK,
}
_VERDICTS = {one: pb.ImportVerdict.Value(f"IMPORT_VERDICT_{one.name}") for one in Verdict}
STATE_OF = {number: state for state, number in _STATES.items()}
REASON_OF = {number: reason for reason, number in _REASONS.items()}
_LINK_FIELDS = [
    name for name in pb.Link.DESCRIPTOR.fields_by_name if name not in {"tags", "state", "reason"}
]
ORDER_OF = {
    pb.LINK_ORDER_UNSPECIFIED: LinkOrder.NEWEST,
    pb.LINK_ORDER_NEWEST: LinkOrder.NEWEST,
    pb.LINK_ORDER_OLDEST: LinkOrder.OLDEST,
    pb.LINK_ORDER_MOST_VIEWED: LinkOrder.MOST_VIEWED,
}


def owner_of(request: pb.CreateLinkRequest | pb.Owner) -> Owner:
    match request.WhichOneof("owner"):
        case "account_id":
            return Account(request.account_id)
        case "guest_key_hash":
            return Guest(request.guest_key_hash)
        case _:
            return ANONYMOUS


def link_changes_of(message: pb.LinkChanges) -> LinkChanges:
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


def new_link_of(message: pb.NewLink) -> NewLink | InvalidExpiry:
    """Return a link to create, or what makes it unreadable."""
    try:
        values = read_fields(message)
    except TIME_ERRORS:
        return _invalid_expiry()
    return NewLink(values.pop("url", ""), values.pop("code", None), values)


def import_row_of(message: pb.ImportRow) -> ImportRow:
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


def reason_of(number: pb.BlockReason.ValueType) -> BlockReason:
    """Return the reason of a block. Raises InvalidReason."""
    reason = REASON_OF.get(number)
    if reason is None:
        raise InvalidReason("A block needs a reason.")
    return reason


def write_decision(message: pb.Decision, decision: Decision) -> None:
    message.kind = _KINDS[decision.kind]
    message.cause = decision.comment
    message.reports = decision.reports
    if decision.code:
        message.code = decision.code
    elif decision.pattern:
        message.address = decision.pattern
    if decision.reason is not None:
        message.reason = _REASONS[decision.reason]
    message.at.FromDatetime(decision.at)


def write_explanation(
    message: pb.ExplainBlockResponse, explanation: Explanation, now: datetime
) -> None:
    link = explanation.link
    if link is not None:
        write_link(message.link, link, now)
        message.gone = link.is_gone_at(now)
        message.blocklist = link.blocklist
        message.exempt = link.exempt
        if link.removed_at is not None and not message.gone:
            message.removed_at.FromDatetime(link.removed_at)
        if link.exempt_since is not None:
            message.exempt_since.FromDatetime(link.exempt_since)
    for explained in explanation.matches:
        match = explained.match
        entry = message.matches.add(
            url=explained.url,
            list=match.list,
            line=match.line,
            key=match.key,
            reason=_REASONS[match.reason],
            exempt=link is not None and link.is_exempt_from(match),
        )
        if explained.decision is not None:
            write_decision(entry.decision, explained.decision)
    if explanation.decision is not None:
        write_decision(message.decision, explanation.decision)


def write_import_result(message: pb.ImportResult, result: RowResult) -> None:
    message.number = result.number
    message.verdict = _VERDICTS[result.verdict]
    if result.code is not None:
        message.code = result.code


def write_account_creation(
    message: pb.AccountCreation, outcome: Outcome, created_at: datetime
) -> None:
    """Write the outcome of a creation. A link has its state at its creation."""
    if isinstance(outcome, Link):
        write_link(message.link, outcome, created_at)
    else:
        write_error(message.error, outcome)


def write_error(message: pb.Error, error: AppError) -> None:
    message.code = status.number_of(status.code_of(error))
    message.reason = error.reason
    message.message = error.message


def write_link(message: pb.Link, link: Link, now: datetime) -> None:
    """Write a link. All fields but tags, state and reason have the value of the link's field."""
    for name in _LINK_FIELDS:
        if value := getattr(link, name):
            setattr(message, name, value)
    message.tags.extend(link.tags)
    message.state = _STATES[link.state_at(now)]
    if link.blocked is not None:
        message.reason = _REASONS[link.blocked]


def write_report(message: pb.Report, link: Link, report: Report, now: datetime) -> None:
    message.id = report.id
    message.reason = _REASONS[report.reason]
    message.count = report.count
    write_link(message.link, link, now)
    message.first_at.FromDatetime(report.first_at)
    message.last_at.FromDatetime(report.last_at)
    for statement in report.statements:
        written = message.statements.add(details=statement.details, contact=statement.contact)
        written.at.FromDatetime(statement.at)


def write_resolutions(
    response: pb.ChangeLinkResponse
    | pb.RemoveLinksResponse
    | pb.RestoreLinksResponse
    | pb.CreateAccountLinksResponse
    | pb.ImportLinksResponse
    | pb.UndoImportResponse,
    links: Iterable[Link],
) -> None:
    """Write the resolutions of links, for their codes and their scan codes."""
    for link in links:
        resolution = link.resolution()
        write_resolution(response.resolutions.add(), resolution)
        if link.scan_code:
            write_resolution(response.resolutions.add(), resolution.via_scan_code(link.scan_code))


def write_resolution(message: pb.Resolution, resolution: Resolution) -> None:
    """Write a resolution into an empty message."""
    message.code = resolution.code
    message.url = resolution.url
    message.state = _STATES[resolution.state]
    if resolution.expires_at is not None:
        message.expires_at.FromDatetime(resolution.expires_at)
    if resolution.ended_url:
        message.ended_url = resolution.ended_url
    if resolution.reason is not None:
        message.reason = _REASONS[resolution.reason]
    if resolution.link_code:
        message.link_code = resolution.link_code
