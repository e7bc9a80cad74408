"""Daily random keys with which gateways hash visitors."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from services.analytics.application.store import AnalyticsStore
from services.analytics.domain.visits import utc_day
from services.analytics.metrics import KEYS_DELETED, KEYS_MADE

KEY_BYTES = 32


@dataclass(frozen=True, eq=False)
class VisitorKeys:
    """Provides the key of the current UTC day. `now` returns the time in UTC."""

    _store: AnalyticsStore
    _now: Callable[[], datetime]

    async def current(self) -> tuple[int, bytes]:
        """Return the current UTC day and its key. Deletes the keys of earlier days first.

        Raises Unavailable.
        """
        await self.delete_expired()
        day = utc_day(self._now())
        new_key = secrets.token_bytes(KEY_BYTES)
        key = await self._store.visitor_key(day, new_key)
        if key == new_key:
            KEYS_MADE.inc()
        return day, key

    async def delete_expired(self) -> None:
        """Delete the keys of days that are over. Raises Unavailable."""
        KEYS_DELETED.inc(await self._store.delete_visitor_keys(utc_day(self._now())))
