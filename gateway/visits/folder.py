"""The journal's folder: held by one process at a time, on a disk that leaves it so much room."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class JournalInUseError(Exception):
    """Another process holds the folder."""


class Folder:
    """A folder that this process holds until `close`. Raises JournalInUseError and OSError.

    Whatever changes a file and may take long goes through `run`: a thread goes on when its task is
    cancelled, and the next process must not find the folder while that lasts. So `close` waits.
    """

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lock = _lock(path)
        self._running: set[asyncio.Task[Any]] = set()

    async def run(self, change: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `change` returns or raises, called in a thread."""
        running = asyncio.create_task(asyncio.to_thread(change, *args, **kwargs))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return await asyncio.shield(running)

    async def free_bytes(self) -> int:
        """What the folder's disk has left for us. Raises OSError."""
        return await asyncio.to_thread(_free_bytes, self._lock)

    async def close(self) -> None:
        """Give the folder back, once every `change` has ended."""
        while self._running:
            await asyncio.wait(self._running)
        os.close(self._lock)


def _lock(folder: Path) -> int:
    fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise JournalInUseError(f"The journal {folder} is in use by another process.") from None
    return fd


def _free_bytes(fd: int) -> int:
    disk = os.fstatvfs(fd)
    return disk.f_bavail * disk.f_frsize
