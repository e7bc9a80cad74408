"""JSON logs: one object a line on standard error, for our own and our libraries' messages.

Fields: time, level, service, event, request_id and trace_id where there is one, and what the
event adds.
A secret, a token, a password or an address is never passed to a logger.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from services.runtime import request_id, trace_id


def configure(service: str, level: str) -> None:
    """Send every log line of this process through one JSON formatter, from `level` upwards."""

    def add_context(
        _logger: object, _method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        event["service"] = service
        if current := request_id.current():
            event["request_id"] = current
        if trace := trace_id.current():
            event["trace_id"] = trace
        return event

    shared: list[structlog.types.Processor] = [
        add_context,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[
                *shared,
                structlog.stdlib.PositionalArgumentsFormatter(),
            ],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(ensure_ascii=False),
            ],
        )
    )
    logging.captureWarnings(True)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())


def get(name: str) -> structlog.stdlib.BoundLogger:
    """A logger whose calls are `log.info("event_name", key=value)`."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger
