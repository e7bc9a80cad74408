"""Passwords against their bcrypt hashes, beside the event loop and behind everything else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import bcrypt

from services.auth.application.fair_queue import Shares, Turn, WaitingRoom
from services.auth.domain.account import cost_of, lane_of

_NICENESS = 10
_EXPENSIVE_SHARE = 4
"""Expensive hashes take at most one in so many threads, and at least one thread."""


class _Lane:
    """The checks of one class of cost: those that run, and those that wait."""

    def __init__(self, limit: int, max_waiting: int) -> None:
        self.limit = limit
        """Maximum checks that run at a time."""
        self.running = 0
        self.room = WaitingRoom(max_waiting)
        self._shares = Shares()

    def begin(self, network: str, work: int) -> None:
        self.running += 1
        self._shares.charge(network, work)

    def begin_next(self) -> None:
        """Give a thread to the check whose turn it is, unless its caller gave up."""
        network = min(self.room.lines, key=self._shares.begin)
        turn, work = next(iter(self.room.lines[network].items()))
        self.room.remove(network, turn)
        if not turn.done():
            self.begin(network, work)
            turn.set_result(None)


class Hasher:
    """Verifies passwords in threads of low priority: a burst of log-ins slows log-ins alone.

    At cost 10, that of the pages, a check takes 50 ms of a core, with the GIL released; at cost 14
    sixteen times as much. Anybody can register a hash of cost 14, so hashes above cost 10 have a
    lane of their own: a quarter of the threads, at least one, which is theirs first. They never
    take the others, so checks at cost 10 always have a thread that no expensive one holds.

    While more wait in a lane than it has threads, each network they come from gets the same share
    of the threads' time: one that sends expensive ones, or many, waits longer itself.
    """

    def __init__(self, threads: int, max_waiting: int) -> None:
        """`threads` verify hashes of cost 10. A single one gets a second one beside it.

        At most `max_waiting` checks wait in each lane.
        """
        expensive = max(1, threads // _EXPENSIVE_SHARE)
        self._threads = max(threads, 2)
        self._lanes = {
            "expensive": _Lane(expensive, max_waiting),
            "standard": _Lane(threads, max_waiting),
        }
        self._pool = ThreadPoolExecutor(self._threads, "bcrypt", initializer=_lower_priority)

    @property
    def slots(self) -> Mapping[str, int]:
        """Maximum checks at a time, by lane."""
        return {name: lane.limit for name, lane in self._lanes.items()}

    def running(self, lane: str) -> int:
        """Return how many are being verified in a lane. For any thread to call."""
        return self._lanes[lane].running

    def waiting(self, lane: str) -> int:
        """Return how many wait for a thread in a lane. For any thread to call."""
        return self._lanes[lane].room.waiting

    async def verify(self, password: bytes, password_hash: str, network: str) -> bool:
        """Whether a password of at most 72 bytes is the one a well-formed hash was made of.

        Cancelling while it waits for a thread takes it out of the queue.

        Raises LoginsBusy when too many wait in the hash's lane.
        """
        loop = asyncio.get_running_loop()
        lane = self._lanes[lane_of(password_hash)]
        await self._thread_for(lane, network, 1 << cost_of(password_hash))
        try:
            check = self._pool.submit(bcrypt.checkpw, password, password_hash.encode())
        except BaseException:
            self._end(lane)
            raise

        def ended(_: Future[bool]) -> None:
            loop.call_soon_threadsafe(self._end, lane)

        # Who gives up while it runs does not free the thread.
        check.add_done_callback(ended)
        return await asyncio.wrap_future(check)

    async def close(self) -> None:
        """Drop what waits, finish what runs."""
        for lane in self._lanes.values():
            for line in lane.room.lines.values():
                for turn in line:
                    turn.cancel()
        await asyncio.to_thread(self._pool.shutdown)

    async def _thread_for(self, lane: _Lane, network: str, work: int) -> None:
        if self._has_thread_for(lane):  # Then nobody waits in it.
            lane.begin(network, work)
        else:
            turn: Turn = asyncio.get_running_loop().create_future()
            await lane.room.wait(network, turn, partial(self._end, lane), work)

    def _has_thread_for(self, lane: _Lane) -> bool:
        running = sum(each.running for each in self._lanes.values())
        return lane.running < lane.limit and running < self._threads

    def _end(self, lane: _Lane) -> None:
        lane.running -= 1
        # Expensive hashes first: they cannot take more than their share, and might get none.
        for each in self._lanes.values():
            while each.room.lines and self._has_thread_for(each):
                each.begin_next()


def _lower_priority() -> None:
    # On Linux each thread has a niceness of its own; elsewhere this would lower the process.
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
