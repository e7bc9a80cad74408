"""Metrics of the links service beside those of every process."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

from services.links.domain.block import BlockReason
from services.links.domain.decision import Decision, DecisionKind
from services.links.domain.imports import Verdict
from services.shared import unreadable_records

unreadable_records.expect(
    *("link", "former_url", "report", "decision", "blocked_pattern", "import", "import_row")
)
REFUSED = Counter(
    "atajo_urls_refused",
    "URLs of new and changed links refused because a blocklist names them, by class of the list.",
    ["reason"],
)
LISTS = Gauge("atajo_blocklists", "BlocklistFolder in use.")
LOOKED = Gauge(
    "atajo_blocklists_look_timestamp_seconds",
    "Unix time at which the blocklist folder was last scanned, or the process started; 0 without a "
    "folder.",
)
ENTRIES = Gauge("atajo_blocklist_entries", "Hosts and URLs in a loaded blocklist.", ["list"])
CHANGED = Gauge(
    "atajo_blocklist_changed_timestamp_seconds",
    "Unix modification time of a blocklist's file when it was loaded.",
    ["list"],
)
BROKEN = Gauge(
    "atajo_blocklist_broken",
    "1 while the current file of a blocklist cannot be loaded and its last loaded version, if any, "
    "stays in use; else 0.",
    ["list"],
)
BLOCKED_PATTERNS = Gauge(
    "atajo_blocked_addresses", "Hosts and paths that the operator has blocked."
)
DECISIONS = Counter(
    "atajo_links_decisions",
    "Decisions by kind (block, unblock, dismiss reports, create a reset link) and by who made it: "
    "the operator or an administrator.",
    ["kind", "by"],
)
ENFORCED = Counter(
    "atajo_links_swept",
    "Links that the blocklists and blocked patterns changed: blocked, or freed because none names "
    "them any more.",
    ["result"],
)
RESCAN_BEHIND = Gauge(
    "atajo_blocklist_sweep_behind_seconds",
    "Seconds for which existing links have been out of date with the loaded blocklists; 0 when "
    "none are.",
)
IMPORTED_ROWS = Counter(
    "atajo_import_rows",
    "Rows of imports by verdict. Only `new` ones created a link. Rows sent again do not count.",
    ["verdict"],
)
REPORTS = Counter(
    "atajo_links_reports",
    "Accepted reports of links, by the class that the reporter chose.",
    ["reason"],
)
REPORTS_WAITING = Gauge(
    "atajo_links_reports_waiting",
    "Reports in the store that wait for the operator's decision, one per link and class. Every "
    "replica exports the same number.",
)
REPORTS_WAITING_SECONDS = Gauge(
    "atajo_links_reports_waiting_seconds",
    "How long the oldest report has waited for a decision, measured twice a minute; 0 without one. "
    "Every replica exports the same number.",
)
for _kind in DecisionKind:
    for _by in ("operator", "administrator"):
        DECISIONS.labels(_kind.value, _by)
for _result in ("blocked", "freed"):
    ENFORCED.labels(_result)
for _verdict in Verdict:
    IMPORTED_ROWS.labels(_verdict.value)
for _reason in BlockReason:
    REPORTS.labels(_reason.value)
    REFUSED.labels(_reason.value)  # Exported from the start: a rate needs a first sample.


def count_decision(decision: Decision) -> None:
    """Count a stored decision."""
    DECISIONS.labels(decision.kind.value, "administrator" if decision.by else "operator").inc()
