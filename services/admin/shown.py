"""What the operator reads on a terminal, of what strangers wrote.

A terminal obeys what is written to it: control characters and escape sequences move its cursor,
rename its window or paint over a line, and marks of direction turn text round. None of them gets
there: what is no plain character is shown as its escape.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from atajo.links.v1 import links_pb2 as pb
from services.admin.clients import REASONS

_NAMES = {number: name for name, number in REASONS.items()}
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
}


def plain(text: str) -> str:
    """A text in one line of plain characters; a backslash begins what stands for another."""
    return "".join(_plain(letter) for letter in text)


def reports(page: pb.ListReportsResponse) -> str:
    """Some reports, link by link, and how to ask for the next ones."""
    lines: list[str] = []
    code = ""
    for report in page.reports:
        if report.link.code != code:
            code = report.link.code
            lines += ["", *_link(report.link)]
        lines += _report(report)
    if not lines:
        return "No more reports wait." if page.waiting else "No report waits."
    wait = "report that waits" if page.waiting == 1 else "reports that wait"
    told = f"{len(page.reports)} of {page.waiting} {wait}."
    others = f" Others: AFTER={page.next}" if page.next else ""
    return "\n".join([*lines, "", told + others]).strip("\n")


def decisions(page: pb.ListDecisionsResponse, number: int, size: int) -> str:
    """A page of decisions, newest first."""
    lines = [_decision(each) for each in page.decisions]
    if not lines:
        return "No decisions." if number == 1 else "No more decisions."
    if len(lines) == size:
        lines.append(f"Older ones: page {number + 1}.")
    return "\n".join(lines)


def _plain(letter: str) -> str:
    if letter == "\\":
        return "\\\\"
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode()


def _link(link: pb.Link) -> Iterator[str]:
    state = _STATES.get(link.state, "?")
    if link.state == pb.LINK_STATE_BLOCKED:
        state += f" ({_NAMES.get(link.reason, '?')})"
    yield f"{plain(link.code)}  {state}, made {_moment(link.created_at.ToDatetime(UTC))}"
    yield f"  leads to {plain(link.url)}"
    if link.ended_url:
        yield f"  and after its end to {plain(link.ended_url)}"


def _report(report: pb.Report) -> Iterator[str]:
    first, last = (_moment(each.ToDatetime(UTC)) for each in (report.first_at, report.last_at))
    times = "once" if report.count == 1 else f"{report.count} times"
    yield f"  {_NAMES.get(report.reason, '?')}, {times}: since {first}, last {last}"
    for said in report.statements:
        told = plain(said.details) or "(nothing)"
        who = plain(said.contact) or "no contact"
        yield f"    {_moment(said.at.ToDatetime(UTC))}, {who}: {told}"


def _decision(decision: pb.Decision) -> str:
    parts = [
        _moment(decision.at.ToDatetime(UTC)),
        _KINDS.get(decision.kind, "?"),
        plain(decision.code or decision.address),
    ]
    if decision.reason:
        parts.append(_NAMES.get(decision.reason, "?"))
    if decision.reports:
        parts.append(f"({decision.reports} report{'' if decision.reports == 1 else 's'})")
    if decision.cause:
        parts.append(plain(decision.cause))
    return "  ".join(parts)


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
