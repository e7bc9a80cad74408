"""Remembers whether expensive reads (searches, statistics) were rejected recently."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from services.shared.errors import AppError

RECENT_SECONDS = 60.0
_REASONS = frozenset({"TOO_MANY_QUERIES", "TOO_MANY_READS"})
"""Reasons of links and analytics for rejecting reads at their capacity."""


class RejectedReads:
    """Remembers the last rejection. `clock` is in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = -math.inf

    def record(self, error: AppError) -> None:
        """Record an error that a client receives."""
        if error.reason in _REASONS:
            self._last = self._clock()

    def is_recent(self) -> bool:
        """Whether a read was rejected within `RECENT_SECONDS`."""
        return self._clock() - self._last < RECENT_SECONDS
