"""Defines the dashboards: `make dashboards` writes them to charts/atajo/monitoring/dashboards.

An overview shows whether Atajo is up, fast and correct. Each component has a dashboard with rows
from symptoms to causes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from deploy.monitoring.grafana import Dashboard, Panel, Row, graph, model, number

_OURS = 'app_kubernetes_io_part_of="atajo"'
_R = "[$__rate_interval]"


def _rate(metric: str, by: str, selector: str = "") -> str:
    selected = f"{metric}{{{selector}}}" if selector else metric
    return f"sum by ({by}) (rate({selected}{_R}))"


def _quantile(share: float, metric: str, by: str = "", selector: str = "") -> str:
    labels = ", ".join(filter(None, (by, "le")))
    return f"histogram_quantile({share}, {_rate(f'{metric}_bucket', labels, selector)})"


def _percentiles(metric: str, selector: str = "") -> list[tuple[str, str]]:
    shares = {"half": 0.5, "90 %": 0.9, "99 %": 0.99}
    return [(_quantile(share, metric, "", selector), name) for name, share in shares.items()]


def _process(job: str) -> Row:
    ours = f'{_OURS}, job="{job}"'
    return Row(
        "Process",
        [
            graph(
                "Processor",
                "percentunit",
                "Of one core. The event loop uses one; password checks use more.",
                (f"rate(process_cpu_seconds_total{{{ours}}}{_R})", "{{instance}}"),
            ),
            graph(
                "Memory",
                "bytes",
                "Resident.",
                (f"process_resident_memory_bytes{{{ours}}}", "{{instance}}"),
            ),
            graph(
                "Loop lag, 99th percentile",
                "s",
                "How late the process gets to what is due.",
                (
                    _quantile(0.99, "atajo_event_loop_lag_seconds", "instance", f'job="{job}"'),
                    "{{instance}}",
                ),
                limit=0.1,
                runbook="event-loop-lagging",
            ),
            number(
                "Started",
                "dateTimeFromNow",
                "When each process was started.",
                (f"process_start_time_seconds{{{ours}}} * 1000", "{{instance}}"),
                runbook="crash-looping",
            ),
            graph(
                "Background work that broke",
                "short",
                "In an hour. The process then ends itself; its log says background_task_failed.",
                (
                    f'max_over_time(atajo_background_failures_total{{job="{job}"}}[1h])',
                    "{{instance}} {{task}}",
                ),
                runbook="background-failing",
            ),
        ],
    )


def _answering(job: str) -> Panel:
    return number(
        "Processes that answer",
        "short",
        "How many of its processes Prometheus reaches.",
        (f'sum(up{{{_OURS}, job="{job}"}})', "up"),
        limit=1,
        good_above=True,
        runbook="down",
    )


def _state(job: str) -> Row:
    return Row(
        "Is it up?",
        [
            _answering(job),
            number(
                "Ready",
                "short",
                "Whether a process takes on work.",
                (f'atajo_ready{{job="{job}"}}', "{{instance}}"),
                limit=1,
                good_above=True,
                words=("not ready", "ready"),
                runbook="not-ready",
            ),
            number(
                "What it depends on",
                "short",
                "As the process that misses it most sees it.",
                (f'min by (dependency) (atajo_dependency_up{{job="{job}"}})', "{{dependency}}"),
                limit=1,
                good_above=True,
                words=("away", "there"),
                runbook="dependency-away",
            ),
        ],
    )


def _calls(job: str) -> Row:
    ours, seconds = f'{_OURS}, job="{job}"', "grpc_server_handling_seconds"
    return Row(
        "Calls",
        [
            graph(
                "Calls by method",
                "reqps",
                "As this service answered them.",
                (_rate(f"{seconds}_count", "grpc_method", ours), "{{grpc_method}}"),
            ),
            graph(
                "Calls by code",
                "reqps",
                "NOT_FOUND, UNAUTHENTICATED and ALREADY_EXISTS are answers; INTERNAL and "
                "UNAVAILABLE are faults of ours.",
                (_rate(f"{seconds}_count", "grpc_code", ours), "{{grpc_code}}"),
            ),
            graph(
                "Time, 99th percentile",
                "s",
                "From a call's arrival to its answer.",
                (_quantile(0.99, seconds, "grpc_method", ours), "{{grpc_method}}"),
            ),
        ],
    )


def _called(job: str) -> Row:
    ours, seconds = f'{_OURS}, job="{job}"', "grpc_client_handling_seconds"
    return Row(
        f"Services, as the {job} sees them",
        [
            graph(
                "Calls by method",
                "reqps",
                "",
                (_rate(f"{seconds}_count", "grpc_method", ours), "{{grpc_method}}"),
            ),
            graph(
                "Calls by code",
                "reqps",
                "UNAVAILABLE: nobody answers. DEADLINE_EXCEEDED: too slow.",
                (_rate(f"{seconds}_count", "grpc_code", ours), "{{grpc_code}}"),
                runbook="dependency-away",
            ),
            graph(
                "Time, 99th percentile",
                "s",
                "Retries included.",
                (_quantile(0.99, seconds, "grpc_method", ours), "{{grpc_method}}"),
            ),
        ],
    )


def _rejected_reads(job: str) -> Row:
    return Row(
        "Expensive reads",
        [
            graph(
                "Rejected reads",
                "reqps",
                "Searches and statistics answered 429. owner_limit: their owner has too many "
                "waiting. overloaded: all owners together have.",
                (
                    f'sum by (kind, reason) (rate(atajo_reads_rejected_total{{job="{job}"}}{_R}))',
                    "{{kind}}: {{reason}}",
                ),
                runbook="reads-rejected",
            ),
        ],
    )


def _store(job: str) -> Row:
    this, seconds = f'job="{job}"', "atajo_store_seconds"
    return Row(
        "Store",
        [
            graph(
                "Store operations",
                "ops",
                "By what was asked of the store.",
                (_rate(f"{seconds}_count", "operation", this), "{{operation}}"),
            ),
            graph(
                "Store, 90th percentile",
                "s",
                "Waiting for the store's turn included. At 2 s operations fail.",
                (_quantile(0.9, seconds, "operation", this), "{{operation}}"),
                limit=0.5,
                runbook="store-slow",
            ),
            graph(
                "Store errors",
                "percentunit",
                "Share of operations in vain. A code that is taken is an answer, not an error.",
                (
                    f'(sum(rate({seconds}_count{{{this}, result="error"}}{_R})) or vector(0))'
                    f" / sum(rate({seconds}_count{{{this}}}{_R}))",
                    "errors",
                ),
                limit=0.05,
                runbook="store-failing",
            ),
            graph(
                "Store size",
                "bytes",
                "On disk. The limit is that and what its disk has free.",
                (f"max(atajo_store_bytes{{{this}}})", "store"),
                (f"max(atajo_store_limit_bytes{{{this}}})", "limit"),
                runbook="store-filling",
            ),
        ],
    )


def _statistics() -> Row:
    asked = f'{_OURS}, job="analytics", grpc_method="GetStatistics"'
    return Row(
        "Statistics",
        [
            graph(
                "Questions",
                "reqps",
                "RESOURCE_EXHAUSTED: too many were read at once. INVALID_ARGUMENT is an answer.",
                (_rate("grpc_server_handling_seconds_count", "grpc_code", asked), "{{grpc_code}}"),
            ),
            graph(
                "Time of a question",
                "s",
                "Its turn included: one of a link takes some ten ms, one of many links seconds.",
                *_percentiles("grpc_server_handling_seconds", asked),
                runbook="store-slow",
            ),
            graph(
                "People counted under *",
                "ops",
                "Their link's day had a hundred other names already: a robot that is taken for a "
                "person, or strangers who make up names.",
                (_rate("atajo_visit_names_gathered_total", "dimension"), "{{dimension}}"),
            ),
            graph(
                "Keys made and deleted",
                "short",
                "In a day: one of each. A key is deleted when its day is over.",
                ("sum(increase(atajo_visitor_keys_made_total[1d]))", "made"),
                ("sum(increase(atajo_visitor_keys_deleted_total[1d]))", "deleted"),
                runbook="visitor-key-missing",
            ),
            graph(
                "Days deleted",
                "ops",
                "Days of links past ATAJO_STATISTICS_DAYS, where that is set.",
                (f"sum(rate(atajo_statistics_deleted_total{_R}))", "days"),
            ),
        ],
    )


def _redirects() -> Row:
    return Row(
        "Redirects",
        [
            graph(
                "Answers to short links",
                "reqps",
                "Failed are 503: the code was not in memory and links did not answer.",
                (_rate("atajo_redirects_total", "result"), "{{result}}"),
                runbook="redirects-failing",
            ),
            graph(
                "Time of a redirect",
                "s",
                "Inside the gateway, found and not found. From memory some 20 microseconds.",
                *_percentiles("atajo_redirect_duration_seconds", 'result!="failed"'),
                limit=0.05,
                runbook="redirects-slow",
            ),
        ],
    )


def _counts() -> list[Panel]:
    return [
        graph(
            "Lag of the counts",
            "s",
            "Age of the oldest visit that analytics has not acknowledged.",
            ("atajo_visit_flush_lag_seconds", "{{instance}}"),
            limit=30,
            runbook="counts-late",
        ),
        graph(
            "Visits lost",
            "short",
            "Answered and never to be counted, in an hour. There should be none.",
            ("increase(atajo_visits_lost_total[1h])", "{{instance}}"),
            limit=1,
            runbook="visits-lost",
        ),
        graph(
            "Journal",
            "percentunit",
            "Share of its room that is taken. When it is full visits are lost.",
            ("atajo_visit_journal_bytes / atajo_visit_journal_limit_bytes", "{{instance}}"),
            limit=0.8,
            runbook="journal-filling",
        ),
    ]


OVERVIEW = Dashboard(
    "overview",
    "Atajo: overview",
    "Is it up, fast and honest?",
    [
        Row(
            "Is it up?",
            [
                number(
                    "Components",
                    "short",
                    "Up if at least one process of it takes on work.",
                    ("atajo:component_ready:max", "{{job}}"),
                    limit=1,
                    good_above=True,
                    words=("down", "up"),
                    runbook="down",
                ),
                number(
                    "Alerts that fire",
                    "short",
                    "Pages and tickets; the list is on Prometheus' page Alerts.",
                    (
                        'count(ALERTS{alertname=~"Atajo.+", alertstate="firing"}) or vector(0)',
                        "alerts",
                    ),
                    limit=1,
                ),
                number(
                    "Versions",
                    "short",
                    "Processes by version; two only during a rollout.",
                    ("count by (version) (atajo_build_info)", "{{version}}"),
                ),
            ],
        ),
        Row(
            "Objectives (docs/operations/slo.md)",
            [
                number(
                    "Budget left of 30 days",
                    "percentunit",
                    "1 is all of it; below 0 the objective is missed.",
                    (
                        "1 - atajo:objective_errors:ratio_rate30d / atajo:objective_budget:ratio",
                        "{{objective}}",
                    ),
                    limit=0,
                    good_above=True,
                ),
                graph(
                    "How fast budgets burn, over an hour",
                    "short",
                    "At 1 a budget lasts for 30 days. From 14.4 on somebody is paged.",
                    (
                        "atajo:objective_errors:ratio_rate1h / atajo:objective_budget:ratio",
                        "{{objective}}",
                    ),
                    limit=14.4,
                ),
            ],
        ),
        _redirects(),
        Row(
            "Links and log-ins",
            [
                graph(
                    "Calls that make a link",
                    "reqps",
                    "By status: 200 is a link or an answer that says why not, 5xx is our fault.",
                    ("sum by (status) (atajo:creations:rate2m)", "{{status}}"),
                    runbook="creations-failing",
                ),
                graph(
                    "Links made",
                    "ops",
                    "Stored, repetitions of one included.",
                    (f"sum(rate(atajo_links_created_total{_R}))", "links"),
                ),
                graph(
                    "Log-ins",
                    "ops",
                    "Busy are turned away because too many wait; the rest are answers.",
                    (_rate("atajo_logins_total", "result"), "{{result}}"),
                    runbook="logins-failing",
                ),
            ],
        ),
        Row(
            "Is it honest?",
            [
                *_counts(),
                graph(
                    "Visits taken down and counted",
                    "ops",
                    "The two lines of a kind should lie on each other.",
                    (_rate("atajo_visits_total", "kind"), "{{kind}}, taken down"),
                    (_rate("atajo_visits_counted_total", "kind"), "{{kind}}, counted"),
                    runbook="counts-late",
                ),
            ],
        ),
    ],
)

_FUNCTIONS = f'{_OURS}, job="gateway", method="POST"'

GATEWAY = Dashboard(
    "gateway",
    "Atajo: gateway",
    "Short links, the functions, and the visits on their way to their counts.",
    [
        _state("gateway"),
        _redirects(),
        Row(
            "Memory of codes",
            [
                graph(
                    "Look-ups",
                    "ops",
                    "Hit: answered from memory. Stale: the same, and asked for again. "
                    "Miss: asked of links.",
                    (_rate("atajo_cache_lookups_total", "result"), "{{result}}"),
                    runbook="redirects-slow",
                ),
                graph(
                    "Codes in memory",
                    "short",
                    "Those that have a link (link) and those that have none (absent).",
                    ("atajo_cache_entries", "{{instance}} {{kind}}"),
                ),
                graph(
                    "Memory of links",
                    "bytes",
                    "At its limit those go that were not asked for the longest.",
                    ("atajo_cache_bytes", "{{instance}}"),
                    ("max(atajo_cache_limit_bytes)", "limit"),
                    runbook="redirects-slow",
                ),
                graph(
                    "Changes unheard for",
                    "s",
                    "A second or two: each is asked of links once a second. While it grows, links "
                    "does not tell what changed, and what was removed is followed from memory.",
                    ("atajo_changes_age_seconds", "{{instance}}"),
                    limit=10,
                    runbook="changes-unheard",
                ),
            ],
        ),
        Row(
            "Functions",
            [
                graph(
                    "Calls by function",
                    "reqps",
                    "",
                    (
                        _rate("http_request_duration_seconds_count", "route", _FUNCTIONS),
                        "{{route}}",
                    ),
                ),
                graph(
                    "Calls by status",
                    "reqps",
                    "4xx are answers, 429 is a limit, 5xx are faults of ours.",
                    (
                        _rate("http_request_duration_seconds_count", "status", _FUNCTIONS),
                        "{{status}}",
                    ),
                    runbook="creations-failing",
                ),
                graph(
                    "Time, 99th percentile",
                    "s",
                    "Log-ins take 50 ms of a core and wait for their turn.",
                    (
                        _quantile(0.99, "http_request_duration_seconds", "route", _FUNCTIONS),
                        "{{route}}",
                    ),
                ),
                graph(
                    "Refused by a limit",
                    "ops",
                    "Calls of one address past its limit, by limit.",
                    (_rate("atajo_limited_total", "limit"), "{{limit}}"),
                ),
            ],
        ),
        Row(
            "Faults nobody foresaw",
            [
                graph(
                    "What is no request",
                    "ops",
                    "Invalid, too long, or for another protocol: strangers' doing. Broke is ours.",
                    (_rate("atajo_http_rejected_total", "reason"), "{{reason}}"),
                ),
                graph(
                    "Look-ups that broke",
                    "short",
                    "In an hour. The log says look_up_broke with a traceback.",
                    ("increase(atajo_lookup_faults_total[1h])", "{{instance}}"),
                    runbook="lookups-breaking",
                ),
            ],
        ),
        Row(
            "Visits",
            _counts(),
        ),
        Row(
            "Visits on their way",
            [
                graph(
                    "Visits that wait",
                    "short",
                    "In the journal, not acknowledged by analytics.",
                    ("atajo_visits_pending", "{{instance}}"),
                    runbook="counts-late",
                ),
                graph(
                    "Batches",
                    "ops",
                    "Failed are sent again; refused are lost.",
                    (_rate("atajo_visit_batches_total", "result"), "{{result}}"),
                    runbook="counts-late",
                ),
            ],
        ),
        Row(
            "What visits tell",
            [
                graph(
                    "People of whom something is unknown",
                    "percentunit",
                    "Share of the people counted whose browser is none of those told apart, or "
                    "whose address has no known country.",
                    (
                        f"{_rate('atajo_visits_unknown_total', 'dimension')} / on () group_left () "
                        f'sum(rate(atajo_visits_total{{kind="person"}}{_R}))',
                        "{{dimension}}",
                    ),
                ),
                number(
                    "Key of the day",
                    "short",
                    "Under which visitors are told apart. Without it people are counted alone.",
                    ("atajo_visitor_key_known", "{{instance}}"),
                    limit=1,
                    good_above=True,
                    words=("missing", "there"),
                    runbook="visitor-key-missing",
                ),
                graph(
                    "Questions for the key",
                    "short",
                    "In an hour. Changed: one a day and a start. Failed: there was no answer.",
                    (
                        "sum by (result) (increase(atajo_visitor_key_requests_total[1h]))",
                        "{{result}}",
                    ),
                    runbook="visitor-key-missing",
                ),
            ],
        ),
        _called("gateway"),
        _process("gateway"),
    ],
)

AUTH = Dashboard(
    "auth",
    "Atajo: auth",
    "Accounts and log-ins.",
    [
        _state("auth"),
        Row(
            "Log-ins",
            [
                graph(
                    "Log-ins",
                    "ops",
                    "Limited: too many failures before. Busy: too many wait.",
                    (_rate("atajo_logins_total", "result"), "{{result}}"),
                    runbook="logins-failing",
                ),
                graph(
                    "Accounts made",
                    "ops",
                    "",
                    (f"sum(rate(atajo_accounts_created_total{_R}))", "accounts"),
                ),
                graph(
                    "Passwords changed, accounts closed",
                    "ops",
                    "At the wish of their owners, by how that ended.",
                    (_rate("atajo_password_changes_total", "result"), "change: {{result}}"),
                    (_rate("atajo_account_closings_total", "result"), "closing: {{result}}"),
                ),
                graph(
                    "Password checks",
                    "short",
                    "As many run at a time as there are slots; each takes 50 ms, or longer in the "
                    "expensive lane (bcrypt above cost 10).",
                    ("sum by (lane) (atajo_password_checks_running)", "{{lane}}: running"),
                    ("sum by (lane) (atajo_password_checks_waiting)", "{{lane}}: waiting"),
                    ("sum by (lane) (atajo_password_check_slots)", "{{lane}}: slots"),
                    runbook="password-checks-waiting",
                ),
                graph(
                    "Log-in latency, 99th percentile",
                    "s",
                    "Until the password was checked. The objective is 1 s in the standard lane.",
                    (
                        "histogram_quantile(0.99, sum by (le, lane) "
                        f"(rate(atajo_login_seconds_bucket{_R})))",
                        "{{lane}}",
                    ),
                    limit=1,
                    runbook="logins-slow",
                ),
            ],
        ),
        _calls("auth"),
        _store("auth"),
        _process("auth"),
    ],
)

LINKS = Dashboard(
    "links",
    "Atajo: links",
    "Codes and where they lead.",
    [
        _state("links"),
        _calls("links"),
        _rejected_reads("links"),
        Row(
            "Abuse",
            [
                number(
                    "Reports that wait",
                    "short",
                    "For a decision of the operator: one a link and class. And the hosts and paths "
                    "that are blocked by hand.",
                    ("max(atajo_links_reports_waiting)", "reports"),
                    ("max(atajo_blocked_addresses)", "blocked addresses"),
                    runbook="reports-burst",
                ),
                graph(
                    "Reports",
                    "short",
                    "Of the last quarter of an hour, by the class that their reporters chose.",
                    (
                        "sum by (reason) (increase(atajo_links_reports_total[15m]))",
                        "{{reason}}",
                    ),
                    runbook="reports-burst",
                ),
                graph(
                    "Decisions",
                    "short",
                    "Of the operator in an hour, on links and addresses: their blocks, and reports "
                    "that were dismissed.",
                    ("sum by (kind) (increase(atajo_links_decisions_total[1h]))", "{{kind}}"),
                ),
                graph(
                    "URLs refused",
                    "ops",
                    "By the class of the list, or of the operator's block, that names them. The "
                    "log has list and line.",
                    (_rate("atajo_urls_refused_total", "reason"), "{{reason}}"),
                ),
                graph(
                    "Links blocked and freed",
                    "ops",
                    "Of those there were already, when a list changed or the operator blocked an "
                    "address.",
                    (_rate("atajo_links_swept_total", "result"), "{{result}}"),
                    runbook="sweep-still",
                ),
                graph(
                    "Links wait for",
                    "s",
                    "To be blocked or freed by lists and blocks that changed; a minute or two is "
                    "usual.",
                    ("atajo_blocklist_sweep_behind_seconds", "{{instance}}"),
                    limit=900,
                    runbook="sweep-still",
                ),
                number(
                    "Lists in use",
                    "short",
                    "Files of blocked addresses, and how much each names.",
                    ("max(atajo_blocklists)", "lists"),
                    ("max by (list) (atajo_blocklist_entries)", "{{list}}"),
                ),
                number(
                    "Lists that are broken",
                    "short",
                    "What was read of them before goes on being used, if anything.",
                    ("max by (list) (atajo_blocklist_broken)", "{{list}}"),
                    limit=1,
                    words=("well", "broken"),
                    runbook="blocklist-not-loaded",
                ),
                graph(
                    "Age of the lists",
                    "s",
                    "Since each file was changed, as it is in use; and since the folder was looked "
                    "through.",
                    (
                        "time() - min by (list) (atajo_blocklist_changed_timestamp_seconds)",
                        "{{list}}",
                    ),
                    (
                        "max(time() - (atajo_blocklists_look_timestamp_seconds > 0))",
                        "the folder",
                    ),
                    runbook="blocklist-not-loaded",
                ),
            ],
        ),
        _store("links"),
        _process("links"),
    ],
)

ANALYTICS = Dashboard(
    "analytics",
    "Atajo: analytics",
    "Counts of visits.",
    [
        _state("analytics"),
        Row(
            "Visits",
            [
                graph(
                    "Visits counted",
                    "ops",
                    "",
                    (_rate("atajo_visits_counted_total", "kind"), "{{kind}}"),
                    runbook="counts-late",
                ),
                graph(
                    "Batches",
                    "ops",
                    "Repeated came a second time and changed nothing; refused are lost.",
                    (_rate("atajo_visit_batches_applied_total", "result"), "{{result}}"),
                    runbook="visits-lost",
                ),
            ],
        ),
        _statistics(),
        _calls("analytics"),
        _rejected_reads("analytics"),
        _store("analytics"),
        _process("analytics"),
    ],
)

RECONCILER = Dashboard(
    "reconciler",
    "Atajo: reconciler",
    "What goes on after a call was answered: removals that are finished, views that are passed on.",
    [
        _state("reconciler"),
        Row(
            "Tasks",
            [
                graph(
                    "Runs that were done",
                    "ops",
                    "accounts about once a second, views every two, purge every ten.",
                    (_rate("atajo_reconciler_runs_total", "task", 'result="done"'), "{{task}}"),
                    runbook="reconciler-still",
                ),
                graph(
                    "Runs that were not",
                    "ops",
                    "Failed: a service was away or refused. Broke: the log has a traceback.",
                    (
                        _rate("atajo_reconciler_runs_total", "task, result", 'result!="done"'),
                        "{{task}} {{result}}",
                    ),
                    runbook="reconciler-still",
                ),
                graph(
                    "Last done, ago",
                    "s",
                    "By whichever process did it last.",
                    (
                        "time() - max by (task) (atajo_reconciler_success_timestamp_seconds)",
                        "{{task}}",
                    ),
                    limit=900,
                    runbook="reconciler-still",
                ),
                number(
                    "Who does it",
                    "short",
                    "Processes that hold the lease of a task: one, or none for some seconds.",
                    ("sum by (task) (atajo_reconciler_lease_held)", "{{task}}"),
                    limit=1,
                    good_above=True,
                    runbook="reconciler-still",
                ),
            ],
        ),
        Row(
            "Removals",
            [
                graph(
                    "Links deleted for good",
                    "short",
                    "In an hour: removed by their owner a month ago, or with an account.",
                    ("sum by (cause) (increase(atajo_links_purged_total[1h]))", "{{cause}}"),
                ),
                graph(
                    "Links that wait for it",
                    "short",
                    "At the last look, 1000 at most. It falls to none within minutes.",
                    ("max(atajo_links_purgeable)", "links"),
                    runbook="reconciler-still",
                ),
                graph(
                    "Accounts that are being removed",
                    "short",
                    "Closed and not gone yet, 10,000 at most. One takes 10 s and a second a "
                    "thousand links.",
                    ("max(atajo_accounts_closed)", "accounts"),
                    runbook="reconciler-still",
                ),
                graph(
                    "Accounts removed",
                    "short",
                    "In an hour.",
                    ("sum(increase(atajo_accounts_removed_total[1h]))", "accounts"),
                ),
            ],
        ),
        Row(
            "Views, for lists in their order",
            [
                graph(
                    "Numbers passed on",
                    "ops",
                    "A link's number of views, from analytics to links.",
                    (f"sum(rate(atajo_views_copied_total{_R}))", "numbers"),
                ),
                number(
                    "All of them are copied",
                    "short",
                    "While it lasts, orders by views are not right yet.",
                    ("max(atajo_views_copying)", "copy"),
                    words=("no", "yes"),
                    limit=1,
                ),
                graph(
                    "Feed of analytics truncated",
                    "short",
                    "In an hour: nobody read it for long, or its store was restored. All numbers "
                    "are copied then.",
                    ("sum(increase(atajo_views_lost_total[1h]))", "times"),
                ),
            ],
        ),
        _called("reconciler"),
        _process("reconciler"),
    ],
)

_CONNECTIONS = ("active", "reading", "writing", "waiting")

WEB = Dashboard(
    "web",
    "Atajo: web",
    "nginx, which serves the pages and hands calls and short links to the gateways.",
    [
        Row(
            "Is it up?",
            [
                _answering("web"),
                graph(
                    "Connections",
                    "short",
                    "Waiting are kept for the next request; many writing wait for a gateway.",
                    *((f"sum(nginx_connections_{state})", state) for state in _CONNECTIONS),
                ),
            ],
        ),
    ],
)

DASHBOARDS = (OVERVIEW, GATEWAY, AUTH, LINKS, ANALYTICS, RECONCILER, WEB)


def write(folder: Path) -> None:
    """Write each dashboard to its file."""
    folder.mkdir(parents=True, exist_ok=True)
    for dashboard in DASHBOARDS:
        text = json.dumps(model(dashboard), indent=2, ensure_ascii=False) + "\n"
        (folder / f"{dashboard.name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
