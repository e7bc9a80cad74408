"""Verifies passwords against bcrypt hashes in threads of low priority."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import bcrypt

from services.auth.application.login_queue import FairScheduler, create_login_queue
from services.auth.domain.passwords import STANDARD_COST, Lane, choose_lane, parse_cost
from services.shared.fair_queue import Waiter

Result = TypeVar("Result")

SCRYPT_COST = 1 << 14
"""scrypt's parameter N. A hash takes 50 ms, as bcrypt's of cost 10 does, and 16 MiB. bcrypt cannot
use a given salt."""
_NICENESS = 10
_EXPENSIVE_FRACTION = 4
"""Expensive hashes use at most one thread in this many, and at least one thread."""


class _LaneState:
    """The running and waiting checks of one lane."""

    def __init__(self, max_running: int, max_waiting: int) -> None:
        self.max_running = max_running
        self.running = 0
        self.queue = create_login_queue(max_waiting)
        self._scheduler = FairScheduler()

    def start(self, network: str, cost: int) -> None:
        self.running += 1
        self._scheduler.serve(network, cost)

    def start_next(self) -> None:
        """Give a thread to the next waiting check, unless its caller gave up."""
        network = min(self.queue.by_owner, key=self._scheduler.start_tag)
        waiter, cost = next(iter(self.queue.by_owner[network].items()))
        self.queue.remove(network, waiter)
        if not waiter.done():
            self.start(network, cost)
            waiter.set_result(None)


class PasswordVerifier:
    """Verifies passwords without slowing down anything but log-ins.

    At cost 10, which the pages use, a check takes 50 ms of a core with the GIL released. At cost 14
    it takes sixteen times as long. Anybody can register a hash of cost 14. Hashes above cost 10
    therefore have their own lane with a quarter of the threads, at least one. They have priority on
    these threads and never use the others, so checks at cost 10 always have a thread.

    When a lane has more checks than threads, client networks share its thread time equally: a
    network that sends expensive or many checks delays only itself.
    """

    def __init__(self, threads: int, max_waiting: int) -> None:
        """Use `threads` threads, at least two, and queue at most `max_waiting` checks per lane.

        With `threads` of 1, each lane still has a thread.
        """
        expensive = max(1, threads // _EXPENSIVE_FRACTION)
        self._threads = max(threads, 2)
        self._lanes: Mapping[Lane, _LaneState] = {
            "expensive": _LaneState(expensive, max_waiting),
            "standard": _LaneState(threads, max_waiting),
        }
        self._pool = ThreadPoolExecutor(self._threads, "bcrypt", initializer=_lower_priority)

    @property
    def slots(self) -> Mapping[Lane, int]:
        """The maximum concurrent checks of each lane."""
        return {name: lane.max_running for name, lane in self._lanes.items()}

    def running(self, lane: Lane) -> int:
        """Return the number of running checks in a lane. Thread-safe."""
        return self._lanes[lane].running

    def waiting(self, lane: Lane) -> int:
        """Return the number of queued checks in a lane. Thread-safe."""
        return self._lanes[lane].queue.size

    async def verify(self, password: bytes, password_hash: str, network: str) -> bool:
        """Return whether a password of at most 72 bytes matches a well-formed hash.

        Cancelling the call removes it from the queue. A check that already runs completes.

        Raises LoginsBusy if too many checks wait in the hash's lane.
        """
        check = partial(bcrypt.checkpw, password, password_hash.encode())
        cost = parse_cost(password_hash)
        return await self._run(choose_lane(password_hash), network, cost, check)

    async def hash_code(self, code: str, salt: str, network: str) -> bytes:
        """Return the hash of a recovery code, which takes as long as a check at cost 10.

        Raises LoginsBusy if too many checks wait.
        """
        derive = partial(
            hashlib.scrypt, code.encode(), salt=salt.encode(), n=SCRYPT_COST, r=8, p=1, dklen=32
        )
        return await self._run("standard", network, STANDARD_COST, derive)

    async def _run(
        self, name: Lane, network: str, cost: int, check: Callable[[], Result]
    ) -> Result:
        """Run a check in a thread of a lane. `cost` is its cost as of bcrypt."""
        loop = asyncio.get_running_loop()
        lane = self._lanes[name]
        await self._acquire_thread(lane, network, 1 << cost)
        try:
            running = self._pool.submit(check)
        except BaseException:
            self._release_thread(lane)
            raise

        def release(_: Future[Result]) -> None:
            loop.call_soon_threadsafe(self._release_thread, lane)

        # The thread stays in use until the check ends, even if the caller gives up.
        running.add_done_callback(release)
        return await asyncio.wrap_future(running)

    async def close(self) -> None:
        """Cancel the waiting checks and wait for the running ones."""
        for lane in self._lanes.values():
            for waiters in lane.queue.by_owner.values():
                for waiter in waiters:
                    waiter.cancel()
        await asyncio.to_thread(self._pool.shutdown)

    async def _acquire_thread(self, lane: _LaneState, network: str, cost: int) -> None:
        if self._has_thread(lane):  # Then the lane's queue is empty.
            lane.start(network, cost)
        else:
            waiter: Waiter = asyncio.get_running_loop().create_future()
            await lane.queue.wait(network, waiter, partial(self._release_thread, lane), cost)

    def _has_thread(self, lane: _LaneState) -> bool:
        running = sum(state.running for state in self._lanes.values())
        return lane.running < lane.max_running and running < self._threads

    def _release_thread(self, lane: _LaneState) -> None:
        lane.running -= 1
        # Expensive hashes first. They cannot exceed their share, and might otherwise get no thread.
        for state in self._lanes.values():
            while state.queue.by_owner and self._has_thread(state):
                state.start_next()


def _lower_priority() -> None:
    # Linux has a niceness per thread. Elsewhere this would lower the priority of the process.
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
