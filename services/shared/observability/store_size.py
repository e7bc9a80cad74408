"""Shows the size of a service's store as metrics."""

from __future__ import annotations

import asyncio
import math
from typing import NamedTuple, Protocol

from prometheus_client import Gauge

from services.shared import background
from services.shared.observability import logs

EVERY_SECONDS = 60.0

BYTES = Gauge(
    "atajo_store_bytes",
    "Bytes that the store takes on disk: an SQLite file with its log, or the data and indexes of a "
    "MongoDB database; read once a minute.",
)
LIMIT_BYTES = Gauge(
    "atajo_store_limit_bytes",
    "Bytes that the store can take: atajo_store_bytes and the free room of its disk; infinite "
    "where the store does not tell.",
)
LIMIT_BYTES.set(math.inf)


class StoreSize(NamedTuple):
    """The size of a store, in bytes."""

    bytes: int
    free: int | None
    """What its disk has free; None where the store does not tell."""


class Sized(Protocol):
    """A store whose size can be read."""

    async def size(self) -> StoreSize:
        """Return the size. Raises Unavailable."""


async def watch(store: Sized) -> None:
    """Show the size of a store, until cancelled. Where it cannot be read, the last one stays."""
    throttled = logs.Throttled(__name__)
    while True:
        with background.each_turn(throttled, "store_size"):
            size = await store.size()
            BYTES.set(size.bytes)
            LIMIT_BYTES.set(math.inf if size.free is None else size.bytes + size.free)
        await asyncio.sleep(EVERY_SECONDS)
