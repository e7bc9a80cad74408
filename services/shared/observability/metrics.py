"""Metrics common to all processes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import Gauge, Histogram, disable_created_metrics

from services.shared.errors import AppError, Unavailable
from services.shared.observability import tracing

# It would add a `_created` series to each counter, which nothing uses.
disable_created_metrics()  # type: ignore[no-untyped-call]

# Measured on two busy cores, as median and 99th percentile: reading or adding a row takes 0.5 and
# 50 ms on SQLite, 3 and 100 ms on MongoDB; creating a link 5 and 100 ms for its caller; a log-in
# 300 ms and 1 s. On idle cores a row takes 0.2 ms. The last bounds cover the deadlines of calls: 2,
# 5, 30 and 60 s.
LATENCY_BUCKETS = (
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 70,
)  # fmt: skip

SERVER_SECONDS = Histogram(
    "grpc_server_handling_seconds",
    "Time to handle a call, measured on the server.",
    ["grpc_service", "grpc_method", "grpc_code"],
    buckets=LATENCY_BUCKETS,
)
CLIENT_SECONDS = Histogram(
    "grpc_client_handling_seconds",
    "Time of a call including retries, measured by its caller.",
    ["grpc_service", "grpc_method", "grpc_code"],
    buckets=LATENCY_BUCKETS,
)
STORE_SECONDS = Histogram(
    "atajo_store_seconds",
    "Time of a store operation including queueing, by result: ok; refused, the store rejected it, "
    "for example because a code is taken; error, the store cannot be used; cancelled, the caller "
    "gave up.",
    ["operation", "result"],
    buckets=LATENCY_BUCKETS,
)
BUILD_INFO = Gauge(
    "atajo_build_info", "Always 1. The labels name what runs.", ["service", "version"]
)


def _is_refusal(error: Exception) -> bool:
    return isinstance(error, AppError) and not isinstance(error, Unavailable)


@contextmanager
def store_operation(
    name: str, is_refusal: Callable[[Exception], bool] = _is_refusal
) -> Iterator[None]:
    """Measure and trace the store operation in the body."""
    started = time.perf_counter()
    result = "error"
    try:
        with tracing.span(name):
            yield
        result = "ok"
    except asyncio.CancelledError:
        result = "cancelled"
        raise
    except Exception as error:
        if is_refusal(error):
            result = "refused"
        raise
    finally:
        STORE_SECONDS.labels(name, result).observe(time.perf_counter() - started)
