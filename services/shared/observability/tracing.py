"""Traces, off unless the standard variables of OpenTelemetry ask for them.

On with `OTEL_TRACES_EXPORTER=otlp` or an `OTEL_EXPORTER_OTLP_ENDPOINT`, off again with
`OTEL_SDK_DISABLED=true`; sampling, service name and the like are the SDK's to read. What is off
is not imported: start-up and memory are those of a product that knows nothing of traces.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import grpc

from services.shared.observability import trace_id

if TYPE_CHECKING:
    from services.shared.observability.otel import Traces

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")

_traces: Traces | None = None
_NOTHING = nullcontext()


def start(service: str, version: str, *, outermost: bool = False) -> None:
    """Begin to trace where that is asked for. Call once, before servers and channels are made.

    An `outermost` process is reached by strangers: it begins traces of its own and takes none of
    theirs. Raises SystemExit for an exporter or a protocol that is not known here, and
    for what the SDK cannot take.
    """
    global _traces
    if not _wanted():
        return
    protocol = next((os.environ[name] for name in _PROTOCOLS if os.environ.get(name)), "grpc")
    if protocol != "grpc":
        raise SystemExit("Traces leave by OTLP over gRPC: set OTEL_EXPORTER_OTLP_PROTOCOL to grpc.")
    try:
        from services.shared.observability.otel import Traces

        _traces = Traces(service, version, outermost)
    except (
        Exception
    ) as error:  # The SDK reads OTEL_* at its import, too, and has errors of its own.
        raise SystemExit(f"Settings refused. One of OTEL_*: {error}") from None
    trace_id.read_from(_traces.trace_id)


def stop() -> None:
    """Send what is left, for a second at most."""
    if _traces:
        _traces.close()


def is_on() -> bool:
    """Whether anything is traced."""
    return _traces is not None


def span(name: str, *, serves: bool = False) -> AbstractContextManager[None]:
    """A span around the body. `name` is one of a few fixed ones, never a visitor's.

    One that `serves` answers a request from outside of the product.
    """
    return _traces.span(name, serves) if _traces else _NOTHING


def failed(code: grpc.StatusCode) -> None:
    """Note how a served call ended, on its span."""
    if _traces:
        _traces.failed(code)


def server_interceptors() -> Sequence[grpc.aio.ServerInterceptor]:
    """What makes the spans of a server's calls."""
    return _traces.server_interceptors() if _traces else ()


def client_interceptors() -> Sequence[grpc.aio.ClientInterceptor]:
    """What makes the spans of a channel's calls and sends them along."""
    return _traces.client_interceptors() if _traces else ()


def _wanted() -> bool:
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporter = os.environ.get("OTEL_TRACES_EXPORTER", "")
    if exporter not in ("", "none", "otlp"):
        raise SystemExit("OTEL_TRACES_EXPORTER can be otlp or none.")
    return exporter == "otlp" or (not exporter and any(os.environ.get(name) for name in _ENDPOINTS))
