"""Renders answers for the operator's terminal.

Reports contain text by strangers, and a terminal interprets what is written to it: control
characters and escape sequences move the cursor, rename the window or overwrite lines, and direction
marks reorder text. `plain` replaces every such character with its escape.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from services.admin import documents

_OPERATOR_PREFIX = "operator/"
"""In front of a pattern that the operator blocked, as the name of a list."""


def plain(text: str) -> str:
    """Return a text as one line of printable characters; others become backslash escapes."""
    return "".join(_plain(letter) for letter in text)


def reports(page: documents.Reports) -> str:
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


def single_use_url(url: str, expires_at: datetime) -> str:
    """Render the URL of a reset link or an invitation."""
    return f"{url}\nIt works once, until {_time(expires_at)}."


def decisions(page: documents.Decisions, number: int) -> str:
    """Render a page of decisions, newest first."""
    lines = [_decision(decision) for decision in page.decisions]
    if not lines:
        return "No decisions." if number == 1 else "No more decisions."
    if page.next_page:
        lines.append(f"Older ones: page {page.next_page}.")
    return "\n".join(lines)


def explanation(found: documents.Explanation) -> str:
    """Render why a link, or the host or URL that was given, is blocked."""
    lines: list[str] = []
    if found.link:
        lines += [*_link(found.link), *(f"  {cause}" for cause in _causes(found, found.link))]
    else:
        lines.append(f"{plain(found.subject)}  {'blocked' if found.blocked else 'not blocked'}")
    for match in found.matches:
        lines += _match(match, with_url=found.link is not None)
    if found.decision and all(match.decision != found.decision for match in found.matches):
        lines.append(f"  last decision: {_decision(found.decision)}")
    return "\n".join(lines)


def _causes(found: documents.Explanation, link: documents.Link) -> Iterator[str]:
    """Yield what holds of a link: the reasons for its state."""
    if found.blocked:
        yield f"blocked by {_list(found.blocklist) if found.blocklist else 'the operator'}"
        if found.blocklist and all(match.exempt for match in found.matches):
            yield "no loaded list matches it now: it is unblocked within minutes"
    if found.removed_permanently:
        yield "removed for good: its owner removed it 30 days ago or more, or closed the account"
    elif found.removed_at:
        yield f"removed by its owner at {_time(found.removed_at)}"
    if link.state == "expired" and link.expires_at:
        yield f"expired at {_time(link.expires_at)}"
    if found.exempt:
        since = f" at {_time(found.exempt_since)}" if found.exempt_since else ""
        yield f"unblocked by the operator{since}, so list files do not block it"
    if not found.blocked and not all(match.exempt for match in found.matches):
        yield "a list matches it: it is blocked within minutes"


def _match(match: documents.Match, *, with_url: bool) -> Iterator[str]:
    line = "" if match.blocklist.startswith(_OPERATOR_PREFIX) else f", line {match.line}"
    of = f" matches {plain(match.url)}" if with_url else ""
    exempt = " (the link is exempt)" if match.exempt else ""
    yield f"  {_list(match.blocklist)}{line}: {plain(match.key)} ({match.reason}){of}{exempt}"
    if match.decision:
        yield f"    {_decision(match.decision)}"


def _list(name: str) -> str:
    if name.startswith(_OPERATOR_PREFIX):
        return f"the operator's block of {plain(name.removeprefix(_OPERATOR_PREFIX))}"
    return f"the list {plain(name)}"


def _plain(letter: str) -> str:
    if letter == "\\":
        return "\\\\"
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode()


def _link(link: documents.Link) -> Iterator[str]:
    state = f"blocked ({link.reason or 'unknown'})" if link.state == "blocked" else link.state
    yield f"{plain(link.code)}  {state}, created {_time(link.created_at)}"
    yield f"  destination {plain(link.url)}"
    if link.ended_url:
        yield f"  after expiry {plain(link.ended_url)}"


def _report(report: documents.Report) -> Iterator[str]:
    times = "once" if report.count == 1 else f"{report.count} times"
    first, last = _time(report.first_at), _time(report.last_at)
    yield f"  {report.reason}, {times}: since {first}, last {last}"
    for statement in report.statements:
        details = plain(statement.details) or "(nothing)"
        contact = plain(statement.contact) or "no contact"
        yield f"    {_time(statement.at)}, {contact}: {details}"


def _decision(decision: documents.Decision) -> str:
    parts = [_time(decision.at), decision.kind.replace("-", " ")]
    if subject := decision.code or decision.pattern:
        parts.append(plain(subject))
    if decision.account:
        parts.append(f"all links of account {plain(decision.account)}")
    if decision.reason:
        parts.append(decision.reason)
    if decision.reports:
        parts.append(f"({decision.reports} report{'' if decision.reports == 1 else 's'})")
    if decision.comment:
        parts.append(plain(decision.comment))
    if decision.by:
        parts.append(f"by {plain(decision.by)}")
    return "  ".join(parts)


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
