"""OpenTelemetry traces, off unless the standard variables turn them on.

`OTEL_TRACES_EXPORTER=otlp` or an `OTEL_EXPORTER_OTLP_ENDPOINT` turns them on,
`OTEL_SDK_DISABLED=true` off again. The SDK itself reads sampling, service name and other variables.
While tracing is off, OpenTelemetry is not imported, so it costs neither startup time nor memory.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # `logs` imports this module, and need not import gRPC.
    import grpc

    from services.shared.observability.otel import Traces

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")

_traces: Traces | None = None
_NO_SPAN = nullcontext()


def start(service: str, version: str, *, outermost: bool = False) -> None:
    """Start tracing if it is turned on. Call once, before creating servers and channels.

    An `outermost` process receives requests from strangers: it ignores their trace context and
    starts its own traces. Raises SystemExit for an unsupported exporter or protocol, and for
    settings that the SDK rejects.
    """
    global _traces
    if not _is_requested():
        return
    protocol = next((os.environ[name] for name in _PROTOCOLS if os.environ.get(name)), "grpc")
    if protocol != "grpc":
        raise SystemExit(
            "Only OTLP over gRPC is supported: set OTEL_EXPORTER_OTLP_PROTOCOL to grpc."
        )
    try:
        from services.shared.observability.otel import Traces

        _traces = Traces(service, version, outermost)
    except Exception as error:  # The SDK reads OTEL_* even on import, and has its own errors.
        raise SystemExit(f"Settings refused. One of OTEL_*: {error}") from None


def stop() -> None:
    """Export the remaining spans, for at most a second."""
    if _traces:
        _traces.close()


def is_on() -> bool:
    """Return whether tracing is on."""
    return _traces is not None


def span(name: str, *, serves: bool = False) -> AbstractContextManager[None]:
    """Return a context manager that traces its body as a span.

    `name` is one of a few fixed names, never user input. A span that `serves` handles a request
    from outside the product.
    """
    return _traces.span(name, serves) if _traces else _NO_SPAN


def trace_id() -> str:
    """Return the id of the current trace if it is sampled, otherwise an empty string."""
    return _traces.trace_id() if _traces else ""


def record_error(code: grpc.StatusCode) -> None:
    """Record on the current span that the served call failed with this status."""
    if _traces:
        _traces.record_error(code)


def server_interceptors() -> Sequence[grpc.aio.ServerInterceptor]:
    """Return the interceptors that trace a server's calls."""
    return _traces.server_interceptors() if _traces else ()


def client_interceptors() -> Sequence[grpc.aio.ClientInterceptor]:
    """Return the interceptors that trace a channel's calls and propagate the trace context."""
    return _traces.client_interceptors() if _traces else ()


def _is_requested() -> bool:
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporter = os.environ.get("OTEL_TRACES_EXPORTER", "")
    if exporter not in ("", "none", "otlp"):
        raise SystemExit("OTEL_TRACES_EXPORTER must be otlp or none.")
    return exporter == "otlp" or (not exporter and any(os.environ.get(name) for name in _ENDPOINTS))
