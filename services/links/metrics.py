"""What the links service counts beside what every process does."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

from services.links.domain.block import BlockReason
from services.links.domain.decision import DecisionKind

REFUSED = Counter(
    "atajo_urls_refused",
    "URLs of new and changed links that a blocklist names, by the class of the list.",
    ["reason"],
)
LISTS = Gauge("atajo_blocklists", "Blocklists in use.")
LOOKED = Gauge(
    "atajo_blocklists_look_timestamp_seconds",
    "When the folder of the blocklists was last looked through, or else the process started, in "
    "Unix time; 0 where there is no such folder.",
)
ENTRIES = Gauge(
    "atajo_blocklist_entries", "Hosts and URLs that a blocklist in use names.", ["list"]
)
CHANGED = Gauge(
    "atajo_blocklist_changed_timestamp_seconds",
    "When the file of a blocklist was changed last, as it was when it was read, in Unix time.",
    ["list"],
)
BROKEN = Gauge(
    "atajo_blocklist_broken",
    "1 while the file of a blocklist cannot be used as it is now, so that what was read of it "
    "before goes on being used, if anything; else 0.",
    ["list"],
)
BLOCKED_ADDRESSES = Gauge(
    "atajo_blocked_addresses", "Hosts and paths that the operator has blocked by hand."
)
DECISIONS = Counter(
    "atajo_links_decisions",
    "Decisions of the operator on links and addresses: to block, to unblock, to dismiss reports.",
    ["kind"],
)
SWEPT = Counter(
    "atajo_links_swept",
    "Links that were changed by where they lead: blocked, a list or the operator names it; freed, "
    "neither does any more.",
    ["result"],
)
SWEEP_BEHIND = Gauge(
    "atajo_blocklist_sweep_behind_seconds",
    "For how long links have waited to be looked through for the lists that this process has; 0 "
    "where nothing waits.",
)
REPORTS = Counter(
    "atajo_links_reports",
    "Reports of links that were taken, by the class that their reporters chose.",
    ["reason"],
)
REPORTS_WAITING = Gauge(
    "atajo_links_reports_waiting",
    "Reports that wait for a decision of the operator, as the store has them: one a link and "
    "class, however often it was reported. Every replica tells the same number.",
)
for _kind in DecisionKind:
    DECISIONS.labels(_kind.value)
for _result in ("blocked", "freed"):
    SWEPT.labels(_result)
for _reason in BlockReason:
    REPORTS.labels(_reason.value)
    REFUSED.labels(_reason.value)  # There from the start: a rate over a series needs its zero.
