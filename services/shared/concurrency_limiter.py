"""Concurrency limiter: shares capacity for expensive work fairly between owners."""

from __future__ import annotations

import asyncio
import collections
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from prometheus_client import Counter

from services.shared.errors import ResourceExhausted
from services.shared.fair_queue import FairQueue, Waiter

T = TypeVar("T")

READS_REJECTED = Counter(
    "atajo_reads_rejected",
    "Expensive reads, such as searches and statistics, that were rejected with 429, by reason: "
    "owner_limit, the owner has too many waiting; overloaded, all owners together do.",
    ["kind", "reason"],
)

_OWNER_LIMIT, _OVERLOADED = "owner_limit", "overloaded"


@dataclass(eq=False)
class _Execution:
    """One piece of work and the number of callers that wait for its outcome."""

    task: asyncio.Task[Any]
    callers: int = 0


class ConcurrencyLimiter:
    """Limits the concurrency of expensive work. Bounds the queue and rejects the rest.

    At most `max_running` pieces of work run at once, at most half of them for one owner. Owners
    with waiting work take turns (round robin). An owner may have `max_waiting_per_owner` pieces
    waiting, all owners together `max_waiting`. When the queue is full, the owner with the most
    waiting work loses its newest piece, so that an owner who waits for less still gets in.

    `name` labels rejections in the metrics; `rejection` makes the error that a caller receives.
    For use within one event loop.
    """

    def __init__(
        self,
        name: str,
        max_running: int,
        max_waiting: int,
        max_waiting_per_owner: int,
        rejection: Callable[[], ResourceExhausted],
    ) -> None:
        self._name = name
        self._max_running = max_running
        self._max_running_per_owner = max(1, max_running // 2)
        self._max_waiting_per_owner = max_waiting_per_owner
        self._rejection = rejection
        self._running: collections.Counter[Hashable] = collections.Counter()
        self._queue = FairQueue[Hashable](
            max_waiting, lambda is_new: self._reject(_OVERLOADED if is_new else _OWNER_LIMIT)
        )
        self._by_key: dict[Hashable, _Execution] = {}
        for reason in (_OWNER_LIMIT, _OVERLOADED):  # A rate needs the initial zero.
            READS_REJECTED.labels(name, reason)

    async def run(self, owner: Hashable, work: Coroutine[Any, Any, T], key: Hashable = None) -> T:
        """Run `work` on behalf of `owner` once it is its turn, and return its result.

        Callers with the same `key` share one execution. The work is cancelled when its last caller
        is cancelled. Raises ResourceExhausted, and whatever the work raises.
        """
        execution = self._by_key.get(key)
        if execution is None:
            execution = _Execution(asyncio.create_task(self._run(owner, work)))
            execution.task.add_done_callback(partial(self._end, execution, work, key))
            if key is not None:
                self._by_key[key] = execution
        else:
            work.close()
        execution.callers += 1
        try:
            outcome: T = await asyncio.shield(execution.task)
            return outcome
        finally:
            execution.callers -= 1
            if not execution.callers:
                self._forget(execution, key)
                execution.task.cancel()

    async def _run(self, owner: Hashable, work: Coroutine[Any, Any, T]) -> T:
        await self._acquire(owner)
        try:
            return await work
        finally:
            # Not at once: waiting work whose callers are being cancelled, too, does not start.
            asyncio.get_running_loop().call_soon(self._release, owner)

    async def _acquire(self, owner: Hashable) -> None:
        """Wait for the owner's turn. Raises ResourceExhausted."""
        if self._has_capacity(owner):
            self._running[owner] += 1
            return
        if len(self._queue.by_owner.get(owner, ())) >= self._max_waiting_per_owner:
            raise self._reject(_OWNER_LIMIT)
        waiter: Waiter = asyncio.get_running_loop().create_future()
        await self._queue.wait(owner, waiter, partial(self._release, owner))

    def _has_capacity(self, owner: Hashable) -> bool:
        is_free = self._running.total() < self._max_running
        return is_free and self._running[owner] < self._max_running_per_owner

    def _reject(self, reason: str) -> ResourceExhausted:
        READS_REJECTED.labels(self._name, reason).inc()
        return self._rejection()

    def _release(self, owner: Hashable) -> None:
        """End a piece of work of an owner, and let waiting work run."""
        self._running[owner] -= 1
        if not self._running[owner]:
            del self._running[owner]
        for waiting_owner, waiters in [*self._queue.by_owner.items()]:
            waiter = next((waiter for waiter in waiters if not waiter.done()), None)
            if waiter is None or not self._has_capacity(waiting_owner):
                continue
            self._queue.remove(waiting_owner, waiter)
            if waiters:  # Other owners' work comes before the next of this owner.
                self._queue.by_owner[waiting_owner] = self._queue.by_owner.pop(waiting_owner)
            self._running[waiting_owner] += 1
            waiter.set_result(None)

    def _end(
        self,
        execution: _Execution,
        work: Coroutine[Any, Any, Any],
        key: Hashable,
        task: asyncio.Task[Any],
    ) -> None:
        work.close()  # It has not started if its task was cancelled or rejected before.
        self._forget(execution, key)
        if not task.cancelled():
            task.exception()  # Perhaps no caller is left to retrieve it.

    def _forget(self, execution: _Execution, key: Hashable) -> None:
        """Let later callers with this key start new work."""
        if self._by_key.get(key) is execution:
            del self._by_key[key]
