"""What goes on by itself in the process: reports are counted, and those past their time go; changes
whose process ended ahead of their announcement are announced; expired links are marked.

Every replica does it: the number is the store's, what is gone cannot go twice, and to announce a
change once more does no harm.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.links.service import LinksService
from services.runtime import background, logs

_EVERY = 5.0
"""Seconds between two looks: how old the number of reports that wait may be."""
_PAUSE = 0.05
"""Seconds between two pieces of work, for whoever waits for the store."""

log = logs.Throttled(__name__)


@asynccontextmanager
async def keep_up(service: LinksService) -> AsyncIterator[None]:
    """Do the recurring work in the background until the body ends."""
    running = background.run(_run(service), "upkeep")
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait([running])


async def _run(service: LinksService) -> None:
    while True:
        more = False
        with background.each_turn(log, "upkeep"):
            await service.announce_left()
            await service.count_reports()
            marks_more = await service.mark_expired()
            more = await service.forget_reports() or marks_more
        await asyncio.sleep(_PAUSE if more else _EVERY)
