"""A batch of visits, as it is sent to analytics."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from gateway.visits.journal import lines
from gateway.visits.journal.lines import Counts, Visit

_STEP_ROWS = 200
"""Rows that are handled between two turns of the event loop: about a millisecond."""

Visitors = dict[tuple[int, str], set[int]]


@dataclass(frozen=True, slots=True)
class Batch:
    """Visits under one number, always the same ones."""

    gateway_id: str
    number: int
    counts: Counts
    """Visits by what they have in common; their facts do not name the visitor."""
    visits: int
    visitors: Mapping[tuple[int, str], Collection[int]] = field(default_factory=dict)
    """By UTC day, in days since the Unix epoch, and code: distinct 32-bit visitor numbers."""


class _SplitFacts(dict[str, tuple[str, int | None]]):
    """Facts without the visitor, and the visitor's number; parsed once for each text."""

    def __missing__(self, facts: str) -> tuple[str, int | None]:
        split = self[facts] = lines.without_visitor(facts)
        return split


async def merge_visitors(counts: Counts) -> tuple[Counts, Visitors]:
    """Add up visits that differ in the visitor alone; returns them, and the visitors apart.

    Yields to the event loop between steps, since all visitors may be different.
    """
    rows: Counts = {}
    visitors: Visitors = {}
    split = _SplitFacts()
    for place, (visit, count) in enumerate(counts.items(), 1):
        code, hour, kind, host, facts = visit
        common, number = split[facts]
        if number is not None:
            visitors.setdefault((hour // 24, code), set()).add(number)
            visit = Visit(code, hour, kind, host, common)
        rows[visit] = rows.get(visit, 0) + count
        if place % _STEP_ROWS == 0:
            await asyncio.sleep(0)
    return rows, visitors
