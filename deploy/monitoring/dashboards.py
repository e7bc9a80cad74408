"""Defines the dashboards: `make dashboards` writes them to charts/atajo/monitoring/dashboards.

An overview shows whether Atajo is up, fast and correct. Each component has a dashboard with rows
from symptoms to causes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from deploy.monitoring.grafana import Dashboard, Panel, Row, graph, model, number
from services.shared import edge_table

_ATAJO = 'app_kubernetes_io_part_of="atajo"'
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
    ours = f'{_ATAJO}, job="{job}"'
    return Row(
        "Process",
        [
            graph(
                "CPU",
                "percentunit",
                "Of one core. The event loop uses one; password checks use more.",
                (f"rate(process_cpu_seconds_total{{{ours}}}{_R})", "{{instance}}"),
            ),
            graph(
                "Memory",
                "bytes",
                "Resident set size.",
                (f"process_resident_memory_bytes{{{ours}}}", "{{instance}}"),
            ),
            graph(
                "Loop lag, 99th percentile",
                "s",
                "How late timers fire.",
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
                "When each process started.",
                (f"process_start_time_seconds{{{ours}}} * 1000", "{{instance}}"),
                runbook="crash-looping",
            ),
            graph(
                "Failed background tasks",
                "short",
                "Per hour. The process then stops itself; its log has background_task_failed.",
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
        "Processes up",
        "short",
        "Processes that Prometheus reaches.",
        (f'sum(up{{{_ATAJO}, job="{job}"}})', "up"),
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
                "Whether a process accepts work.",
                (f'atajo_ready{{job="{job}"}}', "{{instance}}"),
                limit=1,
                good_above=True,
                words=("not ready", "ready"),
                runbook="not-ready",
            ),
            number(
                "Dependencies",
                "short",
                "The worst value of all processes.",
                (f'min by (dependency) (atajo_dependency_up{{job="{job}"}})', "{{dependency}}"),
                limit=1,
                good_above=True,
                words=("down", "up"),
                runbook="dependency-away",
            ),
        ],
    )


def _calls(job: str) -> Row:
    ours, seconds = f'{_ATAJO}, job="{job}"', "grpc_server_handling_seconds"
    return Row(
        "Calls",
        [
            graph(
                "Calls by method",
                "reqps",
                "As answered by this service.",
                (_rate(f"{seconds}_count", "grpc_method", ours), "{{grpc_method}}"),
            ),
            graph(
                "Calls by code",
                "reqps",
                "NOT_FOUND, UNAUTHENTICATED and ALREADY_EXISTS are expected answers; INTERNAL and "
                "UNAVAILABLE are failures.",
                (_rate(f"{seconds}_count", "grpc_code", ours), "{{grpc_code}}"),
            ),
            graph(
                "Time, 99th percentile",
                "s",
                "From a call's arrival to its response.",
                (_quantile(0.99, seconds, "grpc_method", ours), "{{grpc_method}}"),
            ),
        ],
    )


def _called(job: str) -> Row:
    ours, seconds = f'{_ATAJO}, job="{job}"', "grpc_client_handling_seconds"
    return Row(
        f"Calls from {job} to services",
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
                "UNAVAILABLE: no answer. DEADLINE_EXCEEDED: too slow.",
                (_rate(f"{seconds}_count", "grpc_code", ours), "{{grpc_code}}"),
                runbook="dependency-away",
            ),
            graph(
                "Time, 99th percentile",
                "s",
                "Including retries.",
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
                "Searches and statistics answered 429. owner_limit: one owner has too many "
                "waiting. overloaded: all owners together do.",
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
                "By operation.",
                (_rate(f"{seconds}_count", "operation", this), "{{operation}}"),
            ),
            graph(
                "Store, 90th percentile",
                "s",
                "Including the wait in the queue. At 2 s operations fail.",
                (_quantile(0.9, seconds, "operation", this), "{{operation}}"),
                limit=0.5,
                runbook="store-slow",
            ),
            graph(
                "Store errors",
                "percentunit",
                "Share of failed operations. A code that is taken is not an error.",
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
                "On disk. The limit is that plus the free space of its disk.",
                (f"max(atajo_store_bytes{{{this}}})", "store"),
                (f"max(atajo_store_limit_bytes{{{this}}})", "limit"),
                runbook="store-filling",
            ),
            graph(
                "Unreadable records",
                "short",
                "Per hour. Each time, the record is left out, and its key is in the log.",
                (
                    f"sum by (record) (increase(atajo_unreadable_records_total{{{this}}}[1h]))",
                    "{{record}}",
                ),
                runbook="records-unreadable",
            ),
        ],
    )


def _statistics() -> Row:
    selector = f'{_ATAJO}, job="analytics", grpc_method="GetStatistics"'
    return Row(
        "Statistics",
        [
            graph(
                "Requests",
                "reqps",
                "RESOURCE_EXHAUSTED: too many reads at once. INVALID_ARGUMENT is expected.",
                (
                    _rate("grpc_server_handling_seconds_count", "grpc_code", selector),
                    "{{grpc_code}}",
                ),
            ),
            graph(
                "Duration",
                "s",
                "Including the wait: about 10 ms for one link, seconds for many.",
                *_percentiles("grpc_server_handling_seconds", selector),
                runbook="store-slow",
            ),
            graph(
                "People counted under *",
                "ops",
                "Their link's day had a hundred other names already: a bot that counts as a "
                "person, or clients that invent names.",
                (_rate("atajo_visit_names_gathered_total", "dimension"), "{{dimension}}"),
            ),
            graph(
                "Visitor keys created and deleted",
                "short",
                "Per day: one each. A key is deleted when its day ends.",
                ("sum(increase(atajo_visitor_keys_made_total[1d]))", "created"),
                ("sum(increase(atajo_visitor_keys_deleted_total[1d]))", "deleted"),
                runbook="visitor-key-missing",
            ),
            graph(
                "Days deleted",
                "ops",
                "Days of links that are older than ATAJO_STATISTICS_DAYS, if that is set.",
                (f"sum(rate(atajo_statistics_deleted_total{_R}))", "days"),
            ),
        ],
    )


def _redirects() -> Row:
    return Row(
        "Redirects",
        [
            graph(
                "Responses to short URLs",
                "reqps",
                "failed is a 503: the code was not cached and links did not answer.",
                (_rate("atajo_redirects_total", "result"), "{{result}}"),
                runbook="redirects-failing",
            ),
            graph(
                "Duration of a redirect",
                "s",
                "In the gateway, without failed ones. About 20 microseconds from the cache.",
                *_percentiles("atajo_redirect_duration_seconds", 'result!="failed"'),
                limit=0.05,
                runbook="redirects-slow",
            ),
        ],
    )


def _counts() -> list[Panel]:
    return [
        graph(
            "Count lag",
            "s",
            "Age of the oldest visit that analytics has not acknowledged.",
            ("atajo_visit_flush_lag_seconds", "{{instance}}"),
            limit=30,
            runbook="counts-late",
        ),
        graph(
            "Visits lost",
            "short",
            "Answered and never counted, per hour. There should be none.",
            ("increase(atajo_visits_lost_total[1h])", "{{instance}}"),
            limit=1,
            runbook="visits-lost",
        ),
        graph(
            "Journal",
            "percentunit",
            "Share of its size that is used. When it is full, visits are lost.",
            ("atajo_visit_journal_bytes / atajo_visit_journal_limit_bytes", "{{instance}}"),
            limit=0.8,
            runbook="journal-filling",
        ),
    ]


OVERVIEW = Dashboard(
    "overview",
    "Atajo: overview",
    "Is it up, fast and correct?",
    [
        Row(
            "Is it up?",
            [
                number(
                    "Components",
                    "short",
                    "Up if at least one process accepts work.",
                    ("atajo:component_ready:max", "{{job}}"),
                    limit=1,
                    good_above=True,
                    words=("down", "up"),
                    runbook="down",
                ),
                number(
                    "Firing alerts",
                    "short",
                    "Pages and tickets. Prometheus lists them under Alerts.",
                    (
                        'count(ALERTS{alertname=~"Atajo.+", alertstate="firing"}) or vector(0)',
                        "alerts",
                    ),
                    limit=1,
                ),
                number(
                    "Versions",
                    "short",
                    "Processes by version. Two versions only during a rollout.",
                    ("count by (version) (atajo_build_info)", "{{version}}"),
                ),
            ],
        ),
        Row(
            "Objectives (docs/operations/slo.md)",
            [
                number(
                    "Remaining error budget, 30 days",
                    "percentunit",
                    "1 is all of it. Below 0 the objective is missed.",
                    (
                        "1 - atajo:objective_errors:ratio_rate30d / atajo:objective_budget:ratio",
                        "{{objective}}",
                    ),
                    limit=0,
                    good_above=True,
                ),
                graph(
                    "Burn rate, 1 hour",
                    "short",
                    "At 1 a budget lasts 30 days. From 14.4 on an alert pages.",
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
            "Creations and log-ins",
            [
                graph(
                    "Calls of createShortLink",
                    "reqps",
                    "By status. 200 is a link or an expected error, 5xx a failure.",
                    ("sum by (status) (atajo:creations:rate2m)", "{{status}}"),
                    runbook="creations-failing",
                ),
                graph(
                    "Links created",
                    "ops",
                    "Including repeated calls.",
                    (f"sum(rate(atajo_links_created_total{_R}))", "links"),
                ),
                graph(
                    "Log-ins",
                    "ops",
                    "busy: rejected because too many wait. The others are expected answers.",
                    (_rate("atajo_logins_total", "result"), "{{result}}"),
                    runbook="logins-failing",
                ),
            ],
        ),
        Row(
            "Counts",
            [
                *_counts(),
                graph(
                    "Visits recorded and counted",
                    "ops",
                    "The two lines of each kind should match.",
                    (_rate("atajo_visits_total", "kind"), "{{kind}}, taken down"),
                    (_rate("atajo_visits_counted_total", "kind"), "{{kind}}, counted"),
                    runbook="counts-late",
                ),
            ],
        ),
    ],
)

_API_PREFIX = edge_table.api(edge_table.read())
_API = f'{_ATAJO}, job="gateway", route="{_API_PREFIX}/"'
_FUNCTIONS = f'{_ATAJO}, job="gateway", method="POST", route!="{_API_PREFIX}/"'

GATEWAY = Dashboard(
    "gateway",
    "Atajo: gateway",
    "Redirects, functions, and visits on the way to analytics.",
    [
        _state("gateway"),
        _redirects(),
        Row(
            "Cache",
            [
                graph(
                    "Lookups",
                    "ops",
                    "hit: answered from the cache. stale: the same, and looked up again. "
                    "miss: looked up at links.",
                    (_rate("atajo_cache_lookups_total", "result"), "{{result}}"),
                    runbook="redirects-slow",
                ),
                graph(
                    "Cached codes",
                    "short",
                    "Codes with a link (link) and without (absent).",
                    ("atajo_cache_entries", "{{instance}} {{kind}}"),
                ),
                graph(
                    "Cache size",
                    "bytes",
                    "At the limit, the least recently used links are evicted.",
                    ("atajo_cache_bytes", "{{instance}}"),
                    ("max(atajo_cache_limit_bytes)", "limit"),
                    runbook="redirects-slow",
                ),
                graph(
                    "Age of the last change poll",
                    "s",
                    "Links is polled once a second. While the age grows, changes are missing and "
                    "removed links still work.",
                    ("atajo_changes_age_seconds", "{{instance}}"),
                    limit=10,
                    runbook="change-feed-unavailable",
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
                    "4xx are expected answers, 429 is a limit, 5xx are failures.",
                    (
                        _rate("http_request_duration_seconds_count", "status", _FUNCTIONS),
                        "{{status}}",
                    ),
                    runbook="creations-failing",
                ),
                graph(
                    "Time, 99th percentile",
                    "s",
                    "A log-in takes 50 ms of a core, plus its wait.",
                    (
                        _quantile(0.99, "http_request_duration_seconds", "route", _FUNCTIONS),
                        "{{route}}",
                    ),
                ),
                graph(
                    "Rate limited",
                    "ops",
                    "Calls rejected because their client exceeded a limit, by limit.",
                    (_rate("atajo_limited_total", "limit"), "{{limit}}"),
                ),
            ],
        ),
        Row(
            "REST API",
            [
                graph(
                    "Requests by operation",
                    "reqps",
                    "none: requests that reached no operation.",
                    (_rate("atajo_api_requests_total", "operation_id"), "{{operation_id}}"),
                ),
                graph(
                    "Requests by status",
                    "reqps",
                    "401: no valid key. 403: the key lacks the scope. 429: a limit.",
                    (_rate("atajo_api_requests_total", "status"), "{{status}}"),
                    runbook="api-keys-refused",
                ),
                graph(
                    "Time, 99th percentile",
                    "s",
                    "Of all operations.",
                    (
                        _quantile(0.99, "http_request_duration_seconds", "method", _API),
                        "{{method}}",
                    ),
                ),
            ],
        ),
        Row(
            "Unexpected errors",
            [
                graph(
                    "Rejected requests",
                    "ops",
                    "invalid, too_long, timeout and upgrade are caused by clients. error is a bug.",
                    (_rate("atajo_http_rejected_total", "reason"), "{{reason}}"),
                ),
                graph(
                    "Failed lookups",
                    "short",
                    "Per hour. The log has look_up_error with a traceback.",
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
            "Visits in transit",
            [
                graph(
                    "Pending visits",
                    "short",
                    "In the journal and not acknowledged by analytics.",
                    ("atajo_visits_pending", "{{instance}}"),
                    runbook="counts-late",
                ),
                graph(
                    "Batches",
                    "ops",
                    "failed is sent again, refused is lost.",
                    (_rate("atajo_visit_batches_total", "result"), "{{result}}"),
                    runbook="counts-late",
                ),
            ],
        ),
        Row(
            "Visitors",
            [
                graph(
                    "People with unknown attributes",
                    "percentunit",
                    "Share of people whose browser or country is unknown.",
                    (
                        f"{_rate('atajo_visits_unknown_total', 'dimension')} / on () group_left () "
                        f'sum(rate(atajo_visits_total{{kind="person"}}{_R}))',
                        "{{dimension}}",
                    ),
                ),
                number(
                    "Visitor key",
                    "short",
                    "Distinguishes the visitors of a day. Without it only people are counted.",
                    ("atajo_visitor_key_known", "{{instance}}"),
                    limit=1,
                    good_above=True,
                    words=("missing", "present"),
                    runbook="visitor-key-missing",
                ),
                graph(
                    "Visitor key requests",
                    "short",
                    "Per hour. changed: one per day and start. failed: no answer.",
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
                    "limited: too many failures before. busy: too many wait.",
                    (_rate("atajo_logins_total", "result"), "{{result}}"),
                    runbook="logins-failing",
                ),
                graph(
                    "Accounts created",
                    "ops",
                    "",
                    (f"sum(rate(atajo_accounts_created_total{_R}))", "accounts"),
                ),
                graph(
                    "Passwords changed, accounts closed",
                    "ops",
                    "By their owners, by result.",
                    (_rate("atajo_password_changes_total", "result"), "change: {{result}}"),
                    (_rate("atajo_account_closings_total", "result"), "closing: {{result}}"),
                ),
                graph(
                    "Passwords reset",
                    "ops",
                    "With recovery codes or reset links, by result.",
                    (_rate("atajo_password_resets_total", "result"), "{{result}}"),
                    runbook="password-resets-burst",
                ),
                graph(
                    "Log-ins with passkeys",
                    "ops",
                    "wrong_passkey: expired challenges, too.",
                    (_rate("atajo_passkey_logins_total", "result"), "{{result}}"),
                ),
                graph(
                    "Ways back and in",
                    "ops",
                    "Created by owners, and reset links created by the operator.",
                    (f"sum(rate(atajo_recovery_codes_created_total{_R}))", "sets of codes"),
                    (f"sum(rate(atajo_passkeys_added_total{_R}))", "passkeys added"),
                    (f"sum(rate(atajo_passkeys_removed_total{_R}))", "passkeys removed"),
                    (f"sum(rate(atajo_reset_links_created_total{_R}))", "reset links"),
                ),
                graph(
                    "API keys",
                    "ops",
                    "Created and revoked by their owners.",
                    (f"sum(rate(atajo_api_keys_created_total{_R}))", "created"),
                    (f"sum(rate(atajo_api_keys_revoked_total{_R}))", "revoked"),
                ),
                graph(
                    "API keys verified",
                    "ops",
                    "By result: unknown keys were never created, or are revoked.",
                    (_rate("atajo_api_key_verifications_total", "result"), "{{result}}"),
                ),
                graph(
                    "Password checks",
                    "short",
                    "One runs per slot. Each takes 50 ms, or longer in the expensive lane (bcrypt "
                    "above cost 10).",
                    ("sum by (lane) (atajo_password_checks_running)", "{{lane}}: running"),
                    ("sum by (lane) (atajo_password_checks_waiting)", "{{lane}}: waiting"),
                    ("sum by (lane) (atajo_password_check_slots)", "{{lane}}: slots"),
                    runbook="password-checks-waiting",
                ),
                graph(
                    "Log-in latency, 99th percentile",
                    "s",
                    "Until the password is checked. The objective is 1 s in the standard lane.",
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
    "Links and blocklists.",
    [
        _state("links"),
        _calls("links"),
        _rejected_reads("links"),
        Row(
            "Abuse",
            [
                number(
                    "Waiting reports",
                    "short",
                    "Waiting for the operator's decision, one per link and class. Also the hosts "
                    "and paths blocked by hand.",
                    ("max(atajo_links_reports_waiting)", "reports"),
                    ("max(atajo_blocked_addresses)", "blocked hosts and paths"),
                    runbook="reports-burst",
                ),
                graph(
                    "Reports",
                    "short",
                    "In 15 minutes, by the class that the reporters chose.",
                    (
                        "sum by (reason) (increase(atajo_links_reports_total[15m]))",
                        "{{reason}}",
                    ),
                    runbook="reports-burst",
                ),
                graph(
                    "Decisions",
                    "short",
                    "Blocks, unblocks and dismissals by the operator, per hour.",
                    ("sum by (kind) (increase(atajo_links_decisions_total[1h]))", "{{kind}}"),
                ),
                graph(
                    "URLs refused",
                    "ops",
                    "By the class of the list or block that names them. The log has list and line.",
                    (_rate("atajo_urls_refused_total", "reason"), "{{reason}}"),
                ),
                graph(
                    "Links blocked and freed",
                    "ops",
                    "Existing links, after a list changed or the operator blocked a host.",
                    (_rate("atajo_links_swept_total", "result"), "{{result}}"),
                    runbook="sweep-stalled",
                ),
                graph(
                    "Rescan delay",
                    "s",
                    "How long links have waited to be blocked or freed. A minute or two is usual.",
                    ("atajo_blocklist_sweep_behind_seconds", "{{instance}}"),
                    limit=900,
                    runbook="sweep-stalled",
                ),
                number(
                    "Lists in use",
                    "short",
                    "Blocklist files, and the entries of each.",
                    ("max(atajo_blocklists)", "lists"),
                    ("max by (list) (atajo_blocklist_entries)", "{{list}}"),
                ),
                number(
                    "Broken lists",
                    "short",
                    "Their previous contents stay in use, if there are any.",
                    ("max by (list) (atajo_blocklist_broken)", "{{list}}"),
                    limit=1,
                    words=("ok", "broken"),
                    runbook="blocklist-not-loaded",
                ),
                graph(
                    "Age of the lists",
                    "s",
                    "Since each file was changed, and since the folder was scanned.",
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
        Row(
            "Imports",
            [
                graph(
                    "Imported rows",
                    "ops",
                    "By verdict: new ones created a link. Rows sent again are not counted.",
                    (_rate("atajo_import_rows_total", "verdict"), "{{verdict}}"),
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
                    "repeated was counted before and changes nothing, refused is lost, deferred "
                    "waits for a later version.",
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
    "Background work: finishing removals and copying view counts.",
    [
        _state("reconciler"),
        Row(
            "Tasks",
            [
                graph(
                    "Completed runs",
                    "ops",
                    "accounts about once a second, views every two seconds, purge every ten.",
                    (_rate("atajo_reconciler_runs_total", "task", 'result="done"'), "{{task}}"),
                    runbook="reconciler-stalled",
                ),
                graph(
                    "Failed runs",
                    "ops",
                    "failed: a service was down or refused. error: the log has a traceback.",
                    (
                        _rate("atajo_reconciler_runs_total", "task, result", 'result!="done"'),
                        "{{task}} {{result}}",
                    ),
                    runbook="reconciler-stalled",
                ),
                graph(
                    "Time since the last run",
                    "s",
                    "By any process.",
                    (
                        "time() - max by (task) (atajo_reconciler_success_timestamp_seconds)",
                        "{{task}}",
                    ),
                    limit=900,
                    runbook="reconciler-stalled",
                ),
                number(
                    "Lease holders",
                    "short",
                    "Processes that hold the lease of a task: one, or none for a few seconds.",
                    ("sum by (task) (atajo_reconciler_lease_held)", "{{task}}"),
                    limit=1,
                    good_above=True,
                    runbook="reconciler-stalled",
                ),
            ],
        ),
        Row(
            "Removals",
            [
                graph(
                    "Links deleted permanently",
                    "short",
                    "Per hour: removed by their owner a month ago, or with an account.",
                    ("sum by (cause) (increase(atajo_links_purged_total[1h]))", "{{cause}}"),
                ),
                graph(
                    "Links to delete",
                    "short",
                    "At the last check, at most 1000. Falls to 0 within minutes.",
                    ("max(atajo_links_purgeable)", "links"),
                    runbook="reconciler-stalled",
                ),
                graph(
                    "Accounts to delete",
                    "short",
                    "Closed and not deleted yet, at most 10,000. One takes 10 s, plus a second per "
                    "thousand links.",
                    ("max(atajo_accounts_closed)", "accounts"),
                    runbook="reconciler-stalled",
                ),
                graph(
                    "Accounts deleted",
                    "short",
                    "Per hour.",
                    ("sum(increase(atajo_accounts_removed_total[1h]))", "accounts"),
                ),
            ],
        ),
        Row(
            "View counts",
            [
                graph(
                    "View counts copied",
                    "ops",
                    "From analytics to links, for lists ordered by views.",
                    (f"sum(rate(atajo_views_copied_total{_R}))", "numbers"),
                ),
                number(
                    "Full copy",
                    "short",
                    "While it runs, lists ordered by views are outdated.",
                    ("max(atajo_views_copying)", "copy"),
                    words=("no", "yes"),
                    limit=1,
                ),
                graph(
                    "Feed of analytics truncated",
                    "short",
                    "Per hour. It was not read for long, or its store was restored. Then all view "
                    "counts are copied.",
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
    "nginx, which serves the pages and passes other requests to the gateways.",
    [
        Row(
            "Is it up?",
            [
                _answering("web"),
                graph(
                    "Connections",
                    "short",
                    "waiting: idle keep-alive. Many writing connections wait for a gateway.",
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
