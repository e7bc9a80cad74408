"""Passwords against their bcrypt hashes, beside the event loop and behind everything else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import bcrypt

from services.auth.domain import cost_of
from services.auth.fairness import Shares, WaitingRoom

_NICENESS = 10

_Turn = asyncio.Future[None]


class Hasher:
    """Verifies passwords in threads of low priority: a burst of log-ins slows log-ins alone.

    At cost 10 one takes 50 ms of a core, with the GIL released, at 14 sixteen times as much.
    While more wait than there are threads, each network they come from gets the same share of
    the threads' time: one that sends dear ones, or many, waits longer itself.
    """

    def __init__(self, threads: int, most_waiting: int) -> None:
        self.slots = threads
        """How many are verified at a time."""
        self._pool = ThreadPoolExecutor(threads, "bcrypt", initializer=_lower_priority)
        self._room = WaitingRoom(most_waiting)
        self._shares = Shares()
        # Who waits for a thread, by network and in the order they came, with their work.
        self._lines: dict[str, dict[_Turn, int]] = {}
        self._running = 0

    @property
    def running(self) -> int:
        """How many are being verified. For any thread to ask."""
        return self._running

    @property
    def waiting(self) -> int:
        """How many wait for a thread. For any thread to ask."""
        return self._room.waiting

    async def verify(self, password: bytes, password_hash: str, network: str) -> bool:
        """Whether a password of at most 72 bytes is the one a well-formed hash was made of.

        Cancelling while it waits for a thread takes it out of the queue.

        Raises LoginsBusy when too many wait.
        """
        loop = asyncio.get_running_loop()
        await self._thread_for(network, 1 << cost_of(password_hash))
        try:
            check = self._pool.submit(bcrypt.checkpw, password, password_hash.encode())
        except BaseException:
            self._end()
            raise

        def ended(_: Future[bool]) -> None:
            loop.call_soon_threadsafe(self._end)

        # Who gives up while it runs does not free the thread.
        check.add_done_callback(ended)
        return await asyncio.wrap_future(check)

    async def close(self) -> None:
        """Drop what waits, finish what runs."""
        for line in self._lines.values():
            for turn in line:
                turn.cancel()
        await asyncio.to_thread(self._pool.shutdown)

    async def _thread_for(self, network: str, work: int) -> None:
        if self._running < self.slots:  # Then nobody waits.
            self._begin(network, work)
            return
        turn: _Turn = asyncio.get_running_loop().create_future()
        async with self._room.waiting_for(network):
            self._lines.setdefault(network, {})[turn] = work
            try:
                await turn
            except BaseException:
                if turn.done() and not turn.cancelled():
                    self._end()  # It gave up in the moment its turn came.
                raise
            finally:
                self._take_out(network, turn)

    def _begin(self, network: str, work: int) -> None:
        self._running += 1
        self._shares.charge(network, work)

    def _end(self) -> None:
        self._running -= 1
        while self._lines and self._running < self.slots:
            network = self._shares.first(self._lines)
            turn, work = next(iter(self._lines[network].items()))
            self._take_out(network, turn)
            if not turn.done():
                self._begin(network, work)
                turn.set_result(None)

    def _take_out(self, network: str, turn: _Turn) -> None:
        line = self._lines.get(network, {})
        if line.pop(turn, None) is not None and not line:
            del self._lines[network]


def _lower_priority() -> None:
    # On Linux each thread has a niceness of its own; elsewhere this would lower the process.
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
