"""Limits the calls with up to 500 rows or 100 links, whose memory the process must have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from services.shared.errors import ResourceExhausted

MAX_LARGE_CALLS = 32
"""Maximum large calls that run at once, including imports that wait for others of their account.
One gateway makes as many at most (`gateway.support.rate_limits.LARGE_CALLS`). The memory limit of
the chart covers all of them (tests/deployment/chart/test_call_memory.py)."""
MAX_LARGE_CALLS_BY_ACCOUNT = 8
"""Maximum large calls of one account that run at once, over all gateways."""


class LargeCalls:
    """Counts running large calls. For use within one event loop."""

    def __init__(self) -> None:
        self._running: Counter[str] = Counter()

    @contextmanager
    def hold(self, account_id: str) -> Iterator[None]:
        """Count a call of an account while the block runs. Raises ResourceExhausted."""
        if (
            self._running.total() >= MAX_LARGE_CALLS
            or self._running[account_id] >= MAX_LARGE_CALLS_BY_ACCOUNT
        ):
            raise ResourceExhausted(
                "Too many concurrent large calls.", "TOO_MANY_REQUESTS", retry_after=1.0
            )
        self._running[account_id] += 1
        try:
            yield
        finally:
            self._running[account_id] -= 1
            if not self._running[account_id]:
                del self._running[account_id]
