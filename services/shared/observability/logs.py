"""JSON logs on standard error: one object per line, for our own and our libraries' messages.

Fields: time, level, service, event, request_id and trace_id if there is one, and the event's own
fields. Secrets, tokens, passwords and IP addresses are never passed to a logger.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

import structlog

from services.shared.observability import request_id, tracing


def configure(service: str, level: str) -> None:
    """Write every log record of this process from `level` upwards as JSON."""

    def add_context(
        _logger: object, _method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        event["service"] = service
        if current := request_id.current():
            event["request_id"] = current
        if trace := tracing.trace_id():
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
    """Return a logger, for calls such as `log.info("event_name", key=value)`."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger


MAX_CAUSES = 100
"""Maximum causes that a `Throttled` distinguishes. Beyond it, an event's other causes are one."""

_Cause = tuple[str, object, type | None]
"""An event, its `reason`, and the type of its `exc_info`."""


@dataclass(slots=True)
class _Window:
    """Lines written and events suppressed for a cause since `began`."""

    began: float
    written: int = 0
    suppressed: int = 0


class Throttled:
    """A logger for events that may repeat often: writes `max_lines` per cause and minute.

    A cause is an event with its `reason` and the type of its `exc_info`, so one cause does not hide
    another. A line that stands for several events has their number in `times`: it counts itself and
    the events that were suppressed since the previous line.
    """

    def __init__(
        self,
        name: str,
        seconds: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
        max_lines: int = 1,
    ) -> None:
        self._log = get(name)
        self._seconds = seconds
        self._clock = clock
        self._max_lines = max_lines
        self._windows: dict[_Cause, _Window] = {}

    def info(self, event: str, **fields: object) -> bool:
        """Log an event that is not a problem of ours. Return whether a line was written."""
        return self._log_event(logging.INFO, event, fields)

    def warning(self, event: str, **fields: object) -> bool:
        """Log a warning. Return whether a line was written."""
        return self._log_event(logging.WARNING, event, fields)

    def error(self, event: str, **fields: object) -> bool:
        """Log an error. Return whether a line was written."""
        return self._log_event(logging.ERROR, event, fields)

    def _log_event(self, level: int, event: str, fields: dict[str, object]) -> bool:
        now = self._clock()
        error = fields.get("exc_info")
        kind = type(error) if isinstance(error, BaseException) else None
        cause: _Cause = (event, fields.get("reason"), kind)
        if cause not in self._windows and len(self._windows) >= MAX_CAUSES:
            cause = (event, None, None)
        window = self._windows.get(cause)
        if window is None or now - window.began >= self._seconds:
            if window is not None and window.suppressed:
                fields["times"] = window.suppressed + 1
            window = self._windows[cause] = _Window(now)
        if window.written >= self._max_lines:
            window.suppressed += 1
            return False
        window.written += 1
        self._log.log(level, event, **fields)
        return True
