"""Logs, metrics, health and traces of a process.

logs                JSON log lines; `Throttled` for events that repeat
metrics             latency histograms and build information, common to all processes
health              liveness, lag of the event loop, readiness and the state of dependencies
monitoring_server   HTTP server for /metrics, /livez and /readyz
store_size          size of the store as metrics
tracing, otel       OpenTelemetry traces; `otel` is imported only if tracing is on
request_id          the id of the current request, in logs and metadata
"""
