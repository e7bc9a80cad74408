"""A batch of visits, as it is sent to analytics."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from gateway.visits.journal.lines import Counts, Visit

_STEP_ROWS = 200
"""Rows that are processed between two turns of the event loop: about a millisecond."""

Visitors = dict[tuple[int, str], set[int]]


@dataclass(frozen=True, slots=True)
class Batch:
    """Visits with a batch number, which always stands for the same visits."""

    gateway_id: str
    number: int
    counts: Counts
    """The number of each distinct visit, without their visitors."""
    visits: int
    visitors: Mapping[tuple[int, str], Collection[int]] = field(default_factory=dict)
    """Distinct 32-bit visitor numbers by UTC day (since the Unix epoch) and code."""
    is_divided: bool = False
    """Whether each of its lanes is sent as a batch of its own (`gateway.visits.lanes`)."""


async def merge_visitors(counts: Counts) -> tuple[Counts, Visitors]:
    """Merge visits that differ only in the visitor. Returns them, and the visitors separately.

    Yields to the event loop between steps, since all visitors may be different.
    """
    rows: Counts = {}
    visitors: Visitors = {}
    for number, (visit, count) in enumerate(counts.items(), 1):
        code, hour, kind, host, facts, visitor = visit
        if visitor:
            visitors.setdefault((hour // 24, code), set()).add(int(visitor, 16))
            visit = Visit(code, hour, kind, host, facts)
        rows[visit] = rows.get(visit, 0) + count
        if number % _STEP_ROWS == 0:
            await asyncio.sleep(0)
    return rows, visitors
