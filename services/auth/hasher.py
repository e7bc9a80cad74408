"""Passwords against their bcrypt hashes, beside the event loop and behind everything else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import bcrypt

from services.auth.domain import busy

_NICENESS = 10


class Hasher:
    """Verifies passwords in threads of low priority: a burst of log-ins slows log-ins alone.

    At cost 10 one takes 50 ms of a core, with the GIL released.
    """

    def __init__(self, threads: int, most_waiting: int) -> None:
        self.slots = threads
        """How many are verified at a time."""
        self._pool = ThreadPoolExecutor(threads, "bcrypt", initializer=_lower_priority)
        self._most = threads + most_waiting
        self._under_way = 0
        self._at_work: set[int] = set()

    @property
    def running(self) -> int:
        """How many are being verified. For any thread to ask."""
        return len(self._at_work)

    @property
    def waiting(self) -> int:
        """How many wait for a thread. For any thread to ask."""
        return max(0, self._under_way - self.running)

    async def verify(self, password: bytes, password_hash: str) -> bool:
        """Whether a password of at most 72 bytes is the one a well-formed hash was made of.

        Cancelling while it waits for a thread takes it out of the queue.

        Raises LoginsBusy when too many wait.
        """
        if self._under_way >= self._most:
            raise busy()
        self._under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._pool, self._check, password, password_hash.encode()
            )
        finally:
            self._under_way -= 1

    def _check(self, password: bytes, password_hash: bytes) -> bool:
        thread = threading.get_ident()
        self._at_work.add(thread)
        try:
            return bcrypt.checkpw(password, password_hash)
        finally:
            self._at_work.discard(thread)

    async def close(self) -> None:
        """Drop what waits, finish what runs."""
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)


def _lower_priority() -> None:
    # On Linux each thread has a niceness of its own; elsewhere this would lower the process.
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
