"""Metrics every process has, and the port of their own they are read from."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from wsgiref.simple_server import WSGIServer

from prometheus_client import Gauge, Histogram, start_http_server

# From a measured 0.2 ms for a call that reads one row to the 70 s of the client's patience.
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
    "Time an operation waited for its store, queueing included.",
    ["operation", "result"],
    buckets=LATENCY_BUCKETS,
)
BUILD_INFO = Gauge("atajo_build_info", "Always 1; its labels say what runs.", ["service"])


@contextmanager
def store_operation(name: str) -> Iterator[None]:
    """Measure the operation of a store that the body waits for."""
    started = time.perf_counter()
    result = "error"
    try:
        yield
        result = "ok"
    finally:
        STORE_SECONDS.labels(name, result).observe(time.perf_counter() - started)


class MetricsServer:
    """Serves `/metrics` from a thread, so that a busy event loop can still be looked at."""

    def __init__(self, service: str, listen: str) -> None:
        host, port = split_address(listen)
        BUILD_INFO.labels(service).set(1)
        self._server: WSGIServer
        self._thread: threading.Thread
        self._server, self._thread = start_http_server(port, host)
        self.address = f"{host}:{self._server.server_port}"

    def close(self) -> None:
        """Stop serving and give the port back."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def split_address(address: str) -> tuple[str, int]:
    """`host:port` as its two parts; the host of an IPv6 address stands in brackets."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
