"""Exports the size of a service's store as metrics."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from prometheus_client import Gauge

from services.shared import background
from services.shared.observability import logs

INTERVAL_SECONDS = 60.0

BYTES = Gauge(
    "atajo_store_bytes",
    "Bytes of the store on disk: an SQLite file with its log, or the data and indexes of a MongoDB "
    "database. Measured once a minute.",
)
LIMIT_BYTES = Gauge(
    "atajo_store_limit_bytes",
    "Bytes that the store can grow to: atajo_store_bytes plus the free space on its disk. Infinite "
    "if the store does not report it.",
)
LIMIT_BYTES.set(math.inf)


class StoreSize(NamedTuple):
    """The size of a store, in bytes."""

    bytes: int
    free: int | None
    """Free space on its disk; None if the store does not report it."""


async def watch(measure: Callable[[], Awaitable[StoreSize]]) -> None:
    """Export the size of a store until cancelled. After an error, the last value stays."""
    throttled = logs.Throttled(__name__)
    while True:
        with background.log_errors(throttled, "store_size"):
            size = await measure()
            BYTES.set(size.bytes)
            LIMIT_BYTES.set(math.inf if size.free is None else size.bytes + size.free)
        await asyncio.sleep(INTERVAL_SECONDS)
