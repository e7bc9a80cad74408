"""Writes when keys and sessions were last used, in batches, so that verifying writes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Generic, TypeVar

from services.shared import background
from services.shared.observability import logs

INTERVAL_SECONDS = 1.0
MAX_PENDING = 5_000
"""Maximum uses that wait: more than a replica verifies in a second. Uses of further keys are
dropped, which can only happen while the store can be read but not written. Writing so many takes
MongoDB 0.5 s, a quarter of the deadline of an operation."""

Used = TypeVar("Used", bound=Hashable)


class LastUses(Generic[Used]):
    """Collects last uses and writes them once a second with `record`. For one event loop.

    Times are whole minutes or hours, so one of the used is written at most once in each.
    """

    def __init__(
        self, name: str, record: Callable[[Mapping[Used, datetime]], Awaitable[None]]
    ) -> None:
        self._name = name
        self._record = record
        self._pending: dict[Used, datetime] = {}
        self._log = logs.Throttled(__name__)

    def note(self, used: Used, at: datetime) -> None:
        """Write a use with the next batch."""
        last = self._pending.get(used)
        if last is None:
            if len(self._pending) < MAX_PENDING:
                self._pending[used] = at
        elif last < at:
            self._pending[used] = at

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Write batches while the body runs, and the last one after it."""
        try:
            async with background.running(self._run(), self._name):
                yield
        finally:
            await self._try_flush()

    async def flush(self) -> None:
        """Write the collected uses. If that fails, keep them. Raises Unavailable."""
        if not self._pending:
            return
        batch, self._pending = self._pending, {}
        try:
            await self._record(batch)
        except BaseException:
            later, self._pending = self._pending, batch
            for used, at in later.items():
                self.note(used, at)
            raise

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            await self._try_flush()

    async def _try_flush(self) -> None:
        with background.log_errors(self._log, self._name):
            await self.flush()
