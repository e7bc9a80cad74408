"""Lets a few through at once to what is dear, lets a few more wait, and refuses the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from services.runtime.errors import ResourceExhausted

T = TypeVar("T")


class Turns:
    """`at_once` run, `waiting` wait for their turn; `refusal` makes what the others are told."""

    def __init__(
        self, at_once: int, waiting: int, refusal: Callable[[], ResourceExhausted]
    ) -> None:
        self._turns = asyncio.Semaphore(at_once)
        self._most_waiting = waiting
        self._waiting = 0
        self._refusal = refusal

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The outcome of the work, once it had its turn. Raises ResourceExhausted.

        Work whose caller left keeps its turn until its end: the store goes on with it.
        """
        if self._waiting >= self._most_waiting:
            work.close()
            raise self._refusal()
        self._waiting += 1
        try:
            await self._turns.acquire()
        except asyncio.CancelledError:
            work.close()
            raise
        finally:
            self._waiting -= 1
        task = asyncio.create_task(work)
        task.add_done_callback(self._end)
        return await asyncio.shield(task)

    def _end(self, task: asyncio.Task[Any]) -> None:
        self._turns.release()
        if not task.cancelled():
            task.exception()  # Whoever still waits is told; to who left it is nothing.
