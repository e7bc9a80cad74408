"""Configures OpenTelemetry's SDK and instrumentations. Imported only by `tracing`, while it is on.

Only the span attributes listed here are exported. Instrumentations put addresses, paths, queries
and error messages into spans, and new versions may add more. So the exporter has a list of allowed
attributes instead of one of forbidden attributes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import grpc
from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.grpc import aio_client_interceptors, aio_server_interceptor
from opentelemetry.propagators.textmap import CarrierT, Getter, default_getter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_ALLOWED_ATTRIBUTES = frozenset(
    {
        "error.type",
        "http.request.method",
        "http.response.status_code",
        "http.route",
        "rpc.grpc.status_code",
        "rpc.method",
        "rpc.service",
        "rpc.system",
    }
)
_CLOSE_SECONDS = 1.0
_STATUS_CODE = "rpc.grpc.status_code"


class Traces:
    """Traces this process."""

    def __init__(self, service: str, version: str, outermost: bool) -> None:
        name = os.environ.get("OTEL_SERVICE_NAME") or service
        resource = {
            "service.name": name,
            "service.namespace": "atajo",
            "service.version": version,
        }
        self._provider = TracerProvider(resource=Resource.create(resource), shutdown_on_exit=False)
        self._provider.add_span_processor(
            BatchSpanProcessor(_FilteringExporter(OTLPSpanExporter()))
        )
        trace.set_tracer_provider(self._provider)
        propagate.set_global_textmap(
            _OutboundPropagator() if outermost else TraceContextTextMapPropagator()
        )
        self._tracer = self._provider.get_tracer("atajo", version)

    def close(self) -> None:
        """Export the remaining spans, for at most `_CLOSE_SECONDS`."""
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        closing.join(_CLOSE_SECONDS)

    @contextmanager
    def span(self, name: str, serves: bool) -> Iterator[None]:
        kind = SpanKind.SERVER if serves else SpanKind.INTERNAL
        with self._tracer.start_as_current_span(name, kind=kind, record_exception=False):
            yield

    def record_error(self, code: grpc.StatusCode) -> None:
        current = trace.get_current_span()
        current.set_attribute(_STATUS_CODE, code.value[0])
        current.set_status(StatusCode.ERROR)

    def trace_id(self) -> str:
        context = trace.get_current_span().get_span_context()
        return trace.format_trace_id(context.trace_id) if context.trace_flags.sampled else ""

    def server_interceptors(self) -> Sequence[grpc.aio.ServerInterceptor]:
        return [aio_server_interceptor(filter_=_is_ours)]  # type: ignore[no-untyped-call]

    def client_interceptors(self) -> Sequence[grpc.aio.ClientInterceptor]:
        return list(aio_client_interceptors(filter_=_is_ours))  # type: ignore[no-untyped-call]


class _FilteringExporter(SpanExporter):
    """Exports only the allowed attributes of each span, and of errors never the message."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._exporter.export([_filter(span) for span in spans])

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


def _filter(span: ReadableSpan) -> ReadableSpan:
    given = span.attributes or {}
    return ReadableSpan(
        name=span.name,
        context=span.get_span_context(),
        parent=span.parent,
        resource=span.resource,
        attributes={name: value for name, value in given.items() if name in _ALLOWED_ATTRIBUTES},
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


class _OutboundPropagator(TraceContextTextMapPropagator):
    """Sends the trace context to services, and ignores the trace context of requests."""

    def extract(
        self,
        carrier: CarrierT,
        context: Context | None = None,
        getter: Getter[CarrierT] = default_getter,
    ) -> Context:
        return Context() if context is None else context


def _is_ours(call: Any) -> bool:
    """Return whether a call is one of the product's: health checks come every second."""
    method = call.method
    return (method.decode() if isinstance(method, bytes) else method).startswith("/atajo.")
