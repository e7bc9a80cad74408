"""Limits the calls with up to 500 rows or 100 links, whose memory the process must have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from services.shared.errors import ResourceExhausted

MAX_LARGE_CALLS = 32
"""Maximum large calls that run at once. One gateway makes as many at most
(`gateway.support.rate_limits.LARGE_CALLS`). The memory limit of the chart covers all of them
(tests/deployment/chart/test_call_memory.py)."""


class LargeCalls:
    """Counts running large calls. For use within one event loop."""

    def __init__(self) -> None:
        self._running = 0

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Count a call while the block runs. Raises ResourceExhausted."""
        if self._running >= MAX_LARGE_CALLS:
            raise ResourceExhausted(
                "Too many large calls are under way.", "TOO_MANY_REQUESTS", retry_after=1.0
            )
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
