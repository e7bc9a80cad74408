"""Lets a few through at once to what is dear, lets a few more wait, and refuses the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
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
        self._running: dict[Hashable, asyncio.Task[Any]] = {}

    async def run(self, work: Coroutine[Any, Any, T], question: Hashable = None) -> T:
        """The outcome of the work, once it had its turn. Raises ResourceExhausted.

        Work whose caller left keeps its turn until its end: the store goes on with it. Whoever
        asks the question that such work answers, where it has one, gets its outcome.
        """
        if question in self._running:
            return await self._joined(work, question)
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
        if question in self._running:
            self._turns.release()
            return await self._joined(work, question)
        task = asyncio.create_task(work)
        if question is not None:
            self._running[question] = task

        def end(_: asyncio.Task[T]) -> None:
            self._turns.release()
            self._running.pop(question, None)
            if not task.cancelled():
                task.exception()  # Whoever still waits is told; to who left it is nothing.

        task.add_done_callback(end)
        return await asyncio.shield(task)

    async def _joined(self, work: Coroutine[Any, Any, T], question: Hashable) -> T:
        work.close()
        outcome: T = await asyncio.shield(self._running[question])
        return outcome
