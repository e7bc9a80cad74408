"""A readers-writer lock between the workers of a test run."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class WorkerLock:
    """Lets tests run concurrently, except for those that need the machine to themselves.

    The workers share `folder`, which contains two file locks. The system releases them when their
    process ends. Every test acquires the queue lock first. A test that needs exclusive access holds
    it until all running tests have ended, so that no other test starts meanwhile.
    """

    def __init__(self, folder: Path) -> None:
        self._queue = folder / "queue.lock"
        self._running = folder / "running.lock"

    @contextmanager
    def hold(self, *, exclusive: bool) -> Iterator[None]:
        """Wait for the lock, and hold it during the block."""
        with self._running.open("w") as running:
            with self._queue.open("w") as queue:
                fcntl.flock(queue, fcntl.LOCK_EX)
                fcntl.flock(running, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            yield
