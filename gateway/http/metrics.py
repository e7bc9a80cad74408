"""Metrics of HTTP requests."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

from services.shared.observability.metrics import LATENCY_BUCKETS

HTTP_SECONDS = Histogram(
    "http_request_duration_seconds",
    "Time from the arrival of a request to the end of its response, without short URLs.",
    ["route", "method", "status"],
    buckets=LATENCY_BUCKETS,
)
HTTP_REJECTED = Counter(
    "atajo_http_rejected",
    "HTTP input that was not served as sent, by reason: invalid, not an HTTP request, and "
    "too_long, headers over the limit, both answered with 400; timeout, a request that did not "
    "arrive in time, closed; upgrade, a request for another protocol, answered as a plain one; "
    "error, answered with 500 after an unexpected error, whose traceback is in the log.",
    ["reason"],
)
for _reason in ("invalid", "too_long", "timeout", "upgrade", "error"):
    HTTP_REJECTED.labels(_reason)
