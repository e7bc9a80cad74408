"""Writes when API keys were last used, in batches, so that verifying a key writes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

from services.auth.application.ports import ApiKeyStore
from services.shared import background
from services.shared.observability import logs

INTERVAL_SECONDS = 1.0
MAX_PENDING = 5_000
"""Maximum keys whose uses wait: more than a replica verifies in a second. Uses of further keys are
dropped, which can only happen while the store can be read but not written. Writing so many takes
MongoDB 0.5 s, a quarter of the deadline of an operation."""


class KeyUses:
    """Collects the last uses of keys and writes them once a second. For one event loop.

    A use is a minute, so a key is written at most once a minute however often it is used.
    """

    def __init__(self, store: ApiKeyStore) -> None:
        self._store = store
        self._pending: dict[bytes, datetime] = {}
        self._log = logs.Throttled(__name__)

    def note(self, key_hash: bytes, minute: datetime) -> None:
        """Write a use with the next batch."""
        last = self._pending.get(key_hash)
        if last is None:
            if len(self._pending) < MAX_PENDING:
                self._pending[key_hash] = minute
        elif last < minute:
            self._pending[key_hash] = minute

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Write batches while the body runs, and the last one after it."""
        task = background.start_task(self._run(), "key_uses")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            await self._try_flush()

    async def flush(self) -> None:
        """Write the collected uses. If that fails, keep them. Raises Unavailable."""
        if not self._pending:
            return
        batch, self._pending = self._pending, {}
        try:
            await self._store.record_uses(batch)
        except BaseException:
            later, self._pending = self._pending, batch
            for key_hash, minute in later.items():
                self.note(key_hash, minute)
            raise

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            await self._try_flush()

    async def _try_flush(self) -> None:
        with background.log_errors(self._log, "key_uses"):
            await self.flush()
