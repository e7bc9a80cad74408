"""Metrics of the REST API."""

from __future__ import annotations

from prometheus_client import Counter

API_REQUESTS = Counter(
    "atajo_api_requests",
    "Requests of the REST API by operation, status, and the scope that the operation needs; none "
    "for requests that are no operation, and for operations that need no scope.",
    ["operation_id", "status", "scope"],
)
