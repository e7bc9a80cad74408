"""Documents of a provider, kept in memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from services.auth.domain.errors import ProviderUnavailable

T = TypeVar("T")

LIFETIME_SECONDS = 3600.0
"""How long a document is valid. Providers announce new keys for days before they use them."""
MIN_SECONDS_BETWEEN = 5.0
"""Minimum time between two requests for a document, whatever browsers send."""


class CachedDocument(Generic[T]):
    """Loads a document when it is needed, for all that wait for it at once.

    A failed load is reported to everybody who asks within `MIN_SECONDS_BETWEEN`, so that a provider
    that does not answer is not asked by each log-in.
    """

    def __init__(
        self,
        load: Callable[[], Awaitable[T]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._load = load
        self._clock = clock
        self._value: T | None = None
        self._loaded_at = 0.0
        self._failure: ProviderUnavailable | None = None
        self._next_load = float("-inf")
        self._loading: asyncio.Task[None] | None = None

    async def get(self) -> T:
        """Return the document, at most `LIFETIME_SECONDS` old. Raises ProviderUnavailable."""
        if self._value is not None and self._clock() < self._loaded_at + LIFETIME_SECONDS:
            return self._value
        await self._reload()
        if self._value is None or self._failure is not None:
            raise ProviderUnavailable("The provider does not answer.") from self._failure
        return self._value

    async def refresh(self) -> T:
        """Return the document as it is now, or as it was `MIN_SECONDS_BETWEEN` ago.

        Raises ProviderUnavailable if it was never loaded.
        """
        await self._reload()
        return await self.get()

    async def _reload(self) -> None:
        if self._loading is None:
            if self._clock() < self._next_load:
                return
            self._next_load = self._clock() + MIN_SECONDS_BETWEEN
            self._loading = asyncio.create_task(self._store())
        await asyncio.shield(self._loading)

    async def _store(self) -> None:
        try:
            self._value = await self._load()
            self._loaded_at = self._clock()
            self._failure = None
        except ProviderUnavailable as failure:
            self._failure = failure
        finally:
            self._loading = None

    def close(self) -> None:
        """Cancel a load that is running."""
        if self._loading is not None:
            self._loading.cancel()
