"""Metrics of the reconciler."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

TASKS = ("accounts", "purge", "views")
"""The names of the jobs. The label is `task`, since `job` is reserved in Prometheus."""

RUNS = Counter(
    "atajo_reconciler_runs",
    "Runs of a task by result: done; failed, a service was away or refused a call; error, an "
    "unexpected error whose traceback is in the log.",
    ["task", "result"],
)
SUCCESS = Gauge(
    "atajo_reconciler_success_timestamp_seconds",
    "Unix time of the last successful run of a task in this process; absent before the first.",
    ["task"],
)
LEASE_HELD = Gauge(
    "atajo_reconciler_lease_held",
    "1 while this process runs a task, else 0.",
    ["task"],
)
LINKS_PURGED = Counter(
    "atajo_links_purged",
    "Links deleted permanently, by cause: removed, by the owner a month ago; account, with it.",
    ["cause"],
)
LINKS_PURGEABLE = Gauge(
    "atajo_links_purgeable",
    "Links that waited for permanent deletion at the last run, at most 1000.",
)
ACCOUNTS_CLOSED = Gauge(
    "atajo_accounts_closed",
    "Closed accounts whose removal was incomplete at the last run, at most 10,000.",
)
ACCOUNTS_REMOVED = Counter("atajo_accounts_removed", "Closed accounts removed with all their data.")
VIEWS_COPIED = Counter("atajo_views_copied", "View counts that were copied to links.")
VIEWS_LOST = Counter(
    "atajo_views_lost",
    "How often the change feed of analytics was truncated, so that all view counts were copied.",
)
VIEWS_COPYING = Gauge(
    "atajo_views_copying",
    "1 while the view counts of all links are copied, else 0. Meanwhile, orders by views may be "
    "wrong.",
)
# A rate needs the initial zero of its series.
for _task in TASKS:
    LEASE_HELD.labels(_task)
    for _result in ("done", "failed", "error"):
        RUNS.labels(_task, _result)
for _cause in ("removed", "account"):
    LINKS_PURGED.labels(_cause)
