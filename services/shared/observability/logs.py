"""JSON logs: one object a line on standard error, for our own and our libraries' messages.

Fields: time, level, service, event, request_id and trace_id where there is one, and what the
event adds.
A secret, a token, a password or an address is never passed to a logger.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

import structlog

from services.shared.observability import request_id, trace_id


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


MOST_CAUSES = 100
"""Most causes that a `Throttled` tells apart; past it, an event's further ones are one."""

_Cause = tuple[str, object, type | None]
"""An event, its `reason`, and the type of its `exc_info`."""


@dataclass(slots=True)
class _Window:
    """What became of a cause since `began`: lines written, and events held back."""

    began: float
    written: int = 0
    held: int = 0


class Throttled:
    """A logger for what lasts: an event is written once a minute for a cause, not each time.

    A cause is the event's `reason` and the type of its `exc_info`: one does not hide another. With
    `most` above 1, so many lines of a cause are written in a minute before the rest is held back:
    whoever asks about a single call then finds its line, unless somebody sends very many. A line
    that stands for more than one has their number in `times`: how often the same came since the
    line before.
    """

    def __init__(
        self,
        name: str,
        seconds: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
        most: int = 1,
    ) -> None:
        self._log = get(name)
        self._seconds = seconds
        self._clock = clock
        self._most = most
        self._windows: dict[_Cause, _Window] = {}

    def info(self, event: str, **fields: object) -> bool:
        """Log what is no trouble of ours, or count it; returns whether it was written."""
        return self._tell(logging.INFO, event, fields)

    def warning(self, event: str, **fields: object) -> bool:
        """Log a warning, or count it; returns whether it was written."""
        return self._tell(logging.WARNING, event, fields)

    def error(self, event: str, **fields: object) -> bool:
        """Log an error, or count it; returns whether it was written."""
        return self._tell(logging.ERROR, event, fields)

    def _tell(self, level: int, event: str, fields: dict[str, object]) -> bool:
        now = self._clock()
        error = fields.get("exc_info")
        kind = type(error) if isinstance(error, BaseException) else None
        cause: _Cause = (event, fields.get("reason"), kind)
        if cause not in self._windows and len(self._windows) >= MOST_CAUSES:
            cause = (event, None, None)
        window = self._windows.get(cause)
        if window is None or now - window.began >= self._seconds:
            if window is not None and window.held:
                fields["times"] = window.held + 1
            window = self._windows[cause] = _Window(now)
        if window.written >= self._most:
            window.held += 1
            return False
        window.written += 1
        self._log.log(level, event, **fields)
        return True
