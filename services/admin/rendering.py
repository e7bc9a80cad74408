"""Renders answers for the operator's terminal.

Reports contain text by strangers, and a terminal interprets what is written to it: control
characters and escape sequences move the cursor, rename the window or overwrite lines, and direction
marks reorder text. `plain` replaces every such character with its escape.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from google.protobuf.timestamp_pb2 import Timestamp

from atajo.links.v1 import links_pb2 as pb
from services.admin.clients import CLASSES
from services.shared import edge_table

CLASS_NAMES = {number: name for name, number in CLASSES.items()}
STATES = {
    pb.LINK_STATE_ACTIVE: "active",
    pb.LINK_STATE_EXPIRED: "expired",
    pb.LINK_STATE_REMOVED: "removed",
    pb.LINK_STATE_BLOCKED: "blocked",
}
KINDS = {
    pb.DECISION_KIND_BLOCK: "block",
    pb.DECISION_KIND_UNBLOCK: "unblock",
    pb.DECISION_KIND_DISMISS: "dismiss",
    pb.DECISION_KIND_RESET_LINK: "reset link",
}
_RESET_PATH: str = edge_table.read()["pages"]["resetPassword"]["path"]
_OPERATOR_PREFIX = "operator/"
"""In front of a pattern that the operator blocked, as the name of a list."""


def plain(text: str) -> str:
    """Return a text as one line of printable characters; others become backslash escapes."""
    return "".join(_plain(letter) for letter in text)


def reports(page: pb.ListReportsResponse) -> str:
    """Render a page of reports, grouped by link, and how to ask for the next page."""
    lines: list[str] = []
    code = ""
    for report in page.reports:
        if report.link.code != code:
            code = report.link.code
            lines += ["", *_link(report.link)]
        lines += _report(report)
    if not lines:
        return "No more pending reports." if page.waiting else "No pending reports."
    pending = "pending report" if page.waiting == 1 else "pending reports"
    shown = f"{len(page.reports)} of {page.waiting} {pending}."
    others = f" Others: AFTER={page.next}" if page.next else ""
    return "\n".join([*lines, "", shown + others]).strip("\n")


def reset_url(origin: str, email: str, code: str) -> str:
    """Return the URL of a reset link. The fragment is not sent to any server."""
    fragment = urlencode({"email": email.strip(), "code": code}, quote_via=quote)
    return f"{origin.rstrip('/')}{_RESET_PATH}#{fragment}"


def reset_link(url: str, expires_at: Timestamp) -> str:
    """Render the URL of a reset link."""
    return f"{url}\nIt works once, until {_time(expires_at)}."


def decisions(page: pb.ListDecisionsResponse, number: int, page_size: int) -> str:
    """Render a page of decisions, newest first."""
    lines = [_decision(each) for each in page.decisions]
    if not lines:
        return "No decisions." if number == 1 else "No more decisions."
    if len(lines) == page_size:
        lines.append(f"Older ones: page {number + 1}.")
    return "\n".join(lines)


def explanation(reply: pb.ExplainBlockResponse, given: str) -> str:
    """Render why a link, or the host or URL that was given, is blocked."""
    lines: list[str] = []
    if reply.HasField("link"):
        lines += [*_link(reply.link), *(f"  {cause}" for cause in _causes(reply))]
    else:
        lines.append(f"{plain(given)}  {'blocked' if reply.matches else 'not blocked'}")
    for match in reply.matches:
        lines += _match(match, with_url=reply.HasField("link"))
    if reply.HasField("decision") and not any(
        match.decision == reply.decision for match in reply.matches
    ):
        lines.append(f"  last decision: {_decision(reply.decision)}")
    return "\n".join(lines)


def _causes(reply: pb.ExplainBlockResponse) -> Iterator[str]:
    """Yield what holds of a link: the reasons for its state."""
    link = reply.link
    if link.state == pb.LINK_STATE_BLOCKED:
        yield f"blocked by {_list(reply.blocklist) if reply.blocklist else 'the operator'}"
        if reply.blocklist and all(match.exempt for match in reply.matches):
            yield "no loaded list matches it now: it is unblocked within minutes"
    if reply.gone:
        yield "removed for good: its owner removed it 30 days ago or more, or closed the account"
    elif reply.HasField("removed_at"):
        yield f"removed by its owner at {_time(reply.removed_at)}"
    if link.state == pb.LINK_STATE_EXPIRED:
        yield f"expired at {_time(link.expires_at)}"
    if reply.exempt:
        since = f" at {_time(reply.exempt_since)}" if reply.HasField("exempt_since") else ""
        yield f"unblocked by the operator{since}, so list files do not block it"
    blocking = [match for match in reply.matches if not match.exempt]
    if blocking and link.state != pb.LINK_STATE_BLOCKED:
        yield "a list matches it: it is blocked within minutes"


def _match(match: pb.BlocklistMatch, *, with_url: bool) -> Iterator[str]:
    line = "" if match.list.startswith(_OPERATOR_PREFIX) else f", line {match.line}"
    class_name = CLASS_NAMES.get(match.reason, "?")
    of = f" matches {plain(match.url)}" if with_url else ""
    exempt = " (the link is exempt)" if match.exempt else ""
    yield f"  {_list(match.list)}{line}: {plain(match.key)} ({class_name}){of}{exempt}"
    if match.HasField("decision"):
        yield f"    {_decision(match.decision)}"


def _list(name: str) -> str:
    if name.startswith(_OPERATOR_PREFIX):
        return f"the operator's block of {plain(name.removeprefix(_OPERATOR_PREFIX))}"
    return f"the list {plain(name)}"


def _plain(letter: str) -> str:
    if letter == "\\":
        return "\\\\"
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode()


def _link(link: pb.Link) -> Iterator[str]:
    state = STATES.get(link.state, "?")
    if link.state == pb.LINK_STATE_BLOCKED:
        state += f" ({CLASS_NAMES.get(link.reason, '?')})"
    yield f"{plain(link.code)}  {state}, created {_time(link.created_at)}"
    yield f"  destination {plain(link.url)}"
    if link.ended_url:
        yield f"  after expiry {plain(link.ended_url)}"


def _report(report: pb.Report) -> Iterator[str]:
    times = "once" if report.count == 1 else f"{report.count} times"
    class_name = CLASS_NAMES.get(report.reason, "?")
    yield f"  {class_name}, {times}: since {_time(report.first_at)}, last {_time(report.last_at)}"
    for statement in report.statements:
        details = plain(statement.details) or "(nothing)"
        contact = plain(statement.contact) or "no contact"
        yield f"    {_time(statement.at)}, {contact}: {details}"


def _decision(decision: pb.Decision) -> str:
    parts = [
        _time(decision.at),
        KINDS.get(decision.kind, "?"),
    ]
    if subject := decision.code or decision.address:
        parts.append(plain(subject))
    if decision.reason:
        parts.append(CLASS_NAMES.get(decision.reason, "?"))
    if decision.reports:
        parts.append(f"({decision.reports} report{'' if decision.reports == 1 else 's'})")
    if decision.cause:
        parts.append(plain(decision.cause))
    return "  ".join(parts)


def _time(timestamp: Timestamp) -> str:
    moment: datetime = timestamp.ToDatetime(UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
