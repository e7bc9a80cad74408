"""What the reconciler counts beside what every process does."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

TASKS = ("accounts", "purge", "views")
"""The names of the jobs. Prometheus calls a component a job, so the label is `task`."""

RUNS = Counter(
    "atajo_reconciler_runs",
    "Runs of a task by what became of them: done; failed, a service was away or refused; broke, by "
    "an error nobody foresaw, whose traceback is in the log.",
    ["task", "result"],
)
SUCCESS = Gauge(
    "atajo_reconciler_success_timestamp_seconds",
    "When a run of a task was last done by this process, in Unix time; not there before the first.",
    ["task"],
)
LEASE_HELD = Gauge(
    "atajo_reconciler_lease_held",
    "1 while this process is the one that does a task, else 0.",
    ["task"],
)
LINKS_PURGED = Counter(
    "atajo_links_purged",
    "Links deleted for good, by cause: removed, by their owner a month ago; account, with it.",
    ["cause"],
)
LINKS_PURGEABLE = Gauge(
    "atajo_links_purgeable",
    "Links that waited to be deleted for good when that was last looked at, at most 1000.",
)
ACCOUNTS_CLOSED = Gauge(
    "atajo_accounts_closed",
    "Closed accounts whose removal was not finished at the last look, at most 10,000.",
)
ACCOUNTS_REMOVED = Counter("atajo_accounts_removed", "Closed accounts removed with all they had.")
VIEWS_COPIED = Counter(
    "atajo_views_copied", "Links whose number of views was passed on to links, each time."
)
VIEWS_LOST = Counter(
    "atajo_views_lost",
    "How often the change feed of analytics was truncated, so that all numbers were copied.",
)
VIEWS_COPYING = Gauge(
    "atajo_views_copying",
    "1 while the numbers of views of all links are being copied, else 0: orders by views are not "
    "right yet then.",
)
# There from the start: a rate over a series needs its zero.
for _task in TASKS:
    LEASE_HELD.labels(_task)
    for _result in ("done", "failed", "broke"):
        RUNS.labels(_task, _result)
for _cause in ("removed", "account"):
    LINKS_PURGED.labels(_cause)
