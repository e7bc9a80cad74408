"""Time slices: computations that share the event loop fairly with everything else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import TypeVar

Value = TypeVar("Value")
Result = TypeVar("Result")

SLICE_SECONDS = 0.002
"""How long a computation may hold the event loop. All computations of the process share one
`TimeSlices`, so a lookup for a redirect waits for one slice at most."""


class TimeSlices:
    """Applies functions to many values, and lets other tasks run after each slice.

    Concurrent calls take turns: all of them together hold the event loop for one slice at a time.
    For use within one event loop.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def map(
        self, function: Callable[[Value], Result], values: Iterable[Value]
    ) -> list[Result]:
        """Return the results of `function`, in the order of `values`. Raises what it raises."""
        results: list[Result] = []
        given = list(values)
        while len(results) < len(given):
            async with self._turn:
                ends_at = perf_counter() + SLICE_SECONDS
                for value in given[len(results) :]:
                    results.append(function(value))
                    if perf_counter() >= ends_at:
                        break
                await asyncio.sleep(0)
        return results
