"""Concurrency limiter: shares capacity for expensive work fairly between owners."""

from __future__ import annotations

import asyncio
import collections
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine, Hashable
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from prometheus_client import Counter

from services.shared.errors import ResourceExhausted
from services.shared.eviction import owner_to_evict

T = TypeVar("T")

READS_REJECTED = Counter(
    "atajo_reads_rejected",
    "Expensive reads, such as searches and statistics, that were rejected with 429, by reason: "
    "owner_limit, the owner has too many waiting; overloaded, all owners together do.",
    ["kind", "reason"],
)

_OWNER_LIMIT, _OVERLOADED = "owner_limit", "overloaded"


@dataclass(eq=False)
class _Job:
    """One piece of work and the callers that wait for its outcome."""

    owner: Hashable
    key: Hashable
    work: Coroutine[Any, Any, Any]
    outcome: asyncio.Future[Any]
    context: Context = field(default_factory=copy_context)
    callers: int = 0
    task: asyncio.Task[Any] | None = None


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
        self._max_waiting = max_waiting
        self._max_waiting_per_owner = max_waiting_per_owner
        self._rejection = rejection
        self._running: collections.Counter[Hashable] = collections.Counter()
        self._waiting: OrderedDict[Hashable, deque[_Job]] = OrderedDict()
        self._by_key: dict[Hashable, _Job] = {}
        for reason in (_OWNER_LIMIT, _OVERLOADED):  # A rate needs the initial zero.
            READS_REJECTED.labels(name, reason)

    async def run(self, owner: Hashable, work: Coroutine[Any, Any, T], key: Hashable = None) -> T:
        """Run `work` on behalf of `owner` once it is its turn, and return its result.

        Callers with the same `key` share one execution. The work is cancelled when its last caller
        is cancelled. Raises ResourceExhausted, and whatever the work raises.
        """
        job = self._by_key.get(key)
        if job is None:
            try:
                job = self._admit(owner, work, key)
            except ResourceExhausted:
                work.close()
                raise
        else:
            work.close()
        job.callers += 1
        try:
            outcome: T = await asyncio.shield(job.outcome)
            return outcome
        finally:
            job.callers -= 1
            if not job.callers and not job.outcome.done():
                self._abandon(job)

    def _admit(self, owner: Hashable, work: Coroutine[Any, Any, Any], key: Hashable) -> _Job:
        """Start the work or queue it. Raises ResourceExhausted."""
        job = _Job(owner, key, work, asyncio.get_running_loop().create_future())
        if self._has_capacity(owner):
            self._start(job)
        else:
            if len(self._waiting.get(owner, ())) >= self._max_waiting_per_owner:
                raise self._reject(_OWNER_LIMIT)
            self._waiting.setdefault(owner, deque()).append(job)
            if sum(map(len, self._waiting.values())) > self._max_waiting:
                self._evict(owner)
        if key is not None:
            self._by_key[key] = job
        return job

    def _has_capacity(self, owner: Hashable) -> bool:
        is_free = self._running.total() < self._max_running
        return is_free and self._running[owner] < self._max_running_per_owner

    def _evict(self, arriving: Hashable) -> None:
        """Reject the newest work of the owner with the most waiting.

        Raises ResourceExhausted if that is the work that just arrived.
        """
        owner = owner_to_evict(self._waiting, arriving)
        job = self._waiting[owner][-1]
        self._dequeue(job)
        if owner == arriving:
            raise self._reject(_OVERLOADED)
        self._forget(job)
        job.work.close()
        job.outcome.set_exception(self._reject(_OWNER_LIMIT))

    def _reject(self, reason: str) -> ResourceExhausted:
        READS_REJECTED.labels(self._name, reason).inc()
        return self._rejection()

    def _start(self, job: _Job) -> None:
        self._running[job.owner] += 1
        job.task = asyncio.create_task(job.work, context=job.context)
        job.task.add_done_callback(partial(self._finish, job))

    def _finish(self, job: _Job, task: asyncio.Task[Any]) -> None:
        self._running[job.owner] -= 1
        if not self._running[job.owner]:
            del self._running[job.owner]
        self._forget(job)
        if task.cancelled():
            job.outcome.cancel()
        elif error := task.exception():
            if not job.outcome.done():
                job.outcome.set_exception(error)
        elif not job.outcome.done():
            job.outcome.set_result(task.result())
        self._start_waiting()

    def _start_waiting(self) -> None:
        for owner in [*self._waiting]:
            if not self._has_capacity(owner):
                continue
            job = self._waiting[owner].popleft()
            if self._waiting[owner]:
                self._waiting.move_to_end(owner)
            else:
                del self._waiting[owner]
            self._start(job)

    def _abandon(self, job: _Job) -> None:
        """Stop work that no caller waits for."""
        self._forget(job)
        job.outcome.cancel()
        if job.task is not None:
            job.task.cancel()
            return
        job.work.close()
        self._dequeue(job)

    def _dequeue(self, job: _Job) -> None:
        self._waiting[job.owner].remove(job)
        if not self._waiting[job.owner]:
            del self._waiting[job.owner]

    def _forget(self, job: _Job) -> None:
        """Let later callers with this key start new work."""
        if self._by_key.get(job.key) is job:
            del self._by_key[job.key]
