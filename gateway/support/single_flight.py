"""Single flight: concurrent calls with the same key share one execution."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from functools import partial
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SingleFlight(Generic[Key, Value]):
    """Coalesces calls by key and caches each value for `ttl_seconds` after it was loaded.

    Keeps at most `max_entries` loads and evicts the oldest. Raises errors to every waiting caller
    and never caches them. For use within one event loop.
    """

    def __init__(
        self,
        load: Callable[[Key], Coroutine[Any, Any, Value]],
        ttl_seconds: float,
        max_entries: int,
    ) -> None:
        self._load = load
        self._ttl_seconds = ttl_seconds
        self._max_entries = max_entries
        self._loads: dict[Key, asyncio.Task[Value]] = {}

    async def get(self, key: Key) -> Value:
        """Return the value for `key`, loading it unless it is cached.

        The load completes even if this caller is cancelled. Raises whatever the load raises.
        """
        load = self._loads.get(key)
        if load is None:
            if len(self._loads) >= self._max_entries:
                del self._loads[next(iter(self._loads))]
            load = self._loads[key] = asyncio.create_task(self._load(key))
            load.add_done_callback(partial(self._finish, key))
        return await asyncio.shield(load)

    def _finish(self, key: Key, load: asyncio.Task[Value]) -> None:
        if load.cancelled() or load.exception():
            self._forget(key, load)
        else:
            load.get_loop().call_later(self._ttl_seconds, self._forget, key, load)

    def _forget(self, key: Key, load: asyncio.Task[Value]) -> None:
        if self._loads.get(key) is load:
            del self._loads[key]
