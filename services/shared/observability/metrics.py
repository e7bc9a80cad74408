"""Metrics every process has."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import Gauge, Histogram, disable_created_metrics

from services.shared.errors import AppError, Unavailable
from services.shared.observability import tracing

# It would put a series beside each counter of which nobody asks anything.
disable_created_metrics()  # type: ignore[no-untyped-call]

# Measured on two busy cores, median and 99th of 100: a row read or added 0.5 and 50 ms on SQLite,
# 3 and 100 ms on MongoDB; a creation 5 and 100 ms for its caller; a log-in 300 ms and 1 s. On idle
# ones a row takes 0.2 ms. The last bounds are the calls' deadlines: 2, 5, 30 and 60 s.
LATENCY_BUCKETS = (
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 70,
)  # fmt: skip

SERVER_SECONDS = Histogram(
    "grpc_server_handling_seconds",
    "Time from the start of a call's handling to its end, on the server.",
    ["grpc_service", "grpc_method", "grpc_code"],
    buckets=LATENCY_BUCKETS,
)
CLIENT_SECONDS = Histogram(
    "grpc_client_handling_seconds",
    "Time from a call's start to its end, retries included, as its caller saw it.",
    ["grpc_service", "grpc_method", "grpc_code"],
    buckets=LATENCY_BUCKETS,
)
STORE_SECONDS = Histogram(
    "atajo_store_seconds",
    "Time an operation waited for its store, queueing included. Refused is an answer of the "
    "store's own, such as a code that is taken; error is a store that cannot be used; cancelled "
    "is an operation whose caller gave up.",
    ["operation", "result"],
    buckets=LATENCY_BUCKETS,
)
BUILD_INFO = Gauge(
    "atajo_build_info", "Always 1; its labels say what runs.", ["service", "version"]
)


def _is_refusal(error: Exception) -> bool:
    return isinstance(error, AppError) and not isinstance(error, Unavailable)


@contextmanager
def store_operation(
    name: str, is_refusal: Callable[[Exception], bool] = _is_refusal
) -> Iterator[None]:
    """Measure the operation of a store that the body waits for, and trace it."""
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
