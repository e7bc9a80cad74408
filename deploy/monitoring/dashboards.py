"""Defines the dashboards: `make dashboards` writes them to charts/atajo/monitoring/dashboards.

An overview shows whether Atajo is up, fast and correct. Each component has a dashboard with rows
from symptoms to causes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from deploy.monitoring.grafana import WINDOW, Dashboard, Panel, Row, graph, model, number
from services.shared import edge_table

_ATAJO = 'app_kubernetes_io_part_of="atajo"'
_API_PREFIX = edge_table.api(edge_table.read())
_API = f'{{{_ATAJO}, job="gateway", route="{_API_PREFIX}/"}}'
_FUNCTIONS = f'{{{_ATAJO}, job="gateway", method="POST", route!="{_API_PREFIX}/"}}'
_STATISTICS = f'{{{_ATAJO}, job="analytics", grpc_method="GetStatistics"}}'


def _process(job: str) -> Row:
    ours, this = f'{{{_ATAJO}, job="{job}"}}', f'{{job="{job}"}}'
    return Row(
        "Process",
        graph("CPU", "percentunit")
        .about("Of one core. The event loop uses one; password checks use more.")
        .query(f"rate(process_cpu_seconds_total{ours}{WINDOW})"),
        graph("Memory", "bytes")
        .about("Resident set size.")
        .query(f"process_resident_memory_bytes{ours}"),
        graph("Loop lag, 99th percentile", "s", bad_from=0.1, see="event-loop-lagging")
        .about("How late timers fire.")
        .quantile(0.99, f"atajo_event_loop_lag_seconds_bucket{this}", "instance"),
        number("Started", "dateTimeFromNow", see="crash-looping")
        .about("When each process started.")
        .query(f"process_start_time_seconds{ours} * 1000"),
        graph("Failed background tasks", "short", see="background-failing")
        .about("Per hour. The process then stops itself; its log has background_task_failed.")
        .query(
            f"max_over_time(atajo_background_failures_total{this}[1h])", "{{instance}} {{task}}"
        ),
    )


def _answering(job: str) -> Panel:
    return (
        number("Processes up", "short", bad_below=1, see="down")
        .about("Processes that Prometheus reaches.")
        .query(f'sum(up{{{_ATAJO}, job="{job}"}})', "up")
    )


def _state(job: str) -> Row:
    return Row(
        "Is it up?",
        _answering(job),
        number("Ready", "short", words=("not ready", "ready"), bad_below=1, see="not-ready")
        .about("Whether a process accepts work.")
        .query(f'atajo_ready{{job="{job}"}}'),
        number("Dependencies", "short", words=("down", "up"), bad_below=1, see="dependency-away")
        .about("The worst value of all processes.")
        .query(f'min by (dependency) (atajo_dependency_up{{job="{job}"}})', "{{dependency}}"),
    )


def _calls(job: str) -> Row:
    ours, seconds = f'{{{_ATAJO}, job="{job}"}}', "grpc_server_handling_seconds"
    return Row(
        "Calls",
        graph("Calls by method", "reqps")
        .about("As answered by this service.")
        .rate(f"{seconds}_count{ours}", "grpc_method"),
        graph("Calls by code", "reqps")
        .about(
            "NOT_FOUND, UNAUTHENTICATED and ALREADY_EXISTS are expected answers; INTERNAL and "
            "UNAVAILABLE are failures."
        )
        .rate(f"{seconds}_count{ours}", "grpc_code"),
        graph("Time, 99th percentile", "s")
        .about("From a call's arrival to its response.")
        .quantile(0.99, f"{seconds}_bucket{ours}", "grpc_method"),
    )


def _called(job: str) -> Row:
    ours, seconds = f'{{{_ATAJO}, job="{job}"}}', "grpc_client_handling_seconds"
    return Row(
        f"Calls from {job} to services",
        graph("Calls by method", "reqps").rate(f"{seconds}_count{ours}", "grpc_method"),
        graph("Calls by code", "reqps", see="dependency-away")
        .about("UNAVAILABLE: no answer. DEADLINE_EXCEEDED: too slow.")
        .rate(f"{seconds}_count{ours}", "grpc_code"),
        graph("Time, 99th percentile", "s")
        .about("Including retries.")
        .quantile(0.99, f"{seconds}_bucket{ours}", "grpc_method"),
    )


def _rejected_reads(job: str) -> Row:
    return Row(
        "Expensive reads",
        graph("Rejected reads", "reqps", see="reads-rejected")
        .about(
            "Searches and statistics answered 429. owner_limit: one owner has too many "
            "waiting. overloaded: all owners together do."
        )
        .rate(f'atajo_reads_rejected_total{{job="{job}"}}', "kind, reason", "{{kind}}: {{reason}}"),
    )


def _store(job: str) -> Row:
    this, seconds = f'{{job="{job}"}}', "atajo_store_seconds"
    failed = f'{{job="{job}", result="error"}}'
    return Row(
        "Store",
        graph("Store operations", "ops")
        .about("By operation.")
        .rate(f"{seconds}_count{this}", "operation"),
        graph("Store, 90th percentile", "s", bad_from=0.5, see="store-slow")
        .about("Including the wait in the queue. At 2 s operations fail.")
        .quantile(0.9, f"{seconds}_bucket{this}", "operation"),
        graph("Store errors", "percentunit", bad_from=0.05, see="store-failing")
        .about("Share of failed operations. A code that is taken is not an error.")
        .query(
            f"(sum(rate({seconds}_count{failed}{WINDOW})) or vector(0))"
            f" / sum(rate({seconds}_count{this}{WINDOW}))",
            "errors",
        ),
        graph("Store size", "bytes", see="store-filling")
        .about("On disk. The limit is that plus the free space of its disk.")
        .query(f"max(atajo_store_bytes{this})", "store")
        .query(f"max(atajo_store_limit_bytes{this})", "limit"),
        graph("Unreadable records", "short", see="records-unreadable")
        .about("Per hour. Each time, the record is left out, and its key is in the log.")
        .increase("1h", f"atajo_unreadable_records_total{this}", "record"),
    )


_REDIRECTS = Row(
    "Redirects",
    graph("Responses to short URLs", "reqps", see="redirects-failing")
    .about("failed is a 503: the code was not cached and links did not answer.")
    .rate("atajo_redirects_total", "result"),
    graph("Duration of a redirect", "s", bad_from=0.05, see="redirects-slow")
    .about("In the gateway, without failed ones. About 20 microseconds from the cache.")
    .percentiles('atajo_redirect_duration_seconds_bucket{result!="failed"}'),
)

_COUNTS = (
    graph("Count lag", "s", bad_from=30, see="counts-late")
    .about("Age of the oldest visit that analytics has not acknowledged.")
    .query("atajo_visit_flush_lag_seconds"),
    graph("Visits lost", "short", bad_from=1, see="visits-lost")
    .about("Answered and never counted, per hour. There should be none.")
    .query("increase(atajo_visits_lost_total[1h])"),
    graph("Journal", "percentunit", bad_from=0.8, see="journal-filling")
    .about("Share of its size that is used. When it is full, visits are lost.")
    .query("atajo_visit_journal_bytes / atajo_visit_journal_limit_bytes"),
)

OVERVIEW = Dashboard(
    "overview",
    "Is it up, fast and correct?",
    Row(
        "Is it up?",
        number("Components", "short", words=("down", "up"), bad_below=1, see="down")
        .about("Up if at least one process accepts work.")
        .query("atajo:component_ready:max", "{{job}}"),
        number("Firing alerts", "short", bad_from=1)
        .about("Pages and tickets. Prometheus lists them under Alerts.")
        .query('count(ALERTS{alertname=~"Atajo.+", alertstate="firing"}) or vector(0)', "alerts"),
        number("Versions", "short")
        .about("Processes by version. Two versions only during a rollout.")
        .query("count by (version) (atajo_build_info)", "{{version}}"),
    ),
    Row(
        "Objectives (docs/operations/slo.md)",
        number("Remaining error budget, 30 days", "percentunit", bad_below=0)
        .about("1 is all of it. Below 0 the objective is missed.")
        .query(
            "1 - atajo:objective_errors:ratio_rate30d / atajo:objective_budget:ratio",
            "{{objective}}",
        ),
        graph("Burn rate, 1 hour", "short", bad_from=14.4)
        .about("At 1 a budget lasts 30 days. From 14.4 on an alert pages.")
        .query(
            "atajo:objective_errors:ratio_rate1h / atajo:objective_budget:ratio", "{{objective}}"
        ),
    ),
    _REDIRECTS,
    Row(
        "Creations and log-ins",
        graph("Calls of createShortLink", "reqps", see="creations-failing")
        .about("By status. 200 is a link or an expected error, 5xx a failure.")
        .query("sum by (status) (atajo:creations:rate2m)", "{{status}}"),
        graph("Links created", "ops")
        .about("Including repeated calls.")
        .rate("atajo_links_created_total", legend="links"),
        graph("Log-ins", "ops", see="logins-failing")
        .about("busy: rejected because too many wait. The others are expected answers.")
        .rate("atajo_logins_total", "result"),
    ),
    Row(
        "Counts",
        *_COUNTS,
        graph("Visits recorded and counted", "ops", see="counts-late")
        .about("The two lines of each kind should match.")
        .rate("atajo_visits_total", "kind", "{{kind}}, taken down")
        .rate("atajo_visits_counted_total", "kind", "{{kind}}, counted"),
    ),
)

GATEWAY = Dashboard(
    "gateway",
    "Redirects, functions, and visits on the way to analytics.",
    _state("gateway"),
    _REDIRECTS,
    Row(
        "Cache",
        graph("Lookups", "ops", see="redirects-slow")
        .about(
            "hit: answered from the cache. stale: the same, and looked up again. "
            "miss: looked up at links."
        )
        .rate("atajo_cache_lookups_total", "result"),
        graph("Cached codes", "short")
        .about("Codes with a link (link) and without (absent).")
        .query("atajo_cache_entries", "{{instance}} {{kind}}"),
        graph("Cache size", "bytes", see="redirects-slow")
        .about("At the limit, the least recently used links are evicted.")
        .query("atajo_cache_bytes")
        .query("max(atajo_cache_limit_bytes)", "limit"),
        graph("Age of the last change poll", "s", bad_from=10, see="change-feed-unavailable")
        .about(
            "Links is polled once a second. While the age grows, changes are missing and "
            "removed links still work."
        )
        .query("atajo_changes_age_seconds"),
    ),
    Row(
        "Functions",
        graph("Calls by function", "reqps").rate(
            f"http_request_duration_seconds_count{_FUNCTIONS}", "route"
        ),
        graph("Calls by status", "reqps", see="creations-failing")
        .about("4xx are expected answers, 429 is a limit, 5xx are failures.")
        .rate(f"http_request_duration_seconds_count{_FUNCTIONS}", "status"),
        graph("Time, 99th percentile", "s")
        .about("A log-in takes 50 ms of a core, plus its wait.")
        .quantile(0.99, f"http_request_duration_seconds_bucket{_FUNCTIONS}", "route"),
        graph("Rate limited", "ops")
        .about("Calls rejected because their client exceeded a limit, by limit.")
        .rate("atajo_limited_total", "limit"),
    ),
    Row(
        "REST API",
        graph("Requests by operation", "reqps")
        .about("none: requests that reached no operation.")
        .rate("atajo_api_requests_total", "operation_id"),
        graph("Requests by status", "reqps", see="api-keys-refused")
        .about("401: no valid key. 403: the key lacks the scope. 429: a limit.")
        .rate("atajo_api_requests_total", "status"),
        graph("Time, 99th percentile", "s")
        .about("Of all operations.")
        .quantile(0.99, f"http_request_duration_seconds_bucket{_API}", "method"),
    ),
    Row(
        "Unexpected errors",
        graph("Rejected requests", "ops")
        .about("invalid, too_long, timeout and upgrade are caused by clients. error is a bug.")
        .rate("atajo_http_rejected_total", "reason"),
        graph("Failed lookups", "short", see="lookups-breaking")
        .about("Per hour. The log has look_up_error with a traceback.")
        .query("increase(atajo_lookup_faults_total[1h])"),
    ),
    Row("Visits", *_COUNTS),
    Row(
        "Visits in transit",
        graph("Pending visits", "short", see="counts-late")
        .about("In the journal and not acknowledged by analytics.")
        .query("atajo_visits_pending"),
        graph("Batches", "ops", see="counts-late")
        .about("failed is sent again, refused is lost.")
        .rate("atajo_visit_batches_total", "result"),
    ),
    Row(
        "Visitors",
        graph("People with unknown attributes", "percentunit")
        .about("Share of people whose browser or country is unknown.")
        .query(
            f"sum by (dimension) (rate(atajo_visits_unknown_total{WINDOW})) / on () group_left () "
            f'sum(rate(atajo_visits_total{{kind="person"}}{WINDOW}))',
            "{{dimension}}",
        ),
        number(
            "Visitor key",
            "short",
            words=("missing", "present"),
            bad_below=1,
            see="visitor-key-missing",
        )
        .about("Distinguishes the visitors of a day. Without it only people are counted.")
        .query("atajo_visitor_key_known"),
        graph("Visitor key requests", "short", see="visitor-key-missing")
        .about("Per hour. changed: one per day and start. failed: no answer.")
        .increase("1h", "atajo_visitor_key_requests_total", "result"),
    ),
    Row(
        "Backups",
        number("Last backup", "dateTimeFromNow", see="backups-failing")
        .about("Automatic backups of a local run or container. Others have no value here.")
        .query("max(atajo_backup_last_success_timestamp_seconds) * 1000", "last"),
        number("Interval", "s")
        .about("ATAJO_BACKUP_HOURS.")
        .query("max(atajo_backup_interval_seconds)", "interval"),
    ),
    _called("gateway"),
    _process("gateway"),
)

AUTH = Dashboard(
    "auth",
    "Accounts and log-ins.",
    _state("auth"),
    Row(
        "Log-ins",
        graph("Log-ins", "ops", see="logins-failing")
        .about("limited: too many failures before. busy: too many wait.")
        .rate("atajo_logins_total", "result"),
        graph("Registrations", "ops")
        .about("By result, and accounts created: a repeated registration is ok, and makes none.")
        .rate("atajo_registrations_total", "result")
        .rate("atajo_accounts_created_total", legend="accounts created"),
        graph("Passwords changed, accounts closed", "ops")
        .about("By their owners, by result.")
        .rate("atajo_password_changes_total", "result", "change: {{result}}")
        .rate("atajo_account_closings_total", "result", "closing: {{result}}"),
        graph("Passwords reset", "ops", see="password-resets-burst")
        .about("With recovery codes or reset links, by result.")
        .rate("atajo_password_resets_total", "result"),
        graph("Log-ins with passkeys", "ops")
        .about("wrong_passkey: expired challenges, too.")
        .rate("atajo_passkey_logins_total", "result"),
        graph("Log-ins with OpenID Connect", "ops")
        .about(
            "refused: expired or repeated responses, too. unavailable: the provider did not "
            "answer, or refused this instance."
        )
        .rate("atajo_oidc_logins_total", "result"),
        graph("Ways back and in", "ops")
        .about("Of owners, and reset links created by the operator and administrators.")
        .rate("atajo_recovery_codes_created_total", legend="sets of codes")
        .rate("atajo_passkeys_added_total", legend="passkeys added")
        .rate("atajo_passkeys_removed_total", legend="passkeys removed")
        .rate("atajo_connections_added_total", legend="connections added")
        .rate("atajo_connections_removed_total", legend="connections removed")
        .rate("atajo_reset_links_created_total", legend="reset links"),
        graph("API keys", "ops")
        .about("Created and revoked by their owners.")
        .rate("atajo_api_keys_created_total", legend="created")
        .rate("atajo_api_keys_revoked_total", legend="revoked"),
        graph("API keys verified", "ops")
        .about("By result: unknown keys were never created, or are revoked.")
        .rate("atajo_api_key_verifications_total", "result"),
        graph("Password checks", "short", see="password-checks-waiting")
        .about(
            "One runs per slot. Each takes 50 ms, or longer in the expensive lane (bcrypt "
            "above cost 10)."
        )
        .query("sum by (lane) (atajo_password_checks_running)", "{{lane}}: running")
        .query("sum by (lane) (atajo_password_checks_waiting)", "{{lane}}: waiting")
        .query("sum by (lane) (atajo_password_check_slots)", "{{lane}}: slots"),
        graph("Log-in latency, 99th percentile", "s", bad_from=1, see="logins-slow")
        .about("Until the password is checked. The objective is 1 s in the standard lane.")
        .query(
            "histogram_quantile(0.99, "
            f"sum by (le, lane) (rate(atajo_login_seconds_bucket{WINDOW})))",
            "{{lane}}",
        ),
    ),
    _calls("auth"),
    _store("auth"),
    _process("auth"),
)

LINKS = Dashboard(
    "links",
    "Links and blocklists.",
    _state("links"),
    _calls("links"),
    _rejected_reads("links"),
    Row(
        "Abuse",
        number("Waiting reports", "short", see="reports-burst")
        .about(
            "Waiting for the operator's decision, one per link and class. Also the hosts "
            "and paths blocked by hand."
        )
        .query("max(atajo_links_reports_waiting)", "reports")
        .query("max(atajo_blocked_addresses)", "blocked hosts and paths"),
        number("Oldest report", "s", bad_from=86400, see="reports-waiting")
        .about("How long it has waited for a decision.")
        .query("max(atajo_links_reports_waiting_seconds)", "oldest"),
        graph("Reports", "short", see="reports-burst")
        .about("In 15 minutes, by the class that the reporters chose.")
        .increase("15m", "atajo_links_reports_total", "reason"),
        graph("Decisions", "short")
        .about("Blocks, unblocks and dismissals by the operator and by administrators, per hour.")
        .increase("1h", "atajo_links_decisions_total", "kind, by", "{{kind}} ({{by}})"),
        graph("URLs refused", "ops")
        .about("By the class of the list or block that names them. The log has list and line.")
        .rate("atajo_urls_refused_total", "reason"),
        graph("Links blocked and freed", "ops", see="sweep-stalled")
        .about("Existing links, after a list changed or the operator blocked a host.")
        .rate("atajo_links_swept_total", "result"),
        graph("Rescan delay", "s", bad_from=900, see="sweep-stalled")
        .about("How long links have waited to be blocked or freed. A minute or two is usual.")
        .query("atajo_blocklist_sweep_behind_seconds"),
        number("Lists in use", "short")
        .about("Blocklist files, and the entries of each.")
        .query("max(atajo_blocklists)", "lists")
        .query("max by (list) (atajo_blocklist_entries)", "{{list}}"),
        number(
            "Broken lists", "short", words=("ok", "broken"), bad_from=1, see="blocklist-not-loaded"
        )
        .about("Their previous contents stay in use, if there are any.")
        .query("max by (list) (atajo_blocklist_broken)", "{{list}}"),
        graph("Age of the lists", "s", see="blocklist-not-loaded")
        .about("Since each file was changed, and since the folder was scanned.")
        .query("time() - min by (list) (atajo_blocklist_changed_timestamp_seconds)", "{{list}}")
        .query("max(time() - (atajo_blocklists_look_timestamp_seconds > 0))", "the folder"),
    ),
    Row(
        "Imports",
        graph("Imported rows", "ops")
        .about("By verdict: new ones created a link. Rows sent again are not counted.")
        .rate("atajo_import_rows_total", "verdict"),
    ),
    _store("links"),
    _process("links"),
)

ANALYTICS = Dashboard(
    "analytics",
    "Counts of visits.",
    _state("analytics"),
    Row(
        "Visits",
        graph("Visits counted", "ops", see="counts-late").rate(
            "atajo_visits_counted_total", "kind"
        ),
        graph("Batches", "ops", see="visits-lost")
        .about(
            "repeated was counted before and changes nothing, refused is lost, deferred "
            "waits for a later version."
        )
        .rate("atajo_visit_batches_applied_total", "result"),
    ),
    Row(
        "Statistics",
        graph("Requests", "reqps")
        .about("RESOURCE_EXHAUSTED: too many reads at once. INVALID_ARGUMENT is expected.")
        .rate(f"grpc_server_handling_seconds_count{_STATISTICS}", "grpc_code"),
        graph("Duration", "s", see="store-slow")
        .about("Including the wait: about 10 ms for one link, seconds for many.")
        .percentiles(f"grpc_server_handling_seconds_bucket{_STATISTICS}"),
        graph("People counted under *", "ops")
        .about(
            "Their link's day had a hundred other names already: a bot that counts as a "
            "person, or clients that invent names."
        )
        .rate("atajo_visit_names_gathered_total", "dimension"),
        graph("Visitor keys created and deleted", "short", see="visitor-key-missing")
        .about("Per day: one each. A key is deleted when its day ends.")
        .increase("1d", "atajo_visitor_keys_made_total", legend="created")
        .increase("1d", "atajo_visitor_keys_deleted_total", legend="deleted"),
        graph("Days deleted", "ops")
        .about("Days of links that are older than ATAJO_STATISTICS_DAYS, if that is set.")
        .rate("atajo_statistics_deleted_total", legend="days"),
    ),
    _calls("analytics"),
    _rejected_reads("analytics"),
    _store("analytics"),
    _process("analytics"),
)

RECONCILER = Dashboard(
    "reconciler",
    "Background work: finishing removals and copying view counts.",
    _state("reconciler"),
    Row(
        "Tasks",
        graph("Completed runs", "ops", see="reconciler-stalled")
        .about("accounts about once a second, views every two seconds, purge every ten.")
        .rate('atajo_reconciler_runs_total{result="done"}', "task"),
        graph("Failed runs", "ops", see="reconciler-stalled")
        .about("failed: a service was down or refused. error: the log has a traceback.")
        .rate('atajo_reconciler_runs_total{result!="done"}', "task, result", "{{task}} {{result}}"),
        graph("Time since the last run", "s", bad_from=900, see="reconciler-stalled")
        .about("By any process.")
        .query("time() - max by (task) (atajo_reconciler_success_timestamp_seconds)", "{{task}}"),
        number("Lease holders", "short", bad_below=1, see="reconciler-stalled")
        .about("Processes that hold the lease of a task: one, or none for a few seconds.")
        .query("sum by (task) (atajo_reconciler_lease_held)", "{{task}}"),
    ),
    Row(
        "Removals",
        graph("Links deleted permanently", "short")
        .about("Per hour: removed by their owner a month ago, or with an account.")
        .increase("1h", "atajo_links_purged_total", "cause"),
        graph("Links to delete", "short", see="reconciler-stalled")
        .about("At the last check, at most 1000. Falls to 0 within minutes.")
        .query("max(atajo_links_purgeable)", "links"),
        graph("Accounts to delete", "short", see="reconciler-stalled")
        .about(
            "Closed and not deleted yet, at most 10,000. One takes 10 s, plus a second per "
            "thousand links."
        )
        .query("max(atajo_accounts_closed)", "accounts"),
        graph("Accounts deleted", "short")
        .about("Per hour.")
        .increase("1h", "atajo_accounts_removed_total", legend="accounts"),
    ),
    Row(
        "View counts",
        graph("View counts copied", "ops")
        .about("From analytics to links, for lists ordered by views.")
        .rate("atajo_views_copied_total", legend="numbers"),
        number("Full copy", "short", words=("no", "yes"), bad_from=1)
        .about("While it runs, lists ordered by views are outdated.")
        .query("max(atajo_views_copying)", "copy"),
        graph("Feed of analytics truncated", "short")
        .about(
            "Per hour. It was not read for long, or its store was restored. Then all view "
            "counts are copied."
        )
        .increase("1h", "atajo_views_lost_total", legend="times"),
    ),
    _called("reconciler"),
    _process("reconciler"),
)

WEB = Dashboard(
    "web",
    "nginx, which serves the pages and passes other requests to the gateways.",
    Row(
        "Is it up?",
        _answering("web"),
        graph("Connections", "short")
        .about("waiting: idle keep-alive. Many writing connections wait for a gateway.")
        .query("sum(nginx_connections_active)", "active")
        .query("sum(nginx_connections_reading)", "reading")
        .query("sum(nginx_connections_writing)", "writing")
        .query("sum(nginx_connections_waiting)", "waiting"),
    ),
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
